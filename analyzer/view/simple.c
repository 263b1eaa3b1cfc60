/* SPDX-License-Identifier: MIT */
/*
 * This file has the views that consist of little more than one table, which are functions, images, lines, processes, services, methods,
 * reasons and warnings.
 */
#include "analyzer/leading/leading.h"
#include "analyzer/leading/own_code.h"
#include "analyzer/query/frequencies.h"
#include "analyzer/query/warnings.h"
#include "analyzer/query/without_debug.h"
#include "analyzer/view/period_bias.h"
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- functions */
/* The view functions shows functions by share, with the running sum of the shares in a column, which text has only without totals. */

static void functions_prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, 0, TABLE_FUNCTION, TABLE_EVENT, -1);
	v->group[1] = totals_ask(r, 0, TABLE_FUNCTION);
}

/*
 * Returns the text shown for a function beside its image. It is the name of a symbol, of generated code or of a region, the offset of code
 * without a symbol ("+0x1234"), or "(no symbol)".
 */
static const char *function_name_beside_image(const struct function *f)
{
	const char *offset = strrchr(f->name, '+');

	if (f->symbol || f->unknown || f->jit || f->name[0] == '[')
		return f->name;
	return offset && strncmp(offset, "+0x", 3) == 0 ? offset : "(no symbol)";
}

static void functions_write_brief(const struct report *r, const struct page *p, uint32_t i, char *text, size_t bytes)
{
	const struct function *f = &r->a->function[i];
	char name[512], image[256], also[FUNCTION_ALSO];
	bool stands_for_others = *attribution_also(r->a, f, also);
	int columns = BRIEF_COLUMNS(p) - 20 - (stands_for_others ? (int)strlen(also) + 3 : 0);

	page_cut_name(p, f->name, columns > 20 ? columns : 20, name, sizeof(name));
	if (f->symbol)
		snprintf(text, bytes, "%s%s%s%s  %s", name, stands_for_others ? " (" : "", also, stands_for_others ? ")" : "",
			 page_cut_name(p, basename(r->a->image[f->image].path), 18, image, sizeof(image)));
	else
		snprintf(text, bytes, "%s%s", name, f->unknown || f->name[0] == '[' ? "" : "  (no symbol)");
}

/*
 * Checks for a function that, by the beginning of its name, starts programs or threads, and for one without a symbol that is not generated.
 * Such functions are on nearly all stacks, so their totals are large, and say nothing.
 */
static bool function_is_dull(const struct report *r, uint32_t i)
{
	static const char *const begin[] = { "_start", "__libc_start_", "start_thread", "clone", "__clone", "_dl_start" };
	const struct function *f = &r->a->function[i];

	for (size_t n = 0; n < sizeof(begin) / sizeof(begin[0]); n++)
		if (strncmp(f->name, begin[n], strlen(begin[n])) == 0)
			return true;
	return !f->symbol && !f->jit;
}

const struct view_brief brief_functions = {
	.heading = "Functions", .column = TABLE_FUNCTION, .put = functions_write_brief, .is_dull = function_is_dull
};

static bool some_stand_for_others(const struct report *r, const struct split *s)
{
	for (uint32_t i = 0; i < s->nr_order; i++)
		if (r->a->function[s->order[i]].folded || r->a->function[s->order[i]].nr_same)
			return true;
	return false;
}

