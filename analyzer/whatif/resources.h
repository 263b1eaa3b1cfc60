/* SPDX-License-Identifier: MIT */
/*
 * The resources that threads spend their time on, and the table that finds from a call stack which one a thread waited for.
 *
 * The table is text with a rule a line: a resource and a pattern (fnmatch(3)) for the name of a function in the program, its libraries or
 * the kernel. With "wait:" in front, the pattern is for the names that the host gives to its threads' waits (PostgreSQL's wait events). "#"
 * begins a comment. Of all rules that a function of the call stack matches, the first one of the table counts. A user's file stands in
 * front of the built-in table. Context: thread.
 */
#ifndef TAILOR_RESOURCES_H
#define TAILOR_RESOURCES_H

#include "analyzer/query/report.h"

/* NAME, key, heading. */
#define RESOURCES(X) \
	X(CORE, "core", "processor") \
	X(KERNEL, "kernel", "kernel") \
	X(FAULT, "fault", "page faults") \
	X(QUEUE, "run-queue", "run queue") \
	X(THROTTLED, "throttled", "throttled") \
	X(LOCK, "lock", "lock") \
	X(DISK_READ, "disk-read", "disk read") \
	X(DISK_WRITE, "disk-write", "disk write") \
	X(NETWORK, "network", "network") \
	X(SLEEP, "sleep", "sleep") \
	X(CHILD, "child", "child") \
	X(SIBLING, "sibling", "sibling") \
	X(UNKNOWN, "unknown", "unknown")

#define RESOURCE_INDEX_(NAME, key, heading) RESOURCE_##NAME,
enum resource { RESOURCES(RESOURCE_INDEX_) NR_RESOURCES };
#undef RESOURCE_INDEX_

extern const char *const resource_keys[NR_RESOURCES], *const resource_headings[NR_RESOURCES];

struct resource_rule {
	enum resource resource;
	bool is_wait; /* the pattern is for the host's name of a wait */
	char *pattern;
};

struct resource_table {
	struct resource_rule *rule;
	uint32_t nr, capacity;
	uint32_t *of_function; /* 1 + the first rule that a function matches, by function; 0: not looked up yet; UINT32_MAX: none */
	uint32_t nr_functions;
};

/*
 * Makes the table of the rules of the file at path (NULL: none) and the built-in table behind them. Returns 0, or -errno with a sentence.
 * The caller calls resource_table_fini() in any case.
 */
int resource_table_init(struct resource_table *t, const char *path, struct diag *d);
void resource_table_fini(struct resource_table *t);
/* Adds the rules of a text. name: the name of the text in error sentences. */
int resource_table_read(struct resource_table *t, const char *text, const char *name, struct diag *d);

struct resource_wait {
	enum resource resource;
	uint32_t caller; /* the function outside of the waiting library that called it; 0: not known */
};
/* Finds what a thread with this call stack waits for. wait: the host's name of the wait, or NULL. */
struct resource_wait resource_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, const char *wait);
/* Returns whether a kernel sample with this stack is of a page fault. */
bool resource_is_fault(const struct attribution *a, uint32_t stack);
/*
 * Returns whether a kernel sample with this stack is of an interrupt between processors, on either side. One processor alone has no such
 * work (most of it comes from pages that change).
 */
bool resource_is_between(const struct attribution *a, uint32_t stack);
/*
 * Returns whether a kernel sample with this stack gives the thread a page of its own, in place of one that others may read. All processors
 * of the process must be notified of that.
 */
bool resource_is_copy(const struct attribution *a, uint32_t stack);

#endif
