/* SPDX-License-Identifier: MIT */
/*
 * Reads files in which JITs describe their code for perf.  These are /tmp/perf-PID.map of processes that have executable memory without a
 * file, and the jitdump files that processes map.  New bytes are read after each drain of the rings, also for a while after their process
 * has exited, and at the end of the recording.  An import reads the files once, at its end.  A perf map has no bytes of code, so bytes of
 * sampled functions are read from memory, and so are sampled pages of unregistered code.  Context: thread.
 */
#ifndef TAILOR_JIT_FILES_H
#define TAILOR_JIT_FILES_H

#include "agent/recorder/perf/kernel_record.h"
#include "jitreg/trace/writer.h"

struct jit_files;

/* Returns 0 or -ENOMEM. */
int jit_files_create(struct jit_files **out);
void jit_files_destroy(struct jit_files *f);
/* Called for an import, whose processes have ended.  Their recording ended at end_ns on its clock.  Files are found by their paths on this
 * machine alone, and no code is read from memory.  A perf map that was written later than end_s (since 1970) is not read, as it belongs to
 * another process.  other_clock: the recording's clock is not the one of jitdump files, so these are left out. */
void jit_files_set_past(struct jit_files *f, uint64_t end_ns, int64_t end_s, bool other_clock);
/* Returns the number of jitdump files that were left out because of another clock. */
uint32_t jit_files_left_out(const struct jit_files *f);

/* Called for each new executable mapping.  From now on, drains look for a perf map of the process if the mapping may hold generated code,
 * and read the mapped file if it is a jitdump file.  Hot in hosts that map often. */
void jit_files_add_mapping(struct jit_files *f, const struct mapping *m, uint64_t time_ns);
/* Called when pid was forked from ppid.  The child may have generated code and write a perf map if its parent may. */
void jit_files_fork(struct jit_files *f, uint32_t ppid, uint32_t pid, uint64_t time_ns);
/* Called when pid runs another program since time_ns, or has ended (UINT64_MAX).  Files of its program until then are read for some more
 * drains. */
void jit_files_end_process(struct jit_files *f, uint32_t pid, uint64_t time_ns);
/* Notes that pid has freed memory of code, so that later names in its perf map are of other code. */
void jit_files_unloaded(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Notes a sample of pid.  The bytes of the perf map's function at the address, or of its page if no code is registered there, are read at a
 * later drain.  Hot. */
void jit_files_add_sample(struct jit_files *f, uint32_t pid, uint64_t address);
/* Notes code that pid has registered by its agent, so that its pages need not be read. */
void jit_files_note_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes);
/* Adds code whose LOAD another part of the recorder has written without bytes.  They are read from memory, as those of a perf map. */
void jit_files_add_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Returns the number of names in perf maps for addresses that had another name shortly before, where it is unknown which of the two was in
 * force at a sample (perf_map_ambiguous()). */
uint64_t jit_files_ambiguous(const struct jit_files *f);
/* Were there perf maps or jitdump files at the paths of a process's own files that belong to another user, and so were not read?  If they
 * were read, any user could name the code of others.  Sets a sentence about them, which is valid if true is returned. */
bool jit_files_of_others(const struct jit_files *f, char *sentence, size_t bytes);
/* Called before logs and rings are drained.  The next jit_files_drain() reads perf maps up to their present end, so that the records of all
 * unmappings before the names are known by then. */
void jit_files_look(struct jit_files *f);
struct jit_files_losses {
	uint64_t bad;	 /* invalid lines and files */
	uint64_t unread; /* files that were not read to their end */
};
/* Reads new bytes of the files, writes the records that they describe, and adds to *losses.  It reads at most 64 MiB of all files (in an
 * import: 4 GiB), for at most a second of processor time (in an import without limit), and, unless it is the last time, 4 MiB of each
 * file. */
void jit_files_drain(struct jit_files *f, struct trace_writer *w, bool last, struct jit_files_losses *losses);

#endif