static void functions_show(struct report *r, const struct view_instance *v, struct page *p)
{
	char truncated[TRUNCATED_TEXT];
	struct grid *g = grid_create("functions", "Functions%s", view_truncated(r, v->group[1], truncated));
	struct split s;

	if (split_make_with_totals(r, v->group[0], v->group[1], &s)) {
		struct sum_columns sums = sum_columns_add(g, r, &s);
		double total = report_measure(r, &s.total[r->event]), before = 0;
		struct frequency_columns counts = frequency_columns_add(g, r, true);
		int cumulative = grid_column(g, "cumulative", "sum", CELL_PERCENT, s.totals.nr ? GRID_HIDDEN : 0, 0);
		int name = grid_column(g, "name", "function", CELL_TEXT, 0, 0);
		int image = grid_column(g, "image", "image", CELL_TEXT, 0, 20);
		int path = grid_column(g, "path", "", CELL_TEXT, GRID_HIDDEN, 0);
		int generated = grid_column(g, "generated", "", CELL_COUNT, GRID_HIDDEN, 0);
		int symbol = grid_column(g, "symbol", "", CELL_COUNT, GRID_HIDDEN, 0);
		int mangled = grid_column(g, "mangled", "", CELL_TEXT, GRID_HIDDEN, 0);
		int also = some_stand_for_others(r, &s) ? grid_column(g, "also", "also", CELL_TEXT, 0, 0) : -1;
		char text[FUNCTION_ALSO];

		for (uint32_t i = 0; i < s.nr_order; i++) {
			const struct function *f = &r->a->function[s.order[i]];

			grid_row(g);
			sum_columns_set(g, &sums, r, &s, s.order[i]);
			before += report_measure(r, &s.sum[r->event][s.order[i]]);
			frequency_columns_set(g, &counts, f->jit ? frequencies_find_component(r, counts.of, f->name) : COMPONENT_NONE,
					      &s.sum[r->event][s.order[i]]);
			grid_set(g, cumulative, total > 0 ? before / total : 0);
			grid_set_text(g, name, function_name_beside_image(f));
			grid_set_text(g, image, basename(r->a->image[f->image].path));
			grid_set_text(g, path, r->a->image[f->image].path);
			grid_set(g, generated, f->jit);
			grid_set(g, symbol, f->symbol);
			if (f->mangled)
				grid_set_text(g, mangled, f->mangled);
			if (also >= 0 && *attribution_also(r->a, f, text))
				grid_set_text(g, also, text);
		}
	}
	split_fini(&s);
	grid_show(g, p);
}

const struct view view_functions = {
	"functions", "functions by share, including the kernel's", functions_prepare, functions_show
};

/* ------------------------------------------------------------------------------------------------------------- images */
/* The view images shows executables and libraries, the kernel, and generated code. */

static void images_prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, 0, TABLE_IMAGE, TABLE_EVENT, -1);
	v->group[1] = totals_ask(r, 0, TABLE_IMAGE);
}

static void images_add_columns(struct grid *g, int column[VIEW_COLUMNS])
{
	column[0] = grid_column(g, "path", "image", CELL_TEXT, 0, 0);
}

static void images_set_cells(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t i)
{
	grid_set_text(g, column[0], r->a->image[i].path);
}

static void images_write_brief(const struct report *r, const struct page *p, uint32_t i, char *text, size_t bytes)
{
	(void)p;
	snprintf(text, bytes, "%s", r->a->image[i].path);
}

const struct view_brief brief_images = { .heading = "Images", .column = TABLE_IMAGE, .put = images_write_brief };

static void images_show(struct report *r, const struct view_instance *v, struct page *p)
{
	view_show_simple_table(r, v->group[0], v->group[1], p, "images", "Images", images_add_columns, images_set_cells);
}

const struct view view_images = { "images", "executables, libraries, the kernel and generated code by share", images_prepare, images_show };

/* -------------------------------------------------------------------------------------------------------------- lines */
/* The view lines shows source lines, of the program and of the sources that it generated code from. */

static void lines_prepare(struct report *r, struct view_instance *v)
{
	const uint32_t *level = r->model->host_level;

	if (level[HOST_LEVEL_LINE] < LEVELS_MAX) {
		v->group[3] = report_add_group(r, 0, TABLE_LEVEL_0 + level[HOST_LEVEL_LINE], TABLE_EVENT, -1);
		v->group[4] = report_add_group(r, 0, TABLE_LEVEL_0 + level[HOST_LEVEL_LINE], -1);
	}
	if (level[HOST_LEVEL_FUNCTION] < LEVELS_MAX)
		v->group[5] = report_add_group(r, 0, TABLE_LEVEL_0 + level[HOST_LEVEL_FUNCTION], -1);
	v->group[0] = report_add_group(r, 0, TABLE_LINE, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, 0, TABLE_IMAGE, -1);
	v->group[2] = totals_ask(r, 0, TABLE_LINE);
}

static void lines_add_columns(struct grid *g, int column[VIEW_COLUMNS])
{
	column[0] = grid_column(g, "file", "file", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "line", "line", CELL_COUNT, 0, 0);
	column[2] = grid_column(g, "generated", "", CELL_COUNT, GRID_HIDDEN, 0);
	column[3] = grid_column(g, "kind", "", CELL_TEXT, GRID_TEXT_ONLY | GRID_DIM, 0);
	column[4] = grid_column(g, "text", "", CELL_TEXT, GRID_HIDDEN, 0);
}

