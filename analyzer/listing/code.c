/* SPDX-License-Identifier: MIT */
/*
 * Shows the view code: the cost of code generation beside that of execution. It has code objects with their bytes and samples,
 * recompilation, compilation time from the host's marks, and unregistered executable memory with the code that mapped it.
 */
#include "analyzer/listing/code_queries.h"

#include <stdlib.h>
#include <string.h>

static void prepare_code_view(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, 0, TABLE_CODE, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, 0, TABLE_CODE, TABLE_MODE, -1);
}

struct code_cost {
	const struct code *code;
	const char *name;
	double measure, samples;
	uint64_t bytes;
	size_t nr_functions;
	uint32_t times; /* number of this version: how many code objects of this name the process has had up to this one */
};

static int compare_code_names(const void *a, const void *b)
{
	const struct code_cost *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (x->code->process != y->code->process)
		return x->code->process < y->code->process ? -1 : 1;
	return c ? c : x->code->number < y->code->number ? -1 : x->code->number > y->code->number;
}

static int compare_code_measures(const void *a, const void *b)
{
	const struct code_cost *x = a, *y = b;

	if (x->measure < y->measure || x->measure > y->measure)
		return x->measure > y->measure ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->code->number < y->code->number ? -1 : x->code->number > y->code->number;
}

/* Set the name, bytes and functions of a code object. One with several functions gets the name of its first function. */
static void describe_code_object(struct code_cost *o)
{
	struct elf_section text;

	o->name = o->code->name && *o->code->name ? o->code->name : "(no name)";
	o->bytes = o->code->bytes;
	o->nr_functions = 1;
	if (o->code->kind != CODE_ELF)
		return;
	o->bytes = 0;
	for (size_t i = 0; elf_get_text(o->code->elf, i, &text); i++)
		o->bytes += text.bytes;
	o->nr_functions = elf_nr_functions(o->code->elf);
	if (o->nr_functions)
		o->name = elf_get_function(o->code->elf, 0).name;
}

static struct code_cost *list_code_objects(const struct report *r, const struct split *s, uint32_t *nr)
{
	const struct model *m = r->model;
	struct code_cost *o = calloc((size_t)m->codes.nr + 1, sizeof(*o));
	uint32_t n = 0;

	for (uint32_t i = 0; o && i < m->codes.nr; i++) {
		if (m->codes.at[i]->kind != CODE_LOAD && m->codes.at[i]->kind != CODE_ELF)
			continue;
		o[n].code = m->codes.at[i];
		describe_code_object(&o[n]);
		if (i + 1 < s->nr) {
			o[n].measure = report_measure(r, &s->sum[r->event][i + 1]);
			o[n].samples = s->sum[r->event][i + 1].samples;
		}
		n++;
	}
	if (n)
		qsort(o, n, sizeof(*o), compare_code_names);
	for (uint32_t i = 0, first = 0; i < n; i++) {
		if (o[i].code->process != o[first].code->process || strcmp(o[i].name, o[first].name) != 0)
			first = i;
		o[i].times = i - first + 1;
	}
	*nr = n;
	return o;
}

