/* SPDX-License-Identifier: MIT */
/* Writes texts that code was generated from, and texts of source files, line by line. Each line has the number that samples refer to: a
 * component, or a line of the line tables. */
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"
#include "analyzer/source/excerpts.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (16u << 20) /* limit of the bytes of all registered texts; when it is exceeded, the others are left out */
#define LINE_BYTES_MAX 2000u
#define STEPS_A_LINE 2

static void write_source_line(const char *text, size_t bytes, FILE *to)
{
	char line[LINE_BYTES_MAX + 1];

	bytes = bytes < LINE_BYTES_MAX ? bytes : LINE_BYTES_MAX;
	while (bytes && ((unsigned char)text[bytes - 1] == '\r' || text[bytes - 1] == ' '))
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		line[i] = text[i] ? text[i] : ' ';
	line[bytes] = 0;
	fputc('"', to);
	for (char *at = line, *tab; at; at = tab ? tab + 1 : NULL) { /* escape_json() would make blanks of tabs */
		tab = strchr(at, '\t');
		if (tab)
			*tab = 0;
		escape_json(to, at);
		if (tab)
			fputs("\\t", to);
	}
	fputc('"', to);
}

static void write_source_lines(const struct source *s, FILE *to)
{
	fputs(",\"lines\":[", to);
	for (size_t n = 0; n < s->nr_lines; n++) {
		size_t bytes;
		const char *text = source_line(s, (uint32_t)n + 1, &bytes);

		if (n)
			fputc(',', to);
		write_source_line(text, bytes, to);
	}
	fputc(']', to);
}

static void put_numbers(const char *key, const uint32_t *number, size_t nr, FILE *to)
{
	fprintf(to, ",\"%s\":[", key);
	for (size_t i = 0; i < nr; i++)
		fprintf(to, "%s%u", i ? "," : "", number[i]);
	fputc(']', to);
}

/* Sets the number of each line of a text, which is its component, or its index in the table of lines. Returns false if none has one. */
static bool number_lines(const struct report *r, const struct source *s, uint32_t *number)
{
	const bool components = s->level < LEVELS_MAX;
	bool any = false;

	for (size_t n = 0; components && n < s->nr_lines; n++) {
		number[n] = dictionary_find_component(&r->model->dictionary, s->process, s->level, s->first_component + n + 1);
		any |= number[n] != COMPONENT_NONE;
	}
	for (uint32_t i = 1; !components && s->name && i < r->a->nr_lines; i++) {
		const struct line *line = &r->a->line[i];

		if (line->number && line->number <= s->nr_lines && strcmp(basename(line->file), basename(s->name ? s->name : "")) == 0) {
			number[line->number - 1] = i;
			any = true;
		}
	}
	return any;
}

/* Write the value of each line of an excerpt, and 0 between lines that are not neighbours in the file. */
static void put_excerpt_numbers(const char *key, const struct excerpt *e, const uint32_t *value, FILE *to)
{
	fprintf(to, ",\"%s\":[", key);
	for (uint32_t i = 0; i < e->nr; i++)
		fprintf(to, "%s%s%u", i ? "," : "", i && e->number[i] != e->number[i - 1] + 1 ? "0," : "", value[i]);
	fputc(']', to);
}

static void write_excerpt(struct report *r, const struct excerpt *e, FILE *to)
{
	size_t bytes;
	const char *text;

	fputs("{\"name\":", to);
	escape_json_string(to, e->of->file);
	fprintf(to, ",\"process\":%u,\"level\":-1,\"file\":true,\"newer\":%s", e->of->code ? e->of->code->process : 0,
		e->newer ? "true" : "false");
	put_excerpt_numbers("number", e, e->number, to);
	put_excerpt_numbers("of", e, e->line, to);
	fputs(",\"lines\":[", to);
	for (uint32_t i = 0; i < e->nr; i++) {
		fputs(i ? "," : "", to);
		if (i && e->number[i] != e->number[i - 1] + 1)
			fputs("\"\",", to);
		text = excerpt_text(r, e, e->number[i], &bytes);
		write_source_line(text, bytes, to);
	}
	fputs("]}", to);
}

static void put_excerpts(const struct html_trace *t, const char *comma, FILE *to)
{
	struct report *r = t->report;
	double *cost = calloc((size_t)r->a->nr_lines + 1, sizeof(*cost));
	struct excerpts e;

	for (uint32_t i = 0; cost && i < t->by_line->g.nr; i++)
		cost[report_value(t->by_line, i, 0)] = t->by_line->g.sum[i].samples;
	if (cost) {
		excerpts_make(r, cost, t->source_bytes, &e);
		for (uint32_t i = 0; i < e.nr; i++) {
			fputs(comma, to);
			write_excerpt(r, &e.at[i], to);
			comma = ",";
		}
		excerpts_fini(&e);
	}
	free(cost);
}

void html_put_sources(const struct html_trace *t, FILE *to)
{
	const struct model *m = t->report->model;
	size_t bytes = 0;
	const char *comma = "";

	fputs("\"sources\":[", to);
	for (uint32_t i = 0; i < m->sources.nr; i++) {
		const struct source *s = &m->sources.at[i];
		uint32_t *number = calloc(s->nr_lines + 1, sizeof(*number));
		const bool components = s->level < LEVELS_MAX;
		uint64_t steps = STEPS_A_LINE * s->nr_lines + (components ? 0 : t->report->a->nr_lines) + 1;

		if (number && s->line_start && bytes <= TEXT_BYTES_MAX && report_spend(t->report, steps) &&
		    number_lines(t->report, s, number)) {
			fprintf(to, "%s{\"name\":", comma);
			escape_json_string(to, s->name);
			fprintf(to, ",\"process\":%u,\"level\":%d", s->process, components ? (int)s->level : -1);
			put_numbers("of", number, s->nr_lines, to);
			write_source_lines(s, to);
			fputc('}', to);
			bytes += s->text_bytes;
			comma = ",";
		}
		free(number);
	}
	put_excerpts(t, comma, to);
	fputs("],\n", to);
}
