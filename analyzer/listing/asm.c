/* SPDX-License-Identifier: MIT */
/*
 * Shows the view asm: the machine code of the hottest functions, with samples per instruction, the source lines between the instructions,
 * and arrows for jumps, from the trace alone. With --hottest, it shows the hottest instructions of each function instead.
 */
#include "analyzer/listing/disassembly.h"
#include "analyzer/listing/event_columns.h"
#include "analyzer/query/code_bytes.h"
#include "analyzer/source/source_text.h"
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

static void prepare_asm_view(struct report *r, struct view_instance *v)
{
	v->group[0] = hits_ask_group(r, 0);
	v->group[1] = report_add_group(r, 0, TABLE_IMAGE, -1);
}

struct asm_columns {
	int address, offset, arrows, text, function, file, line, source, target;
	struct event_columns events;
	struct frequency_columns counts;
};

static void add_asm_columns(struct grid *g, struct asm_columns *c, struct report *r, const struct group_sum total[VIEW_EVENTS_MAX])
{
	c->events = event_columns_add(g, r, total, 0);
	c->counts = frequency_columns_add(g, r, false);
	c->function = grid_column(g, "function", "", CELL_TEXT, GRID_HIDDEN, 0);
	c->address = grid_column(g, "address", "", CELL_HEX, GRID_HIDDEN, 0);
	c->offset = grid_column(g, "offset", "offset", CELL_HEX, 0, 0);
	c->arrows = grid_column(g, "arrows", "", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, DISASSEMBLY_LANES + 1);
	c->text = grid_column(g, "text", "instruction, line", CELL_TEXT, 0, 0);
	c->file = grid_column(g, "file", "", CELL_TEXT, GRID_HIDDEN, 0);
	c->line = grid_column(g, "line", "", CELL_COUNT, GRID_HIDDEN, 0);
	c->source = grid_column(g, "source_text", "", CELL_TEXT, GRID_HIDDEN, 0);
	c->target = grid_column(g, "target", "", CELL_HEX, GRID_HIDDEN, 0);
}

static void blank_row(struct grid *g, const struct asm_columns *c)
{
	grid_row(g);
	event_columns_blank(g, &c->events);
	grid_set_blank(g, c->offset);
	frequency_columns_blank(g, &c->counts);
}

static void add_source_line(struct grid *g, const struct asm_columns *c, struct report *r, const struct hot *h,
			    const struct step *s, const char *arrows)
{
	char text[SOURCE_TEXT_COLUMNS_MAX], row[SOURCE_TEXT_COLUMNS_MAX + 64];
	size_t bytes;
	const char *line = source_text_find(r, h->place.code, s->file, s->line, &bytes);

	snprintf(row, sizeof(row), "%.40s:%u  %s", basename(s->file), s->line, source_text_cut(line, bytes, text));
	blank_row(g, c);
	grid_set_text(g, c->arrows, arrows);
	grid_set_text(g, c->text, row);
	grid_mark_row_text(g);
}

static void set_executions(struct grid *g, const struct asm_columns *c, const struct report *r, const struct hot *h,
			   const struct step *s)
{
	struct frequency f;

	if (c->counts.executions < 0 || !step_executions(r, c->counts.of, h, s, &f))
		return;
	grid_set(g, c->counts.executions, (double)f.count);
	grid_set_text(g, c->counts.state, frequency_state_name(f.state));
	if (f.count && s->sum[r->event]->weight > 0)
		grid_set(g, c->counts.per, s->sum[r->event]->weight / (double)f.count);
}

static void add_instruction_row(struct grid *g, const struct asm_columns *c, struct report *r, const struct hot *h,
				const struct step *s, const char *arrows, bool indent)
{
	char text[STEP_TEXT_MAX], line[SOURCE_TEXT_COLUMNS_MAX];
	const char *source;
	size_t bytes;

	blank_row(g, c);
	event_columns_set(g, &c->events, r, s->sum);
	set_executions(g, c, r, h, s);
	grid_set_address(g, c->address, s->address);
	grid_set_address(g, c->offset, s->address - h->place.start);
	grid_set_text(g, c->arrows, arrows);
	if (indent)
		grid_set_prefix(g, c->text, "  ");
	grid_set_text(g, c->text, step_text(r, h, s, text));
	grid_set_text(g, c->function, h->name);
	if (s->file) {
		grid_set_text(g, c->file, s->file);
		grid_set(g, c->line, s->line);
		source = source_text_find(r, h->place.code, s->file, s->line, &bytes);
		if (source)
			grid_set_text(g, c->source, source_text_cut(source, bytes, line));
	}
	if (s->to >= 0)
		grid_set_address(g, c->target, s->insn.target - h->place.start);
}

