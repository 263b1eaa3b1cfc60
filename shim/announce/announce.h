/* SPDX-License-Identifier: MIT */
/*
 * Adapters use these functions to register code, its frames and its lines, and names of threads, and to write notices about their hosts.
 * Context: any (the loader may hold its lock), under the guard or outside of it.
 */
#ifndef TAILOR_ANNOUNCE_H
#define TAILOR_ANNOUNCE_H

#include "jitreg/hosts/host_versions.h"
#include "jitreg/hosts/python_notes.h"
#include "jitreg/jitreg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a notice about an adapter to the trace, once in a process and its forked children. */
#define ANNOUNCE_ONCE(sentence) \
	do { \
		static int said; \
		if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) \
			jitreg_control(JITREG_CONTROL_NOTE, sentence); \
	} while (0)

/*
 * Tells the recorder that something of host is missing in this recording (jitreg/hosts/host_versions.h).  Reports begin with it.  version:
 * that of the host, or "" if unknown.  why: a clause that follows "because", or "" if the version is not among the verified ones.  Returns
 * 0 or -errno.
 */
int announce_lack(enum host_version host, const char *version, const char *why);

/* Sends a note about the names of CPython's functions to the recorder. Returns 0 or -errno. */
int announce_python(enum python_note note);

/*
 * Sends a LOAD record that is stamped ago_ns before now, because some hosts report code after it began to run. code: its bytes, or NULL.
 * Returns 0 or -errno.
 */
int announce_load(uint64_t address, uint64_t bytes, const char *name, const void *code, uint64_t ago_ns);

/*
 * Registers a name of the calling thread. If this comes before the host gives the name to the kernel, which cuts it at 15 characters, the
 * analyzer takes the kernel's name for an abbreviation and drops it. Returns 0 or -errno.
 */
int announce_thread_name(const char *name);

/*
 * Registers the frames of code whose host describes none, if they have a fixed size.  From rule[n].from bytes on (ascending, the first is
 * 0) the CFA is rsp + rule[n].cfa.  The return address lies directly below the CFA, and each saved register lies `words` words below the
 * CFA. The rules are sent as .eh_frame, with addresses as if it lay where the code does. Returns 0 or -errno (-EINVAL: the .eh_frame would
 * take more than 1 KiB).
 */
struct frame_rule {
	uint32_t from, cfa;
};
struct frame_saved {
	unsigned char reg; /* DWARF register number */
	uint32_t words;
};
int announce_frames(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules, const struct frame_saved *saved,
		 int nr_saved);

/* This is a line table in jitdump's encoding, or a table of inlined functions (jitreg's INLINES), in the caller's buffer. */
struct line_table {
	unsigned char *buffer;
	size_t bytes, capacity;
	uint64_t nr;
	uint32_t last_line;
	const char *last_file;
};
/* Adds an entry. Entries come by ascending address, and one with the file and line of the previous entry is left out. Returns false if
 * there is no room. */
bool line_table_add(struct line_table *t, uint64_t address, uint32_t line, const char *file, size_t file_bytes);
/* Adds an entry of an inlined function (jitreg's INLINES).  Returns false if there is no room. */
bool inline_table_add(struct line_table *t, uint64_t address, uint32_t line, uint32_t depth, const char *function, const char *file,
		      size_t file_bytes);
/* Send the table for the code at address, before the LOAD of that code. An empty table is not sent. */
void inline_table_send(const struct line_table *t, uint64_t address);
void line_table_send(const struct line_table *t, uint64_t address);

#endif
