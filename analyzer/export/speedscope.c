/* SPDX-License-Identifier: MIT */
/* Writes the format speedscope, which is a sampled profile per thread, with its samples in the order of time
 * (https://www.speedscope.app/file-format-schema.json). */
#include "analyzer/export/export.h"
#include "analyzer/output/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void prepare_speedscope(struct export *e)
{
	export_ask_samples(e);
}

static const char *speedscope_unit(const struct export *e)
{
	return report_weighs(e->report) == WEIGHT_NS ? "nanoseconds" : "none";
}

/*
 * Write the table of frames, and set frame[node] to the number of the frame of each node in the tree of stacks. speedscope compares frames
 * by number (in its sandwich view, and for recursion), so each function or component has only one. Return 0 or -ENOMEM.
 */
static int write_frame_table(const struct export *e, uint32_t *frame, FILE *to)
{
	const struct attribution *a = e->report->a;
	bool components = e->level != LEVELS_MAX;
	size_t nr_things = components ? e->report->model->dictionary.components.nr : a->nr_functions;
	/* for each function or component: 1 + the number of its frame; 0: none yet */
	uint32_t *number = calloc(nr_things + 1, sizeof(*number)), nr = 0;
	char spare[32];

	if (!number)
		return -ENOMEM;
	for (uint32_t n = 1; n < a->stacks.nr; n++) {
		const struct stack_node *node = &a->stacks.node[n];
		uint32_t thing = components ? export_frame_component(e, n) : node->function;

		if (thing > nr_things)
			thing = 0;
		frame[n] = number[thing] ? number[thing] - 1 : nr;
		if (number[thing])
			continue;
		number[thing] = ++nr;
		fputs(nr > 1 ? ",\n{\"name\":" : "\n{\"name\":", to);
		escape_json_string(to, export_frame_name(e, n, spare));
		if (node->line && node->line < a->nr_lines) {
			fputs(",\"file\":", to);
			escape_json_string(to, a->line[node->line].file);
		}
		fputs("}", to);
	}
	free(number);
	return 0;
}

/* Write the profile of the thread with the samples from..end - 1. frames: scratch memory for the frames of a stack. */
static void write_thread_profile(const struct export *e, const uint32_t *frame, uint32_t *frames, size_t from, size_t end, FILE *to)
{
	uint32_t thread = e->samples.at[from].thread;
	double sum = 0;

	fprintf(to, "{\"type\":\"sampled\",\"name\":\"");
	escape_json(to, export_thread_name(e, thread));
	fprintf(to, " %u\",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[", e->report->model->threads.at[thread].tid, speedscope_unit(e));
	for (size_t i = from; i < end; i++) {
		uint32_t nr = export_list_frames(e, e->samples.at[i].stack, frames);

		fputs(i == from ? "[" : ",[", to);
		for (uint32_t n = 0; n < nr; n++)
			fprintf(to, n ? ",%u" : "%u", frame[frames[n]]);
		fputs("]", to);
	}
	fputs("],\n\"weights\":[", to);
	for (size_t i = from; i < end; i++) {
		double weight = (double)(e->samples.at[i].weight ? e->samples.at[i].weight : 1) * (double)e->samples.at[i].share;

		fprintf(to, i == from ? "%.0f" : ",%.0f", weight);
		sum += weight;
	}
	fprintf(to, "],\n\"endValue\":%.0f}", sum);
}

static int write_speedscope(struct export *e, FILE *to)
{
	uint32_t *frame = calloc((size_t)e->report->a->stacks.nr + 1, sizeof(*frame));
	uint32_t *of_stack = calloc(export_stack_depth(e), sizeof(*of_stack));
	int ret;

	if (!frame || !of_stack) {
		free(frame);
		free(of_stack);
		return -ENOMEM;
	}
	export_sort(e);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"tailor\",\"name\":\"", to);
	escape_json(to, e->report->model->command);
	fputs("\",\"shared\":{\"frames\":[", to);
	ret = write_frame_table(e, frame, to);
	fputs("]},\n\"profiles\":[", to);
	for (size_t i = 0, end; i < e->samples.nr && ret == 0; i = end) {
		end = export_thread_end(e, i);
		fputs(i ? ",\n" : "\n", to);
		write_thread_profile(e, frame, of_stack, i, end, to);
	}
	fputs("]}\n", to);
	free(frame);
	free(of_stack);
	return ret;
}

const struct exporter exporter_speedscope = {
	"speedscope", ".speedscope.json", "one profile per thread, for www.speedscope.app",
	false, prepare_speedscope, write_speedscope, true,
};
