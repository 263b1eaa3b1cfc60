/* SPDX-License-Identifier: MIT */
/* Writes the levels, the components with their links and counters, the edges, and the marks. */
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"


static void write_levels_json(const struct html_trace *t, FILE *to)
{
	const struct report *r = t->report;
	const struct dictionary *d = &r->model->dictionary;
	uint32_t plan = report_find_level(r, NULL);

	JSON_LIST(to, "levels", d->nr_levels, fputs("{\"name\":", to); escape_json_string(to, report_level_name(r, i));
	      fprintf(to, ",\"rank\":%u,\"plan\":%s}", d->level[i].rank, i == plan ? "true" : "false"));
	const enum leading leads = leading_of_report(&t->leading, r);

	fprintf(to, ",\"host_levels\":%s,\"leads\":\"%s\",\"lead_level\":%d,\n", r->model->has_host_levels ? "true" : "false",
		leading_names[leads], leads == LEADING_LANGUAGE ? (int)r->model->host_level[HOST_LEVEL_FUNCTION] : -1);
}

static void write_counters_json(const struct component *c, FILE *to)
{
	fputc('{', to);
	for (const struct counter *n = c->counters; n; n = n->next) {
		escape_json_string(to, n->name);
		fprintf(to, ":%lld%s", (long long)n->value, n->next ? "," : "");
	}
	fputc('}', to);
}

static void write_links_json(const struct component *c, FILE *to)
{
	fputc('[', to);
	for (uint32_t i = 0; i < c->links.nr; i++)
		fprintf(to, "%s%u", i ? "," : "", c->links.at[i].upper);
	fputc(']', to);
}

/* Write "key":{"12":value,...} for each component c, of index i, that fulfils the condition. The last argument is code that writes the
 * value. */
#define SOME_(key, condition, ...) \
	do { \
		const char *comma = ""; \
		fprintf(to, ",\"%s\":{", key); \
		for (uint32_t i = 1; i < d->components.nr; i++) { \
			const struct component *c = &d->components.at[i]; \
			if (!(condition)) \
				continue; \
			fprintf(to, "%s\"%u\":", comma, i); \
			comma = ","; \
			__VA_ARGS__; \
		} \
		fputc('}', to); \
	} while (0)

void html_put_dictionary(const struct html_trace *t, FILE *to)
{
	const struct model *m = t->report->model;
	const struct dictionary *d = &m->dictionary;
	const struct labels *labels = &t->report->labels;

	write_levels_json(t, to);
	fputs("\"components\":{", to);
	JSON_LIST(to, "level", d->components.nr, fprintf(to, "%u", d->components.at[i].level));
	JSON_NEXT_LIST(to, "process", d->components.nr, fprintf(to, "%u", d->components.at[i].process));
	JSON_NEXT_LIST(to, "name", d->components.nr, escape_json_string(to, d->components.at[i].name));
	SOME_("id", c->announced, fprintf(to, "\"%llx\"", (unsigned long long)c->id));
	SOME_("label", c->name && i < labels->nr && labels->label[i], escape_json_string(to, labels->label[i]));
	SOME_("same", c->name && i < labels->nr && labels->same && labels->same[i] != i, fprintf(to, "%u", labels->same[i]));
	SOME_("detail", c->detail && *c->detail, escape_json_string(to, c->detail));
	SOME_("counters", c->counters, write_counters_json(c, to));
	SOME_("links", c->links.nr, write_links_json(c, to));
	SOME_("query", c->announced && model_find_scope(m, i), escape_json_string(to, model_find_scope(m, i)->name));
	fputs("},\n\"edges\":[", to);
	for (uint32_t i = 0; i < d->edges.nr; i++) {
		fprintf(to, "%s[%u,%u,", i ? "," : "", d->edges.at[i].from, d->edges.at[i].to);
		escape_json_string(to, d->edges.at[i].label);
		fputc(']', to);
	}
	fputs("],\n\"marks\":{", to);
	JSON_LIST(to, "name", m->marks.nr, escape_json_string(to, m->marks.at[i].name));
	JSON_NEXT_LIST(to, "text", m->marks.nr, escape_json_string(to, m->marks.at[i].text));
	JSON_NEXT_LIST(to, "begin", m->marks.nr,
		       fprintf(to, "%.3f", ((double)m->marks.at[i].begin_ns - (double)t->report->a->first_ns) / 1e3));
	JSON_NEXT_LIST(to, "end", m->marks.nr, if (m->marks.at[i].end_ns == UINT64_MAX) fputs("null", to);
	      else fprintf(to, "%.3f", ((double)m->marks.at[i].end_ns - (double)t->report->a->first_ns) / 1e3));
	JSON_NEXT_LIST(to, "tid", m->marks.nr, fprintf(to, "%u", m->marks.at[i].tid));
	JSON_NEXT_LIST(to, "process", m->marks.nr, fprintf(to, "%u", m->marks.at[i].process));
	JSON_NEXT_LIST(to, "instance", m->marks.nr, fprintf(to, "%llu", (unsigned long long)m->marks.at[i].instance));
	JSON_NEXT_LIST(to, "component", m->marks.nr, fprintf(to, "%u", m->marks.at[i].component));
	fputs("},\n", to);
}
