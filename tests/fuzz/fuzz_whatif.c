/* SPDX-License-Identifier: MIT */
/* Any time line: spans of any kind one behind the other, wakers and makers at random.  What is replayed of it, changed or not, ends, and a
 * prediction lies in its interval. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/whatif/interval.h"
#include "analyzer/whatif/parts.h"

#include <math.h>
#include <stdlib.h>

#define THREADS 6
#define SPANS 256

static struct span spans[SPANS];
static struct tick ticks[SPANS];
static struct timeline_thread threads[THREADS];

/* Threads' spans lie behind each other, without gaps, as a time line's do. */
static void make_timeline(struct timeline *t, const uint8_t *data, size_t size)
{
	uint32_t span = 0;

	for (uint32_t i = 0; i < THREADS; i++) {
		struct timeline_thread *h = &threads[i];
		uint64_t now = size ? data[0] * 1000u : 0;

		*h = (struct timeline_thread){ .tid = i + 1, .pid = 1 + i / 4, .first_span = span, .first_tick = t->ticks.nr };
		h->from_ns = now;
		h->creator = i && size > 1 && data[1] % THREADS < i ? data[1] % THREADS : TIMELINE_NOBODY;
		for (; size >= 4 && span < SPANS && data[3] % 16; data += 4, size -= 4) {
			struct span *s = &spans[span++];

			*s = (struct span){ .from_ns = now, .thread = i, .kind = data[0] % 3, .end = data[1] % 4,
					    .resource = data[2] % NR_RESOURCES, .waker = data[3] % THREADS, .lock = data[2] / 64 };
			now += 1 + ((uint64_t)data[3] << data[1] % 24);
			s->to_ns = now;
			s->latency_ns = s->kind == SPAN_QUEUE ? data[0] : 0;
			if (s->kind == SPAN_RUN)
				ticks[t->ticks.nr++] = (struct tick){ .time_ns = s->from_ns + (now - s->from_ns) / 2,
								      .weight = (double)(now - s->from_ns), .thread = i,
								      .lock = data[1] % 3 };
		}
		h->to_ns = now;
		h->nr_spans = span - h->first_span;
		h->nr_ticks = t->ticks.nr - h->first_tick;
		t->last_ns = now > t->last_ns ? now : t->last_ns;
		if (size >= 4) {
			data += 4;
			size -= 4;
		}
	}
	t->spans.nr = span;
}

static void predict_all(struct predictor *p, double value)
{
	for (int kind = CHANGE_CORES; kind <= CHANGE_SKEW; kind++)
		for (int level = PART_THREADS; level <= 0; level++) {
			const struct change c = { .kind = (enum change_kind)kind, .value = value, .level = level };
			struct prediction x;

			if (predict(p, &c, 1, &x) == 0 &&
			    (!isfinite(x.completion_ns) || x.completion_ns < 0 || x.low_ns > x.completion_ns ||
			     x.high_ns < x.completion_ns))
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model model = { .marks.nr = 0 };
	struct report report = { .model = &model };
	struct timeline t = { .report = &report, .threads = { threads, THREADS, 0 }, .spans.at = spans, .ticks.at = ticks, .processors = 2,
			      .has_wakeups = true };
	struct predictor p = { .g = NULL };
	struct step_graph g;
	struct diag d;

	if (size < 4)
		return 0;
	t.quota = data[0] % 3 ? 0 : 0.5;
	t.quota_period_ns = 1e8;
	make_timeline(&t, data + 1, size - 1);
	if (step_graph_make(&t, "all", &g, &d) == 0 && predictor_init(&p, &g, NULL, &d) == 0) {
		double *slack = calloc((size_t)g.nr_steps + 1, sizeof(*slack));

		predict_all(&p, 0.5);
		predict_all(&p, 3);
		if (slack)
			predict_slack(&p, slack);
		free(slack);
	}
	predictor_fini(&p);
	step_graph_fini(&g);
	return 0;
}
