/* SPDX-License-Identifier: MIT */
/* Everything of the engine that exists for a profiler, together with the lines elsewhere that say profile_ or tag_. */
#ifndef ENGINE_PROFILE_H
#define ENGINE_PROFILE_H
#include "engine.h"
void profile_plan(const struct plan *p);
void profile_task(const struct task *t, const struct pipeline *p);
void profile_ir(const char *name, const char *text, const uint32_t *task_of_line, uint32_t nr_lines);
void profile_rows(const struct plan *p);
void profile_mark(bool begin, const char *name, uint64_t instance);
void profile_push(const struct task *t);
void profile_pop(void);
uint32_t profile_top(void);
uint64_t tag_value(const struct task *t);
void tag_declare(const struct options *o);
#endif
