/* SPDX-License-Identifier: MIT */
/* Writes the shares of components, functions and attribution methods as plain HTML, for a browser that cannot run the page. */
#include "analyzer/leading/first_notes.h"
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"

#include <stdlib.h>

#define ROWS_MAX 20u

struct total {
	uint32_t number;
	double measure, samples;
};

static int compare_total_measures(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->measure < y->measure || x->measure > y->measure)
		return x->measure > y->measure ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void write_plain_table(const struct html_trace *t, const char *heading, struct total *total, uint32_t nr,
			      const char *(*name)(const struct html_trace *t, uint32_t number, char *spare), FILE *to)
{
	double all = 0;
	char spare[32];

	for (uint32_t i = 0; i < nr; i++)
		all += total[i].measure;
	if (nr)
		qsort(total, nr, sizeof(*total), compare_total_measures);
	fputs("<table><caption>", to);
	escape_xml(to, heading);
	fputs("</caption><thead><tr><th>Share</th><th>Samples</th><th>Name</th></tr></thead><tbody>\n", to);
	for (uint32_t i = 0; i < nr && i < ROWS_MAX && total[i].samples > 0; i++) {
		fprintf(to, "<tr><td>%.1f %%</td><td>%.0f</td><td><bdi>", all > 0 ? 100 * total[i].measure / all : 0, total[i].samples);
		escape_xml(to, name(t, total[i].number, spare));
		fputs("</bdi></td></tr>\n", to);
	}
	fputs("</tbody></table>\n", to);
}

static const char *component_name(const struct html_trace *t, uint32_t number, char *spare)
{
	return report_component_name(t->report, number, spare);
}

static const char *function_name(const struct html_trace *t, uint32_t number, char *spare)
{
	(void)spare;
	return number && number < t->report->a->nr_functions ? function_label(&t->report->a->function[number]) : "(none)";
}

static const char *method_name(const struct html_trace *t, uint32_t number, char *spare)
{
	(void)t;
	(void)spare;
	return method_names[number];
}

enum what { COMPONENTS, FUNCTIONS, ATTRIBUTION };

static struct total *sum_by_number(const struct html_trace *t, enum what what, uint32_t level, uint32_t nr)
{
	const struct html_rows *r = &t->rows;
	struct total *total = calloc((size_t)nr + 1, sizeof(*total));

	for (uint32_t i = 0; total && i < nr; i++)
		total[i].number = i;
	for (size_t i = 0; total && i < r->nr; i++) {
		const struct html_way *way = &r->ways.at[r->way[i]];
		uint32_t n = what == COMPONENTS ? way->component[level] :
			     what == FUNCTIONS	? r->places.at[r->place[i]].function :
						  way->method;

		if (r->event[i] != t->report->event || n >= nr)
			continue;
		total[n].samples += way->share;
		total[n].measure += way->share * (double)(r->weights.at[r->weight[i]] ? r->weights.at[r->weight[i]] : 1);
	}
	return total;
}

static void write_plain_totals(const struct html_trace *t, const char *heading, enum what what, uint32_t level, uint32_t nr,
			       const char *(*name)(const struct html_trace *t, uint32_t number, char *spare), FILE *to)
{
	struct total *total = sum_by_number(t, what, level, nr);

	if (total)
		write_plain_table(t, heading, total, nr, name, to);
	free(total);
}

static void write_first_sentence(void *to, const char *sentence)
{
	fputs("<p><strong>", to);
	escape_xml(to, sentence);
	fputs("</strong></p>\n", to);
}

void html_put_plain(const struct html_trace *t, FILE *to)
{
	const struct model *m = t->report->model;
	const struct dictionary *d = &m->dictionary;

	fprintf(to, "<h2>%s</h2><p>Command: <bdi>", t->number ? "Second trace" : "Figures of the whole recording");
	escape_xml(to, m->command);
	fprintf(to, "</bdi>. %llu samples in %.3f s, %llu lost.</p>\n", (unsigned long long)t->report->a->nr_samples,
		t->report->a->last_ns > t->report->a->first_ns ? (double)(t->report->a->last_ns - t->report->a->first_ns) / 1e9 : 0.0,
		(unsigned long long)model_count_lost(m, LOSS_OF_SAMPLES));
	first_notes_each(t->report, t->by_function, 0, true, write_first_sentence, to);
	if (!t->rows.nr) {
		fputs("<p>The trace has no samples that pass its filters.</p>\n", to);
		return;
	}
	for (uint32_t l = 0; l < d->nr_levels; l++)
		write_plain_totals(t, report_level_name(t->report, l), COMPONENTS, l, d->components.nr, component_name, to);
	write_plain_totals(t, "Functions", FUNCTIONS, 0, t->report->a->nr_functions, function_name, to);
	write_plain_totals(t, "Attribution methods", ATTRIBUTION, 0, NR_METHODS, method_name, to);
}
