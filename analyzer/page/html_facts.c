/* SPDX-License-Identifier: MIT */
/*
 * Writes the facts that a page's numbers refer to, as one JSON object. A list with many entries is an object with an array for each field.
 */
#include "analyzer/accesses/accesses.h"
#include "analyzer/leading/command_lines.h"
#include "analyzer/leading/first_notes.h"
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"
#include "analyzer/query/warnings.h"
#include "analyzer/whatif/whole.h"
#include "jitreg/base/hash_map.h"

#include <stdlib.h>
#include <string.h>

static void write_columns_json(const struct html_columns *c, FILE *to)
{
	fputs("\"columns\":{", to);
	for (uint32_t i = 0; i < c->nr; i++)
		fprintf(to, "%s\"%s\":{\"kind\":\"%s\",\"key\":\"%s\",\"planes\":%u,\"width\":%u,\"numbers\":%s}", i ? "," : "",
			c->column[i].name, c->column[i].kind, c->column[i].key, c->column[i].planes, c->column[i].width,
			c->column[i].numbers ? "true" : "false");
	fputs("},\n", to);
}

static void write_ways_json(const struct html_rows *r, uint32_t nr_levels, FILE *to)
{
	fputs("\"ways\":{", to);
	JSON_LIST(to, "mode", r->ways.nr, fprintf(to, "%u", r->ways.at[i].mode));
	JSON_NEXT_LIST(to, "method", r->ways.nr, fprintf(to, "%u", r->ways.at[i].method));
	JSON_NEXT_LIST(to, "reason", r->ways.nr, fprintf(to, "%u", r->ways.at[i].reason));
	JSON_NEXT_LIST(to, "generated", r->ways.nr, fputc('0' + r->ways.at[i].generated, to));
	JSON_NEXT_LIST(to, "share", r->ways.nr, fprintf(to, "%.17g", r->ways.at[i].share));
	fputs(",\"level\":[", to);
	for (uint32_t l = 0; l < nr_levels; l++) {
		fputs(l ? ",[" : "[", to);
		for (uint32_t i = 0; i < r->ways.nr; i++)
			fprintf(to, "%s%u", i ? "," : "", r->ways.at[i].component[l]);
		fputc(']', to);
	}
	fputs("]},\n", to);
}

static void write_places_json(const struct html_rows *r, FILE *to)
{
	fputs("\"places\":{", to);
	JSON_LIST(to, "ip", r->places.nr, fprintf(to, "%llu", (unsigned long long)r->places.at[i].ip));
	JSON_NEXT_LIST(to, "code", r->places.nr, fprintf(to, "%u", r->places.at[i].code));
	JSON_NEXT_LIST(to, "function", r->places.nr, fprintf(to, "%u", r->places.at[i].function));
	JSON_NEXT_LIST(to, "line", r->places.nr, fprintf(to, "%u", r->places.at[i].line));
	JSON_NEXT_LIST(to, "image", r->places.nr, fprintf(to, "%u", r->places.at[i].image));
	fputs("},\n", to);
}

static void write_names_json(const struct attribution *a, FILE *to)
{
	fputs("\"functions\":{", to);
	JSON_LIST(to, "name", a->nr_functions, escape_json_string(to, function_label(&a->function[i])));
	JSON_NEXT_LIST(to, "image", a->nr_functions, fprintf(to, "%u", a->function[i].image));
	JSON_NEXT_LIST(to, "generated", a->nr_functions, fputc('0' + a->function[i].jit, to));
	fputs("},\n\"lines\":{", to);
	JSON_LIST(to, "file", a->nr_lines, escape_json_string(to, a->line[i].file));
	JSON_NEXT_LIST(to, "number", a->nr_lines, fprintf(to, "%u", a->line[i].number));
	JSON_NEXT_LIST(to, "generated", a->nr_lines, fputc('0' + a->line[i].jit, to));
	fputs("},\n", to);
	JSON_LIST(to, "images", a->nr_images, escape_json_string(to, a->image[i].path));
	fputs(",\n", to);
}

