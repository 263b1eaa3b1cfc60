/* SPDX-License-Identifier: MIT */
/*
 * firefox: the processed profile format of profiler.firefox.com, version 30 of it, which later versions upgrade by themselves
 * (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md): threads as threads, marks as
 * markers of the thread that set them.
 */
#include "analyzer/export/export.h"
#include "analyzer/output/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORY_OTHER 0
#define CATEGORY_JIT 1
#define CATEGORY_KERNEL 2

static void prepare(struct export *e)
{
	export_ask_samples(e);
}

static double milliseconds(const struct export *e, uint64_t time_ns)
{
	return ((double)time_ns - (double)e->report->model->begin_ns) / 1e6;
}

/* The viewer's name for the unit of the weights, from which it computes the CPU usage of a thread; NULL: none. */
static const char *cpu_unit(const struct export *e)
{
	const char *unit = report_unit(e->report);

	return strcmp(unit, "ns") == 0 ? "ns" : strcmp(unit, "cycles") == 0 ? "variable CPU cycles" : NULL;
}

/* "key":[...] of nr values that one() prints. */
#define COLUMN_(key, nr, ...) \
	do { \
		fprintf(to, "\"%s\":[", key); \
		for (uint32_t i = 0; i < (nr); i++) { \
			if (i) \
				fputc(',', to); \
			__VA_ARGS__; \
		} \
		fputs("]", to); \
	} while (0)

/* Strings of a thread: names of frames (as many as nodes), then its marks' names.  Every node is a frame, a function and a
 * stack entry of the same number: a text that occurs twice costs bytes, but no second table is needed. */
static void put_tables(const struct export *e, const struct mark *const *marks, uint32_t nr_marks, FILE *to)
{
	const struct attribution *a = e->report->a;
	uint32_t nr = a->stacks.nr;
	char spare[32];

	fputs("\"stackTable\":{", to);
	COLUMN_("frame", nr, fprintf(to, "%u", i));
	fputc(',', to);
	COLUMN_("prefix", nr, i && a->stacks.node[i].caller ? fprintf(to, "%u", a->stacks.node[i].caller) : fputs("null", to));
	fputc(',', to);
	COLUMN_("category", nr, fprintf(to, "%d", a->stacks.node[i].flags & STACK_KERNEL ? CATEGORY_KERNEL :
					a->stacks.node[i].flags & STACK_JIT ? CATEGORY_JIT : CATEGORY_OTHER));
	fputc(',', to);
	COLUMN_("subcategory", nr, fputc('0', to));
	fprintf(to, ",\"length\":%u},\n\"frameTable\":{", nr);
	COLUMN_("address", nr, fputs("-1", to));
	fputc(',', to);
	COLUMN_("inlineDepth", nr, fputc('0', to));
	fputc(',', to);
	COLUMN_("category", nr, fprintf(to, "%d", a->stacks.node[i].flags & STACK_KERNEL ? CATEGORY_KERNEL :
					a->stacks.node[i].flags & STACK_JIT ? CATEGORY_JIT : CATEGORY_OTHER));
	fputc(',', to);
	COLUMN_("subcategory", nr, fputc('0', to));
	fputc(',', to);
	COLUMN_("func", nr, fprintf(to, "%u", i));
	fputc(',', to);
	COLUMN_("nativeSymbol", nr, fputs("null", to));
	fputc(',', to);
	COLUMN_("innerWindowID", nr, fputc('0', to));
	fputc(',', to);
	COLUMN_("implementation", nr, fputs("null", to));
	fputc(',', to);
	COLUMN_("line", nr, a->stacks.node[i].line && a->stacks.node[i].line < a->nr_lines ?
		fprintf(to, "%u", a->line[a->stacks.node[i].line].number) : fputs("null", to));
	fputc(',', to);
	COLUMN_("column", nr, fputs("null", to));
	fputc(',', to);
	COLUMN_("optimizations", nr, fputs("null", to));
	fprintf(to, ",\"length\":%u},\n\"funcTable\":{", nr);
	COLUMN_("name", nr, fprintf(to, "%u", i));
	fputc(',', to);
	COLUMN_("isJS", nr, fputs("false", to));
	fputc(',', to);
	COLUMN_("relevantForJS", nr, fputs("false", to));
	fputc(',', to);
	COLUMN_("resource", nr, fputs("-1", to));
	fputc(',', to);
	COLUMN_("fileName", nr, fputs("null", to));
	fputc(',', to);
	COLUMN_("lineNumber", nr, fputs("null", to));
	fputc(',', to);
	COLUMN_("columnNumber", nr, fputs("null", to));
	fprintf(to, ",\"length\":%u},\n\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
		    "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n\"markers\":{", nr);
	COLUMN_("data", nr_marks, fputs("{\"type\":\"Text\",\"name\":\"", to); escape_json(to, marks[i]->text); fputs("\"}", to));
	fputc(',', to);
	COLUMN_("name", nr_marks, fprintf(to, "%u", nr + i));
	fputc(',', to);
	COLUMN_("startTime", nr_marks, fprintf(to, "%.6f", milliseconds(e, marks[i]->begin_ns)));
	fputc(',', to);
	COLUMN_("endTime", nr_marks, fprintf(to, "%.6f", milliseconds(e, marks[i]->end_ns == UINT64_MAX ? e->report->a->last_ns :
									marks[i]->end_ns)));
	fputc(',', to);
	COLUMN_("phase", nr_marks, fputc('1', to)); /* an interval */
	fputc(',', to);
	COLUMN_("category", nr_marks, fputc('0', to));
	fprintf(to, ",\"length\":%u},\n", nr_marks);
	COLUMN_("stringArray", nr + nr_marks, fputc('"', to);
		escape_json(to, i >= nr ? marks[i - nr]->name : i ? export_frame_name(e, i, spare) : "(none)"); fputc('"', to));
}