static void show_objects(struct report *r, const struct split *s, struct code_cost *o, uint32_t nr, struct page *p)
{
	struct grid *g = grid_create("objects", "Code objects: %u", nr);
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int bytes = grid_column(g, "bytes", "bytes", CELL_NUMBER, GRID_REST, 0);
	int from = grid_column(g, "from_ns", "since", CELL_DURATION, 0, 0);
	int functions = grid_column(g, "functions", "functions", CELL_COUNT, GRID_REST, 0);
	int version = grid_column(g, "version", "version", CELL_COUNT, 0, 0);
	int pid = grid_column(g, "process", "", CELL_COUNT, GRID_HIDDEN, 0);
	int address = grid_column(g, "address", "", CELL_HEX, GRID_HIDDEN, 0);
	int name = grid_column(g, "name", "first function", CELL_TEXT, 0, 0);

	grid_set_total(g, share, report_measure(r, &s->total[r->event]));
	grid_mark_tree_column(g, share);
	grid_set_total(g, samples, s->total[r->event].samples);
	qsort(o, nr, sizeof(*o), compare_code_measures);
	for (uint32_t i = 0; i < nr; i++) {
		char *function = attribution_name_of_symbol(r->a, o[i].name);

		grid_row(g);
		grid_set(g, share, o[i].measure);
		grid_set(g, samples, o[i].samples);
		grid_set(g, bytes, (double)o[i].bytes);
		if (o[i].code->from_ns)
			grid_set(g, from, (double)o[i].code->from_ns - (double)r->a->first_ns);
		grid_set(g, functions, (double)o[i].nr_functions);
		grid_set(g, version, o[i].times);
		grid_set(g, pid, r->model->numbered.at[o[i].code->process]->pid);
		grid_set_address(g, address, o[i].code->address);
		grid_set_text(g, name, function ? function : "");
		free(function);
	}
	grid_show(g, p);
}

/* Compute two shares of all samples, which are in user mode: those in generated code, as the report's first sentences count it, and those
 * in code that no JIT registered. */
static void sum_generated_shares(const struct report *r, const struct report_group *by, double *generated, double *unregistered)
{
	double total = report_measure(r, &by->g.total);

	*generated = *unregistered = 0;
	for (uint32_t i = 0; i < by->g.nr && total > 0; i++) {
		uint32_t number = report_value(by, i, 0);
		const struct code *c = number && number <= r->model->codes.nr ? r->model->codes.at[number - 1] : NULL;
		double share = report_measure(r, &by->g.sum[i]) / total;

		if (report_value(by, i, 1) != SAMPLE_MODE_USER)
			continue;
		if (!c || c->kind == CODE_REGION)
			*unregistered += share;
		if (c && (c->kind != CODE_IMAGE || c->generated))
			*generated += share;
	}
}

/* Show how much code was generated, and how long compilation and execution took by the host's marks. */
static void show_compilation_cost(struct report *r, const struct report_group *by, const struct code_cost *o, uint32_t nr, struct page *p)
{
	const struct model *m = r->model;
	double compile_ns = 0, run_ns = 0, runs = 0, compiles = 0, bytes = 0, generated, unregistered, again = 0;
	struct grid *g = grid_create("cost", "Code generation and execution");
	int value = grid_column(g, "value", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int shown = grid_column(g, "shown", "", CELL_TEXT, GRID_TEXT_ONLY, 12);
	int what = grid_column(g, "what", "", CELL_TEXT, 0, 0);
	int key = grid_column(g, "key", "", CELL_TEXT, GRID_HIDDEN, 0);
	char text[16];

	sum_generated_shares(r, by, &generated, &unregistered);
	for (uint32_t i = 0; i < nr; i++) {
		bytes += (double)o[i].bytes;
		again += o[i].times > 1;
	}
	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		double ns = code_mark_ns(r, k);

		if (k->name && code_mark_is_compiling(k)) {
			compile_ns += ns;
			compiles++;
		} else if (k->name && code_mark_is_run(r, k)) {
			run_ns += ns;
			runs++;
		}
	}
	grid_show_all_rows(g);
#define ROW_(k, v, text_, sentence) \
	do { \
		grid_row(g); \
		grid_set(g, value, v); \
		grid_set_text(g, shown, text_); \
		grid_set_text(g, what, sentence); \
		grid_set_text(g, key, k); \
	} while (0)
	ROW_("bytes", bytes, grid_short_number(bytes, text), "bytes of generated code");
	ROW_("objects", nr, grid_short_number(nr, text), "code objects");
	ROW_("recompiled", again, grid_short_number(again, text), "of them recompiled (an earlier object has the same name)");
	snprintf(text, sizeof(text), "%.1f %%", grid_percent(generated));
	ROW_("generated_share", generated, text, "of all samples in generated code");
	snprintf(text, sizeof(text), "%.1f %%", grid_percent(unregistered));
	if (unregistered > 0)
		ROW_("unregistered_share", unregistered, text, "... in executable memory that no JIT registered");
	if (compiles > 0)
		ROW_("compile_ns", compile_ns, grid_duration(compile_ns, text), "compilation (marks)");
	if (runs > 0)
		ROW_("run_ns", run_ns, grid_duration(run_ns, text), "execution (marks)");
	if (compiles > 0 && bytes > 0)
		ROW_("compile_ns_per_byte", compile_ns / bytes, grid_duration(compile_ns / bytes, text), "compilation per byte of code");
	if (compiles > 0 && runs > 0 && run_ns > 0)
		ROW_("break_even_runs", compile_ns / compiles / (run_ns / runs),
		     grid_short_number(compile_ns / compiles / (run_ns / runs), text), "executions needed to amortize compilation");
#undef ROW_
	grid_show(g, p);
}