static void write_events_json(const struct model *m, FILE *to)
{
	JSON_LIST(to, "events", m->nr_events, const struct model_event *e = &m->event[i]; fputs("{\"name\":", to);
	      escape_json_string(to, e->name);
	      fputs(",\"unit\":", to); escape_json_string(to, e->unit); fputs(",\"scope\":", to); escape_json_string(to, e->scope);
	      fprintf(to, ",\"rate\":%llu,\"period\":%llu,\"stack_bytes\":%u,\"counted\":%llu,\"lost\":%llu,\"sampled\":%.6g,"
			  "\"running\":%.6g,\"granule\":%d}",
		      (unsigned long long)e->rate, (unsigned long long)e->period, e->stack_bytes, (unsigned long long)e->counted,
		      (unsigned long long)e->count_lost, e->sampled,
		      e->on_cpu_ns ? (double)e->running_ns / (double)e->on_cpu_ns : 0.0, access_granule_of_event(e->name, e->period)));
	fputs(",\n", to);
}

static void write_processes_json(const struct model *m, FILE *to)
{
	fputs("\"processes\":{", to);
	JSON_LIST(to, "pid", m->processes.nr, fprintf(to, "%u", m->numbered.at[i]->pid));
	JSON_NEXT_LIST(to, "comm", m->processes.nr, escape_json_string(to, m->numbered.at[i]->comm));
	JSON_NEXT_LIST(to, "agent", m->processes.nr, fputc('0' + m->numbered.at[i]->has_guest, to));
	fputs("},\n\"threads\":{", to);
	JSON_LIST(to, "tid", m->threads.nr, fprintf(to, "%u", m->threads.at[i].tid));
	JSON_NEXT_LIST(to, "process", m->threads.nr, fprintf(to, "%u", m->threads.at[i].process));
	JSON_NEXT_LIST(to, "comm", m->threads.nr, escape_json_string(to, m->threads.at[i].comm));
	fputs("},\n", to);
}

/* These are names by which a page adds up processes. They are a list of different names, and for each process 1 + the number of its name,
 * or 0 if it has none. */
struct process_names {
	char **name;
	uint32_t *of, nr;
	struct hash_map known;
};

static void add_name(struct process_names *n, uint32_t process, const char *text)
{
	const uint64_t key = hash_text(text);
	uint32_t number = hash_map_find(&n->known, key, strlen(text));

	if (!number && (n->name[n->nr] = strdup(text)) && hash_map_set(&n->known, key, strlen(text), n->nr + 1))
		number = ++n->nr;
	n->of[process] = number;
}

static void put_names(struct process_names *n, const char *key, uint32_t nr_processes, FILE *to)
{
	fprintf(to, "\"%s\":{", key);
	JSON_LIST(to, "name", n->nr, escape_json_string(to, n->name[i]));
	JSON_NEXT_LIST(to, "of", nr_processes, fprintf(to, "%u", n->of[i]));
	fputs("},\n", to);
	for (uint32_t i = 0; i < n->nr; i++)
		free(n->name[i]);
	hash_map_fini(&n->known);
}

static void write_programs_json(const struct html_trace *t, FILE *to)
{
	const struct model *m = t->report->model;
	const uint32_t nr = m->processes.nr;
	struct process_names programs = { .name = calloc((size_t)nr + 1, sizeof(char *)), .of = calloc((size_t)nr + 1, sizeof(uint32_t)) };
	struct process_names lines = { .name = calloc((size_t)nr + 1, sizeof(char *)), .of = calloc((size_t)nr + 1, sizeof(uint32_t)) };
	const bool has_room = programs.name && programs.of && lines.name && lines.of;
	struct command_words words = { .processes = { .nr = 0 } };
	const bool has_words = has_room && command_words_make(&words, m);
	char text[COMMAND_LABEL_BYTES];

	for (uint32_t i = 0; has_room && i < nr; i++) {
		const struct process *p = m->numbered.at[i];

		add_name(&programs, i, process_program(p));
		if (!has_words || !p->command_line)
			continue;
		command_words_label(&words, p, true, text);
		add_name(&lines, i, text);
	}
	put_names(&programs, "programs", has_room ? nr : 0, to);
	put_names(&lines, "command_lines", has_room ? nr : 0, to);
	command_words_fini(&words);
	free(programs.name);
	free(programs.of);
	free(lines.name);
	free(lines.of);
}

