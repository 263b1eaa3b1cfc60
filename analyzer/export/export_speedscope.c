/* SPDX-License-Identifier: MIT */
/* speedscope: a sampled profile a thread, in the order of time (https://www.speedscope.app/file-format-schema.json). */
#include "export.h"

#include <string.h>

static void prepare(struct export *e)
{
	export_ask_samples(e);
}

static const char *unit(const struct export *e)
{
	return strcmp(report_unit(e->report), "ns") == 0 ? "nanoseconds" : "none";
}

static void put_frames(const struct export *e, FILE *to)
{
	const struct attribution *a = e->report->a;
	char spare[32];

	for (uint32_t n = 1; n < a->stacks.nr; n++) {
		const struct stack_node *node = &a->stacks.node[n];

		fputs(n > 1 ? ",\n{\"name\":\"" : "\n{\"name\":\"", to);
		export_json_text(to, export_frame_name(e, n, spare));
		fputs("\"", to);
		if (node->line && node->line < a->nr_lines) {
			fputs(",\"file\":\"", to);
			export_json_text(to, a->line[node->line].file);
			fprintf(to, "\",\"line\":%u", a->line[node->line].number);
		}
		fputs("}", to);
	}
}

static void put_profile(const struct export *e, size_t from, size_t end, FILE *to)
{
	uint32_t frames[EXPORT_FRAMES_MAX], thread = e->sample[from].thread;
	double sum = 0;

	fprintf(to, "{\"type\":\"sampled\",\"name\":\"");
	export_json_text(to, export_thread_name(e, thread));
	fprintf(to, " %u\",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[", e->report->model->thread[thread].tid, unit(e));
	for (size_t i = from; i < end; i++) {
		uint32_t nr = export_frames(e, e->sample[i].stack, frames, EXPORT_FRAMES_MAX);

		fputs(i == from ? "[" : ",[", to);
		for (uint32_t n = 0; n < nr; n++)
			fprintf(to, n ? ",%u" : "%u", frames[n] - 1);
		fputs("]", to);
	}
	fputs("],\n\"weights\":[", to);
	for (size_t i = from; i < end; i++) {
		double weight = (double)(e->sample[i].weight ? e->sample[i].weight : 1) * (double)e->sample[i].share;

		fprintf(to, i == from ? "%.0f" : ",%.0f", weight);
		sum += weight;
	}
	fprintf(to, "],\n\"endValue\":%.0f}", sum);
}

static int write_speedscope(struct export *e, FILE *to)
{
	export_sort(e);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"tailor\",\"name\":\"", to);
	export_json_text(to, e->report->model->command);
	fputs("\",\"shared\":{\"frames\":[", to);
	put_frames(e, to);
	fputs("]},\n\"profiles\":[", to);
	for (size_t i = 0, end; i < e->nr; i = end) {
		end = export_thread_end(e, i);
		fputs(i ? ",\n" : "\n", to);
		put_profile(e, i, end, to);
	}
	fputs("]}\n", to);
	return 0;
}

const struct exporter exporter_speedscope = { "speedscope", "a profile a thread for www.speedscope.app", false, prepare,
		write_speedscope };
