/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/clock_pairs.h"

#include <stddef.h>

static const struct clock_pair *at(const struct clock_pairs *p, uint32_t i)
{
	return &p->pair[(p->oldest + i) % CLOCK_PAIRS_MAX];
}

void clock_pairs_add(struct clock_pairs *p, uint64_t from_ns, uint64_t to_ns)
{
	const struct clock_pair *last = p->nr ? at(p, p->nr - 1) : NULL;

	if (last && (from_ns <= last->from_ns || to_ns <= last->to_ns))
		return;
	if (p->nr > 1 && last->from_ns - at(p, p->nr - 2)->from_ns < CLOCK_PAIRS_APART_NS)
		p->nr--; /* the new one takes its place */
	if (p->nr == CLOCK_PAIRS_MAX)
		p->oldest = (p->oldest + 1) % CLOCK_PAIRS_MAX;
	else
		p->nr++;
	p->pair[(p->oldest + p->nr - 1) % CLOCK_PAIRS_MAX] = (struct clock_pair){ from_ns, to_ns };
}

static uint64_t before(const struct clock_pair *p, uint64_t from_ns)
{
	uint64_t ns = p->from_ns - from_ns;

	return ns < p->to_ns ? p->to_ns - ns : 0;
}

static uint64_t behind(const struct clock_pair *p, uint64_t from_ns)
{
	uint64_t ns = from_ns - p->from_ns;

	return ns < UINT64_MAX - p->to_ns ? p->to_ns + ns : UINT64_MAX;
}

static uint64_t between(const struct clock_pair *a, const struct clock_pair *b, uint64_t from_ns)
{
	return a->to_ns + (uint64_t)((unsigned __int128)(from_ns - a->from_ns) * (b->to_ns - a->to_ns) / (b->from_ns - a->from_ns));
}

uint64_t clock_pairs_convert(const struct clock_pairs *p, uint64_t from_ns)
{
	uint32_t i = p->nr;

	while (i > 0 && from_ns < at(p, i - 1)->from_ns) /* from the newest: most times are that young */
		i--;
	if (p->nr == 0)
		return from_ns;
	if (i == 0)
		return before(at(p, 0), from_ns);
	return i == p->nr ? behind(at(p, i - 1), from_ns) : between(at(p, i - 1), at(p, i), from_ns);
}