static void write_memory_json(const struct model *m, FILE *to)
{
	static const char *const kinds[] = { "named", "heap", "stack", "mapping", "file" };

	JSON_LIST(to, "memory", m->areas.nr, const struct memory *r = m->areas.at[i];
	      if (!r) { fputs("null", to); continue; }
	      fprintf(to, "{\"kind\":\"%s\",\"name\":", kinds[r->kind]); escape_json_string(to, r->name);
	      fprintf(to, ",\"address\":%llu,\"bytes\":%llu,\"component\":%u,\"process\":%u}", (unsigned long long)r->address,
		      (unsigned long long)r->bytes, r->component, r->process));
	fputs(",\n", to);
}

static void write_code_json(const struct model *m, FILE *to)
{
	static const char *const kinds[] = { "image", "elf", "function", "region" };

	fputs("\"code\":{", to);
	JSON_LIST(to, "kind", m->codes.nr, fprintf(to, "\"%s\"", kinds[m->codes.at[i]->kind]));
	JSON_NEXT_LIST(to, "name", m->codes.nr,
		       escape_json_string(to, m->codes.at[i]->kind == CODE_IMAGE ? m->codes.at[i]->path : m->codes.at[i]->name));
	JSON_NEXT_LIST(to, "bytes", m->codes.nr, fprintf(to, "%llu", (unsigned long long)m->codes.at[i]->bytes));
	JSON_NEXT_LIST(to, "file", m->codes.nr, fprintf(to, "%u", m->codes.at[i]->kind == CODE_IMAGE && m->codes.at[i]->file ?
								 m->codes.at[i]->file->number + 1 : 0));
	fputs("},\n", to);
}

struct list {
	FILE *to;
	uint32_t nr;
};

/* Writes one of the sentences without which the rest would be misread.  Reports begin with them, too. */
static void write_sentence_json(void *list, const char *sentence)
{
	struct list *l = list;

	fputs(l->nr++ ? "," : "", l->to);
	escape_json_string(l->to, sentence);
}

static void write_first_json(const struct html_trace *t, FILE *to)
{
	fputs("\"first\":[", to);
	first_notes_each(t->report, t->by_function, 0, true, write_sentence_json, &(struct list){ to, 0 });
	fputs("],\n", to);
}

static void write_recorder_json(const struct html_trace *t, FILE *to)
{
	const struct report *r = t->report;
	struct warnings w;
	const struct model *m = r->model;

	warnings_make(r, &w);
	JSON_LIST(to, "warnings", w.nr, fputs("{\"kind\":", to); escape_json_string(to, w.list[i].kind); fputs(",\"sentence\":", to);
	      escape_json_string(to, w.list[i].sentence); fprintf(to, ",\"count\":%llu}", (unsigned long long)w.list[i].count));
	fputs(",\n", to);
	write_first_json(t, to);
	warnings_fini(&w);
	fprintf(to, "\"lost\":%llu,\"recorder_cpu_ns\":%llu,\"complete\":%s,\n", (unsigned long long)model_count_lost(m, LOSS_OF_SAMPLES),
		(unsigned long long)m->recorder_cpu_ns, m->has_end ? "true" : "false");
}

