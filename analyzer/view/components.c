/* SPDX-License-Identifier: MIT */
/*
 * The view components shows one table per level of the Tagging Dictionary, or only that of --level. The view pipelines shows each pipeline
 * with its operators.
 */
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

#define PIPELINE_LEVEL "pipeline"

static bool level_is_wanted(const struct report *r, uint32_t level)
{
	return !r->level || strcmp(report_level_name(r, level), r->level) == 0;
}

/*
 * Asks for the sums of each level i that is shown, in v->group[i], and if the trace has call stacks, for its totals in v->group[LEVELS_MAX
 * + i].
 */
static void prepare_components(struct report *r, struct view_instance *v)
{
	for (uint32_t i = 0; i < r->model->dictionary.nr_levels; i++)
		if (level_is_wanted(r, i)) {
			v->group[i] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)i, TABLE_EVENT, -1);
			v->group[LEVELS_MAX + i] = totals_ask(r, REPORT_RUN, TABLE_LEVEL_0 + i);
		}
}

/*
 * Writes the names of the components that a component is linked to, such as "hash join, pipeline 2". Links to the same component at another
 * level are left out.
 */
static void write_parent_names(const struct report *r, uint32_t component, char *text, size_t bytes)
{
	const struct component *c = &r->model->dictionary.components.at[component];
	char spare[32];
	size_t at = 0;

	text[0] = 0;
	for (uint32_t n = 0; component && n < c->links.nr && at + 2 < bytes; n++) {
		int wrote = 0;

		if (!c->links.at[n].same)
			wrote = snprintf(text + at, bytes - at, "%s%s", at ? ", " : "",
					 report_component_name(r, c->links.at[n].upper, spare));
		at += wrote > 0 ? (size_t)wrote : 0;
	}
}

/*
 * Checks whether the label distinguishes a component from others of its name by the name of its first parent. The parent is shown behind
 * the name anyway, so the label is left out then.
 */
static bool label_is_of_parent(const struct report *r, uint32_t component)
{
	const struct component *c = &r->model->dictionary.components.at[component];
	char spare[32], own_spare[32], parent[32];
	const char *label = report_component_name(r, component, spare), *own = report_component_own_name(r, component, own_spare);
	const char *of = c->links.nr ? report_component_own_name(r, c->links.at[0].upper, parent) : "";

	label += strlen(own);
	return *of && strncmp(label, " (", 2) == 0 && strncmp(label + 2, of, strlen(of)) == 0 && strcmp(label + 2 + strlen(of), ")") == 0;
}

static void write_component_brief(const struct report *r, const struct page *p, uint32_t i, char *text, size_t bytes)
{
	const struct component *c = &r->model->dictionary.components.at[i];
	uint32_t nr = 0, shown = 0;
	char spare[32], name[512];
	int room = BRIEF_COLUMNS(p);
	size_t at = 0;

	for (uint32_t n = 0; n < c->links.nr; n++)
		nr += !c->links.at[n].same;
	if (r->per_process)
		at = (size_t)snprintf(text, bytes, "%u ", r->model->numbered.at[c->process]->pid);
	page_cut_name(p, nr && label_is_of_parent(r, i) ? c->name : report_component_name(r, i, spare),
		      nr > 1 ? room * 3 / 10 : nr ? room * 17 / 30 : room, name, sizeof(name));
	at += (size_t)snprintf(text + at, bytes - at, "%s", name);
	for (uint32_t n = 0; n < c->links.nr && shown < 2 && at < bytes; n++) {
		if (c->links.at[n].same)
			continue;
		page_cut_name(p, report_component_name(r, c->links.at[n].upper, spare),
			      shown ? room / 3 : nr > 1 ? room * 4 / 15 : room * 11 / 30, name, sizeof(name));
		at += (size_t)snprintf(text + at, bytes - at, "%s%s", shown ? ", " : p->utf8 ? " → " : " -> ", name);
		shown++;
	}
}

void components_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
			   struct page *p)
{
	struct view_brief b = { .column = TABLE_LEVEL_0 + level, .first = 1, .put = write_component_brief };
	char heading[160], phase[PHASE_TEXT];

	snprintf(heading, sizeof(heading), "Share by %s%s", report_level_name(r, level), view_in_phase(r, phase));
	b.heading = heading;
	view_show_brief(r, group, totals, &b, p);
}

const char *component_place(const struct report *r, uint32_t component)
{
	const struct dictionary *d = &r->model->dictionary;
	const struct component *c = &d->components.at[component];

	if (c->detail && *c->detail)
		return c->detail;
	for (uint32_t i = 0; i < c->links.nr; i++)
		if (d->components.at[c->links.at[i].upper].level == r->model->host_level[HOST_LEVEL_MODULE])
			return d->components.at[c->links.at[i].upper].name;
	return "";
}

static void write_place_brief(const struct report *r, const struct page *p, uint32_t i, char *text, size_t bytes)
{
	const char *place = component_place(r, i);
	char spare[32], name[512], cut[256];

	if (!*place) {
		write_component_brief(r, p, i, text, bytes);
		return;
	}
	page_cut_name(p, report_component_own_name(r, i, spare), 34, name, sizeof(name));
	snprintf(text, bytes, "%s  %s", name, page_cut_name(p, place, BRIEF_COLUMNS(p) - 2 - page_width(p, name), cut, sizeof(cut)));
}

void places_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
		       const struct view_brief *brief, struct page *p)
{
	struct view_brief b = *brief;

	b.column = TABLE_LEVEL_0 + level;
	b.first = 1;
	b.put = write_place_brief;
	view_show_brief(r, group, totals, &b, p);
}

