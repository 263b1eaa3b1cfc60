/* SPDX-License-Identifier: MIT */
#include "profile.h"
#include "jitreg.h"
enum { OPERATOR = 1, PIPELINE, TASK, IR };
static struct jitreg_tracker tracker = { .lower_level = IR, .upper_level = TASK };
static bool packed;

void profile_plan(const struct plan *p)
{
	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_level(PIPELINE, "pipeline", 0, 0);
	jitreg_level(TASK, "task", OPERATOR, 0);
	jitreg_level(IR, "ir", TASK, 0);
	jitreg_source(p->name, p->sql, 0, 0, JITREG_SOURCE_QUERY);
	for (uint32_t i = 0; i < p->nr_operators; i++) {
		const struct operator *o = p->operators[i];
		jitreg_component(OPERATOR, o->id, o->name, o->detail, 0);
		jitreg_counter(OPERATOR, o->id, "estimated rows", (int64_t)o->estimated_rows);
		if (o->parent)
			jitreg_edge(OPERATOR, o->id, o->parent->id, o->parent->probe == o, "rows");
	}
}

void profile_task(const struct task *t, const struct pipeline *p)
{
	jitreg_component(PIPELINE, t->pipeline, p->name, "", 0);
	jitreg_component(TASK, t->id, t->name, "", 0);
	jitreg_link(TASK, t->id, OPERATOR, t->operator, 1);
	jitreg_link(TASK, t->id, PIPELINE, t->pipeline, 1);
}

/* A line of the IR is a component: the one that the tracker saw when it came into being is above it. */
void profile_ir(const char *name, const char *text, const uint32_t *task_of_line, uint32_t nr_lines)
{
	jitreg_source(name, text, IR, 0, 0);
	for (uint32_t line = 1; line <= nr_lines; line++)
		if (task_of_line[line])
			jitreg_link(IR, line, TASK, task_of_line[line], 1);
}

void profile_rows(const struct plan *p)
{
	for (uint32_t i = 0; i < p->nr_operators; i++)
		jitreg_counter(OPERATOR, p->operators[i]->id, "rows", (int64_t)p->operators[i]->rows);
}

void profile_mark(bool begin, const char *name, uint64_t instance)
{
	jitreg_mark(begin ? JITREG_MARK_BEGIN : JITREG_MARK_END, name, 0, 0, instance, 0, 0, "");
}

void profile_push(const struct task *t) { jitreg_tracker_push(&tracker, t->id); }
void profile_pop(void) { jitreg_tracker_pop(&tracker); }
uint32_t profile_top(void) { return (uint32_t)jitreg_tracker_top(&tracker); }

uint64_t tag_value(const struct task *t) { return 0x7A600000 | (packed ? t->pipeline << 10 | t->operator : t->id); }

void tag_declare(const struct options *o)
{
	struct jitreg_tag_field one[] = { { TASK, 0, 20 } }, two[] = { { OPERATOR, 0, 10 }, { PIPELINE, 10, 10 } };
	struct jitreg_range kept = { (uint64_t)(uintptr_t)__start_runtime_text, (uint64_t)(uintptr_t)__stop_runtime_text };
	packed = o->pack;
	runtime_tag_in_memory = o->tag == TAG_MEMORY;
	if (o->tag == TAG_REGISTER)
		jitreg_tag(13, 0, 0xfff00000, 0x7A600000, packed ? two : one, packed ? 2 : 1, &kept, 1);
}
