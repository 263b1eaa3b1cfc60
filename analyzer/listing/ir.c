/* SPDX-License-Identifier: MIT */
/*
 * Shows the view ir: the whole text that code was generated from (IR, query, script), line by line, with the share of each line, its
 * operator, and the sum of each basic block beside its label (A. Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels,
 * EuroSys 2021, figure 6b). With --hottest, it shows the hottest lines. Of a script's file only the lines near samples are shown.
 */
#include "analyzer/listing/event_columns.h"
#include "analyzer/query/frequencies.h"
#include "analyzer/source/source_text.h"
#include "analyzer/view/view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LINE_TEXT_MAX 400
#define OWNERS_TEXT_MAX 256
#define AROUND 3u /* lines of a file that are shown before and behind each line with samples */
#define COLD 0.01
#define WIDE 110 /* columns from which a terminal has room for a line's pipeline, too */

/* Add the groups of sums: by component for each level that lines of a text belong to, and by line (file and number) for texts whose lines
 * are no components. */
static void prepare_ir_view(struct report *r, struct view_instance *v)
{
	const struct model *m = r->model;
	uint64_t asked = 0;
	int nr = 1;

	v->group[0] = report_add_group(r, 0, TABLE_LINE, TABLE_EVENT, -1);
	for (uint32_t i = 0; i < m->sources.nr; i++)
		if (m->sources.at[i].level < LEVELS_MAX && !(asked & (1u << m->sources.at[i].level)) && nr < VIEW_GROUPS_MAX) {
			asked |= 1u << m->sources.at[i].level;
			v->group[nr++] = report_add_group(r, 0, TABLE_LEVEL_0 + (int)m->sources.at[i].level, TABLE_EVENT, -1);
		}
}

struct text_line {
	uint32_t number, component;
	const struct group_sum *sum[VIEW_EVENTS_MAX];
	double block; /* measure of the basic block that begins at this line; < 0: none begins here */
	const char *text; /* NULL: the text of this line is not known */
	size_t bytes;
};

struct listing {
	struct report *r;
	const struct source *s;
	const struct line *file; /* some line of the script's file that is shown; NULL: the text is one that the host registered */
	const struct split *split;
	const struct frequencies *counts; /* may be NULL */
	bool by_line; /* split is by TABLE_LINE, because lines are no components */
	struct text_line *line;
	uint32_t nr;
	double total, samples;
	bool executed; /* the host counts how often some of the lines run */
	uint32_t *line_index; /* with by_line: by line of the text, the number in TABLE_LINE; 0: no samples */
};

/* Return whether a basic block begins at this line. In LLVM's text, a line "name:" begins one, and the head of a function begins its first
 * block. */
static bool begins_block(const struct text_line *l)
{
	size_t i = 0;

	if (l->bytes > 7 && strncmp(l->text, "define ", 7) == 0)
		return true;
	while (i < l->bytes && (isalnum((unsigned char)l->text[i]) || strchr("._-$", l->text[i])))
		i++;
	return i > 0 && i < l->bytes && l->text[i] == ':';
}

static const char *text_of_line(const struct listing *l, uint32_t number, size_t *bytes)
{
	return l->file ? source_text_find(l->r, NULL, l->file->file, number, bytes) : source_line(l->s, number, bytes);
}

static void fill_lines(struct listing *l)
{
	static const struct group_sum none;
	const struct report *r = l->r;
	struct text_line *block = NULL;

	for (uint32_t n = 0; n < l->nr; n++) {
		struct text_line *line = &l->line[n];
		uint32_t value;

		line->number = n + 1;
		line->text = text_of_line(l, n + 1, &line->bytes);
		line->component = l->s->level < LEVELS_MAX ? dictionary_find_component(&r->model->dictionary, l->s->process, l->s->level,
										       l->s->first_component + n + 1) :
							     COMPONENT_NONE;
		value = l->by_line ? l->line_index[n] : line->component;
		for (int e = 0; e < VIEW_EVENTS_MAX; e++)
			line->sum[e] = value && value < l->split->nr ? &l->split->sum[e][value] : &none;
		line->block = -1;
		if (!l->file && begins_block(line)) {
			block = line;
			block->block = 0;
		}
		if (block)
			block->block += report_measure(r, line->sum[r->event]);
		if (line->bytes && line->text[0] == '}')
			block = NULL;
		l->total += report_measure(r, line->sum[r->event]);
		l->samples += line->sum[r->event]->samples;
		l->executed |= frequency_of_component(l->counts, line->component) != NULL;
	}
}

#define LINES_A_STEP 8

/* The sums of the view's groups are split by event. Each split is made when the first text needs it. */
struct splits {
	struct split split[VIEW_GROUPS_MAX];
	bool made[VIEW_GROUPS_MAX];
};

static const struct split *get_group_split(const struct report *r, const struct view_instance *v, struct splits *s, int group)
{
	bool ok = s->made[group] || split_make(r, v->group[group], &s->split[group]);

	s->made[group] = true;
	return ok && s->split[group].order ? &s->split[group] : NULL;
}

