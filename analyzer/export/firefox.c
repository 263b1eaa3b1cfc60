/* SPDX-License-Identifier: MIT */
/*
 * Writes the format firefox, which is the processed profile format of profiler.firefox.com in its version 60. Later versions of the viewer
 * upgrade it by themselves (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md). Each thread has
 * its samples, and the marks that it set as markers. Stacks, frames, functions and strings are in tables that all threads share.
 */
#include "analyzer/export/export.h"
#include "analyzer/output/escape.h"
#include "analyzer/output/json_list.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORY_OTHER 0
#define CATEGORY_JIT 1
#define CATEGORY_KERNEL 2
#define INTERVAL_MS 1 /* ms between samples, by which the viewer extends the last one */

static void prepare_firefox(struct export *e)
{
	export_ask_samples(e);
}

static double milliseconds(const struct export *e, uint64_t time_ns)
{
	return ((double)time_ns - (double)e->report->model->begin_ns) / 1e6;
}

/* Is the weight of samples a time? The viewer shows times in ms, and everything else as numbers of samples. */
static bool is_time(const struct export *e)
{
	return report_weighs(e->report) == WEIGHT_NS;
}

static double shown_weight(const struct export *e, const struct export_sample *s)
{
	return (double)(s->weight ? s->weight : 1) * (double)s->share / (is_time(e) ? 1e6 : 1);
}

/* Return the viewer's name for the unit of the weights, for it to compute the CPU usage of a thread. Return NULL if the viewer has no such
 * unit. */
static const char *cpu_unit(const struct export *e)
{
	const enum weight_unit unit = report_weighs(e->report);

	return unit == WEIGHT_NS ? "ns" : unit == WEIGHT_CYCLES ? "variable CPU cycles" : NULL;
}

/* These are the tables of frames (a function or component at a line, with a category) and of functions. Each frame and each function is
 * there only once. */
struct tables {
	uint32_t *frame; /* frame of each node of the tree of stacks */
	uint32_t *first, nr_frames; /* for each frame: a node that has it */
	uint32_t *func;	 /* function of each frame */
	uint32_t *named, nr_funcs; /* for each function: a node that has it */
};

static void tables_fini(struct tables *t)
{
	free(t->frame);
	free(t->first);
	free(t->func);
	free(t->named);
}

static int category_of_frame(const struct stack_node *n)
{
	return n->flags & STACK_KERNEL ? CATEGORY_KERNEL : n->flags & STACK_JIT ? CATEGORY_JIT : CATEGORY_OTHER;
}

/* Set *number to the number of a pair (a, b). Pairs are numbered from 0 on, in the order of their first use, and *nr is how many there are.
 * Return 0 or -ENOMEM. */
static int number_of_pair(struct hash_map *seen, uint64_t a, uint64_t b, uint32_t *nr, uint32_t *number)
{
	uint32_t before = hash_map_find(seen, a, b);

	*number = before ? before - 1 : *nr;
	if (before)
		return 0;
	++*nr;
	return hash_map_set(seen, a, b, *nr) ? 0 : -ENOMEM;
}

static int tables_init(struct tables *t, const struct export *e)
{
	const struct stacks *s = &e->report->a->stacks;
	struct hash_map frames = { 0 }, funcs = { 0 };
	int ret = 0;

	t->frame = calloc((size_t)s->nr + 1, sizeof(*t->frame));
	t->first = calloc((size_t)s->nr + 1, sizeof(*t->first));
	t->func = calloc((size_t)s->nr + 1, sizeof(*t->func));
	t->named = calloc((size_t)s->nr + 1, sizeof(*t->named));
	if (!t->frame || !t->first || !t->func || !t->named)
		return -ENOMEM;
	for (uint32_t i = 1; ret == 0 && i < s->nr; i++) {
		const struct stack_node *n = &s->node[i];
		uint32_t name = e->level != LEVELS_MAX ? export_frame_component(e, i) : n->function, frame, func;

		ret = number_of_pair(&frames, name, (uint64_t)n->line << 2 | (uint32_t)category_of_frame(n), &t->nr_frames, &frame);
		if (ret == 0)
			ret = number_of_pair(&funcs, name, 0, &t->nr_funcs, &func);
		if (ret)
			break;
		t->frame[i] = frame;
		t->first[frame] = i;
		t->func[frame] = func;
		t->named[func] = i;
	}
	hash_map_fini(&frames);
	hash_map_fini(&funcs);
	return ret;
}

