/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/losses.h"

#include <math.h>
#include <stdlib.h>

#define CAUSES_NAMED 2

static void add_loss(struct loss *sum, const struct loss *l)
{
	sum->cycles += l->cycles;
	sum->floor += l->floor;
	sum->named |= l->named;
	culprits_add(&sum->bounds, &l->bounds);
}

static struct loss loss_of_function(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				    const struct hit *hit)
{
	enum culprit order[NR_CULPRITS];
	struct loss l = { 0 };
	struct block_stalls *b;
	struct graph f;
	int nr_steps;
	struct step *steps = disassemble_hot_function(h, hit, &nr_steps);

	b = graph_make_of_function(r, h, steps, nr_steps, &f) ? stalls_of_blocks(r, total, h, &f) : NULL;
	for (uint32_t i = 0; b && i < f.nr_blocks; i++) {
		if (!b[i].known)
			continue;
		l.named |= culprits_rank_block(&b[i], order) > 0;
		l.cycles += b[i].cycles;
		l.floor += fmin(b[i].floor, b[i].cycles);
		culprits_add(&l.bounds, &b[i].bounds);
	}
	free(b);
	graph_fini(&f);
	free(steps);
	return l;
}

void losses_analyze_functions(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hit *hit, uint32_t nr_hits,
			      struct losses *out)
{
	*out = (struct losses){ 0 };
	if (nr_hits && stalls_are_measured(r))
		out->nr = hot_find(r, hit, nr_hits, &out->hot);
	out->nr = out->nr < DISASSEMBLY_FUNCTIONS_MAX ? out->nr : DISASSEMBLY_FUNCTIONS_MAX;
	out->of = calloc((size_t)out->nr + 1, sizeof(*out->of));
	if (!out->of)
		out->nr = 0;
	hot_read_code_bytes(r, out->hot, out->nr);
	for (uint32_t i = 0; i < out->nr; i++) {
		struct hot *h = &out->hot[i];

		if (h->place.bytes && h->measure > 0)
			out->of[i] = loss_of_function(r, total, h, hit);
		add_loss(&out->sum, &out->of[i]);
		free(h->place.bytes);
		h->place.bytes = NULL;
	}
}

void losses_fini(struct losses *l)
{
	free(l->hot);
	free(l->of);
}

const char *loss_causes(const struct loss *l, char *text, size_t bytes)
{
	enum culprit order[NR_CULPRITS];
	int nr = l->named ? culprits_rank(&l->bounds, l->cycles, order) : 0;
	size_t at = 0;

	*text = 0;
	for (int n = 0; n < nr && n < CAUSES_NAMED; n++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%s %.0f-%.0f %%", n ? ", " : "", culprit_name(order[n]),
				       100 * l->bounds.low[order[n]] / l->cycles, 100 * l->bounds.high[order[n]] / l->cycles);
	return text;
}