static void lines_set_cells(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t i)
{
	const struct line *l = &r->a->line[i];
	char row[SOURCE_TEXT_COLUMNS_MAX];
	size_t bytes;
	const char *text = source_text_of_line(r, i, &bytes);

	grid_set_text(g, column[0], i ? l->file : "(no line)");
	if (i)
		grid_set(g, column[1], l->number);
	grid_set(g, column[2], l->jit);
	grid_set_text(g, column[3], text ? source_text_cut(text, bytes, row) : l->jit ? "(generated code)" : "");
	if (text)
		grid_set_text(g, column[4], source_text_cut(text, bytes, row));
}

static int count_characters(const char *text)
{
	int nr = 0;

	for (; *text; text++)
		nr += (*text & 0xc0) != 0x80;
	return nr;
}

/* A long text of the line is cut, so that the place of the line is seen. */
static void lines_write_brief(const struct report *r, const struct page *p, uint32_t i, char *text, size_t bytes)
{
	const struct line *l = &r->a->line[i];
	char file[512], number[40], row[SOURCE_TEXT_COLUMNS_MAX], shown[SOURCE_TEXT_COLUMNS_MAX];
	size_t nr;
	/* const is cast away, because the report caches the text that is read. */
	const char *source = source_text_of_line((struct report *)(uintptr_t)r, i, &nr);
	int columns;

	snprintf(number, sizeof(number), ":%u%s", l->number, l->jit && !source ? "  (generated code)" : "");
	columns = BRIEF_COLUMNS(p) / (source ? 2 : 1) - (int)strlen(number);
	page_cut_name(p, l->file, columns, file, sizeof(file));
	columns = BRIEF_COLUMNS(p) - count_characters(file) - (int)strlen(number) - 2;
	snprintf(text, bytes, "%s%s%s%s", file, number, source ? "  " : "",
		 page_cut(p, source_text_cut(source, nr, row), columns, shown, sizeof(shown)));
}

const struct view_brief brief_lines = { .heading = "Source lines", .column = TABLE_LINE, .first = 1, .put = lines_write_brief };

void view_say_without_lines(const struct report *r, const struct report_group *by_image, struct page *p)
{
	char cause[WITHOUT_DEBUG_TEXT], remedy[WITHOUT_DEBUG_TEXT];
	struct without_debug_list without;

	without_lines_find(r, by_image, &without);
	for (uint32_t i = 0; i < without.nr; i++)
		page_sentence(p, "(%s, %.1f %% of all samples: %s. %s)", basename(without.image[i].path),
			      100 * without.image[i].share, without_debug_cause(&without.image[i], true, cause),
			      without_debug_remedy(&without.image[i], true, remedy));
}

/* Returns the share of samples on lines of generated code. */
static double share_of_generated_lines(const struct report *r, const struct report_group *by_line)
{
	double all = 0, generated = 0;

	for (uint32_t i = 0; i < by_line->g.nr; i++) {
		const double measure = report_value(by_line, i, 1) == r->event ? report_measure(r, &by_line->g.sum[i]) : 0;

		all += measure;
		generated += r->a->line[report_value(by_line, i, 0)].jit ? measure : 0;
	}
	return all > 0 ? generated / all : 0;
}

static void language_lines_add_columns(struct grid *g, int column[VIEW_COLUMNS])
{
	column[0] = grid_column(g, "line", "line", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "function", "function", CELL_TEXT, 0, 0);
	column[2] = grid_column(g, "file", "", CELL_TEXT, GRID_HIDDEN, 0);
}

static void language_lines_set_cells(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t i)
{
	const struct component *c = &r->model->dictionary.components.at[i];
	char spare[32];

	grid_set_text(g, column[0], i ? report_component_own_name(r, i, spare) : "(no line)");
	if (c->links.nr)
		grid_set_text(g, column[1], report_component_name(r, c->links.at[0].upper, spare));
	if (i && c->detail)
		grid_set_text(g, column[2], c->detail);
}

/* Shows the lines of a language that an interpreter runs, such as Python. No sample's instruction is on such a line, so the table of source
 * lines lacks them. */