static bool line_is_of_text(const struct listing *l, const struct line *line)
{
	if (!line->number || line->number > l->nr)
		return false;
	if (l->file)
		return line->jit == l->file->jit && strcmp(line->file, l->file->file) == 0;
	return l->s->name && strcmp(basename(line->file), basename(l->s->name)) == 0;
}

static bool listing_make(struct report *r, const struct view_instance *v, const struct source *s, const struct line *file,
			 struct splits *splits, struct listing *l)
{
	int g = 0;

	memset(l, 0, sizeof(*l));
	l->r = r;
	l->s = s;
	l->file = file;
	l->counts = frequencies_of_report(r);
	l->by_line = s->level == LEVELS_MAX;
	for (int i = 1; i < VIEW_GROUPS_MAX && v->group[i]; i++)
		if (!l->by_line && v->group[i]->g.key[0] == TABLE_LEVEL_0 + s->level)
			g = i;
	l->nr = (uint32_t)s->nr_lines;
	l->line = calloc((size_t)l->nr + 1, sizeof(*l->line));
	l->line_index = calloc((size_t)l->nr + 1, sizeof(*l->line_index));
	l->split = get_group_split(r, v, splits, g);
	if (!l->line || !l->line_index || !(s->line_start || file) || !l->split ||
	    !report_spend(r, (l->nr + (l->by_line ? r->a->nr_lines : 0)) / LINES_A_STEP + 1))
		return false;
	for (uint32_t i = 1; l->by_line && i < r->a->nr_lines; i++)
		if (line_is_of_text(l, &r->a->line[i]))
			l->line_index[r->a->line[i].number - 1] = i;
	fill_lines(l);
	return true;
}

static void listing_fini(struct listing *l)
{
	free(l->line);
	free(l->line_index);
}

