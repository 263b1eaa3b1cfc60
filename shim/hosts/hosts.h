/* SPDX-License-Identifier: MIT */
/*
 * Adapters: what is done for one kind of host so that it says more than it does by itself.  Each looks at every object that
 * is loaded and knows its own by the symbols in it; in other hosts it does nothing.  TAILOR_NO_ADAPT switches them off.
 * Context: any (the loader may hold its lock), under the guard; what they put into a host is called as it says.
 */
#ifndef TAILOR_HOSTS_H
#define TAILOR_HOSTS_H

#include "guest.h"

#include "jitreg.h"

/* A loaded object is new.  Before its code runs, where possible. */
void hosts_object(const struct object *o);
/* Executable memory was mapped, from fd (-1: from none).  Context: any, also signal. */
void hosts_mapped(const void *address, size_t bytes, int fd);
/* ... or made executable, for the first time, by code of mapper.  Context: any, also signal. */
void hosts_region(const struct object *mapper, uint64_t address, uint64_t bytes);
/* Mapped memory became executable, perhaps again.  Context: as above. */
void hosts_executable(const void *address, size_t bytes);

/* What an adapter has done, for the reader of the trace; once per process is enough. */
#define HOSTS_SAY(sentence) \
	do { \
		static int said; \
		if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) \
			jitreg_control(JITREG_CONTROL_NOTE, sentence); \
	} while (0)

/* LOAD, stamped ns before now: for hosts that speak of code which runs already. */
int hosts_load(uint64_t address, uint64_t bytes, const char *name, const void *code, uint64_t ago_ns);

/*
 * Frames of code whose host says nothing of them, but is known to keep one of fixed size: from rule[n].from bytes on (ascending;
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
int hosts_frames(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules, const struct frame_saved *saved,
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

/* One per host. */
void erlang_object(const struct object *o);
void java_object(const struct object *o);
void javascriptcore_object(const struct object *o);
void javascriptcore_mapped(int fd);
void luajit_object(const struct object *o);
void mono_object(const struct object *o);
void one_frame_object(const struct object *o);
/* Rules of a piece of such code that differ from its one frame. */
#define ONE_FRAME_BYTES 32
void one_frame_except(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules);
void one_frame_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void php_object(const struct object *o);
void postgres_object(const struct object *o);
void pypy_object(const struct object *o);
void pypy_mapped(const void *address, size_t bytes);
void ruby_executable(const void *address, size_t bytes);
void ruby_object(const struct object *o);
void ruby_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void v8_object(const struct object *o);

#endif