static void show_language_lines(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct dictionary *d = &r->model->dictionary;
	const double share = leading_share_with_component(r, v->group[4]);
	unsigned char *rank;

	if (share < LEADING_FROM || 2 * share_of_generated_lines(r, v->group[0]) >= share)
		return;
	rank = malloc((size_t)d->components.nr + 1);
	for (uint32_t i = 0; rank && i < d->components.nr; i++)
		rank[i] = d->components.at[i].detail && own_code_is_library_path(d->components.at[i].detail);
	view_show_ranked_table(r, v->group[3], NULL, rank, p, "language_lines", "Lines by the program's language",
			       language_lines_add_columns, language_lines_set_cells);
	free(rank);
}

static void lines_show(struct report *r, const struct view_instance *v, struct page *p)
{
	const bool of_language = leading_share_with_component(r, v->group[5]) >= LEADING_FROM;
	unsigned char *rank = own_lines_rank(r, of_language);

	view_ask_for_hottest_text(r, v->group[0]);
	if (of_language && v->group[3])
		show_language_lines(r, v, p);
	view_show_ranked_table(r, v->group[0], v->group[2], rank, p, "lines", "Source lines", lines_add_columns, lines_set_cells);
	free(rank);
	view_say_source_texts(r, p);
	view_say_without_lines(r, v->group[1], p);
}

const struct view view_lines = { "lines", "source lines by share, including those of generated code", lines_prepare, lines_show };

/* ---------------------------------------------------------------------------------------------------------- processes */
/* The view processes has one row per program in a process, because exec begins a new program with the same pid. */

static void processes_prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, 0, TABLE_PROCESS, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, 0, TABLE_THREAD, TABLE_EVENT, -1);
}

static void processes_add_columns(struct grid *g, int column[VIEW_COLUMNS])
{
	column[0] = grid_column(g, "pid", "pid", CELL_COUNT, 0, 0);
	column[1] = grid_column(g, "parent", "parent", CELL_COUNT, 0, 0);
	column[2] = grid_column(g, "comm", "name", CELL_TEXT, 0, 16);
	column[3] = grid_column(g, "executable", "executable", CELL_TEXT, 0, 0);
	column[4] = grid_column(g, "command_line", "", CELL_TEXT, GRID_HIDDEN, 0);
	column[5] = grid_column(g, "service", "", CELL_TEXT, GRID_HIDDEN, 0);
}

static void processes_set_cells(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t i)
{
	const struct process *p = r->model->numbered.at[i];

	grid_set(g, column[0], p->pid);
	if (p->parent_pid)
		grid_set(g, column[1], p->parent_pid);
	grid_set_text(g, column[2], p->comm);
	grid_set_text(g, column[3], p->executable);
	if (p->command_line)
		grid_set_text(g, column[4], p->command_line);
	if (*process_service(p))
		grid_set_text(g, column[5], process_service(p));
}

static void processes_write_brief(const struct report *r, const struct page *page, uint32_t i, char *text, size_t bytes)
{
	const struct process *p = r->model->numbered.at[i];
	char name[512];

	page_cut_name(page, *p->comm ? p->comm : p->executable, BRIEF_COLUMNS(page) - 12, name, sizeof(name));
	snprintf(text, bytes, "%u %s", p->pid, name);
}

const struct view_brief brief_processes = { .heading = "Processes", .column = TABLE_PROCESS, .put = processes_write_brief };

static void processes_show(struct report *r, const struct view_instance *v, struct page *p)
{
	struct split s;

	view_show_simple_table(r, v->group[0], NULL, p, "processes", "Processes", processes_add_columns, processes_set_cells);
	if (split_make(r, v->group[0], &s))
		period_bias_show(r, &s, v->group[1], p);
	split_fini(&s);
}

const struct view view_processes = { "processes", "processes by share, one row per program (exec begins a new one)",
				       processes_prepare, processes_show };

/* ----------------------------------------------------------------------------------------------------------- services */
/* The view services sums up the processes that work for the same service. */

static void services_prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, 0, TABLE_PROCESS, TABLE_EVENT, -1);
}

static const char *service_of_process(const struct report *r, uint32_t process)
{
	return process_service(r->model->numbered.at[process]);
}

