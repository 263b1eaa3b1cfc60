/* SPDX-License-Identifier: MIT */
/*
 * Files in which JITs describe their code for perf: /tmp/perf-PID.map of every process that has executable memory without a file, and the
 * jitdump files that processes map.  They are read after each drain while they grow, and once more after their process has exited.  A perf
 * map has no bytes of code, so bytes of sampled functions are read from memory, and so are sampled pages of unregistered code.  Context:
 * thread.
 */
#ifndef TAILOR_JIT_FILES_H
#define TAILOR_JIT_FILES_H

#include "agent/recorder/perf/kernel_record.h"
#include "jitreg/trace/writer.h"

struct jit_files;

int jit_files_create(struct jit_files **out);
void jit_files_destroy(struct jit_files *f);
/* The processes are of the past, until end_ns on the recording's clock.  Files are looked for by their names only, and files that were
 * written later than end_s (since 1970) belong to another process.  other_clock: that clock is not jitdump files', which are left out. */
void jit_files_set_past(struct jit_files *f, uint64_t end_ns, int64_t end_s, bool other_clock);
/* Number of jitdump files that were left out. */
uint32_t jit_files_left_out(const struct jit_files *f);

/* Adds a new executable mapping of a process.  Hot in hosts that map often. */
void jit_files_add_mapping(struct jit_files *f, const struct mapping *m, uint64_t time_ns);
/* Adds a child, which has all that its parent has mapped. */
void jit_files_fork(struct jit_files *f, uint32_t ppid, uint32_t pid, uint64_t time_ns);
/* Called when pid runs another program since time_ns, or has ended (UINT64_MAX).  Files that it mapped before are read to their end
 * later. */
void jit_files_end_process(struct jit_files *f, uint32_t pid, uint64_t time_ns);
/* Notes that pid freed memory of code. */
void jit_files_unloaded(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Notes a sample of pid.  Bytes of a function of a perf map, or of an unregistered page, are read at a later drain.  Hot. */
void jit_files_add_sample(struct jit_files *f, uint32_t pid, uint64_t address);
/* Notes code that pid itself has registered. */
void jit_files_note_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes);
/* Adds code of a LOAD that another part of the recorder has written without bytes.  The bytes are read as those of a perf map. */
void jit_files_add_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Number of names in perf maps that came too late to be told apart from others at their addresses. */
uint64_t jit_files_ambiguous(const struct jit_files *f);
/* Are there perf maps or jitdump files at the paths of a process's own files that belong to another user, who may not name its code?  Sets
 * a sentence about them. */
bool jit_files_of_others(const struct jit_files *f, char *sentence, size_t bytes);
/* Called before logs and rings are drained.  The next drain reads perf maps up to their present end, so that earlier unmappings are
 * known. */
void jit_files_look(struct jit_files *f);
struct jit_files_losses {
	uint64_t bad;	 /* invalid lines and files */
	uint64_t unread; /* files that were not read to their end */
};
/* Reads new bytes, at most 64 MiB of all files (of the past: 4 GiB) and, unless it is the last time, 4 MiB of each.  losses grow. */
void jit_files_drain(struct jit_files *f, struct trace_writer *w, bool last, struct jit_files_losses *losses);

#endif
