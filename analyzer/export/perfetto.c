/* SPDX-License-Identifier: MIT */
/*
 * Writes the format perfetto, which is Chrome's trace event format (JSON). ui.perfetto.dev and chrome://tracing open it. The host's marks
 * are slices, which are intervals on the track of a thread. Consecutive samples of one component (or function) in a thread become a slice,
 * too. Perfetto drops slices of a track that overlap without being nested. So the slices of samples, which may overlap with marks, have a
 * track of their own, whose thread number no thread has.
 */
#include "analyzer/export/export.h"
#include "analyzer/output/escape.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define GAP_FACTOR 4 /* a slice ends if the next sample comes after more than so many times the median distance between samples */
#define WORK_TRACK (1u << 30) /* bit that is set in the thread number of a track of samples; the kernel's numbers are less than 2^22 */

static void prepare_perfetto(struct export *e)
{
	if (e->level == LEVELS_MAX) /* shown over time, components are more useful than functions, which change all the time */
		e->level = report_find_level(e->report, NULL);
	export_ask_samples(e);
}

static double microseconds(const struct export *e, uint64_t time_ns)
{
	return ((double)time_ns - (double)e->report->model->begin_ns) / 1e3;
}

static const char *activity_of_sample(const struct export *e, const struct export_sample *s, char *spare)
{
	if (e->level != LEVELS_MAX)
		return s->component ? report_component_name(e->report, s->component, spare) : NULL;
	return s->stack ? export_frame_name(e, s->stack, spare) : NULL;
}

static void write_slice(const struct export *e, const char *category, const char *name, uint32_t pid, uint32_t tid, uint64_t begin_ns,
			uint64_t end_ns, FILE *to)
{
	fprintf(to, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"", category);
	escape_json(to, name);
	fprintf(to, "\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f", pid, tid, microseconds(e, begin_ns),
		(double)(end_ns > begin_ns ? end_ns - begin_ns : 0) / 1e3);
}

static void write_track_names(const struct export *e, FILE *to)
{
	const struct model *m = e->report->model;

	for (uint32_t i = 0; i < m->processes.nr; i++) {
		fprintf(to, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"", i ? ",\n" : "\n",
				m->numbered.at[i]->pid);
		escape_json(to, m->numbered.at[i]->comm);
		fputs("\"}}", to);
	}
	for (uint32_t i = 0; i < m->threads.nr; i++) {
		/* A thread that renamed itself has an entry for each name. Its track is named by the first one. */
		if (m->threads.at[i].first != i)
			continue;
		fprintf(to, "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"",
			i || m->processes.nr ? ",\n" : "\n", m->numbered.at[m->threads.at[i].process]->pid, m->threads.at[i].tid);
		escape_json(to, export_thread_name(e, i));
		fputs("\"}}", to);
	}
	for (size_t i = 0, end; i < e->samples.nr; i = end) {
		const struct thread *t = &m->threads.at[e->samples.at[i].thread];

		end = export_thread_end(e, i);
		fprintf(to, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"",
			m->numbered.at[t->process]->pid, t->tid | WORK_TRACK);
		escape_json(to, export_thread_name(e, e->samples.at[i].thread));
		fprintf(to, " (sampled)\"}}");
	}
}

static void write_mark_slices(const struct export *e, FILE *to)
{
	const struct model *m = e->report->model;
	char name[300], spare[32];

	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		uint64_t end;

		if (!export_wants_mark(e, k))
			continue;
		end = k->end_ns == UINT64_MAX ? e->report->a->last_ns : k->end_ns;

		snprintf(name, sizeof(name), "%s%s%s", k->name ? k->name : "", k->component ? " " : "",
			 k->component ? report_component_name(e->report, k->component, spare) : "");
		write_slice(e, "mark", name, m->numbered.at[k->process]->pid, k->tid, k->begin_ns, end, to);
		fprintf(to, ",\"args\":{\"instance\":%llu,\"units\":%llu,\"text\":\"", (unsigned long long)k->instance,
			(unsigned long long)k->units);
		escape_json(to, k->text);
		fputs("\"}}", to);
	}
}

static uint64_t median_sample_gap(const struct export *e, size_t from, size_t end)
{
	uint64_t *gap = malloc((end - from + 1) * sizeof(*gap)), median = 0;
	size_t nr = 0;

	for (size_t i = from + 1; gap && i < end; i++)
		gap[nr++] = e->samples.at[i].time_ns - e->samples.at[i - 1].time_ns;
	if (nr) {
		qsort(gap, nr, sizeof(*gap), sorted_by_number);
		median = gap[nr / 2];
	}
	free(gap);
	return median ? median : 1000000;
}

static void write_thread_slices(const struct export *e, size_t from, size_t end, FILE *to)
{
	const struct thread *t = &e->report->model->threads.at[e->samples.at[from].thread];
	uint32_t pid = e->report->model->numbered.at[t->process]->pid;
	uint64_t gap = median_sample_gap(e, from, end);
	char spare[32], other[32];

	for (size_t i = from, last; i < end; i = last + 1) {
		const char *name = activity_of_sample(e, &e->samples.at[i], spare);
		double samples = (double)e->samples.at[i].share;
		uint64_t until_ns;

		for (last = i; last + 1 < end; last++) {
			const char *next = activity_of_sample(e, &e->samples.at[last + 1], other);

			if (e->samples.at[last + 1].time_ns - e->samples.at[last].time_ns > GAP_FACTOR * gap || !name != !next ||
			    (name && strcmp(name, next) != 0))
				break;
			samples += (double)e->samples.at[last + 1].share;
		}
		if (!name)
			continue;
		until_ns = e->samples.at[last].time_ns + gap;
		if (last + 1 < end && until_ns > e->samples.at[last + 1].time_ns)
			until_ns = e->samples.at[last + 1].time_ns;
		write_slice(e, "samples", name, pid, t->tid | WORK_TRACK, e->samples.at[i].time_ns, until_ns, to);
		fprintf(to, ",\"args\":{\"samples\":%.6g}}", samples);
	}
}

static int write_perfetto(struct export *e, FILE *to)
{
	export_sort(e);
	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"tailor\",\"command\":\"", to);
	escape_json(to, e->report->model->command);
	fputs("\"},\"traceEvents\":[", to);
	write_track_names(e, to);
	write_mark_slices(e, to);
	for (size_t i = 0, end; i < e->samples.nr; i = end) {
		end = export_thread_end(e, i);
		write_thread_slices(e, i, end, to);
	}
	fputs("\n]}\n", to);
	return 0;
}

const struct exporter exporter_perfetto = {
	"perfetto", ".perfetto.json", "slices over time, for ui.perfetto.dev and chrome://tracing",
	false, prepare_perfetto, write_perfetto, false,
};
