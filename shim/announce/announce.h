/* SPDX-License-Identifier: MIT */
/*
 * What adapters register for their hosts: code that runs already, its frames, its lines, and a notice.
 * Context: any (the loader may hold its lock), under the guard.
 */
#ifndef TAILOR_ANNOUNCE_H
#define TAILOR_ANNOUNCE_H

#include "jitreg/hosts/host_versions.h"
#include "jitreg/jitreg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A notice in the trace that an adapter is used; once per process. */
#define ANNOUNCE_ONCE(sentence) \
	do { \
		static int said; \
		if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) \
			jitreg_control(JITREG_CONTROL_NOTE, sentence); \
	} while (0)

/*
 * Something of host is missing in this recording (jitreg/hosts/host_versions.h), by which reports begin.  version: of the host, "" where it
 * is unknown.  why: a clause behind "because", "" where the version is not among those verified.  0 or -errno.
 */
int announce_lack(enum host_version host, const char *version, const char *why);

/* LOAD, stamped ns before now: for hosts that report code which runs already. */
int announce_load(uint64_t address, uint64_t bytes, const char *name, const void *code, uint64_t ago_ns);

/* The calling thread is called so from now on; of a name that the kernel has the beginning of, before it gets that.  0 or -errno. */
int announce_thread_name(const char *name);

/*
 * Frames of code whose host describes none, but has one of a fixed size: from rule[n].from bytes on (ascending;
 * the first is 0) the CFA is rsp + rule[n].cfa, the return address lies below it, and saved registers so many words below it.
 * Announced as .eh_frame, as if it lay where the code does.  0 or -errno.
 */
struct frame_rule {
	uint32_t from, cfa;
};
struct frame_saved {
	unsigned char reg; /* DWARF's number */
	uint32_t words;
};
int announce_frames(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules, const struct frame_saved *saved,
		 int nr_saved);

/* Line tables in jitdump's encoding, in a buffer of the caller's. */
struct line_table {
	unsigned char *buffer;
	size_t bytes, capacity;
	uint64_t nr;
	uint32_t last_line;
	const char *last_file;
};
/* Entries come by ascending address; one that repeats the line before it is left out.  false: there is no room. */
bool line_table_add(struct line_table *t, uint64_t address, uint32_t line, const char *file, size_t file_bytes);
/* The same of inlined functions (jitreg's INLINES). */
bool inline_table_add(struct line_table *t, uint64_t address, uint32_t line, uint32_t depth, const char *function, const char *file);
void inline_table_send(const struct line_table *t, uint64_t address);
/* Announce it, before the LOAD. */
void line_table_send(const struct line_table *t, uint64_t address);

#endif
