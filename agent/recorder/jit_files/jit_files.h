/* SPDX-License-Identifier: MIT */
/*
 * This module reads files in which JITs describe their code for perf. These are /tmp/perf-PID.map of processes that have executable memory
 * without a file, and the jitdump files that processes map. New bytes are read after each drain of the rings, also for a while after their
 * process has exited, and at the end of the recording. An import reads the files once, at its end. A perf map has no bytes of code, so
 * bytes of sampled functions are read from memory, and so are sampled pages of unregistered code. Context: thread.
 */
#ifndef TAILOR_JIT_FILES_H
#define TAILOR_JIT_FILES_H

#include "agent/recorder/perf/name_source.h"

struct jit_files;

/*
 * From note_mapping() on, drains look for a perf map of the process if the mapping may hold generated code or is of a jitdump file, and
 * read that file.  Files of a process's program are read for some more drains after note_exec() and note_exit().  begin_drain() makes
 * the next settle() read perf maps up to their present end, so that the records of all unmappings before the names are known by then.
 * settle() reads at most 64 MiB of all files (in an import: 4 GiB), for at most a second of processor time (in an import without limit),
 * and, unless it is the last time, 4 MiB of each file.  What is malformed or was not read to its end is a loss.
 *
 * In an import, files are found by their paths on this machine alone, and no code is read from memory. A perf map that was written later
 * than the recording's end is not read, as it is taken to be another process's. Jitdump files are left out if the recording has another
 * clock.
 */
extern const struct name_source jit_files_source;

/* Notes that pid has freed memory of code, so that later names in its perf map are of other code. */
void jit_files_note_unload(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Adds code whose LOAD another part of the recorder has written without bytes.  They are read from memory, as those of a perf map. */
void jit_files_add_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);

#endif
