/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/sample_lines.h"

static void put_text(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, to);
}

static void put_levels(FILE *to, const struct dictionary *d, const char *prefix)
{
	for (uint32_t i = 0; i < d->nr_levels; i++)
		fprintf(to, "\t%s%s", prefix, d->level[i].name ? d->level[i].name : "?");
}

void sample_lines_begin(const struct sample_lines *l)
{
	const struct dictionary *d = l->rows->dictionary;

	fputs("time_ns\tpid\ttid\tmode\tevent\tweight\tip\timage\tfunction\tline\tmethod\treason\tphase", l->to);
	put_levels(l->to, d, "");
	if (l->also_by_stack) {
		fputs("\tstack_method\tstack_function", l->to);
		put_levels(l->to, d, "stack_");
	}
	fputc('\n', l->to);
}

/* Components of the largest share: name#id.  way NULL: none. */
static void put_components(const struct sample_lines *l, const struct expansion_row *way)
{
	const struct dictionary *d = l->rows->dictionary;

	for (uint32_t i = 0; i < d->nr_levels; i++) {
		uint32_t c = way ? way->component[i] : COMPONENT_NONE;

		fputc('\t', l->to);
		if (c) {
			put_text(l->to, d->component[c].name ? d->component[c].name : "");
			fprintf(l->to, "#%llu", (unsigned long long)d->component[c].id);
		}
	}
}

static void put_by_stack(const struct sample_lines *l, const struct sample_world *w, const struct sample *s, const struct process *p,
			const struct sample_place *at)
{
	struct sample_world without_tags = *w;
	struct sample_answer a;
	struct expansion e;

	without_tags.stack_only = true;
	sample_decide(&without_tags, s, p, at, &a);
	sample_expand(l->rows->dictionary, &a.deciding, s->time_ns, &e);
	fprintf(l->to, "\t%s\t", method_names[a.method]);
	put_text(l->to, w->locator->a->function[a.caller_function].name);
	put_components(l, a.deciding.nr ? &e.row[0] : NULL);
}

void sample_lines_add(const struct sample_lines *l, const struct sample_world *w, const struct sample *s, const struct process *p,
		      const struct sample_place *at, const struct row_facts *f)
{
	static const char *const modes[] = { "user", "kernel", "other" };
	const struct attribution *a = w->locator->a;
	const struct line *line = &a->line[f->location->line];
	FILE *to = l->to;
	uint32_t nr;

	fprintf(to, "%llu\t%u\t%u\t%s\t%u\t%llu\t%#llx\t", (unsigned long long)s->time_ns, p->pid, a->model->thread[f->thread].tid,
		modes[f->mode < 2 ? f->mode : 2], f->event, (unsigned long long)f->weight, (unsigned long long)f->ip);
	put_text(to, a->image[f->location->image].path);
	fputc('\t', to);
	put_text(to, a->function[f->location->function].name);
	fputc('\t', to);
	if (f->location->line) {
		put_text(to, line->file);
		fprintf(to, ":%u", line->number);
	}
	fprintf(to, "\t%s\t%s\t%u", method_names[f->method], reason_names[f->reason], f->phase);
	put_components(l, f->paths ? rows_of(l->rows, f->paths, &nr) : NULL);
	if (l->also_by_stack)
		put_by_stack(l, w, s, p, at);
	fputc('\n', to);
}
