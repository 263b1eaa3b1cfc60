/* SPDX-License-Identifier: MIT */
/*
 * Writes the basic blocks of the hottest functions with properties of their instructions, the arcs between them, the block of each place of
 * samples, and the causes of stalls. The page computes executions and which causes apply (web/causes.js), from the samples that pass its
 * filters.
 */
#include "analyzer/listing/stalls.h"
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"
#include "jitreg/base/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 20000u /* maximum number of blocks of all functions together; a function that would exceed it is left out */
#define STEPS_A_PLACE 1

/* the flags of a block, as in analyzer/listing/wasm/causes.c */
enum { FLAG_SIMULATED = 1, FLAG_MISPREDICTS = 2, FLAG_FORWARDS = 4, FLAG_FETCHED_ONCE = 8 };

struct causes {
	const struct html_trace *t;
	FILE *to;
	uint32_t *block; /* 1 + number of the block of each place, among the blocks of all functions; 0: none */
	uint32_t nr_blocks, nr_functions;
	bool cycles; /* some event counts cycles, so stalls can be found */
};

/*
 * Returns whether a place is in the file of the function h if that is a function of an image, or else in its code object. The caller
 * compares the addresses.
 */
static bool place_is_in(const struct causes *c, const struct hot *h, const struct html_place *p)
{
	const struct model *m = c->t->report->model;
	const struct code *code = p->ip && p->code && p->code <= m->codes.nr ? m->codes.at[p->code - 1] : NULL;

	if (!code)
		return false;
	return h->image ? code->kind == CODE_IMAGE && code->file && code->file == h->place.code->file : code == h->place.code;
}

/* Finds the block of each place in the function. Returns false if no place has one, or if the budget of the trace is exceeded. */
static bool find_blocks_of_places(struct causes *c, const struct hot *h, const struct graph *f)
{
	const struct step *end = &f->step[f->nr_steps - 1];
	const struct html_rows *rows = &c->t->rows;
	bool any = false;

	if (!report_spend(c->t->report, (uint64_t)rows->places.nr * STEPS_A_PLACE))
		return false;
	for (uint32_t i = 0; i < rows->places.nr; i++) {
		const uint64_t ip = rows->places.at[i].ip;
		uint32_t n;

		if (ip < f->step[0].address || ip >= end->address + end->insn.bytes || !place_is_in(c, h, &rows->places.at[i]))
			continue;
		n = SORTED_COUNT(f->nr_blocks, b, f->step[f->block[b].first].address <= ip);
		c->block[i] = n ? c->nr_blocks + n : 0;
		any |= n > 0;
	}
	return any;
}

static void put_code(struct causes *c, const struct hot *h, const struct graph *f)
{
	struct block_code *code = c->cycles ? stalls_read_code(c->t->report, h, f, true) : NULL;
	FILE *to = c->to;

	if (!code)
		return;
#define NUMBERS_(key, value) JSON_NEXT_LIST(to, key, f->nr_blocks, fprintf(to, "%.17g", value))
	NUMBERS_("best", code[i].best);
	NUMBERS_("floor", code[i].floor);
	NUMBERS_("accesses", code[i].accesses);
	NUMBERS_("loads", code[i].loads);
	NUMBERS_("divisions", code[i].divisions);
	NUMBERS_("lines", code[i].lines);
	NUMBERS_("latency", isinf(code[i].latency) ? -1 : code[i].latency);
#undef NUMBERS_
	JSON_NEXT_LIST(to, "flags", f->nr_blocks,
		       fprintf(to, "%d", (code[i].simulated ? FLAG_SIMULATED : 0) | (code[i].mispredicts ? FLAG_MISPREDICTS : 0) |
						 (code[i].forwards ? FLAG_FORWARDS : 0) | (code[i].fetched_once ? FLAG_FETCHED_ONCE : 0)));
	free(code);
}

static void put_classes(const struct graph *f, FILE *to)
{
	fputs(",\"classes\":{", to);
	JSON_LIST(to, "count", f->nr_classes, if (f->class[i].state) fprintf(to, "%.17g", (double)f->class[i].count); else fputs("-1", to));
	JSON_NEXT_LIST(to, "state", f->nr_classes, fprintf(to, "\"%s\"", frequency_state_name(f->class[i].state)));
	JSON_NEXT_LIST(to, "instructions", f->nr_classes, fprintf(to, "%.17g", f->class[i].steps));
	fputc('}', to);
}

static void put_arcs(const struct graph *f, FILE *to)
{
	fputs(",\"arcs\":[", to); /* the list is from, to, from, to, ...; -1 stands for the outside */
	for (uint32_t i = 0; i < f->nr_arcs; i++)
		fprintf(to, "%s%d,%d", i ? "," : "", f->arc[i].from < f->nr_blocks ? (int)f->arc[i].from : -1,
			f->arc[i].to < f->nr_blocks ? (int)f->arc[i].to : -1);
	fputc(']', to);
}

