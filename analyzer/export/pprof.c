/* SPDX-License-Identifier: MIT */
/* Writes the format pprof, which `pprof` and `go tool pprof` read. Each sample has a label with its thread, and one with its component, or,
 * with functions as the level, with its attribution method. */
#include "analyzer/export/export.h"

#include "analyzer/wire/pprof.h"

static void prepare_pprof(struct export *e)
{
	e->report->stacks = true;
	e->report->declarations = true;
	e->by_stack = report_add_group(
		e->report, 0, TABLE_STACK, TABLE_THREAD, e->level == LEVELS_MAX ? TABLE_METHOD : TABLE_LEVEL_0 + (int)e->level, -1);
}

static const char *name_of_component(const struct export *e, uint32_t value, char *spare)
{
	if (e->level != LEVELS_MAX)
		return report_component_name(e->report, value, spare);
	return value < NR_METHODS ? method_names[value] : "";
}

static int write_pprof(struct export *e, FILE *to)
{
	struct export_wire x = { .e = e };
	struct export_whole samples = { 0 }, weight = { 0 };
	struct protobuf made = { 0 };
	char spare[32];

	export_wire_profile(&x, 0, e->report->event); /* if there are no samples, it has the times */
	x.p.component_key = e->level != LEVELS_MAX ? report_level_name(e->report, e->level) : "method";
	for (uint32_t i = 0; i < e->by_stack->g.nr; i++) {
		const struct group_sum *sum = &e->by_stack->g.sum[i];
		const char *component = name_of_component(e, report_value(e->by_stack, i, 2), spare);
		const uint32_t thread = report_value(e->by_stack, i, 1), process = e->report->model->threads.at[thread].process;

		wire_sample(&x.p, &(struct wire_sample){ .profile = export_wire_profile(&x, process, e->report->event),
							 .stack = export_wire_stack(&x, 0, report_value(e->by_stack, i, 0)),
							 .thread = export_wire_thread(&x, thread),
							 .component = wire_text(&x.p, component),
							 .samples = export_next_whole(&samples, sum->samples),
							 .weight = export_next_whole(&weight, sum->weight) });
	}
	pprof_write(&x.p, &made);
	return export_wire_end(&x, &made, to);
}

const struct exporter exporter_pprof = {
	"pprof", ".pb", "profile.proto for `pprof` and `go tool pprof`",
	true, prepare_pprof, write_pprof, true,
};