static void services_show(struct report *r, const struct view_instance *v, struct page *p)
{
	struct grid *g = grid_create("services", "Services: systemd units, containers, names for OpenTelemetry");
	struct split s;

	if (split_make_by_text(r, v->group[0], service_of_process, &s)) {
		struct sum_columns sums = sum_columns_add(g, r, &s);
		int name = grid_column(g, "name", "name", CELL_TEXT, 0, 0);

		for (uint32_t i = 0; i < s.nr_order; i++) {
			const char *service = service_of_process(r, s.order[i]);

			grid_row(g);
			sum_columns_set(g, &sums, r, &s, s.order[i]);
			grid_set_text(g, name, *service ? service : "(no service)");
		}
	}
	split_fini(&s);
	grid_show(g, p);
}

const struct view view_services = { "services", "services by share: systemd units, containers", services_prepare, services_show };

/* ------------------------------------------------------------------------------------------------------------ methods */
/* The view methods shows how samples were attributed to components. */

static void methods_prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, REPORT_RUN, TABLE_METHOD, TABLE_EVENT, -1);
}

static void methods_add_columns(struct grid *g, int column[VIEW_COLUMNS])
{
	column[0] = grid_column(g, "method", "method", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "meaning", "component found by", CELL_TEXT, 0, 0);
}

static void methods_set_cells(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t i)
{
	(void)r;
	grid_set_text(g, column[0], i < NR_METHODS ? method_names[i] : "?");
	grid_set_text(g, column[1], i < NR_METHODS ? method_sentences[i] : "");
}

static void methods_show(struct report *r, const struct view_instance *v, struct page *p)
{
	char heading[PHASE_TEXT + 32], phase[PHASE_TEXT];

	snprintf(heading, sizeof(heading), "Attribution method%s", view_in_phase(r, phase));
	view_show_simple_table(r, v->group[0], NULL, p, "methods", heading, methods_add_columns, methods_set_cells);
}

const struct view view_methods = { "methods", "attribution methods: how samples were attributed to components", methods_prepare,
				       methods_show };

/* ------------------------------------------------------------------------------------------------------------ reasons */
/* The view reasons shows why samples have no component. */

static void reasons_prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, REPORT_RUN, TABLE_REASON, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, REPORT_RUN, TABLE_REASON, TABLE_FUNCTION, -1);
	if (report_find_level(r, r->level) == LEVELS_MAX)
		return;
	v->group[2] = report_add_group(r, REPORT_RUN, TABLE_REASON, -1);
	v->group[3] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)report_find_level(r, r->level), -1);
}

static void reasons_add_columns(struct grid *g, int column[VIEW_COLUMNS])
{
	column[0] = grid_column(g, "reason", "reason", CELL_TEXT, 0, 24);
	column[1] = grid_column(g, "meaning", "meaning", CELL_TEXT, 0, 0);
}

static void reasons_set_cells(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t i)
{
	(void)r;
	grid_set_text(g, column[0], i == 0 ? "(attributed)" : i < NR_REASONS ? reason_names[i] : "?");
	grid_set_text(g, column[1], i == 0 ? "has a component" : i < NR_REASONS ? reason_sentences[i] : "");
}

/*
 * Adds a row for each method, or reason, that has samples. The row's text is "METHOD  sentence", or "unattributed  REASON: sentence". Value
 * 0 is no method, or an attributed sample.
 */
static void add_attribution_rows(const struct report *r, const struct report_group *group, bool unattributed, struct grid *g,
				 const int column[3], const struct page *p)
{
	char text[256], cut[200];
	struct split s;

	if (split_make(r, group, &s))
		for (uint32_t i = 0; i < s.nr_order; i++) {
			uint32_t v = s.order[i];
			const struct group_sum *sum = &s.sum[r->event][v];

			if (v == 0 || v >= (unattributed ? (uint32_t)NR_REASONS : (uint32_t)NR_METHODS) || sum->samples <= 0)
				continue;
			grid_row(g);
			grid_set(g, column[0], report_measure(r, sum));
			grid_set(g, column[1], sum->samples);
			if (unattributed)
				snprintf(text, sizeof(text), "%s: %s", reason_names[v], reason_sentences[v]);
			else
				snprintf(text, sizeof(text), "%s", method_sentences[v]);
			page_cut(p, text, BRIEF_COLUMNS(p) - 13, cut, sizeof(cut));
			snprintf(text, sizeof(text), "%-12s %s", unattributed ? "unattributed" : method_names[v], cut);
			grid_set_text(g, column[2], text);
		}
	split_fini(&s);
}