/* Write the tables that threads share. The table of strings has the names of functions first, and then those of marks. */
static void write_shared_tables(const struct export *e, const struct tables *t, FILE *to)
{
	const struct attribution *a = e->report->a;
	const struct model *m = e->report->model;
	const struct stack_node *node = a->stacks.node;
	uint32_t nr = a->stacks.nr ? a->stacks.nr - 1 : 0; /* stack i is node i + 1 */
	char spare[32];

	fputs("\"shared\":{\"stackTable\":{", to);
	JSON_LIST(to, "frame", nr, fprintf(to, "%u", t->frame[i + 1]));
	JSON_NEXT_LIST(to, "prefix", nr, node[i + 1].caller ? fprintf(to, "%u", node[i + 1].caller - 1) : fputs("null", to));
	fprintf(to, ",\"length\":%u},\n\"frameTable\":{", nr);
	nr = t->nr_frames;
	JSON_LIST(to, "address", nr, fputs("-1", to));
	JSON_NEXT_LIST(to, "inlineDepth", nr, fputc('0', to));
	JSON_NEXT_LIST(to, "category", nr, fprintf(to, "%d", category_of_frame(&node[t->first[i]])));
	JSON_NEXT_LIST(to, "subcategory", nr, fputc('0', to));
	JSON_NEXT_LIST(to, "func", nr, fprintf(to, "%u", t->func[i]));
	JSON_NEXT_LIST(to, "nativeSymbol", nr, fputs("null", to));
	JSON_NEXT_LIST(to, "innerWindowID", nr, fputc('0', to));
	JSON_NEXT_LIST(to, "line", nr, node[t->first[i]].line && node[t->first[i]].line < a->nr_lines ?
		fprintf(to, "%u", a->line[node[t->first[i]].line].number) : fputs("null", to));
	JSON_NEXT_LIST(to, "column", nr, fputs("null", to));
	fprintf(to, ",\"length\":%u},\n\"funcTable\":{", nr);
	nr = t->nr_funcs;
	JSON_LIST(to, "name", nr, fprintf(to, "%u", i));
	JSON_NEXT_LIST(to, "isJS", nr, fputs("false", to));
	JSON_NEXT_LIST(to, "relevantForJS", nr, fputs("false", to));
	JSON_NEXT_LIST(to, "resource", nr, fputs("-1", to));
	JSON_NEXT_LIST(to, "source", nr, fputs("null", to));
	JSON_NEXT_LIST(to, "lineNumber", nr, fputs("null", to));
	JSON_NEXT_LIST(to, "columnNumber", nr, fputs("null", to));
	fprintf(to, ",\"length\":%u},\n\"resourceTable\":{\"type\":[],\"lib\":[],\"name\":[],\"host\":[],\"length\":0},\n"
		    "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
		    "\"sources\":{\"id\":[],\"filename\":[],\"length\":0},\n", nr);
	JSON_LIST(to, "stringArray", nr + m->marks.nr, escape_json_string(to, i < nr ?
		export_frame_name(e, t->named[i], spare) : m->marks.at[i - nr].name));
	fputs("},\n", to);
}

/* These are the marks that the filter accepts, sorted by the thread that set them, without those of unknown threads. Those of thread t are
 * mark[first[t]] to mark[first[t + 1] - 1]. */
struct thread_marks {
	uint32_t *mark, *first;
};

static void thread_marks_fini(struct thread_marks *k)
{
	free(k->mark);
	free(k->first);
}

