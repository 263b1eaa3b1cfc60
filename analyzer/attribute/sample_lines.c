/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/sample_lines.h"

#include <string.h>

static void write_printable_text(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, to);
}

static bool is_taken(const char *name)
{
	const size_t bytes = strlen(name);

	for (const char *at = CSV_SAMPLE_COLUMNS; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strcspn(at, ",") == bytes && memcmp(at, name, bytes) == 0)
			return true;
	return false;
}

const char *sample_column_of_level(const char *name, char spare[SAMPLE_COLUMN_BYTES])
{
	if (!is_taken(name))
		return name;
	snprintf(spare, SAMPLE_COLUMN_BYTES, "%s (level)", name);
	return spare;
}

static void write_level_headings(FILE *to, const struct dictionary *d, const char *prefix)
{
	char spare[SAMPLE_COLUMN_BYTES];

	for (uint32_t i = 0; i < d->nr_levels; i++)
		fprintf(to, "\t%s%s", prefix, d->level[i].name ? sample_column_of_level(d->level[i].name, spare) : "?");
}

void sample_lines_begin(const struct sample_lines *l)
{
	const struct dictionary *d = l->rows->dictionary;

	fputs("time_ns\tpid\ttid\tmode\tevent\tweight\tip\timage\tfunction\tline\tmethod\treason\tphase", l->to);
	write_level_headings(l->to, d, "");
	if (l->also_by_stack) {
		fputs("\tstack_method\tstack_function", l->to);
		write_level_headings(l->to, d, "stack_");
	}
	fputc('\n', l->to);
}

/* Writes the components of a parent path as name#id, a column per level.  If way is NULL, the columns are empty. */
static void write_component_columns(const struct sample_lines *l, const struct expansion_row *way)
{
	const struct dictionary *d = l->rows->dictionary;

	for (uint32_t i = 0; i < d->nr_levels; i++) {
		uint32_t c = way ? way->component[i] : COMPONENT_NONE;

		fputc('\t', l->to);
		if (c) {
			write_printable_text(l->to, d->component[c].name ? d->component[c].name : "");
			fprintf(l->to, "#%llu", (unsigned long long)d->component[c].id);
		}
	}
}

static void write_stack_attribution(const struct sample_lines *l, const struct sample_world *w, const struct sample *s,
				    const struct process *p, const struct sample_place *at)
{
	struct sample_world without_tags = *w;
	struct sample_answer a;
	struct expansion e;

	without_tags.stack_only = true;
	sample_decide_components(&without_tags, s, p, at, &a);
	sample_expand_components(l->rows->dictionary, &a.deciding, s->time_ns, &e);
	fprintf(l->to, "\t%s\t", method_names[a.method]);
	write_printable_text(l->to, w->locator->a->function[a.caller_function].name);
	write_component_columns(l, a.deciding.nr ? &e.row[0] : NULL);
}

void sample_lines_add(const struct sample_lines *l, const struct sample_world *w, const struct sample *s, const struct process *p,
		      const struct sample_place *at, const struct row_facts *f)
{
	static const char *const modes[] = { "user", "kernel", "other" };
	const struct attribution *a = w->locator->a;
	const struct line *line = &a->line[f->location->line];
	FILE *to = l->to;
	uint32_t nr;

	fprintf(to, "%llu\t%u\t%u\t%s\t%u\t%llu\t%#llx\t", (unsigned long long)s->time_ns, p->pid, a->model->threads.at[f->thread].tid,
		modes[f->mode < 2 ? f->mode : 2], f->event, (unsigned long long)f->weight, (unsigned long long)f->ip);
	write_printable_text(to, a->image[f->location->image].path);
	fputc('\t', to);
	write_printable_text(to, a->function[f->location->function].name);
	fputc('\t', to);
	if (f->location->line) {
		write_printable_text(to, line->file);
		fprintf(to, ":%u", line->number);
	}
	fprintf(to, "\t%s\t%s\t%u", method_names[f->method], reason_names[f->reason], f->phase);
	write_component_columns(l, f->paths ? rows_of_paths(l->rows, f->paths, &nr) : NULL);
	if (l->also_by_stack)
		write_stack_attribution(l, w, s, p, at);
	fputc('\n', to);
}