void attribution_show_brief(struct report *r, const struct report_group *methods, const struct report_group *reasons, struct page *p)
{
	char phase[PHASE_TEXT];
	struct grid *g = grid_create(NULL, "Attribution method%s", view_in_phase(r, phase));
	int column[3] = { grid_column(g, "share", "", CELL_SHARE, 0, 0), grid_column(g, "samples", "", CELL_COUNT, 0, 0),
			  grid_column(g, "name", "", CELL_TEXT, 0, 0) };

	grid_place(g, column[0], 0, 8);
	grid_place(g, column[1], 0, 10);
	grid_place(g, column[2], 2, BRIEF_COLUMNS(p));
	grid_set_total(g, column[0], report_measure(r, &methods->g.total));
	grid_show_all_rows(g);
	add_attribution_rows(r, methods, false, g, column, p);
	add_attribution_rows(r, reasons, true, g, column, p);
	grid_show(g, p);
}

/*
 * These are sums of attributed samples whose component has no link to the level that is shown (NO_LINK), or whose component at that level
 * was never announced (NOT_ANNOUNCED).
 */
enum { NO_LINK, NOT_ANNOUNCED, NR_BESIDES };
struct besides {
	struct group_sum sum[NR_BESIDES];
};

/*
 * Checks whether a component was announced. A line of a text is announced with the text, and components of the analyzer's own levels
 * (host_levels_have()) need no announcement.
 */
static bool component_is_announced(const struct model *m, uint32_t component)
{
	const struct component *c = &m->dictionary.components.at[component];

	return c->announced || c->source || host_levels_have(m, c->level);
}

static struct besides find_unlinked_sums(const struct report *r, const struct report_group *by_reason, const struct report_group *by_level)
{
	struct besides b = { { *report_find_sum(by_level, COMPONENT_NONE) } };

	for (uint32_t i = 0; i < by_reason->g.nr; i++)
		if (report_value(by_reason, i, 0) != REASON_NONE) {
			b.sum[NO_LINK].samples -= by_reason->g.sum[i].samples;
			b.sum[NO_LINK].weight -= by_reason->g.sum[i].weight;
		}
	for (uint32_t i = 0; i < by_level->g.nr; i++) {
		uint32_t component = report_value(by_level, i, 0);

		if (component && !component_is_announced(r->model, component))
			group_sum_add(&b.sum[NOT_ANNOUNCED], &by_level->g.sum[i]);
	}
	if (b.sum[NO_LINK].samples < 0.5) /* less than half a sample comes from rounding */
		b.sum[NO_LINK] = (struct group_sum){ 0 };
	return b;
}

static void unlinked_sum_text(const struct report *r, int which, uint32_t level, char *text, size_t bytes)
{
	if (which == NO_LINK && r->model->objects.nr)
		snprintf(text, bytes, "of no %s alone: what is above it is known", report_level_name(r, level));
	else if (which == NO_LINK)
		snprintf(text, bytes, "no link: the component has no link to the level %s", report_level_name(r, level));
	else
		snprintf(text, bytes, "not announced: the component of the level %s was never announced", report_level_name(r, level));
}

/* Shows the functions of unattributed samples, which are the next thing to look at. */
static void show_unattributed_functions(struct report *r, const struct report_group *by, struct page *p)
{
	struct grid *g = grid_create("where", "Functions of unattributed samples");
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int reason = grid_column(g, "reason", "reason", CELL_TEXT, 0, 24);
	int function = grid_column(g, "function", "function", CELL_TEXT, 0, 0);
	uint32_t *order = report_order(r, by);

	grid_set_total(g, share, report_measure(r, &by->g.total));
	grid_set_total(g, samples, by->g.total.samples);
	for (uint32_t i = 0; order && i < by->g.nr; i++) {
		uint32_t why = report_value(by, order[i], 0);

		if (why == REASON_NONE || why >= NR_REASONS)
			continue;
		grid_row(g);
		grid_set(g, share, report_measure(r, &by->g.sum[order[i]]));
		grid_set(g, samples, by->g.sum[order[i]].samples);
		grid_set_text(g, reason, reason_names[why]);
		grid_set_text(g, function, r->a->function[report_value(by, order[i], 1)].name);
	}
	free(order);
	grid_show(g, p);
}

