/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/weights.h"

#include <errno.h>
#include <stdlib.h>

#define WEIGHT_LARGE 10000u

static bool goes_by_cpu(const struct event *e)
{
	bool by_cpu = false;

	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++)
		by_cpu |= e->count[cpu].scale > 0 && (e->count[cpu].scale < e->scale || e->count[cpu].scale > e->scale);
	return by_cpu;
}

bool weights_go_by_cpu(const struct model *m)
{
	bool by_cpu = false;

	for (uint32_t i = 0; i < m->nr_events; i++)
		by_cpu |= goes_by_cpu(&m->event[i]);
	return by_cpu;
}

/* For all of them the same: a whole number of so many has what is cut off of it far behind the point. */
static void one_weight(const struct sample_block *b, uint64_t weight, uint64_t *scaled)
{
	for (uint32_t i = 0; i < b->nr; i++)
		scaled[i] = weight;
}

int weights_scale(struct scaled_weights *w, const struct model *m, struct sample_block *b)
{
	const uint64_t *weight = b->column[SAMPLE_COLUMN_WEIGHT], *cpu = b->column[SAMPLE_COLUMN_CPU];
	double scale = model_event_scale(m, b->event, UINT32_MAX), cut_off;
	bool by_cpu;

	if (!weight || !b->nr || b->event >= m->nr_events || b->event >= MODEL_EVENTS_MAX)
		return 0;
	by_cpu = goes_by_cpu(&m->event[b->event]);
	if (!by_cpu && !(scale < 1 || scale > 1))
		return 0;
	if (w->capacity < b->nr) {
		uint64_t *bigger = realloc(w->scaled, b->nr * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		w->scaled = bigger;
		w->capacity = b->nr;
	}
	b->column[SAMPLE_COLUMN_WEIGHT] = w->scaled;
	if (!by_cpu && sample_columns_have(&b->constant, SAMPLE_COLUMN_WEIGHT) && weight[0] >= WEIGHT_LARGE) {
		one_weight(b, model_whole((double)weight[0] * scale + 0.5), w->scaled);
		return 0;
	}
	cut_off = w->cut_off[b->event];
	for (uint32_t i = 0; i < b->nr; i++) {
		if (by_cpu && cpu && (i == 0 || cpu[i] != cpu[i - 1]))
			scale = model_event_scale(m, b->event, (uint32_t)cpu[i]);
		cut_off += (double)weight[i] * scale;
		w->scaled[i] = model_whole(cut_off);
		cut_off = cut_off < 0x1p53 ? cut_off - (double)w->scaled[i] : 0; /* beyond, there is no fraction */
	}
	w->cut_off[b->event] = cut_off;
	b->constant.mask[0] &= ~(1ull << SAMPLE_COLUMN_WEIGHT);
	return 0;
}

void weights_fini(struct scaled_weights *w)
{
	free(w->scaled);
}