static int compare_line_costs(const void *a, const void *b, void *context)
{
	const struct listing *l = context;
	const struct text_line *x = a, *y = b;
	double p = report_measure(l->r, x->sum[l->r->event]), q = report_measure(l->r, y->sum[l->r->event]);

	if (p < q || p > q)
		return p > q ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct ir_columns {
	int block, plan, other, number, text, source;
	struct event_columns events;
	uint32_t plan_level, other_level;
	struct frequency_columns counts;
};

static void add_ir_columns(struct grid *g, struct ir_columns *c, struct report *r, const struct listing *l, const struct page *p)
{
	c->plan = c->other = -1;
	c->events = event_columns_add(g, r, l->split->total, GRID_REST);
	c->counts = frequency_columns_add(g, r, false);
	c->block = grid_column(g, "block", "block", CELL_PERCENT, 0, 0);
	c->plan_level = l->s->level < LEVELS_MAX ? report_find_level(r, NULL) : LEVELS_MAX;
	c->other_level = l->s->level < LEVELS_MAX ? report_find_level(r, "pipeline") : LEVELS_MAX;
	if (c->plan_level != LEVELS_MAX)
		c->plan = grid_column(g, report_level_name(r, c->plan_level), report_level_name(r, c->plan_level), CELL_TEXT,
				      GRID_NAME, 16);
	if (c->other_level != LEVELS_MAX && c->other_level != c->plan_level)
		c->other = grid_column(g, report_level_name(r, c->other_level), report_level_name(r, c->other_level), CELL_TEXT,
				       p->columns >= WIDE ? 0 : GRID_HIDDEN, 24);
	c->source = grid_column(g, "source", "", CELL_TEXT, GRID_HIDDEN, 0);
	c->number = grid_column(g, "line", "line", CELL_COUNT, 0, 0);
	c->text = grid_column(g, "text", "text", CELL_TEXT, 0, 0);
}

static const char *owners_of_line(const struct report *r, const struct text_line *line, uint32_t level, char text[OWNERS_TEXT_MAX])
{
	*text = 0;
	if (line->component)
		report_owners(r, line->component, level, line->sum[r->event]->samples > 0, text, OWNERS_TEXT_MAX);
	return text;
}

static void add_line_row(struct grid *g, const struct ir_columns *c, const struct listing *l, const struct text_line *line)
{
	const struct report *r = l->r;
	char text[LINE_TEXT_MAX], text_of_owners[OWNERS_TEXT_MAX];
	size_t bytes = line->bytes < sizeof(text) - 1 ? line->bytes : sizeof(text) - 1;

	for (size_t i = 0; i < bytes; i++)
		text[i] = line->text[i] == '\t' || line->text[i] == 0 ? ' ' : line->text[i];
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	text[bytes] = 0;
	grid_row(g);
	event_columns_set(g, &c->events, r, line->sum);
	if (line->component && frequency_of_component(c->counts.of, line->component))
		frequency_columns_set(g, &c->counts, line->component, line->sum[r->event]);
	else
		frequency_columns_blank(g, &c->counts);
	if (line->block > 0 && l->total > 0)
		grid_set(g, c->block, line->block / report_measure(r, &l->split->total[r->event]));
	else
		grid_set_blank(g, c->block);
	if (c->plan >= 0)
		grid_set_text(g, c->plan, owners_of_line(r, line, c->plan_level, text_of_owners));
	if (c->other >= 0)
		grid_set_text(g, c->other, owners_of_line(r, line, c->other_level, text_of_owners));
	grid_set_text(g, c->source, l->s->name);
	grid_set(g, c->number, line->number);
	grid_set_text(g, c->text, text);
}

/* Return whether the line of a file is near samples. For lines of registered texts it is always true. The caller goes through the lines in
 * their order, and *next, which is 0 first, becomes the next line with samples. */
static bool line_is_near_samples(const struct listing *l, uint32_t n, uint32_t *next)
{
	if (!l->file)
		return true;
	for (*next = *next > n ? *next : n; *next < l->nr && l->line[*next].sum[l->r->event]->samples <= 0;)
		++*next;
	if (*next == n)
		return true;
	if (!l->line[n].text)
		return false;
	if (*next < l->nr && *next - n <= AROUND)
		return true;
	for (uint32_t back = 1; back <= AROUND && back <= n; back++)
		if (l->line[n - back].sum[l->r->event]->samples > 0)
			return true;
	return false;
}

static void show_listing(struct report *r, struct listing *l, bool hottest, struct page *p)
{
	double all = report_measure(r, &l->split->total[r->event]);
	struct grid *g = grid_create("ir", "%s of process %u: %.1f %% of all samples (%.0f)", l->s->name ? l->s->name : "source",
				     r->model->numbered.at[l->s->process]->pid, all > 0 ? 100 * l->total / all : 0, l->samples);
	struct ir_columns c;
	uint32_t next = 0;

	add_ir_columns(g, &c, r, l, p);
	if (hottest)
		qsort_r(l->line, l->nr, sizeof(*l->line), compare_line_costs, l);
	else
		grid_show_all_rows(g);
	for (uint32_t n = 0; n < l->nr; n++)
		if (hottest ? l->line[n].sum[r->event]->samples > 0 : line_is_near_samples(l, n, &next))
			add_line_row(g, &c, l, &l->line[n]);
	grid_show(g, p);
}

/* Return one line of each script's file that has samples, and whose text is known but not registered. The caller frees the list. Return
 * NULL if memory runs out. */
static const struct line **find_files(struct report *r, uint32_t *nr)
{
	const struct line **of = calloc((size_t)r->a->nr_lines + 1, sizeof(*of));
	struct hash_map seen = { 0 };
	bool newer;

	*nr = 0;
	for (uint32_t i = 1; of && i < r->a->nr_lines; i++) {
		const struct line *l = &r->a->line[i];

		if (!l->jit || hash_map_find(&seen, hash_text(l->file), 0) || !source_text_is_of_file(r, i, &newer))
			continue;
		hash_map_set(&seen, hash_text(l->file), 0, 1);
		of[(*nr)++] = l;
	}
	hash_map_fini(&seen);
	return of;
}

static void show_ir_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct splits *splits = calloc(1, sizeof(*splits));
	uint32_t shown = 0, quiet = 0, cold = 0, nr_files;
	const struct line **file;

	view_ask_for_hottest_text(r, v->group[0]);
	file = find_files(r, &nr_files);

	for (uint32_t i = 0; splits && i < r->model->sources.nr; i++) {
		struct listing l;

		if (listing_make(r, v, &r->model->sources.at[i], NULL, splits, &l)) {
			if (l.samples > 0 || l.executed) {
				show_listing(r, &l, v->options.hottest, p);
				shown++;
			} else {
				quiet++;
			}
		}
		listing_fini(&l);
	}
	for (uint32_t i = 0; splits && file && i < nr_files; i++) {
		const struct source s = { .name = file[i]->file, .level = LEVELS_MAX, .nr_lines = source_text_nr_lines(r, file[i]),
					  .process = file[i]->code ? file[i]->code->process : 0 };
		struct listing l;

		if (listing_make(r, v, &s, file[i], splits, &l) && l.samples > 0) {
			if (p->form == PAGE_TEXT && p->top && l.total < COLD * report_measure(r, &l.split->total[r->event]))
				cold++;
			else
				show_listing(r, &l, v->options.hottest, p);
			shown++;
		}
		listing_fini(&l);
	}
	free(file);
	for (int i = 0; splits && i < VIEW_GROUPS_MAX; i++)
		split_fini(&splits->split[i]);
	free(splits);
	if (quiet)
		page_sentence(p, "(%u text%s without samples omitted)", quiet, quiet == 1 ? "" : "s");
	if (cold)
		page_sentence(p, "(%u files with less than %.0f %% of all samples each omitted; --top 0 shows all)", cold, 100 * COLD);
	view_say_source_texts(r, p);
	if (!shown)
		page_sentence(p, "No listing: the host registered no text of its generated code, or no line of it has samples.");
}

const struct view view_ir = { "ir", "the IR, query or script line by line with shares (--hottest: the hottest lines)", prepare_ir_view,
			      show_ir_view };
