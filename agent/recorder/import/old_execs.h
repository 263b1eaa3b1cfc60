/* SPDX-License-Identifier: MIT */
/*
 * Finds execs in files of kernels before Linux 3.16, whose COMM records do not say whether an exec or a thread itself gave the name. An
 * exec maps its program next, and a thread that names itself does not. Context: thread.
 */
#ifndef TAILOR_IMPORT_OLD_EXECS_H
#define TAILOR_IMPORT_OLD_EXECS_H

#include "agent/recorder/perf/kernel_record.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

struct old_exec {
	uint32_t pid;
	uint64_t time_ns;
	uint32_t bytes; /* length of name; 0: no name is pending */
	char name[16];
};

struct old_execs {
	struct hash_map of_pid; /* pid -> 1 + index in pending */
	ARRAY(struct old_exec) pending;
};

/* Notes that a process's first thread has a new name, which may come from an exec.  Forgets it if memory runs out. */
void old_execs_note_comm(struct old_execs *e, const struct kernel_comm *c, uint64_t time_ns);
/* Checks whether the mapping is the program of an exec.  If it is, sets *out and *time_ns to those of the exec's COMM record.  out->name is
 * valid until the next call. */
bool old_execs_note_mapping(struct old_execs *e, const struct mapping *m, struct kernel_comm *out, uint64_t *time_ns);
void old_execs_fini(struct old_execs *e);

#endif