static int thread_marks_init(struct thread_marks *k, const struct export *e)
{
	const struct model *m = e->report->model;
	uint32_t *thread = calloc((size_t)m->marks.nr + 1, sizeof(*thread)); /* mark -> 1 + index of its thread; 0: none */
	struct hash_map by_tid = { 0 };
	bool enough = true;

	k->mark = calloc((size_t)m->marks.nr + 1, sizeof(*k->mark));
	k->first = calloc((size_t)m->threads.nr + 2, sizeof(*k->first));
	for (uint32_t t = 0; enough && t < m->threads.nr; t++)
		if (m->threads.at[t].first == t)
			enough = hash_map_set(&by_tid, m->threads.at[t].process, m->threads.at[t].tid, t + 1);
	enough = enough && thread && k->mark && k->first;
	for (uint32_t i = 0; enough && i < m->marks.nr; i++) {
		thread[i] = export_wants_mark(e, &m->marks.at[i]) ? hash_map_find(&by_tid, m->marks.at[i].process, m->marks.at[i].tid) : 0;
		if (thread[i])
			k->first[thread[i] + 1]++;
	}
	/* After the first loop, first[t + 1] is where the marks of thread t begin. The second loop moves it to where they end. */
	for (uint32_t t = 0; enough && t < m->threads.nr; t++)
		k->first[t + 1] += k->first[t];
	for (uint32_t i = 0; enough && i < m->marks.nr; i++)
		if (thread[i])
			k->mark[k->first[thread[i]]++] = i;
	free(thread);
	hash_map_fini(&by_tid);
	return enough ? 0 : -ENOMEM;
}

static uint64_t mark_end_ns(const struct export *e, const struct mark *m)
{
	return m->end_ns == UINT64_MAX ? e->report->a->last_ns : m->end_ns;
}

static void write_thread_markers(const struct export *e, const struct tables *tables, const uint32_t *marks, uint32_t nr, FILE *to)
{
	const struct mark *mark = e->report->model->marks.at;

	fputs("\"markers\":{", to);
	JSON_LIST(to, "data", nr, fputs("{\"type\":\"Text\",\"name\":", to); escape_json_string(to, mark[marks[i]].text); fputc('}', to));
	JSON_NEXT_LIST(to, "name", nr, fprintf(to, "%u", tables->nr_funcs + marks[i]));
	JSON_NEXT_LIST(to, "startTime", nr, fprintf(to, "%.6f", milliseconds(e, mark[marks[i]].begin_ns)));
	JSON_NEXT_LIST(to, "endTime", nr, fprintf(to, "%.6f", milliseconds(e, mark_end_ns(e, &mark[marks[i]]))));
	JSON_NEXT_LIST(to, "phase", nr, fputc('1', to)); /* 1 is the viewer's number for an interval */
	JSON_NEXT_LIST(to, "category", nr, fputc('0', to));
	fprintf(to, ",\"length\":%u}", nr);
}

static void write_thread_profile(const struct export *e, const struct tables *tables, const struct thread_marks *marks, uint32_t thread,
				 size_t from, size_t end, FILE *to)
{
	const struct model *m = e->report->model;
	const struct thread *t = &m->threads.at[thread];
	const struct export_sample *s = e->samples.at ? e->samples.at + from : NULL; /* NULL if the trace has no samples */
	uint32_t nr = (uint32_t)(end - from);

	fprintf(to, "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":%.6f,"
		    "\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"name\":\"",
		milliseconds(e, nr ? s->time_ns : m->begin_ns), m->numbered.at[t->process]->pid == t->tid ? "true" : "false",
				m->numbered.at[t->process]->pid, t->tid);
	escape_json(to, export_thread_name(e, thread));
	fputs("\",\"processName\":\"", to);
	escape_json(to, m->numbered.at[t->process]->comm);
	fprintf(to, "\",\n\"samples\":{\"weightType\":\"%s\",", is_time(e) ? "tracing-ms" : "samples");
	JSON_LIST(to, "stack", nr, s[i].stack ? fprintf(to, "%u", s[i].stack - 1) : fputs("null", to));
	JSON_NEXT_LIST(to, "time", nr, fprintf(to, "%.6f", milliseconds(e, s[i].time_ns)));
	JSON_NEXT_LIST(to, "weight", nr, fprintf(to, "%.9g", shown_weight(e, &s[i])));
	if (cpu_unit(e)) {
		JSON_NEXT_LIST(to, "threadCPUDelta", nr, fprintf(to, "%.0f", (double)s[i].weight * (double)s[i].share));
	}
	fprintf(to, ",\"length\":%u},\n", nr);
	write_thread_markers(e, tables, marks->mark + marks->first[thread], marks->first[thread + 1] - marks->first[thread], to);
	fputs("}", to);
}

