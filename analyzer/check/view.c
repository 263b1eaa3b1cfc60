/* SPDX-License-Identifier: MIT */
/* Shows the view check, which has data that the host gave through jitreg and that cannot be right. */
#include "analyzer/check/check.h"

#include <stdlib.h>
#include <string.h>

#define HEADING "Host data that cannot be right"
#define LABEL 11 /* columns of a count with the blanks behind it, and indent of the further lines of a finding */
#define BRIEF_NR 5

struct state {
	uint32_t found;
};

static void prepare_check_view(struct report *r, struct view_instance *v)
{
	for (uint32_t i = 0; i < r->model->dictionary.nr_levels; i++)
		v->group[i] = report_add_group(r, 0, TABLE_LEVEL_0 + (int)i, -1);
	v->state = report_add_state(r, sizeof(struct state), NULL);
}

static void put_finding(struct page *p, enum finding_kind kind, const struct finding *f)
{
	char count[32], number[16], example[4 * sizeof(f->example)];

	snprintf(count, sizeof(count), "%9s  ", grid_short_number((double)f->count, number));
	if (f->samples > 0 && f->samples < (double)f->count + 0.5 && f->samples > (double)f->count - 0.5)
		page_text(p, count, LABEL, "%s [%s]", finding_sentences[kind], finding_ids[kind]);
	else if (f->samples > 0)
		page_text(p, count, LABEL, "%s (%.0f samples) [%s]", finding_sentences[kind], f->samples, finding_ids[kind]);
	else
		page_text(p, count, LABEL, "%s [%s]", finding_sentences[kind], finding_ids[kind]);
	if (*f->example)
		page_text(p, "           ", LABEL, "for example %s", page_cut(p, f->example, sizeof(f->example), example, sizeof(example)));
	page_text(p, "           ", LABEL, "-> %s", finding_remedies[kind]);
}

static bool host_registered_anything(const struct model *m)
{
	for (uint32_t i = 0; i < m->processes.nr; i++)
		if (m->processes.at[i]->has_dictionary || m->processes.at[i]->tags.nr)
			return true;
	return m->marks.nr > 0 || m->sources.nr > 0;
}

/* Say that tags were not checked, if the recorder reported that it could not sample them. */
static void print_unchecked_tags(const struct model *m, struct page *p)
{
	for (uint32_t i = 0; i < m->notices.nr; i++)
		if (m->notices.at[i].kind == NOTICE_TAG) {
			page_sentence(p, "Tags were not checked: they are in a thread-local word, which only --sampler signal or timer "
				      "reads.");
			return;
		}
}

static void show_findings_text(const struct report *r, const struct findings *f, const enum finding_kind *order, uint32_t nr,
			       struct page *p)
{
	if (!nr) {
		page_sentence(p, "%s",
			      host_registered_anything(r->model) ?
				      "Nothing was found in the host's data that cannot be right." :
				      "The host announced no levels, components, tags or marks through jitreg: there is nothing to check.");
		print_unchecked_tags(r->model, p);
		return;
	}
	page_heading(p, HEADING ": %u %s", nr, nr == 1 ? "kind" : "kinds");
	for (uint32_t i = 0; i < nr; i++)
		put_finding(p, order[i], &f->of[order[i]]);
	print_unchecked_tags(r->model, p);
}

static void show_findings_grid(const struct findings *f, const enum finding_kind *order, uint32_t nr, struct page *p)
{
	struct grid *g = grid_create("findings", HEADING);
	int kind = grid_column(g, "kind", "kind", CELL_TEXT, 0, 0), count = grid_column(g, "count", "count", CELL_COUNT, 0, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, 0, 0);
	int sentence = grid_column(g, "sentence", "finding", CELL_TEXT, 0, 0);
	int example = grid_column(g, "example", "example", CELL_TEXT, 0, 0);
	int remedy = grid_column(g, "remedy", "remedy", CELL_TEXT, 0, 0);

	for (uint32_t i = 0; i < nr; i++) {
		const struct finding *found = &f->of[order[i]];

		grid_row(g);
		grid_set_text(g, kind, finding_ids[order[i]]);
		grid_set(g, count, (double)found->count);
		grid_set(g, samples, found->samples);
		grid_set_text(g, sentence, finding_sentences[order[i]]);
		grid_set_text(g, example, found->example);
		grid_set_text(g, remedy, finding_remedies[order[i]]);
	}
	grid_show(g, p);
}

static void show_check_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct check_sums sums = { (const struct report_group *const *)v->group };
	struct findings *f = calloc(1, sizeof(*f));
	enum finding_kind order[NR_FINDINGS];
	struct state *state = v->state;
	uint32_t nr;

	if (!f || check_model(f, r->model, &sums) || check_code_and_samples(f, r)) {
		r->error = -1;
		page_sentence(p, "There was no memory to check the host's data.");
		free(f);
		return;
	}
	nr = check_sort_findings(f, order);
	if (state)
		state->found = nr;
	if (p->form == PAGE_TEXT)
		show_findings_text(r, f, order, nr, p);
	else
		show_findings_grid(f, order, nr, p);
	free(f);
}

uint32_t check_view_nr_kinds(const struct view_instance *v)
{
	const struct state *state = v->state;

	return state ? state->found : 0;
}

void check_show_brief(struct report *r, const struct report_group *const *by_level, struct page *p)
{
	const struct check_sums sums = { by_level };
	struct findings *f = calloc(1, sizeof(*f));
	enum finding_kind order[NR_FINDINGS];
	uint32_t nr = f && !check_model(f, r->model, &sums) ? check_sort_findings(f, order) : 0;
	char number[16], count[32], text[512], example[512];

	if (nr)
		page_heading(p, HEADING);
	for (uint32_t i = 0; i < nr && i < BRIEF_NR; i++) {
		const struct finding *found = &f->of[order[i]];

		snprintf(count, sizeof(count), "%9s  ", grid_short_number((double)found->count, number));
		snprintf(text, sizeof(text), "%s", finding_sentences[order[i]]);
		if (found->samples > 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%.0f samples)", found->samples);
		page_text(p, count, LABEL, "%s%s%s", text, *found->example ? ": " : "",
			  page_cut(p, found->example, sizeof(found->example), example, sizeof(example)));
	}
	if (nr > BRIEF_NR)
		page_text(p, "           ", LABEL, "(and %u more; all, and what to do: --view check)", nr - BRIEF_NR);
	else if (nr)
		page_text(p, "           ", LABEL, "(what to do: --view check)");
	free(f);
}

const struct view view_check = { "check", "what the host said through jitreg that cannot be right, and what to do", prepare_check_view,
				 show_check_view };
