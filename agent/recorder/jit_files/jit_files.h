/* SPDX-License-Identifier: MIT */
/*
 * Files in which JITs describe their code for perf: /tmp/perf-PID.map of every process that has executable memory without a
 * file, and the jitdump files that processes map.  They are read after each drain while they grow, and once more after their
 * process has exited.  A perf map has no bytes of code: those of sampled functions are read from memory, and so are sampled pages of
 * unregistered code.  Context: thread.
 */
#ifndef TAILOR_JIT_FILES_H
#define TAILOR_JIT_FILES_H

#include "agent/recorder/perf/kernel_record.h"
#include "jitreg/trace/writer.h"

struct jit_files;

int jit_files_create(struct jit_files **out);
void jit_files_destroy(struct jit_files *f);
/* Its processes are of the past, until end_ns on the recording's clock: files are looked for by their names only, and those that
 * were written later than end_s (since 1970) are another process's.  other_clock: that clock is not jitdump files', which are left out. */
void jit_files_set_past(struct jit_files *f, uint64_t end_ns, int64_t end_s, bool other_clock);
/* How many were. */
uint32_t jit_files_left_out(const struct jit_files *f);

/* An executable mapping of pid came to be.  Hot in hosts that map often. */
void jit_files_add_mapping(struct jit_files *f, const struct mapping *m, uint64_t time_ns);
/* A child has what its parent has mapped. */
void jit_files_fork(struct jit_files *f, uint32_t ppid, uint32_t pid, uint64_t time_ns);
/* pid runs another program since time_ns, or has ended (UINT64_MAX): files that it mapped before are read to their end later. */
void jit_files_end_process(struct jit_files *f, uint32_t pid, uint64_t time_ns);
/* pid freed memory of code there. */
void jit_files_unloaded(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* pid was sampled there: bytes of a function of a perf map, or of an unregistered page, are read at a later drain.  Hot. */
void jit_files_add_sample(struct jit_files *f, uint32_t pid, uint64_t address);
/* pid itself told of this code. */
void jit_files_note_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes);
/* Someone else has written a LOAD of this code, without its bytes, which are read as those of a perf map. */
void jit_files_add_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Names of perf maps that came too late to be told apart from others at their addresses. */
uint64_t jit_files_ambiguous(const struct jit_files *f);
/* Perf maps and jitdump files that lie where a process's would, and belong to another user, who may not name its code.  The sentence about
 * them; false: there are none. */
bool jit_files_of_others(const struct jit_files *f, char *sentence, size_t bytes);
/* Before logs and rings are drained: of perf maps the next drain reads what is there now, so that what was unmapped before is known. */
void jit_files_look(struct jit_files *f);
struct jit_files_losses {
	uint64_t bad;	 /* lines and files that made no sense */
	uint64_t unread; /* files that were not read to their end */
};
/* Read what is new, at most 64 MiB of all files (of the past: 4 GiB); of each 4 MiB, unless it is the last time.  losses grow. */
void jit_files_drain(struct jit_files *f, struct trace_writer *w, bool last, struct jit_files_losses *losses);

#endif
