/* SPDX-License-Identifier: MIT */
#include "analyzer/flow/records.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>

#define KEY(process, level) ((uint64_t)(process) << 32 | (level))

static void free_parts(const struct jitreg_flow_parts *p)
{
	free((void *)(uintptr_t)p->blocks);
	free((void *)(uintptr_t)p->arcs);
	free((void *)(uintptr_t)p->calls);
	free((void *)(uintptr_t)p->executions);
}

static void free_counters(struct counters_record *c)
{
	free(c->entry);
	free(c->flow);
	free(c->value);
	free(c->base);
}

void flow_records_fini(struct flow_records *r)
{
	for (uint32_t i = 0; i < r->nr; i++)
		free_parts(&r->at[i].parts);
	for (uint32_t i = 0; i < r->counters.nr; i++)
		free_counters(&r->counters.at[i]);
	free(r->at);
	free(r->counters.at);
	hash_map_fini(&r->flow_of);
	hash_map_fini(&r->counters_of);
	*r = (struct flow_records){ 0 };
}

bool flow_records_add(struct flow_records *r, const struct flow_record *flow)
{
	if (!ARRAY_GROW(*r) ||
	    !hash_map_set(&r->flow_of, KEY(flow->process, flow->level), flow->component, r->nr + 1)) {
		free_parts(&flow->parts);
		return false;
	}
	r->at[r->nr++] = *flow;
	return true;
}

bool flow_records_add_counters(struct flow_records *r, const struct counters_record *counters)
{
	struct counters_record c = *counters;

	c.flow = calloc((size_t)c.nr + 1, sizeof(*c.flow));
	c.value = calloc((size_t)c.nr + 1, sizeof(*c.value));
	c.base = calloc((size_t)c.nr + 1, sizeof(*c.base));
	if (!c.flow || !c.value || !c.base || !ARRAY_GROW(r->counters) ||
	    !hash_map_set(&r->counters_of, c.process, c.block, r->counters.nr + 1)) {
		free_counters(&c);
		return false;
	}
	r->counters.at[r->counters.nr++] = c;
	return true;
}

void flow_records_set_values(struct flow_records *r, uint32_t process, uint64_t block, uint64_t time_ns, uint32_t flags, uint64_t nr,
			     uint64_t (*value)(const void *context, uint64_t i), const void *context)
{
	uint32_t found = hash_map_find(&r->counters_of, process, block);
	struct counters_record *c = found ? &r->counters.at[found - 1] : NULL;
	uint64_t stride = c ? ((uint64_t)c->nr + 7) / 8 * 8 : 0, *to;

	/* There is one value for each counter, or all copies of the block as they lie in memory, each padded to a multiple of 8
	 * counters. */
	if (!c || !c->nr || (nr != c->nr && nr % stride)) {
		r->nr_odd++;
		return;
	}
	to = flags & JITREG_VALUES_BASE ? c->base : c->value;
	for (uint32_t i = 0; i < c->nr; i++) {
		to[i] = 0;
		for (uint64_t at = i; at < nr; at += nr == c->nr ? nr : stride)
			to[i] += value(context, at);
		if (flags & JITREG_VALUES_BASE)
			c->value[i] = c->base[i];
	}
	c->read_ns = time_ns;
}

uint32_t flow_records_find(const struct flow_records *r, uint32_t process, uint32_t level, uint64_t component)
{
	return hash_map_find(&r->flow_of, KEY(process, level), component);
}