static int compare_step_costs(const void *a, const void *b, void *report)
{
	const struct report *r = report;
	const struct step *x = a, *y = b;
	double p = report_measure(r, x->sum[r->event]), q = report_measure(r, y->sum[r->event]);

	if (p < q || p > q)
		return p > q ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void show_asm_of_function(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				 const struct hit *hit, bool hottest, struct page *p)
{
	char title[400];
	struct grid *g = grid_create("asm", "%s: %.0f samples", (hot_title(h, title, sizeof(title)), title), h->samples);
	char arrows[4 * (DISASSEMBLY_LANES + 2)];
	const char *file = NULL;
	uint32_t line = 0;
	struct asm_columns c;
	struct step *s;
	int nr;

	add_asm_columns(g, &c, r, total);
	s = disassemble_hot_function(h, hit, &nr);
	if (hottest && s) {
		for (int i = 0; i < nr; i++)
			s[i].lane = 0;
		qsort_r(s, (size_t)nr, sizeof(*s), compare_step_costs, r);
	} else {
		grid_show_all_rows(g);
	}
	for (int i = 0; s && i < nr; i++) {
		bool new_line = s[i].file && s[i].line && (!file || s[i].line != line || strcmp(s[i].file, file) != 0);

		if (hottest && s[i].sum[r->event]->samples <= 0)
			continue;
		if (new_line && !hottest) {
			disassembly_arrows(s, nr, i, true, p->utf8, arrows);
			add_source_line(g, &c, r, h, &s[i], arrows);
		}
		file = s[i].file;
		line = s[i].line;
		disassembly_arrows(s, nr, i, false, p->utf8, arrows);
		add_instruction_row(g, &c, r, h, &s[i], hottest ? "" : arrows, !hottest);
	}
	free(s);
	grid_show(g, p);
}

/* Report it if code bytes were read from memory after the first sample in them, because they may be of another version of the code. */
static void print_when_bytes_were_read(const struct report *r, const struct hot *h, const struct hit *hit, struct page *p)
{
	uint64_t first_ns = UINT64_MAX;
	char text[16];

	for (uint32_t i = h->first; i < h->first + h->nr; i++)
		if (hit[i].event == r->event && hit[i].sum->samples > 0 && hit[i].sum->first_ns < first_ns)
			first_ns = hit[i].sum->first_ns;
	if (h->place.read_ns > first_ns)
		page_sentence(p, "(These bytes were read from memory %s after the first sample in them; an earlier version of the code "
			      "is not shown.)",
			      grid_duration((double)(h->place.read_ns - first_ns), text));
}

static void show_asm_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct report_group *by = v->group[0];
	double all = 0, known = 0, cold = 0;
	uint32_t nr_hits, nr_hot, shown;
	struct hit *hit = hits_make_all(r, by, &nr_hits, &all);
	struct group_sum total[VIEW_EVENTS_MAX];
	struct hot *hot = NULL;

	nr_hot = nr_hits ? hot_find(r, hit, nr_hits, &hot) : 0;
	for (uint32_t i = 0; i < nr_hot; i++)
		known += hot[i].measure;
	event_columns_total(by, HITS_EVENT, total);
	shown = hot_count_shown(hot, nr_hot, all, p);
	hot_read_code_bytes(r, hot, shown);
	for (uint32_t i = 0; i < shown; i++) {
		if (hot[i].place.bytes)
			show_asm_of_function(r, total, &hot[i], hit, v->options.hottest, p);
		if (hot[i].place.bytes && hot[i].place.read_ns)
			print_when_bytes_were_read(r, &hot[i], hit, p);
		if (!hot[i].place.bytes)
			page_sentence(p, "The trace has no code bytes of %s.", hot[i].name);
		free(hot[i].place.bytes);
	}
	for (uint32_t i = shown; i < nr_hot; i++)
		cold += hot[i].measure;
	if (nr_hot > shown)
		page_sentence(p, "(%u colder functions with %.1f %% of all samples omitted; --top 0 shows more)", nr_hot - shown,
			      all > 0 ? 100 * cold / all : 0);
	if (model_is_foreign(r->model))
		page_sentence(p, "(the trace is of %.16s, whose machine code is not supported; --view functions and lines are there)",
			      r->model->machine);
	else if (all > known && r->model->files.functions.nr)
		page_sentence(p, "(%.1f %% of all samples are in code of which the trace has no bytes: the kernel's, functions with a "
			      "single sample, and those beyond the limit of --image-code)", 100 * (all - known) / all);
	else if (all > known)
		page_sentence(p, "(%.1f %% of all samples are outside generated code; the trace has code bytes of generated code only)",
			      100 * (all - known) / all);
	view_say_source_texts(r, p);
	view_say_without_lines(r, v->group[1], p);
	free(hit);
	free(hot);
}

const struct view view_asm = { "asm", "machine code of functions with samples, lines and jumps (--function, --hottest)", prepare_asm_view,
			       show_asm_view };
