/* SPDX-License-Identifier: MIT */
/* Texts that code was generated from, line by line, with what says of a line's samples: a component, or a line of the line tables. */
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (16u << 20) /* of all texts: those with samples come first */
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
	for (char *at = line, *tab; at; at = tab ? tab + 1 : NULL) { /* tabs stay tabs */
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

/* Per line the component that it is; or its number in the table of lines. */
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

void html_put_sources(const struct html_trace *t, FILE *to)
{
	const struct model *m = t->report->model;
	size_t bytes = 0;
	const char *comma = "";

	fputs("\"sources\":[", to);
	for (uint32_t i = 0; i < m->nr_sources; i++) {
		const struct source *s = &m->source[i];
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
	fputs("],\n", to);
}
