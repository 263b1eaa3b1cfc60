/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/fast_path.h"

#include "analyzer/attribute/walk.h"

static const uint64_t nothing;

static struct fast_path_column block_column_or_zero(const struct sample_block *b, uint64_t column)
{
	const uint64_t *v = column < SAMPLE_COLUMN_REGISTER_0 ? b->column[column] : b->registers[column - SAMPLE_COLUMN_REGISTER_0];

	return v ? (struct fast_path_column){ v, sample_columns_have(&b->constant, column) ? 0 : UINT32_MAX } :
		   (struct fast_path_column){ &nothing, 0 };
}

static struct fast_path_column block_register_or_zero(const struct sample_block *b, uint32_t number)
{
	return block_column_or_zero(b, SAMPLE_COLUMN_REGISTER_0 + number);
}

void fast_path_begin(struct fast_path *g, struct lookup_cache *r, const struct sample_block *b)
{
	*g = (struct fast_path){
		.cache = r,
		.block = b,
		.time = block_column_or_zero(b, SAMPLE_COLUMN_TIME),
		.pid = block_column_or_zero(b, SAMPLE_COLUMN_PID),
		.tid = block_column_or_zero(b, SAMPLE_COLUMN_TID),
		.ip = block_column_or_zero(b, SAMPLE_COLUMN_IP),
		.mode = block_column_or_zero(b, SAMPLE_COLUMN_MODE),
		.weight = block_column_or_zero(b, SAMPLE_COLUMN_WEIGHT),
		.cpu = block_column_or_zero(b, SAMPLE_COLUMN_CPU),
		.address = block_column_or_zero(b, SAMPLE_COLUMN_ADDRESS),
		.abi = block_column_or_zero(b, SAMPLE_COLUMN_REGISTERS_ABI),
		.rip = block_register_or_zero(b, walk_perf_register(UNWIND_RIP)),
		.walks = b->has_stacks || b->chain_offset
	};
}

/* Reads the value of tag t in sample i.  Returns false if the sample has no registers, or not that of the tag. */
static bool read_tag_value(struct fast_path *g, const struct tag *t, uint32_t i, uint64_t *value)
{
	if (fast_path_at(g->abi, i) != WALK_ABI_64)
		return false;
	if (t != g->tag) {
		uint32_t number = t->where < UNWIND_REGISTERS ? walk_perf_register((int)t->where) : SAMPLE_TAG_WORD;

		if ((t->where != JITREG_TAG_MEMORY && t->where >= UNWIND_REGISTERS) || !g->block->registers[number])
			return false;
		g->tag = t;
		g->tag_column = block_register_or_zero(g->block, number);
	}
	*value = g->tag_value = fast_path_at(g->tag_column, i);
	return true;
}

bool fast_path_find_known(struct fast_path *g, uint32_t i, struct row_facts *f, const struct lookup_cache_place **out,
			  const struct lookup_cache_thread **out_who)
{
	uint64_t time_ns = fast_path_at(g->time, i), mode = fast_path_at(g->mode, i), ip = fast_path_at(g->ip, i), address = ip, value;
	const struct lookup_cache_thread *who = lookup_cache_find_thread(g->cache, (uint32_t)fast_path_at(g->pid, i),
									 (uint32_t)fast_path_at(g->tid, i), time_ns);
	const struct lookup_cache_place *place;

	if (!who || mode > UINT32_MAX)
		return false;
	if (mode != SAMPLE_MODE_USER)
		address = fast_path_at(g->abi, i) == WALK_ABI_64 ? fast_path_at(g->rip, i) : 0;
	place = lookup_cache_find_place(g->cache, who->process, address, time_ns);
	if (!place || !address)
		return false;
	if (place->paths) {
		f->method = METHOD_IP;
		f->paths = place->paths;
	} else if (place->reason) {
		if (g->walks || fast_path_at(g->abi, i) != WALK_ABI_64)
			return false;
		f->method = METHOD_NONE;
		f->paths = 0;
	} else {
		const struct tag *t = place->by_tag ? lookup_cache_tag_in_force(g->cache, who->process, time_ns) : NULL;
		const struct lookup_cache_tag *known;

		if (!t || !read_tag_value(g, t, i, &value))
			return false;
		known = lookup_cache_tag(g->cache, who->process, value);
		if (known->process != who->process || known->tag != t || known->value != value || time_ns < known->holds.from_ns ||
		    time_ns >= known->holds.until_ns)
			return false;
		g->tag_until_ns = known->holds.until_ns;
		f->method = METHOD_TAG;
		f->paths = known->paths;
	}
	f->time_ns = time_ns;
	f->weight = fast_path_at(g->weight, i);
	f->ip = ip;
	f->address = fast_path_at(g->address, i);
	f->process = who->process->number;
	f->thread = who->thread;
	f->cpu = (uint32_t)fast_path_at(g->cpu, i);
	f->event = g->block->event;
	f->mode = (uint32_t)mode;
	f->reason = place->reason;
	f->stack = f->memory = f->caller = 0;
	*out = place;
	*out_who = who;
	return true;
}
