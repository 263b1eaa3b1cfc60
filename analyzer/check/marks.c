/* SPDX-License-Identifier: MIT */
/* Checks the names, times, beginnings and ends of marks, and reports faults that the model noted when it read the records, such as records
 * that were refused or dropped. */
#include "analyzer/check/internal.h"

#include "jitreg/base/hash_map.h"
#include "jitreg/trace/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Number of marks of a name and a thread, none of which has an end, from which they are reported. Some may be open at the end of a
 * recording. */
#define OPEN_MANY 3u

/* Return whether this is the process of the command, and it exited with status 0, so that it had the time to end its marks. */
static bool process_ended_well(const struct check *c, const struct process *p)
{
	const uint32_t status = c->m->exit_status;

	return p->number == 0 && check_saw_process_start(p) && status != ~0u && WIFEXITED((int)status) && WEXITSTATUS((int)status) == 0;
}

/* begun: number of marks of one name and thread; ended: any of them has an end */
struct name {
	uint32_t begun;
	bool ended;
};

static int check_unended_marks(struct check *c)
{
	const struct model *m = c->m;
	struct name *names = calloc((size_t)m->marks.nr + 1, sizeof(*names));
	uint32_t *of = malloc(((size_t)m->marks.nr + 1) * sizeof(*of)), nr = 0;
	struct hash_map by_name = { 0 };
	int ret = names && of ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		uint64_t thread = (uint64_t)k->process << 32 | k->tid;
		uint32_t at = hash_map_find(&by_name, hash_text(k->name), thread);

		if (!at && !hash_map_set(&by_name, hash_text(k->name), thread, at = ++nr))
			ret = -ENOMEM;
		of[i] = at;
		names[at].begun++;
		names[at].ended |= k->end_ns != UINT64_MAX;
	}
	for (uint32_t i = 0; ret == 0 && i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		const struct name *n = &names[of[i]];

		if (k->end_ns == UINT64_MAX && (process_ended_well(c, m->numbered.at[k->process]) ||
						(k->covers == JITREG_COVERS_THREAD && !n->ended && n->begun >= OPEN_MANY)))
			FOUND(c, FINDING_MARK_OPEN, 0, "'%.50s', instance %llu, thread %u", k->name ? k->name : "",
			      (unsigned long long)k->instance, k->tid);
	}
	hash_map_fini(&by_name);
	free(names);
	free(of);
	return ret;
}

static void check_unbegun_mark_ends(struct check *c)
{
	const struct fault *f = &c->m->fault[FAULT_MARK_END_UNKNOWN];

	if (f->count && check_saw_process_start(c->m->numbered.at[f->process]) && check_count_finding(c, FINDING_MARK_UNBEGUN, f->count, 0))
		check_set_example(c, FINDING_MARK_UNBEGUN, "'%.50s', instance %llu, thread %llu", f->text ? f->text : "",
				  (unsigned long long)f->value[0], (unsigned long long)f->value[1]);
}

int check_marks(struct check *c)
{
	const struct model *m = c->m;
	char name[CHECK_NAME];

	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];

		if (!check_is_text(k->name))
			FOUND(c, FINDING_MARK_NAME, 0, "instance %llu, thread %u, process %u", (unsigned long long)k->instance, k->tid,
			      check_pid(c, k->process));
		if (k->end_ns < k->begin_ns)
			FOUND(c, FINDING_MARK_REVERSED, 0, "'%.50s', instance %llu, thread %u", k->name ? k->name : "",
			      (unsigned long long)k->instance, k->tid);
		if (c->complete && c->known && k->component && !c->known[k->component])
			FOUND(c, FINDING_USE_UNKNOWN, 0, "the mark '%.30s' of %s", k->name ? k->name : "",
			      check_component_name(c, k->component, name));
	}
	if (!c->complete)
		return 0;
	check_unbegun_mark_ends(c);
	return m->marks.nr ? check_unended_marks(c) : 0;
}

void check_records(struct check *c)
{
	const struct model *m = c->m;
	const struct fault *f = &m->fault[FAULT_TIME_OTHER_CLOCK];

	if (m->lost[LOSS_LOG_BAD] && check_count_finding(c, FINDING_RECORD_REFUSED, m->lost[LOSS_LOG_BAD], 0))
		check_set_example(c, FINDING_RECORD_REFUSED, "calls that returned -EINVAL, unknown ids, sizes that do not fit");
	if (m->lost[LOSS_LOG_FULL] && check_count_finding(c, FINDING_RECORD_DROPPED, m->lost[LOSS_LOG_FULL], 0))
		check_set_example(c, FINDING_RECORD_DROPPED, "a log is 64 MiB, and drained every 10 ms");
	if (f->count && check_count_finding(c, FINDING_TIME_CLOCK, f->count, 0)) {
		const struct schema_record *s = schema_find((uint32_t)f->value[1]);

		check_set_example(c, FINDING_TIME_CLOCK, "%s at %llu ns, process %u; the recording began at %llu ns",
				  s ? s->name : "a record", (unsigned long long)f->value[0], check_pid(c, f->process),
				  (unsigned long long)m->begin_ns);
	}
	f = &m->fault[FAULT_LEVELS_FULL];
	if (f->count && check_count_finding(c, FINDING_LEVELS_FULL, f->count, 0))
		check_set_example(c, FINDING_LEVELS_FULL, "level %llu, process %u", (unsigned long long)f->value[0],
				  check_pid(c, f->process));
	f = &m->fault[FAULT_LEVEL_RENAMED];
	if (f->count && check_count_finding(c, FINDING_LEVEL_RENAMED, f->count, 0))
		check_set_example(c, FINDING_LEVEL_RENAMED, "level %llu, '%.50s' before, process %u", (unsigned long long)f->value[0],
				  f->text ? f->text : "", check_pid(c, f->process));
	f = &m->fault[FAULT_LEVEL_SELF];
	if (f->count && check_count_finding(c, FINDING_LEVEL_UPPER, f->count, 0))
		check_set_example(c, FINDING_LEVEL_UPPER, "level %llu and itself, process %u", (unsigned long long)f->value[0],
				  check_pid(c, f->process));
	f = &m->fault[FAULT_NUMBER_ZERO];
	if (f->count && check_count_finding(c, FINDING_NUMBER_ZERO, f->count, 0)) {
		const struct schema_record *s = schema_find((uint32_t)f->value[0]);

		check_set_example(c, FINDING_NUMBER_ZERO, "%s of level %llu, process %u", s ? s->name : "a record",
				  (unsigned long long)f->value[1], check_pid(c, f->process));
	}
	f = &m->fault[FAULT_LINK_SAME_LEVEL];
	if (f->count && check_count_finding(c, FINDING_LINK_SAME_LEVEL, f->count, 0))
		check_set_example(c, FINDING_LINK_SAME_LEVEL, "level %llu: %llu to %llu, process %u", (unsigned long long)f->value[0],
				  (unsigned long long)f->value[1], (unsigned long long)f->value[2], check_pid(c, f->process));
	f = &m->fault[FAULT_COMPONENT_RENAMED];
	if (f->count && check_count_finding(c, FINDING_COMPONENT_RENAMED, f->count, 0))
		check_set_example(c, FINDING_COMPONENT_RENAMED, "level %llu, id %llu, '%.50s' before, process %u",
				  (unsigned long long)f->value[0], (unsigned long long)f->value[1], f->text ? f->text : "",
				  check_pid(c, f->process));
}
