/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/clock_pairs.h"

#include <stddef.h>

static const struct clock_pair *clock_pair_at(const struct clock_pairs *p, uint32_t i)
{
	return &p->pair[(p->oldest + i) % CLOCK_PAIRS_MAX];
}

void clock_pairs_add(struct clock_pairs *p, uint64_t from_ns, uint64_t to_ns)
{
	const struct clock_pair *last = p->nr ? clock_pair_at(p, p->nr - 1) : NULL;

	if (last && (from_ns <= last->from_ns || to_ns <= last->to_ns))
		return;
	if (p->nr > 1 && last->from_ns - clock_pair_at(p, p->nr - 2)->from_ns < CLOCK_PAIRS_APART_NS)
		p->nr--; /* the last pair is too near to the one before it, so the new one replaces it */
	if (p->nr == CLOCK_PAIRS_MAX)
		p->oldest = (p->oldest + 1) % CLOCK_PAIRS_MAX;
	else
		p->nr++;
	p->pair[(p->oldest + p->nr - 1) % CLOCK_PAIRS_MAX] = (struct clock_pair){ from_ns, to_ns };
}

static uint64_t convert_before_pair(const struct clock_pair *p, uint64_t from_ns)
{
	uint64_t ns = p->from_ns - from_ns;

	return ns < p->to_ns ? p->to_ns - ns : 0;
}

static uint64_t convert_after_pair(const struct clock_pair *p, uint64_t from_ns)
{
	uint64_t ns = from_ns - p->from_ns;

	return ns < UINT64_MAX - p->to_ns ? p->to_ns + ns : UINT64_MAX;
}

static uint64_t convert_between_pairs(const struct clock_pair *a, const struct clock_pair *b, uint64_t from_ns)
{
	return a->to_ns + (uint64_t)((unsigned __int128)(from_ns - a->from_ns) * (b->to_ns - a->to_ns) / (b->from_ns - a->from_ns));
}

uint64_t clock_pairs_convert(const struct clock_pairs *p, uint64_t from_ns)
{
	uint32_t i = p->nr;

	while (i > 0 && from_ns < clock_pair_at(p, i - 1)->from_ns) /* the newest pair comes first, since most times are recent */
		i--;
	if (p->nr == 0)
		return from_ns;
	if (i == 0)
		return convert_before_pair(clock_pair_at(p, 0), from_ns);
	return i == p->nr ? convert_after_pair(clock_pair_at(p, i - 1), from_ns) :
			    convert_between_pairs(clock_pair_at(p, i - 1), clock_pair_at(p, i), from_ns);
}
