/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/fast_path.h"

#include "analyzer/attribute/walk.h"

static const uint64_t nothing;

static struct glance_column column_of(const struct sample_block *b, uint64_t column)
{
	const uint64_t *v = column < SAMPLE_COLUMN_REGISTER_0 ? b->column[column] : b->registers[column - SAMPLE_COLUMN_REGISTER_0];

	return v ? (struct glance_column){ v, sample_columns_have(&b->constant, column) ? 0 : UINT32_MAX } :
		   (struct glance_column){ &nothing, 0 };
}

static struct glance_column register_of(const struct sample_block *b, uint32_t number)
{
	return column_of(b, SAMPLE_COLUMN_REGISTER_0 + number);
}

void glance_begin(struct glance *g, struct recent *r, const struct sample_block *b)
{
	*g = (struct glance){ .recent = r, .block = b, .time = column_of(b, SAMPLE_COLUMN_TIME), .pid = column_of(b, SAMPLE_COLUMN_PID),
		.tid = column_of(b, SAMPLE_COLUMN_TID), .ip = column_of(b, SAMPLE_COLUMN_IP), .mode = column_of(b, SAMPLE_COLUMN_MODE),
		.weight = column_of(b, SAMPLE_COLUMN_WEIGHT), .cpu = column_of(b, SAMPLE_COLUMN_CPU),
		.address = column_of(b, SAMPLE_COLUMN_ADDRESS), .abi = column_of(b, SAMPLE_COLUMN_REGISTERS_ABI),
		.rip = register_of(b, walk_register(UNWIND_RIP)) };
}

/* The tag's value at a place that keeps it.  false: it is not there, or may not be what it says. */
static bool tag_value(struct glance *g, const struct tag *t, uint32_t i, uint64_t mode, uint64_t *value)
{
	if (glance_at(g->abi, i) != WALK_ABI_64)
		return false;
	if (t != g->tag) {
		uint32_t number = t->where < UNWIND_REGISTERS ? walk_register((int)t->where) : SAMPLE_TAG_WORD;

		if ((t->where != JITREG_TAG_MEMORY && t->where >= UNWIND_REGISTERS) || !g->block->registers[number])
			return false;
		g->tag = t;
		g->tag_column = register_of(g->block, number);
	}
	*value = g->tag_value = glance_at(g->tag_column, i);
	return (mode == SAMPLE_MODE_USER || *value != UINT64_MAX) && (*value & t->check_mask) == t->check_value;
}

bool glance_take(struct glance *g, uint32_t i, struct row_facts *f, const struct recent_place **out,
		 const struct recent_thread **out_who)
{
	uint64_t time_ns = glance_at(g->time, i), mode = glance_at(g->mode, i), ip = glance_at(g->ip, i), address = ip, value;
	const struct recent_thread *who = recent_find_thread(g->recent, (uint32_t)glance_at(g->pid, i), (uint32_t)glance_at(g->tid, i),
							     time_ns);
	const struct recent_place *place;

	if (!who || mode > UINT32_MAX)
		return false;
	if (mode != SAMPLE_MODE_USER)
		address = glance_at(g->abi, i) == WALK_ABI_64 ? glance_at(g->rip, i) : 0;
	place = recent_find_place(g->recent, who->process, address, time_ns);
	if (!place || !address)
		return false;
	if (place->ways) {
		f->method = METHOD_IP;
		f->ways = place->ways;
	} else {
		const struct tag *t = place->by_tag ? recent_tag_in_force(g->recent, who->process, time_ns) : NULL;
		const struct recent_tag *known;

		if (!t || !tag_value(g, t, i, mode, &value))
			return false;
		known = recent_tag(g->recent, who->process, value);
		if (known->process != who->process || known->tag != t || known->value != value)
			return false;
		f->method = METHOD_TAG;
		f->ways = known->expansion;
	}
	f->time_ns = time_ns;
	f->weight = glance_at(g->weight, i);
	f->ip = ip;
	f->address = glance_at(g->address, i);
	f->process = who->process->number;
	f->thread = who->thread;
	f->cpu = (uint32_t)glance_at(g->cpu, i);
	f->event = g->block->event;
	f->mode = (uint32_t)mode;
	f->reason = REASON_NONE;
	f->stack = f->memory = 0;
	*out = place;
	*out_who = who;
	return true;
}