static void write_recording_json(const struct html_trace *t, FILE *to)
{
	const struct report *r = t->report;
	const struct model *m = r->model;
	const struct attribution *a = r->a;

	fputs("\"trace\":", to);
	escape_json_string(to, t->path);
	fputs(",\"version\":\"" TAILOR_VERSION "\",\"command\":", to);
	escape_json_string(to, m->command);
	fputs(",\"host\":", to);
	escape_json_string(to, m->host_name);
	fputs(",\"kernel\":", to);
	escape_json_string(to, m->kernel);
	fprintf(to, ",\"cpus\":%u,\"exit_status\":%u,\"real_ms\":%.0f,\"begin_ns\":%llu,\"end_ns\":%llu,\"first_ns\":%llu,"
		"\"last_ns\":%llu,\n",
		m->nr_cpus, m->exit_status, (double)(int64_t)m->real_ns / 1e6, (unsigned long long)m->begin_ns,
		(unsigned long long)m->end_ns,
		(unsigned long long)a->first_ns, (unsigned long long)a->last_ns);
	fprintf(to, "\"rows\":%zu,\"time_ns\":%u,\"samples\":%llu,\"event\":%u,\"nodes\":%u,\"run_phase\":%s,\n", t->rows.nr,
		HTML_TIME_NS, (unsigned long long)a->nr_samples, r->event, a->stacks.nr,
		r->has_run && leading_of_report(&t->leading, r) != LEADING_PROGRAMS ? "true" : "false");
	fprintf(to, "\"jit\":{\"samples\":%llu,\"named\":%llu,\"lines\":%llu,\"line_0\":%llu},\n", (unsigned long long)a->jit_samples,
		(unsigned long long)a->jit_named, (unsigned long long)a->jit_lines, (unsigned long long)a->line0_samples);
	JSON_LIST(to, "stack_ends", NR_REASONS, fprintf(to, "%llu", (unsigned long long)a->stack_ends[i]));
	fputs(",\n", to);
}

static void write_methods_json(FILE *to)
{
#define PAIR_(names, sentences) \
	fputc('[', to); \
	escape_json_string(to, names[i]); \
	fputc(',', to); \
	escape_json_string(to, sentences[i]); \
	fputc(']', to)
	JSON_LIST(to, "methods", NR_METHODS, PAIR_(method_names, method_sentences));
	JSON_NEXT_LIST(to, "reasons", NR_REASONS, PAIR_(reason_names, reason_sentences));
#undef PAIR_
	fputs(",\n", to);
}

/* Returns whether the column of weights has the weights themselves, and not their numbers in a list. */
static bool has_weight_numbers(const struct html_columns *c)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->column[i].numbers)
			return true;
	return false;
}

void html_put_facts(const struct html_trace *t, const struct html_columns *c, FILE *to)
{
	const struct model *m = t->report->model;
	const struct html_rows *rows = &t->rows;

	fputs("{\"format\":1,\n", to);
	write_recording_json(t, to);
	write_columns_json(c, to);
	write_methods_json(to);
	write_events_json(m, to);
	write_processes_json(m, to);
	write_programs_json(t, to);
	write_names_json(t->report->a, to);
	write_memory_json(m, to);
	write_code_json(m, to);
	write_recorder_json(t, to);
	write_ways_json(rows, m->dictionary.nr_levels, to);
	write_places_json(rows, to);
	JSON_LIST(to, "weights", has_weight_numbers(c) ? 0 : rows->weights.nr,
		  fprintf(to, "%llu", (unsigned long long)rows->weights.at[i]));
	fputs(",\n", to);
	html_put_dictionary(t, to);
	html_put_plans(t, to);
	html_put_sources(t, to);
	html_put_listings(t, to);
	html_put_flow(t, to);
	html_put_causes(t, to);
	fputs("\"whatif\":", to);
	whole_put_json(t->timeline, to);
	fputs(",\n", to);
	if (t->number)
		html_pairs_put(t->pairs, to);
	fputs("\"end\":true}\n", to);
}
