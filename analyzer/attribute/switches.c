/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/switches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct thread_switch {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t kind; /* enum trace_switch */
};

static int by_thread(const void *a, const void *b)
{
	const struct thread_switch *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int add(struct switches *s, const struct sample_block *b)
{
	const uint64_t *time = b->column[SAMPLE_COLUMN_TIME], *tid = b->column[SAMPLE_COLUMN_TID];
	const uint64_t *kind = b->column[SAMPLE_COLUMN_WEIGHT];

	if (s->nr + b->nr > s->capacity) {
		size_t capacity = 2 * (s->nr + b->nr);
		struct thread_switch *bigger = realloc(s->at, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		s->at = bigger;
		s->capacity = capacity;
	}
	for (uint32_t i = 0; i < b->nr; i++)
		s->at[s->nr++] = (struct thread_switch){ time ? time[i] : 0, tid ? (uint32_t)tid[i] : 0, kind ? (uint32_t)kind[i] : 0 };
	return 0;
}

int switches_read(struct trace_reader *t, const struct model *m, struct switches *out)
{
	struct sample_block b = { 0 };
	struct trace_record r;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	if (m->preempted == MODEL_NO_EVENT)
		return 0;
	trace_rewind(t);
	trace_select(t, 1u << TRACE_CHUNK_SAMPLES);
	while (ret == 0 && trace_next(t, &r) == 1)
		if (r.id == TRACE_SAMPLES && trace_u64(&r, F(samples, event)) == m->preempted && sample_block_decode(&r, &b) == 0)
			ret = add(out, &b);
	sample_block_fini(&b);
	trace_select(t, ~0u);
	if (out->nr)
		qsort(out->at, out->nr, sizeof(*out->at), by_thread);
	return ret;
}

void switches_fini(struct switches *s)
{
	free(s->at);
	memset(s, 0, sizeof(*s));
}

bool switches_find(const struct switches *s, uint32_t tid, uint64_t from_ns, uint64_t *until_ns, enum trace_switch *why)
{
	const struct thread_switch wanted = { from_ns, tid, 0 };
	size_t low = 0, high = s->nr;

	while (low < high) { /* the first that is not before it */
		size_t middle = low + (high - low) / 2;

		if (by_thread(&s->at[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*why = TRACE_SWITCH_WAITS;
	for (; low < s->nr && s->at[low].tid == tid; low++) {
		if (s->at[low].kind == TRACE_SWITCH_IN) {
			*until_ns = s->at[low].time_ns;
			return true;
		}
		*why = s->at[low].kind == TRACE_SWITCH_PREEMPTED ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
	}
	return false;
}