static int write_all_threads(const struct export *e, const struct tables *tables, const struct thread_marks *marks, FILE *to)
{
	const struct model *m = e->report->model;
	bool *written = calloc((size_t)m->threads.nr + 1, sizeof(*written)), first = true;

	if (!written)
		return -ENOMEM;
	for (size_t i = 0, end; i < e->samples.nr; i = end) {
		end = export_thread_end(e, i);
		fputs(first ? "\n" : ",\n", to);
		write_thread_profile(e, tables, marks, e->samples.at[i].thread, i, end, to);
		written[e->samples.at[i].thread] = true;
		first = false;
	}
	for (uint32_t t = 0; t < m->threads.nr; t++) { /* threads that have marks, but no samples */
		if (written[t] || marks->first[t] == marks->first[t + 1])
			continue;
		fputs(first ? "\n" : ",\n", to);
		write_thread_profile(e, tables, marks, t, 0, 0, to);
		first = false;
	}
	free(written);
	return 0;
}

/* Write the range of time that the viewer shows. By default, it would end one interval after the last sample, and marks that begin later
 * would be missing. */
static void write_shown_range(const struct export *e, const struct thread_marks *marks, FILE *to)
{
	const struct model *m = e->report->model;
	uint64_t first_ns = UINT64_MAX, end_ns = 0;

	for (size_t i = 0; i < e->samples.nr; i++) {
		first_ns = e->samples.at[i].time_ns < first_ns ? e->samples.at[i].time_ns : first_ns;
		end_ns = e->samples.at[i].time_ns > end_ns ? e->samples.at[i].time_ns : end_ns;
	}
	end_ns += INTERVAL_MS * 1000000ull;
	for (uint32_t i = 0; i < marks->first[m->threads.nr]; i++) {
		const struct mark *mark = &m->marks.at[marks->mark[i]];

		first_ns = mark->begin_ns < first_ns ? mark->begin_ns : first_ns;
		end_ns = mark_end_ns(e, mark) > end_ns ? mark_end_ns(e, mark) : end_ns;
	}
	if (first_ns < end_ns)
		fprintf(to, ",\"profilingStartTime\":%.6f,\"profilingEndTime\":%.6f", milliseconds(e, first_ns), milliseconds(e, end_ns));
}

static void write_meta_object(const struct export *e, const struct thread_marks *marks, FILE *to)
{
	const struct model *m = e->report->model;

	fprintf(to, "\"meta\":{\"version\":24,\"preprocessedProfileVersion\":60,\"interval\":%d,\"startTime\":%.3f,\"processType\":0,"
		    "\"product\":\"", INTERVAL_MS, (double)(int64_t)m->real_ns / 1e6);
	escape_json(to, m->command);
	fputs("\",\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\"toolkit\":\"tailor\",\"platform\":\"Linux\","
	      "\"markerSchema\":[{\"name\":\"Text\",\"tableLabel\":\"{marker.name} - {marker.data.name}\","
	      "\"chartLabel\":\"{marker.name} - {marker.data.name}\",\"display\":[\"marker-chart\",\"marker-table\"],"
	      "\"fields\":[{\"key\":\"name\",\"label\":\"Details\",\"format\":\"string\"}]}],"
	      "\"categories\":[{\"name\":\"Program\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Generated code\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}]", to);
	if (cpu_unit(e))
		fprintf(to, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"%s\"}", cpu_unit(e));
	write_shown_range(e, marks, to);
	fputs("},\n", to);
}

static int write_firefox(struct export *e, FILE *to)
{
	struct thread_marks marks = { 0 };
	struct tables tables = { 0 };
	int ret = tables_init(&tables, e);

	if (ret == 0)
		ret = thread_marks_init(&marks, e);
	if (ret == 0) {
		export_sort(e);
		fputs("{", to);
		write_meta_object(e, &marks, to);
		write_shared_tables(e, &tables, to);
		fputs("\"libs\":[],\"pages\":[],\"threads\":[", to);
		ret = write_all_threads(e, &tables, &marks, to);
		fputs("]}\n", to);
	}
	tables_fini(&tables);
	thread_marks_fini(&marks);
	return ret;
}

const struct exporter exporter_firefox = {
	"firefox", ".firefox.json", "profile for profiler.firefox.com",
	false, prepare_firefox, write_firefox, true,
};
