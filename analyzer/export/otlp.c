/* SPDX-License-Identifier: MIT */
/* Writes the format otlp, which is OpenTelemetry's profiles, one for each process and event. If a sample has a component, its call stack
 * begins with the frame of the component's query, if it has one, and that of the component. */
#include "analyzer/export/export.h"

#include "analyzer/wire/otlp.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_PROCESS, KEY_EVENT, KEY_THREAD, KEY_STACK, KEY_COMPONENT };

#define QUERY_BYTES_MAX 1024 /* bytes to which the text of a query is cut */

struct otlp {
	struct report_group *sums;
	uint32_t level; /* level of --level, or of report_find_level(); LEVELS_MAX: neither */
};

static void prepare_otlp(struct export *e)
{
	struct otlp *o = report_add_state(e->report, sizeof(*o), NULL);

	if (!o)
		return;
	o->level = e->level != LEVELS_MAX ? e->level : report_find_level(e->report, NULL);
	e->state = o;
	e->report->stacks = true;
	e->report->declarations = true;
	o->sums = report_add_group(e->report, 0, TABLE_PROCESS, TABLE_EVENT, TABLE_THREAD, TABLE_STACK,
				   o->level == LEVELS_MAX ? -1 : TABLE_LEVEL_0 + (int)o->level, -1);
}

/* Add the frame of the component, called by that of its query if it has one. Return the stack of these, or 0 if the sample has no
 * component. */
static uint32_t make_root(struct export_wire *x, uint32_t component)
{
	const struct report *r = x->e->report;
	char spare[32], query[QUERY_BYTES_MAX];
	const char *called, *text;
	uint32_t root = 0;

	if (component == COMPONENT_NONE)
		return 0;
	text = model_find_query(r->model, component, &called);
	if (text) {
		snprintf(query, sizeof(query), "%s", text);
		root = wire_stack(&x->p, 0, &(struct wire_frame){ .kind = WIRE_QUERY, .name = query });
	}
	return wire_stack(&x->p, root, &(struct wire_frame){ .kind = WIRE_COMPONENT,
							      .name = report_component_name(r, component, spare) });
}

static bool is_wanted(const struct report *r, uint32_t event)
{
	return event < r->model->nr_events && (!r->arguments->event || event == r->event);
}

static int write_otlp(struct export *e, FILE *to)
{
	const struct otlp *o = e->state;
	const struct report_group *g = o ? o->sums : NULL;
	struct export_whole weight[MODEL_EVENTS_MAX] = { 0 }, samples[MODEL_EVENTS_MAX] = { 0 };
	struct export_wire x = { .e = e, .p.failed = !o };
	struct protobuf made = { 0 };

	for (uint32_t i = 0; g && i < g->g.nr; i++) {
		uint32_t event = report_value(g, i, KEY_EVENT), component = COMPONENT_NONE;

		if (!is_wanted(e->report, event))
			continue;
		if (o->level != LEVELS_MAX)
			component = report_value(g, i, KEY_COMPONENT);
		wire_sample(&x.p, &(struct wire_sample){
			.profile = export_wire_profile(&x, report_value(g, i, KEY_PROCESS), event),
			.stack = export_wire_stack(&x, make_root(&x, component), report_value(g, i, KEY_STACK)),
			.thread = export_wire_thread(&x, report_value(g, i, KEY_THREAD)),
			.samples = export_next_whole(&samples[event], g->g.sum[i].samples),
			.weight = export_next_whole(&weight[event], report_measure(e->report, &g->g.sum[i])) });
	}
	otlp_write(&x.p, &made);
	return export_wire_end(&x, &made, to);
}

const struct exporter exporter_otlp = {
	"otlp", ".otlp", "OpenTelemetry's profiles (protocol buffers, v1development of opentelemetry-proto 1.11)",
	true, prepare_otlp, write_otlp, false,
};