/*
 * Writes a function if its graph can be made, some of its blocks have samples, and BLOCKS_MAX and the budget are not exceeded. Arcs number
 * the blocks of each function from 0, so that the numbers are small.
 */
static void put_function(struct causes *c, const struct hot *h, const struct hit *hit)
{
	int nr_steps;
	struct step *steps = disassemble_hot_function(h, hit, &nr_steps);
	struct graph f;
	FILE *to = c->to;

	if (graph_make_of_function(c->t->report, h, steps, nr_steps, &f) && c->nr_blocks + f.nr_blocks <= BLOCKS_MAX &&
	    find_blocks_of_places(c, h, &f)) {
		fprintf(to, "%s{\"name\":", c->nr_functions++ ? ",\n" : "");
		escape_json_string(to, h->name);
		fputs(",\"image\":", to);
		escape_json_string(to, h->image ? h->image : "");
		fprintf(to, ",\"code\":%u,\"start\":%llu,\"indirect\":%s", h->place.code->number + 1, (unsigned long long)h->place.start,
			f.is_indirect ? "true" : "false");
		JSON_NEXT_LIST(to, "offset", f.nr_blocks,
			       fprintf(to, "%llu", (unsigned long long)(f.step[f.block[i].first].address - h->place.start)));
		JSON_NEXT_LIST(to, "insns", f.nr_blocks, fprintf(to, "%d", f.block[i].nr));
		JSON_NEXT_LIST(to, "class", f.nr_blocks, fprintf(to, "%u", f.block[i].class));
		put_classes(&f, to);
		put_arcs(&f, to);
		put_code(c, h, &f);
		fputc('}', to);
		c->nr_blocks += f.nr_blocks;
	}
	graph_fini(&f);
	free(steps);
}

static void put_culprits(const struct model *m, FILE *to)
{
	fputs("],\"culprits\":[", to);
	for (uint32_t i = 0; i < NR_CULPRITS; i++) {
		fprintf(to, "%s{\"key\":\"%s\",\"name\":", i ? "," : "", culprit_key((enum culprit)i));
		escape_json_string(to, culprit_name((enum culprit)i));
		fputs(",\"events\":[", to); /* the events whose samples bound the cause */
		for (uint32_t e = 0, n = 0; e < m->nr_events && e < VIEW_EVENTS_MAX; e++)
			if (stall_event_bounds(stall_event_of(m->event[e].name), (enum culprit)i))
				fprintf(to, "%s%u", n++ ? "," : "", e);
		fputs("]}", to);
	}
	fprintf(to, "],\"fault\":%d,", STALL_FAULT);
	JSON_LIST(to, "kinds", m->nr_events, fprintf(to, "%d", stall_event_of(m->event[i].name)));
	JSON_NEXT_LIST(to, "precise", m->nr_events, fputc('0' + (m->event[i].precise != 0), to));
}

void html_put_causes(const struct html_trace *t, FILE *to)
{
	struct report *r = t->report;
	struct causes c = { .t = t, .to = to, .block = calloc((size_t)t->rows.places.nr + 1, sizeof(uint32_t)) };
	uint32_t nr_hits, nr = 0;
	double all;
	struct hit *hit = hits_make_all(r, t->by_place, &nr_hits, &all);
	struct hot *hot = NULL;
	const char *about;
	bool known;

	for (uint32_t i = 0; i < r->model->nr_events; i++)
		c.cycles |= r->model->event[i].weighs == WEIGHT_CYCLES;
	nr = c.block && hit && nr_hits ? hot_find(r, hit, nr_hits, &hot) : 0;
	nr = nr < DISASSEMBLY_FUNCTIONS_MAX ? nr : DISASSEMBLY_FUNCTIONS_MAX;
	hot_read_code_bytes(r, hot, nr);
	fputs("\"causes\":{\"functions\":[", to);
	for (uint32_t i = 0; i < nr; i++) {
		if (hot[i].place.bytes)
			put_function(&c, &hot[i], hit);
		free(hot[i].place.bytes);
	}
	put_culprits(r->model, to);
	about = stalls_about_simulator(r, &known);
	fputs(",\"about\":", to);
	escape_json_string(to, about ? about : "");
	fprintf(to, ",\"simulated\":%s", known ? "true" : "false");
	JSON_NEXT_LIST(to, "place", c.nr_blocks ? t->rows.places.nr : 0, fprintf(to, "%u", c.block[i]));
	fputs("},\n", to);
	free(c.block);
	free(hot);
	free(hit);
}
