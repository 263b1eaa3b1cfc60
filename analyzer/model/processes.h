/* SPDX-License-Identifier: MIT */
/* Finds which program ran under a PID at a time, and which name a thread had.  A fork begins a process, and an exec another one with the
 * same PID.  Context: thread. */
#ifndef TAILOR_PROCESSES_H
#define TAILOR_PROCESSES_H

#include "analyzer/model/model.h"
#include "jitreg/base/grow.h"

struct lifetime;

/* PROCESS, FORK and COMM records report when processes begin. The recorder drains the ring of each processor by itself, so a trace does
 * not have them in the order of time. They are collected first, and sorted. */
struct lifetimes {
	ARRAY_OF(struct lifetime);
};

/* These are the ids of these records. lifetimes_add() ignores all others. */
#define LIFETIMES_NR_IDS 3
extern const uint32_t lifetimes_ids[LIFETIMES_NR_IDS];
/* Adds the process that begins with a record, if one does. Returns 0 or -ENOMEM. */
int lifetimes_add(struct lifetimes *l, const struct trace_record *r);
/* Adds the processes to the model, in the order of time, and frees the contents of l. */
void lifetimes_apply_to_model(struct lifetimes *l, struct model *m);

/*
 * Takes a file for the program of a process, if it is. What an exec maps first is the program. It is found by time, because the rings of
 * processors are drained one after the other, so another mapping may be read first. Mappings of one time are the list of a process that was
 * there before the recording, which is sorted by address: the file that is named as the process is its program, or else the first one that
 * is not named as a library.
 */
void process_note_mapping(struct process *p, const char *path, uint64_t time_ns);

void processes_fini(struct model *m);
void threads_fini(struct threads *t);

/* Adds a name that a thread has from time_ns on, in any order of time. thread: its index, by model_get_thread(). is_whole: it is of a
 * THREAD_NAME record, and the kernel may report its beginning as another name. comm is freed by threads_settle(), or at once if it is an
 * empty whole name or memory runs out. NULL is ignored. */
void threads_add_name(struct model *m, uint32_t thread, uint64_t time_ns, char *comm, bool is_whole);
/* Sets the first name of each thread, and makes an entry of model.threads for each further name, up to NAMES_MAX (processes.c). The model
 * calls this after the last name was added. Returns 0 or -ENOMEM. */
int threads_settle(struct model *m);

#endif