static void show_level(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
		       struct page *p)
{
	const struct dictionary *d = &r->model->dictionary;
	char spare[32], text[256], truncated[TRUNCATED_TEXT];
	struct grid *g = grid_create(report_level_name(r, level), "Share by %s%s%s", report_level_name(r, level), view_in_phase(r, text),
				     view_truncated(r, totals, truncated));
	struct split s;

	if (split_make_with_totals(r, group, totals, &s)) {
		struct sum_columns sums = sum_columns_add(g, r, &s);
		struct frequency_columns counts = frequency_columns_add(g, r, true);
		int id = grid_column(g, "id", "", CELL_HEX, GRID_HIDDEN, 0);
		int name = grid_column(g, "name", report_level_name(r, level), CELL_TEXT, 0, 0), above = -1, process = -1;

		for (uint32_t i = 1; i < d->components.nr && above < 0; i++)
			if (d->components.at[i].level == level && d->components.at[i].links.nr)
				above = grid_column(g, "parents", "parents", CELL_TEXT, 0, 0);
		if (r->per_process)
			process = grid_column(g, "process", "process", CELL_COUNT, 0, 0);
		for (uint32_t i = 0; i < s.nr_order; i++) {
			grid_row(g);
			sum_columns_set(g, &sums, r, &s, s.order[i]);
			if (process >= 0 && s.order[i])
				grid_set(g, process, r->model->numbered.at[d->components.at[s.order[i]].process]->pid);
			frequency_columns_set(g, &counts, s.order[i], &s.sum[r->event][s.order[i]]);
			grid_set_text(g, name, report_component_name(r, s.order[i], spare));
			if (s.order[i])
				grid_set_address(g, id, d->components.at[s.order[i]].id);
			write_parent_names(r, s.order[i], text, sizeof(text));
			if (above >= 0)
				grid_set_text(g, above, text);
		}
	}
	split_fini(&s);
	grid_show(g, p);
}

static void show_components(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct dictionary *d = &r->model->dictionary;

	if (!d->nr_levels)
		page_sentence(p, "No components: the host declared no levels.");
	for (uint32_t rank = 0; rank < LEVELS_MAX; rank++)
		for (uint32_t i = 0; i < d->nr_levels; i++)
			if (d->level[i].rank == rank && level_is_wanted(r, i))
				show_level(r, v->group[i], v->group[LEVELS_MAX + i], i, p);
}

const struct view view_components = { "components", "shares of components, level by level of the Tagging Dictionary (or at --level)",
				      prepare_components, show_components };

static void prepare_pipelines(struct report *r, struct view_instance *v)
{
	uint32_t level = report_find_level(r, r->level ? r->level : PIPELINE_LEVEL), plan = report_find_level(r, NULL);

	if (level == LEVELS_MAX)
		return;
	v->group[0] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
	if (plan != LEVELS_MAX)
		v->group[1] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)level, TABLE_LEVEL_0 + (int)plan, -1);
}

/* Shows each pipeline (or component of --level), and below it, if the trace has a plan, the operators of its samples. */
static void show_pipelines(struct report *r, const struct view_instance *v, struct page *p)
{
	char spare[32], phase[PHASE_TEXT];
	struct grid *g = grid_create("pipelines", "Pipelines and their operators%s", view_in_phase(r, phase));
	struct split s;

	if (!v->group[0])
		page_sentence(p, "The trace has no level '%s'; --level NAME takes another.", r->level ? r->level : PIPELINE_LEVEL);
	if (v->group[0] && split_make(r, v->group[0], &s)) {
		int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
		int of = grid_column(g, "of_pipeline", "of pipeline", CELL_PERCENT, 0, 0);
		int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
		int pipeline = grid_column(g, "pipeline", "pipeline", CELL_TEXT, GRID_HIDDEN, 0);
		int name = grid_column(g, "name", "pipeline, operator", CELL_TEXT, 0, 0);
		uint32_t *order = v->group[1] ? report_order(r, v->group[1]) : NULL;
		double total = report_measure(r, &s.total[r->event]);

		grid_set_total(g, share, total);
		grid_set_total(g, samples, s.total[r->event].samples);
		grid_show_all_rows(g);
		for (uint32_t i = 0; i < s.nr_order; i++) {
			const struct group_sum *sum = &s.sum[r->event][s.order[i]];

			grid_row(g);
			grid_set(g, share, report_measure(r, sum));
			grid_set(g, samples, sum->samples);
			grid_set_text(g, pipeline, report_component_name(r, s.order[i], spare));
			grid_set_text(g, name, report_component_name(r, s.order[i], spare));
			if (order) /* programs get only the rows of operators, or the pipeline's own row if the trace has no plan */
				grid_mark_row_text(g);
			for (uint32_t n = 0; order && n < v->group[1]->g.nr; n++) {
				const struct group_sum *part = &v->group[1]->g.sum[order[n]];

				if (report_value(v->group[1], order[n], 0) != s.order[i])
					continue;
				grid_row(g);
				grid_set(g, share, report_measure(r, part));
				grid_set(g, samples, part->samples);
				if (report_measure(r, sum) > 0)
					grid_set(g, of, report_measure(r, part) / report_measure(r, sum));
				grid_set_text(g, pipeline, report_component_name(r, s.order[i], spare));
				grid_set_prefix(g, name, "  ");
				grid_set_text(g, name, report_component_name(r, report_value(v->group[1], order[n], 1), spare));
			}
		}
		free(order);
		split_fini(&s);
	}
	grid_show(g, p);
}

const struct view view_pipelines = { "pipelines", "pipelines with their operators", prepare_pipelines, show_pipelines };
