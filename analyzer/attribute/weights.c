/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/weights.h"

#include "jitreg/base/sorted.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_LARGE 10000u

static bool event_scale_differs_by_cpu(const struct model_event *e)
{
	bool by_cpu = false;

	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++)
		by_cpu |= e->count[cpu].scale > 0 && (e->count[cpu].scale < e->scale || e->count[cpu].scale > e->scale);
	return by_cpu;
}

bool weights_differ_by_cpu(const struct model *m)
{
	bool by_cpu = false;

	for (uint32_t i = 0; i < m->nr_events; i++)
		by_cpu |= event_scale_differs_by_cpu(&m->event[i]);
	return by_cpu;
}

/* Gives all samples of a block the same weight.  It is at least WEIGHT_LARGE before scaling, so rounding does not matter. */
static void fill_equal_weights(const struct sample_block *b, uint64_t weight, uint64_t *scaled)
{
	for (uint32_t i = 0; i < b->nr; i++)
		scaled[i] = weight;
}

/*
 * Scales the samples from i on that have the same weight as sample i - 1, and returns the first with another weight.  It computes with
 * integers what the loop in weights_scale() computes with doubles, which is faster because no sample has to wait for two conversions of
 * the one before.  Both give the same result: if scaled_weight and scaled_weight + 1 lie between the same two powers of two, all sums are
 * multiples of the lowest bit of scaled_weight's mantissa, so doubles are not rounded either.  Otherwise nothing is scaled, and i is
 * returned.
 */
static uint32_t scale_equal_weights(const uint64_t *weight, uint32_t i, uint32_t nr, double scaled_weight, double *cut_off,
				    uint64_t *scaled)
{
	int exponent, bits;
	uint64_t each, sum;

	frexp(scaled_weight, &exponent);
	bits = DBL_MANT_DIG - exponent; /* binary digits after the point */
	if (bits < 1 || bits >= DBL_MANT_DIG || scaled_weight + 1 > ldexp(1, exponent))
		return i;
	each = (uint64_t)ldexp(scaled_weight, bits);
	sum = (uint64_t)ldexp(*cut_off, bits);
	for (; i < nr && weight[i] == weight[i - 1]; i++) {
		sum += each;
		scaled[i] = sum >> bits;
		sum &= (1ull << bits) - 1;
	}
	*cut_off = ldexp((double)sum, -bits);
	return i;
}

/* Returns the scale of sample i: that of its thread's own count if the thread has ended and has one, else that of its processor or
 * event. */
static double scale_of_sample(const struct model *m, const struct sample_block *b, uint32_t i, bool by_cpu, bool by_thread)
{
	const uint64_t *pid = b->column[SAMPLE_COLUMN_PID], *tid = b->column[SAMPLE_COLUMN_TID], *cpu = b->column[SAMPLE_COLUMN_CPU];
	double scale = by_thread && pid && tid ? thread_count_scale(m, b->event, (uint32_t)pid[i], (uint32_t)tid[i]) : 0;

	return scale > 0 ? scale : model_event_scale(m, b->event, by_cpu && cpu ? (uint32_t)cpu[i] : UINT32_MAX);
}

/* Checks whether sample i has the same number in a column (thread or processor) as the one before. */
static bool is_of_same(const uint64_t *column, uint32_t i)
{
	return !column || column[i] == column[i - 1];
}