static int put_thread(const struct export *e, uint32_t thread, size_t from, size_t end, FILE *to)
{
	const struct model *m = e->report->model;
	const struct thread *t = &m->thread[thread];
	const struct mark **marks = calloc((size_t)m->nr_marks + 1, sizeof(*marks));
	uint32_t nr_marks = 0, nr = (uint32_t)(end - from);
	const struct export_sample *s = e->sample ? e->sample + from : NULL; /* of none at all */

	if (!marks)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nr_marks; i++)
		if (m->mark[i].process == t->process && m->mark[i].tid == t->tid)
			marks[nr_marks++] = &m->mark[i];
	fprintf(to, "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":%.6f,"
		    "\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":%u,\"tid\":%u,\"name\":\"",
		milliseconds(e, nr ? s->time_ns : m->begin_ns), m->numbered[t->process]->pid == t->tid ? "true" : "false",
				m->numbered[t->process]->pid, t->tid);
	escape_json(to, export_thread_name(e, thread));
	fputs("\",\"processName\":\"", to);
	escape_json(to, m->numbered[t->process]->comm);
	fputs("\",\n\"samples\":{\"weightType\":\"samples\",", to);
	COLUMN_("stack", nr, s[i].stack ? fprintf(to, "%u", s[i].stack) : fputs("null", to));
	fputc(',', to);
	COLUMN_("time", nr, fprintf(to, "%.6f", milliseconds(e, s[i].time_ns)));
	fputc(',', to);
	COLUMN_("weight", nr, fprintf(to, "%.6g", s[i].share));
	if (cpu_unit(e)) {
		fputc(',', to);
		COLUMN_("threadCPUDelta", nr, fprintf(to, "%.0f", (double)s[i].weight * (double)s[i].share));
	}
	fprintf(to, ",\"length\":%u},\n", nr);
	put_tables(e, marks, nr_marks, to);
	fputs("}", to);
	free(marks);
	return 0;
}

/* Threads with marks and without samples. */
static int put_marking_threads(const struct export *e, bool *written, bool first, FILE *to)
{
	const struct model *m = e->report->model;
	int ret = 0;

	for (uint32_t t = 0; t < m->nr_threads && ret == 0; t++) {
		for (uint32_t i = 0; i < m->nr_marks && !written[t]; i++) {
			const struct mark *k = &m->mark[i];

			if (k->process != m->thread[t].process || k->tid != m->thread[t].tid || !export_wants_mark(e, k))
				continue;
			fputs(first ? "\n" : ",\n", to);
			ret = put_thread(e, t, 0, 0, to);
			written[t] = true;
			first = false;
		}
	}
	return ret;
}

static int write_firefox(struct export *e, FILE *to)
{
	const struct model *m = e->report->model;
	bool *written = calloc((size_t)m->nr_threads + 1, sizeof(*written));
	int ret = 0;

	if (!written)
		return -ENOMEM;

	export_sort(e);
	fprintf(to, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":30,\"interval\":1,\"startTime\":%.3f,\"processType\":0,"
		    "\"product\":\"", (double)m->real_ns / 1e6);
	escape_json(to, m->command);
	fputs("\",\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\"toolkit\":\"tailor\",\"platform\":\"Linux\",\"markerSchema\":[],"
	      "\"categories\":[{\"name\":\"Program\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Generated code\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}]", to);
	if (cpu_unit(e))
		fprintf(to, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"%s\"}", cpu_unit(e));
	fputs("},\n\"libs\":[],\"pages\":[],\"threads\":[", to);
	for (size_t i = 0, end; i < e->nr && ret == 0; i = end) {
		end = export_thread_end(e, i);
		fputs(i ? ",\n" : "\n", to);
		ret = put_thread(e, e->sample[i].thread, i, end, to);
		written[e->sample[i].thread] = true;
	}
	if (ret == 0)
		ret = put_marking_threads(e, written, e->nr == 0, to);
	free(written);
	fputs("]}\n", to);
	return ret;
}

const struct exporter exporter_firefox = { "firefox", "profile for profiler.firefox.com", false, prepare, write_firefox };
