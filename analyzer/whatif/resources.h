/* SPDX-License-Identifier: MIT */
/*
 * Names the resources that threads spend their time on, and finds by a table of rules for which resource a thread with a call stack waited.
 *
 * The table is text with a rule a line: a resource and a pattern (fnmatch(3)) for the name of a function in the program, its libraries or
 * the kernel. With "wait:" in front, the pattern is for the names that the host gives to its threads' waits (PostgreSQL's wait events). A
 * line that begins with "#" is a comment. Of all rules that a function of the call stack matches, the first one of the table counts. A
 * user's file has precedence over the built-in table. Context: thread.
 */
#ifndef TAILOR_RESOURCES_H
#define TAILOR_RESOURCES_H

#include "analyzer/query/report.h"
#include "jitreg/base/grow.h"

/* X(NAME, key, heading): key is the name in tables of rules and in --json, and heading is for people. */
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
	ARRAY_OF(struct resource_rule);
	uint32_t *of_function; /* 1 + the first rule that a function matches, by function; 0: not looked up yet; UINT32_MAX: none */
	uint32_t nr_functions;
};

/*
 * Fills *t with the rules of the file at path (NULL: no file), followed by the built-in rules. The first rule that matches counts, so the
 * file has precedence. Returns 0, or -errno with the reason in d. Call resource_table_fini() in any case.
 */
int resource_table_init(struct resource_table *t, const char *path, struct diag *d);
void resource_table_fini(struct resource_table *t);
/*
 * Adds the rules of a text at the end of the table. name: what d calls the text. Returns 0, or with the reason in d -EINVAL if a line is
 * malformed, or -ENOMEM if there are too many rules or memory runs out.
 */
int resource_table_read(struct resource_table *t, const char *text, const char *name, struct diag *d);

struct resource_wait {
	enum resource resource;
	uint32_t caller; /* RESOURCE_LOCK: the function that called the library that waits; 0: not known */
};
/*
 * Finds the resource that a thread with this call stack waits for, or RESOURCE_UNKNOWN if no rule matches. wait: the host's name of the
 * wait, or NULL. A rule for that name counts alone, and then there is no caller.
 */
struct resource_wait resource_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, const char *wait);
/*
 * Finds the resource likewise, by the stack, or, if no function of it has a rule, by the function that the thread was in (*function). Sets
 * *function to the one that waits: the innermost one of generated code, or else the first caller in another file than the library that
 * waits. It stays as it is if that is not known. Returns RESOURCE_UNKNOWN if no rule matches.
 */
enum resource resource_and_waiter_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, uint32_t *function);
/* Returns whether a sample with this stack was taken while the kernel handled a page fault. */
bool resource_is_fault(const struct attribution *a, uint32_t stack);
/*
 * Returns whether a sample with this stack was taken while the kernel sent or handled an interrupt from one processor to another. Most of
 * these interrupts follow changes of page tables. A machine with one processor has no such work.
 */
bool resource_is_between(const struct attribution *a, uint32_t stack);
/*
 * Returns whether a sample with this stack was taken in a page fault that makes a page writable, mostly by a copy (copy-on-write). All
 * processors that run the process must be notified of that.
 */
bool resource_is_copy(const struct attribution *a, uint32_t stack);

#endif