int weights_scale(struct scaled_weights *w, const struct model *m, struct sample_block *b)
{
	const uint64_t *weight = b->column[SAMPLE_COLUMN_WEIGHT], *cpu = b->column[SAMPLE_COLUMN_CPU];
	const uint64_t *tid = b->column[SAMPLE_COLUMN_TID];
	double scale = model_event_scale(m, b->event, UINT32_MAX), cut_off;
	bool by_cpu, by_thread, one_scale;

	if (!weight || !b->nr || b->event >= m->nr_events || b->event >= MODEL_EVENTS_MAX)
		return 0;
	by_cpu = event_scale_differs_by_cpu(&m->event[b->event]);
	by_thread = m->event[b->event].differs_by_thread;
	one_scale = !by_cpu && !by_thread;
	if (one_scale && !(scale < 1 || scale > 1))
		return 0;
	if (w->capacity < b->nr) {
		uint64_t *bigger = realloc(w->scaled, b->nr * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		w->scaled = bigger;
		w->capacity = b->nr;
	}
	b->column[SAMPLE_COLUMN_WEIGHT] = w->scaled;
	if (one_scale && sample_columns_have(&b->constant, SAMPLE_COLUMN_WEIGHT) && weight[0] >= WEIGHT_LARGE) {
		fill_equal_weights(b, model_clamp_to_u64((double)weight[0] * scale + 0.5), w->scaled);
		return 0;
	}
	cut_off = w->cut_off[b->event];
	for (uint32_t i = 0; i < b->nr;) {
		if (!one_scale && (i == 0 || !is_of_same(tid, i) || !is_of_same(cpu, i)))
			scale = scale_of_sample(m, b, i, by_cpu, by_thread);
		cut_off += (double)weight[i] * scale;
		w->scaled[i] = model_clamp_to_u64(cut_off);
		cut_off = cut_off < 0x1p53 ? cut_off - (double)w->scaled[i] : 0; /* larger doubles have no fraction */
		i++;
		if (one_scale && i < b->nr && weight[i] == weight[i - 1])
			i = scale_equal_weights(weight, i, b->nr, (double)weight[i] * scale, &cut_off, w->scaled);
	}
	w->cut_off[b->event] = cut_off;
	b->constant.mask[0] &= ~(1ull << SAMPLE_COLUMN_WEIGHT);
	return 0;
}

void weights_fini(struct scaled_weights *w)
{
	free(w->scaled);
}

/* --------------------------------------------------------------------------- threads that leave their processor */

#define WOKEN 3u
#define ENDED 4u

struct thread_switch {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t kind; /* enum trace_switch, WOKEN or ENDED */
};

static int compare_thread_switches(const void *a, const void *b)
{
	const struct thread_switch *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int add_switch(struct switches *s, uint64_t time_ns, uint32_t tid, uint32_t kind)
{
	if (!ARRAY_PUSH(*s, (struct thread_switch){ time_ns, tid, kind }))
		return -ENOMEM;
	s->end_ns = time_ns > s->end_ns ? time_ns : s->end_ns;
	return 0;
}

static int add_switches(struct switches *s, const struct sample_block *b, bool woken)
{
	const uint64_t *time = b->column[SAMPLE_COLUMN_TIME], *tid = b->column[SAMPLE_COLUMN_TID];
	const uint64_t *kind = b->column[SAMPLE_COLUMN_WEIGHT];
	int ret = 0;

	for (uint32_t i = 0; i < b->nr && ret == 0; i++)
		ret = add_switch(s, time ? time[i] : 0, tid ? (uint32_t)tid[i] : 0, woken ? WOKEN : kind ? (uint32_t)kind[i] : 0);
	return ret;
}

int switches_read(struct trace_reader *t, const struct model *m, struct switches *out)
{
	static const uint32_t ids[] = { TRACE_SAMPLES, TRACE_EXIT, TRACE_COUNT };
	struct sample_block b = { 0 };
	struct trace_record r;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	if (m->preempted == MODEL_NO_EVENT)
		return 0;
	trace_rewind(t);
	trace_select_chunks(t, ~0u);
	trace_select_ids(t, ids, sizeof(ids) / sizeof(ids[0]));
	while (ret == 0 && trace_next(t, &r) == 1) {
		uint64_t event = r.id == TRACE_SAMPLES ? trace_u64(&r, F(samples, event)) : MODEL_NO_EVENT;

		if (r.id == TRACE_EXIT)
			ret = add_switch(out, r.time_ns, r.tid, ENDED);
		else if (r.id == TRACE_COUNT)
			out->end_ns = r.time_ns > out->end_ns ? r.time_ns : out->end_ns;
		else if (event != MODEL_NO_EVENT && (event == m->preempted || event == m->run_queue) && sample_block_decode(&r, &b) == 0)
			ret = add_switches(out, &b, event == m->run_queue);
	}
	sample_block_fini(&b);
	trace_select_ids(t, NULL, 0);
	if (out->nr)
		qsort(out->at, out->nr, sizeof(*out->at), compare_thread_switches);
	return ret;
}

void switches_fini(struct switches *s)
{
	free(s->at);
	memset(s, 0, sizeof(*s));
}

struct absence switches_find(const struct switches *s, uint32_t tid, uint64_t from_ns)
{
	const struct thread_switch wanted = { from_ns, tid, 0 };
	size_t up_to = SORTED_COUNT(s->nr, i, compare_thread_switches(&s->at[i], &wanted) < 0);
	struct absence out = { .until_ns = s->end_ns, .why = TRACE_SWITCH_WAITS };
	uint64_t woken_ns = 0;

	if ((up_to && s->at[up_to - 1].tid == tid && s->at[up_to - 1].kind == ENDED) || out.until_ns < from_ns)
		out.until_ns = from_ns; /* the thread had ended, or the recording, so it was not away */
	for (; out.until_ns > from_ns && up_to < s->nr && s->at[up_to].tid == tid; up_to++) {
		const struct thread_switch *at = &s->at[up_to];

		if (at->kind == TRACE_SWITCH_IN || at->kind == ENDED) {
			out.until_ns = at->time_ns;
			break;
		}
		if (at->kind == WOKEN)
			woken_ns = woken_ns ? woken_ns : at->time_ns;
		else
			out.why = at->kind == TRACE_SWITCH_PREEMPTED ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
	}
	out.woken_ns = woken_ns && out.why == TRACE_SWITCH_WAITS ? woken_ns : out.until_ns;
	return out;
}
