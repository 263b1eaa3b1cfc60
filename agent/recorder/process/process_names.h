/* SPDX-License-Identifier: MIT */
/*
 * This module decides which processes a user wants with --name (by their name) and --exec (by the program that they execute). Context:
 * thread.
 */
#ifndef TAILOR_PROCESS_NAMES_H
#define TAILOR_PROCESS_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

/* A process is wanted if `expression`, an extended regular expression, has a match in its name or in the first word of its command line, or
 * if it executes the file `program`.  One of them may be NULL. */
struct names_wanted {
	const char *expression, *program;
};

struct process_names;

/* Returns 0, -EINVAL if the expression is invalid, or another -errno.  After an error *out is not set. */
int process_names_open(const struct names_wanted *w, struct process_names **out);
/* Frees n, which may be NULL. */
void process_names_close(struct process_names *n);

/* These are the verdicts on a process, which may have just executed a program. */
enum names_verdict {
	NAMES_UNWANTED,
	NAMES_WANTED,
	NAMES_ENDED, /* the process has the name or program, and has ended */
	/* the name has no match, and the command line is empty, as just after an exec (about 1 ms), in a kernel thread or in a zombie */
	NAMES_LATER,
};

/* Returns the verdict on a process.  comm: its name as the kernel has just reported it; NULL: it is read.  Kernel threads and processes of
 * tailor's own file are never wanted. */
enum names_verdict process_names_judge(struct process_names *n, pid_t pid, const char *comm);

/* Calls each(context, pid) for all processes that run and are wanted, until it returns nonzero.  Returns what each() returned last, 0, or
 * -errno if /proc cannot be read. */
int process_names_each(struct process_names *n, int (*each)(void *context, pid_t pid), void *context);

#endif
