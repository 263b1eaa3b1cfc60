/* SPDX-License-Identifier: MIT */
/*
 * Epochs are the files into which a recording is cut, one after another (cut.c).  This file decides when to cut, names the files, and keeps
 * the set of the processes that are counted.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/process_tree.h"
#include "jitreg/base/clock.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define STEP_NS 1000000000ll /* least step of CLOCK_REALTIME that ends an epoch, so that no epoch has times from before and after it */
/* An epoch that has so many records more than at its beginning ends early. Those of 24,000 functions that come and go, or of 3,500
 * processes, take 60 MiB in the process that adds the epoch to a store. */
#define RECORDS_MOST 48000u
#define RECORDS_PROCESS 6u /* a process takes as much memory there as so many further records */
#define SETTLED_PART 60 /* records of an epoch's first 1/60 are not counted, as processes and code that live on are written then */
#define MAPPED_BYTES (128 << 10) /* size from which malloc(3) maps an array separately */
/* These are values of struct epochs.living. */
#define LIVES 1u
#define ENDED 2u

/* The paths for NAME.tlr are NAME.000001.tlr, NAME.000002.tlr and so on. */
char *session_epochs_format_path(const char *output, uint32_t number)
{
	const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
	int stem = dot && dot > (slash ? slash + 1 : output) ? (int)(dot - output) : (int)strlen(output);
	char *path = NULL;

	return asprintf(&path, "%.*s.%06u%s", stem, output, number, output + stem) < 0 ? NULL : path;
}

/* An epoch is to end at the next multiple of the length since 1970, so that epochs of several machines have the same bounds. */
void session_epochs_plan(struct epochs *e)
{
	uint64_t real_ns = (uint64_t)clock_real_ns();

	e->due_real_ns = (real_ns / e->length_ns + 1) * e->length_ns;
	e->real_ahead_ns = (int64_t)(real_ns - clock_now_ns());
	e->asked = false;
}

/*
 * Makes malloc(3) return the memory of an epoch to the system at its end.  By default malloc(3) keeps it, since each large array that is
 * freed raises the size from which arrays are mapped separately, and then large arrays lie between others.
 */
static void give_memory_back(void)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, 8 * MAPPED_BYTES);
	mallopt(M_ARENA_MAX, 1);
}

void session_epochs_note_begin(struct epochs *e)
{
	e->begin_ns = clock_now_ns();
	e->begin_records = 0;
}

/* Has the epoch so many records that it is to end early? Code and processes that come and go take memory of the recorder until the end of
 * the epoch, and then of the process that adds the epoch to a store. The records of the epoch's beginning are noted and do not count, since
 * they are of code and processes that live on, with which the next epoch would begin again. Returns false while the child of the epoch
 * before still runs. */
static bool has_many_records(struct session *s)
{
	struct epochs *e = &s->epochs;
	struct recording_state state = recording_state(s->recording);
	uint64_t records = state.records + RECORDS_PROCESS * state.processes;

	if (clock_now_ns() - e->begin_ns < e->length_ns / SETTLED_PART)
		e->begin_records = records;
	return e->child <= 0 && records > e->begin_records + RECORDS_MOST;
}

int session_epochs_begin(struct session *s)
{
	struct epochs *e = &s->epochs;

	/* an earlier recording of a dormant session may have been cut into epochs; a child of that may still have to be reaped */
	free(e->path);
	hash_map_fini(&e->living);
	*e = (struct epochs){ .length_ns = s->options.epoch_ns, .killed = e->killed };
	if (!e->length_ns)
		return 0;
	give_memory_back();
	if (getrandom(&e->recording, sizeof(e->recording), GRND_NONBLOCK) != sizeof(e->recording))
		e->recording = (uint64_t)clock_real_ns();
	e->number = 1;
	e->path = session_epochs_format_path(s->options.output, e->number);
	session_epochs_note_begin(e);
	session_epochs_plan(e);
	return e->path ? 0 : -ENOMEM;
}

const char *session_output(const struct session *s)
{
	return s->epochs.path ? s->epochs.path : s->options.output;
}

void session_epochs_note_process(struct session *s, uint32_t pid)
{
	if (s->epochs.length_ns || session_takes_newcomers(&s->options))
		hash_map_set(&s->epochs.living, pid, 0, LIVES);
}

void session_epochs_note_exit(struct session *s, uint32_t pid)
{
	if (hash_map_find(&s->epochs.living, pid, 0))
		hash_map_set(&s->epochs.living, pid, 0, ENDED);
}

bool session_epochs_has_process(const struct session *s, pid_t pid, bool was)
{
	uint32_t status = hash_map_find(&s->epochs.living, (uint64_t)pid, 0);

	return status == LIVES || (was && status == ENDED);
}

void session_epochs_ask(struct session *s)
{
	s->epochs.asked = true;
}

bool session_epochs_are_due(struct session *s)
{
	struct epochs *e = &s->epochs;
	uint64_t real_ns;
	int64_t step_ns;

	if (!e->length_ns || !s->recording)
		return false;
	session_fold_look(s);
	real_ns = (uint64_t)clock_real_ns();
	step_ns = (int64_t)(real_ns - clock_now_ns()) - e->real_ahead_ns;
	e->step_ns = step_ns >= STEP_NS || step_ns <= -STEP_NS ? step_ns : 0;
	return (e->asked && e->child <= 0) || real_ns >= e->due_real_ns || e->step_ns || has_many_records(s);
}

int session_epochs_find_processes(struct session *s, struct process_tree *t)
{
	struct hash_map living = { 0 };
	int ret = process_tree_update(t);

	for (uint32_t i = 0; i < t->nr; i++)
		if (hash_map_find(&s->epochs.living, (uint64_t)t->at[i].pid, 0) == LIVES) {
			t->at[i].wanted = PROCESS_ALONE;
			if (!hash_map_set(&living, (uint64_t)t->at[i].pid, 0, LIVES))
				ret = -ENOMEM;
		}
	if (ret) {
		hash_map_fini(&living);
		return ret;
	}
	hash_map_fini(&s->epochs.living);
	s->epochs.living = living;
	return 0;
}

void session_epochs_end(struct session *s)
{
	struct epochs *e = &s->epochs;

	session_last_epoch_abandon(s);
	hash_map_fini(&e->living);
	free(e->path);
	e->path = NULL;
}