bool unlinked_show_brief(struct report *r, const struct report_group *by_reason, const struct report_group *by_level, uint32_t level,
			 struct page *p)
{
	const struct besides b = find_unlinked_sums(r, by_reason, by_level);
	double all = report_measure(r, &by_reason->g.total);
	char text[192];
	bool any = false;

	for (int i = 0; i < NR_BESIDES; i++)
		if (b.sum[i].samples > 0) {
			unlinked_sum_text(r, i, level, text, sizeof(text));
			page_text(p, any ? "" : "\n", 0, "%.1f %% (%.0f samples) unattributed, %s (--view check)",
				  all > 0 ? 100 * report_measure(r, &b.sum[i]) / all : 0, b.sum[i].samples, text);
			any = true;
		}
	return any;
}

static void print_unlinked_sums(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct besides b = find_unlinked_sums(r, v->group[2], v->group[3]);
	char text[192];

	for (int i = 0; i < NR_BESIDES; i++)
		if (b.sum[i].samples > 0) {
			unlinked_sum_text(r, i, report_find_level(r, r->level), text, sizeof(text));
			page_sentence(p, "%.0f more samples are unattributed at that level, %s (--view check).", b.sum[i].samples, text);
		}
}

static void reasons_show(struct report *r, const struct view_instance *v, struct page *p)
{
	char heading[PHASE_TEXT + 32], phase[PHASE_TEXT];

	snprintf(heading, sizeof(heading), "Samples by reason%s", view_in_phase(r, phase));
	view_show_simple_table(r, v->group[0], NULL, p, "reasons", heading, reasons_add_columns, reasons_set_cells);
	show_unattributed_functions(r, v->group[1], p);
	if (v->group[3])
		print_unlinked_sums(r, v, p);
}

const struct view view_reasons = { "reasons", "why samples are unattributed, and their functions", reasons_prepare, reasons_show };

/* ----------------------------------------------------------------------------------------------------------- warnings */
/* The view warnings shows what the recorder noticed (events that were unavailable, processes that it could not read) and what it lost. */

static void warnings_prepare(struct report *r, struct view_instance *v)
{
	(void)r;
	(void)v;
}

/*
 * Writes at most `most` warnings as text, and the number of the others. Sentences are not cut. brief: leaves out the warnings that the
 * report shows elsewhere, and the one with the sentence `without`.
 */
static void put_warnings(const struct warnings *w, uint32_t most, bool brief, const char *without, struct page *p)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < w->nr; i++) {
		if (brief && (w->list[i].sentence == without || w->list[i].place != WARNING_BEHIND))
			continue;
		if (nr++ == 0)
			page_heading(p, "Recorder notices");
		if (nr > most)
			continue;
		if (w->list[i].count)
			page_text(p, "  ", 4, "%llu %s", (unsigned long long)w->list[i].count, w->list[i].sentence);
		else
			page_text(p, "  ", 4, "%s", w->list[i].sentence);
	}
	if (nr > most)
		page_text(p, "  ", 4, "(%u more: --view warnings)", nr - most);
}

static void warnings_show(struct report *r, const struct view_instance *v, struct page *p)
{
	struct grid *g = grid_create("warnings", "Recorder notices");
	int kind = grid_column(g, "kind", "", CELL_TEXT, 0, 0), count = grid_column(g, "count", "", CELL_COUNT, 0, 0);
	int sentence = grid_column(g, "sentence", "", CELL_TEXT, 0, 0);
	struct warnings w;

	(void)v;
	warnings_make(r, &w);
	if (p->form == PAGE_TEXT && w.nr) {
		put_warnings(&w, w.nr, false, NULL, p);
		grid_discard(g);
	} else {
		for (uint32_t i = 0; i < w.nr; i++) {
			grid_row(g);
			grid_set_text(g, kind, w.list[i].kind);
			if (w.list[i].count)
				grid_set(g, count, (double)w.list[i].count);
			grid_set_text(g, sentence, w.list[i].sentence);
		}
		grid_show(g, p);
	}
	warnings_fini(&w);
}

void warnings_show_brief(const struct warnings *w, uint32_t most, const char *without, struct page *p)
{
	put_warnings(w, most, true, without, p);
}

const struct view view_warnings = { "warnings", "the recorder's notices and losses", warnings_prepare, warnings_show };