/* ----------------------------------------------------------------------------------------------------- unregistered code */

static void add_unregistered(struct grid *g, const int column[6], const struct report *r, const struct code *c,
			    const struct group_sum *sum)
{
	grid_row(g);
	grid_set(g, column[0], report_measure(r, sum));
	grid_set(g, column[1], sum->samples);
	if (c) {
		grid_set(g, column[2], r->model->numbered.at[c->process]->pid);
		grid_set_address(g, column[3], c->address);
		grid_set(g, column[4], (double)c->bytes);
	}
	grid_set_text(g, column[5], c ? c->name : "(unknown)");
}

static void show_unregistered(struct report *r, const struct report_group *by, struct page *p)
{
	struct grid *g = grid_create("unregistered", "Unregistered executable memory with samples");
	uint32_t *order = report_order(r, by);
	struct group_sum nowhere = { 0 };
	int column[6];

	column[0] = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	column[1] = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	column[2] = grid_column(g, "process", "pid", CELL_COUNT, 0, 0);
	column[3] = grid_column(g, "address", "address", CELL_HEX, 0, 0);
	column[4] = grid_column(g, "bytes", "bytes", CELL_NUMBER, 0, 0);
	column[5] = grid_column(g, "mapper", "mapped by", CELL_TEXT, 0, 0);
	grid_set_total(g, column[0], report_measure(r, &by->g.total));
	grid_mark_tree_column(g, column[0]);
	grid_set_total(g, column[1], by->g.total.samples);
	for (uint32_t i = 0; order && i < by->g.nr; i++) {
		uint32_t number = report_value(by, order[i], 0);
		const struct code *c = number && number <= r->model->codes.nr ? r->model->codes.at[number - 1] : NULL;

		if (report_value(by, order[i], 1) != SAMPLE_MODE_USER)
			continue;
		if (c && c->kind == CODE_REGION)
			add_unregistered(g, column, r, c, &by->g.sum[order[i]]);
		else if (!c)
			group_sum_add(&nowhere, &by->g.sum[order[i]]);
	}
	if (nowhere.samples > 0)
		add_unregistered(g, column, r, NULL, &nowhere);
	free(order);
	grid_show(g, p);
}

static void show_code_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct code_cost *o = NULL;
	struct split s;
	uint32_t nr = 0;

	if (split_make(r, v->group[0], &s))
		o = list_code_objects(r, &s, &nr);
	if (o) {
		show_compilation_cost(r, v->group[1], o, nr, p);
		code_show_queries(r, p);
		show_objects(r, &s, o, nr, p);
	}
	free(o);
	split_fini(&s);
	show_unregistered(r, v->group[1], p);
}

const struct view view_code = { "code", "cost of code generation, code objects, unregistered executable memory", prepare_code_view,
				show_code_view };
