/* SPDX-License-Identifier: MIT */
/*
 * Writes the flows of functions and their counts. The page solves the equations itself (web/flow.js), so that its reader can assume counts
 * that are not known. Functions, arcs and calls are written in the order in which flow_add_function() and the like got them, so that
 * variables have the same numbers in the page.
 */
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"
#include "analyzer/query/frequencies.h"

#include <inttypes.h>

#define PARTS_MAX (4u << 20) /* limit of the parts of executions; when it is reached, the lists end, and "complete" is false */

/* Writes a number as such if JavaScript's numbers hold it exactly, or else as a string. */
static void put_count(uint64_t v, FILE *to)
{
	fprintf(to, v < 1ull << 53 ? "%" PRIu64 : "\"%" PRIu64 "\"", v);
}

static void put_block(uint32_t block, FILE *to)
{
	fprintf(to, "%d", block == FLOW_OUTSIDE ? -1 : (int)block);
}

static void put_functions(const struct frequencies *f, FILE *to)
{
	const struct flow_program *p = &f->program;

	fputs("\"functions\":{", to);
	JSON_LIST(to, "component", p->functions.nr, fprintf(to, "%u", f->component[i]));
	JSON_NEXT_LIST(to, "blocks", p->functions.nr, fprintf(to, "%u", p->functions.at[i].nr_blocks));
	JSON_NEXT_LIST(to, "escapes", p->functions.nr, fputc('0' + p->functions.at[i].escapes, to));
	JSON_NEXT_LIST(to, "arcs", p->functions.nr, fprintf(to, "%u", p->functions.at[i].arcs.nr));
	JSON_NEXT_LIST(to, "calls", p->functions.nr, fprintf(to, "%u", p->functions.at[i].nr_calls));
	fputc('}', to);
}

static void put_arcs(const struct flow_program *p, FILE *to)
{
	const char *comma = "";

	fputs(",\"arcs\":[", to); /* the list is from, to, from, to, ... */
	for (uint32_t i = 0; i < p->functions.nr; i++)
		for (uint32_t n = 0; n < p->functions.at[i].arcs.nr; n++, comma = ",") {
			fputs(comma, to);
			put_block(p->functions.at[i].arcs.at[n].from, to);
			fputc(',', to);
			put_block(p->functions.at[i].arcs.at[n].to, to);
		}
	fputc(']', to);
}

/* Write the calls that functions announced. The calls from code whose flow is not known follow from these, and are added by the page. */
static void put_calls(const struct flow_program *p, FILE *to)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->functions.nr; i++)
		nr += p->functions.at[i].nr_calls;
	fputs(",\"calls\":{", to);
	JSON_LIST(to, "block", nr, fprintf(to, "%u", p->calls.at[i].block));
	JSON_NEXT_LIST(to, "site", nr, put_count(p->calls.at[i].site, to));
	JSON_NEXT_LIST(to, "callee", nr, put_block(p->calls.at[i].callee, to));
	fputc('}', to);
}

static void put_counters(const struct flow_program *p, FILE *to)
{
	const uint32_t nr = equations_nr_variables(p->equations);
	const char *comma = "";

	fputs(",\"counted\":[", to); /* the list is variable, count, variable, count, ... */
	for (uint32_t i = 0; i < nr; i++) {
		const struct flow_variable *v = flow_count(p, i);

		if (v->state != FLOW_COUNTED)
			continue;
		fprintf(to, "%s%u,", comma, i);
		put_count((uint64_t)v->count, to);
		comma = ",";
	}
	fputc(']', to);
}

struct parts {
	FILE *to;
	bool counts; /* write only the parts that are counts, and otherwise only those that are variables */
	uint32_t nr, total;
};

static bool put_part(void *context, uint32_t component, uint32_t variable, uint64_t count)
{
	struct parts *s = context;

	if (s->counts != (variable == FLOW_NO_VARIABLE))
		return true;
	fprintf(s->to, "%s%u,", s->nr++ ? "," : "", component);
	put_count(s->counts ? count : variable, s->to);
	return ++s->total < PARTS_MAX;
}

/* Writes the executions of components, as a list of pairs of a component and a variable, and then one of pairs of a component and a count.
 * Returns false if the lists were cut at PARTS_MAX. */
static bool put_executions(struct report *r, const struct frequencies *f, FILE *to)
{
	struct parts s = { .to = to };
	bool all;

	fputs(",\"executions\":[", to);
	all = frequencies_walk_executions(r, f, put_part, &s);
	s.counts = true;
	s.nr = 0;
	fputs("],\"entries\":[", to);
	all = all && frequencies_walk_executions(r, f, put_part, &s);
	fputc(']', to);
	return all;
}

/* Write the functions of generated code that have a component, as a list of pairs of a function and its component. */
static void put_function_names(const struct report *r, const struct frequencies *f, FILE *to)
{
	const char *comma = "";

	fputs(",\"named\":[", to);
	for (uint32_t i = 1; i < r->a->nr_functions; i++) {
		const uint32_t c = r->a->function[i].jit ? frequencies_find_component(r, f, r->a->function[i].name) : COMPONENT_NONE;

		if (!c)
			continue;
		fprintf(to, "%s%u,%u", comma, i, c);
		comma = ",";
	}
	fputc(']', to);
}

void html_put_flow(const struct html_trace *t, FILE *to)
{
	const struct frequencies *f = frequencies_of_report(t->report);

	if (!f || (!f->nr_known && !f->program.functions.nr))
		return;
	fputs("\"flow\":{", to);
	put_functions(f, to);
	put_arcs(&f->program, to);
	put_calls(&f->program, to);
	put_counters(&f->program, to);
	put_function_names(t->report, f, to);
	fprintf(to, ",\"complete\":%s},\n", put_executions(t->report, f, to) ? "true" : "false");
}
