/* SPDX-License-Identifier: MIT */
/*
 * Processes that a user means by a name, or by the program that they execute: those that run, and those that start later.  Context: thread.
 */
#ifndef TAILOR_PROCESS_NAMES_H
#define TAILOR_PROCESS_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

/* An extended regular expression that has a match in the name of a process or in the first word of its command line; the file of a
 * program; both.  NULL: not asked for. */
struct names_wanted {
	const char *expression, *program;
};

struct process_names;

/* 0, -EINVAL: the expression is invalid, or another -errno. */
int process_names_open(const struct names_wanted *w, struct process_names **out);
/* NULL is fine. */
void process_names_close(struct process_names *n);

/* Verdict on a process, which may have just executed a program. */
enum names_verdict {
	NAMES_UNWANTED,
	NAMES_WANTED,
	NAMES_ENDED, /* has the name, and has ended */
	NAMES_LATER, /* the kernel has not set up its command line yet, so ask again in a millisecond */
};

/* comm: the process's name as the kernel reported it; NULL: it is read.  Kernel threads and the processes of this program are not
 * wanted. */
enum names_verdict process_names_judge(struct process_names *n, pid_t pid, const char *comm);

/* Calls each(context, pid) for all processes that run and are wanted, until it returns nonzero, and returns that; 0; -errno. */
int process_names_each(struct process_names *n, int (*each)(void *context, pid_t pid), void *context);

#endif
