/* SPDX-License-Identifier: MIT */
/* An agent that comes late is told again what was announced while the query was compiled. */
#include "engine.h"

#include "jitreg/jitreg.h"
#include "optimize.h"

#include <stdio.h>

static struct {
	const struct plan *plan;
	const struct program *program;
	const struct options *options;
} compiled;

static void replay(void *context)
{
	const struct program *p = compiled.program;
	char name[64];

	(void)context;
	codegen_announce_plan(compiled.plan, compiled.options);
	for (uint32_t i = 0; i < p->nr_pipelines; i++)
		jitreg_component(PIPELINE, p->pipelines[i].id, p->pipelines[i].name, "", 0);
	for (uint32_t i = 0; i < p->nr_tasks; i++) {
		jitreg_component(TASK, p->tasks[i].id, p->tasks[i].name, "", 0);
		jitreg_link(TASK, p->tasks[i].id, OPERATOR, p->tasks[i].operator, 1);
		jitreg_link(TASK, p->tasks[i].id, PIPELINE, p->tasks[i].pipeline, 1);
	}
	snprintf(name, sizeof(name), "%s.ll", compiled.plan->name);
	jitreg_source(name, p->ir, IR, 0, 0);
	optimizer_replay(p->optimizer);
}

void replay_when_asked(const struct plan *plan, const struct program *program, const struct options *options)
{
	compiled.plan = plan;
	compiled.program = program;
	compiled.options = options;
	jitreg_set_replay(replay, NULL);
}
