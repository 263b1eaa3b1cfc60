/* SPDX-License-Identifier: MIT */
/*
 * What threads spend their time on: resources, and the table that tells from a call stack which one a thread waited for.
 *
 * The table is text, a rule a line: a resource and a pattern (fnmatch(3)) for a function's name, in the program, its libraries or the
 * kernel; with "wait:" in front for what the host itself says that its threads wait for (PostgreSQL's wait events).  "#" begins a
 * comment.  Of all rules that a function of the call stack matches the first one of the table counts; a user's file stands in front of
 * the table that is built in.  Context: thread.
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
	bool is_wait; /* pattern is of a wait that the host names */
	char *pattern;
};

struct resource_table {
	struct resource_rule *rule;
	uint32_t nr, capacity;
	uint32_t *of_function; /* 1 + the first rule that it matches; 0: not asked yet; UINT32_MAX: none */
	uint32_t nr_functions;
};

/* The built-in table, behind the rules of the file at path (NULL: none).  0, or -errno with a sentence; resource_table_fini() in any
 * case. */
int resource_table_init(struct resource_table *t, const char *path, struct diag *d);
void resource_table_fini(struct resource_table *t);
/* Rules of a text; name: what a sentence calls it. */
int resource_table_read(struct resource_table *t, const char *text, const char *name, struct diag *d);

struct resource_wait {
	enum resource resource;
	uint32_t caller; /* function: who called what waits, outside of its library; 0: not known */
};
/* What a thread with this call stack waits for; wait: what the host says of it, or NULL. */
struct resource_wait resource_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, const char *wait);
/* Is a sample of the kernel with this stack about a page fault? */
bool resource_is_fault(const struct attribution *a, uint32_t stack);
/* Does a processor interrupt another in it, or is it interrupted?  One processor alone has no such work (mostly: pages that change). */
bool resource_is_between(const struct attribution *a, uint32_t stack);
/* Does it give the thread a page of its own, in place of one that others may read?  All processors of the process must hear of it. */
bool resource_is_copy(const struct attribution *a, uint32_t stack);

#endif
