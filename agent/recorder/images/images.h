/* SPDX-License-Identifier: MIT */
/*
 * Processes' executable mappings, and the files behind those that have a sample or a frame: they are opened when the first
 * address in them is seen, and the parts that analysis needs are written to the trace: soon for small files, so that a
 * trace that is cut short or a disk that fills up finds them there; at the end for large ones, when no ring can overflow and
 * it is known which of their symbols and frames somebody may ask for.
 * Context: thread.
 */
#ifndef TAILOR_IMAGES_H
#define TAILOR_IMAGES_H

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

struct images;

/* frames: unwind tables of files are wanted. */
int images_create(bool frames, struct images **out);
void images_destroy(struct images *i);
/* Its processes are of the past: files are looked for by their names only, and who has a process's number now is another.
 * same_kernel: [vdso] is ours. */
void images_of_the_past(struct images *i, bool same_kernel);

/* An executable mapping of pid came to be; it replaces what it overlaps.  build_id: of the file, if it is known. */
void images_map(struct images *i, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t file_offset, const char *path,
		size_t path_bytes, const void *build_id, size_t build_id_bytes);
/* pid now has a copy of ppid's mappings / has ended, but samples of it may still come / has no mappings any more. */
void images_fork(struct images *i, uint32_t ppid, uint32_t pid);
void images_exit(struct images *i, uint32_t pid);
void images_forget(struct images *i, uint32_t pid);
/* A sample was taken.  Hot: called for each. */
void images_sample(struct images *i, const struct sample_seen *seen);
/* After each drain: look again for addresses whose mapping had not been heard of yet; forget processes that ended. */
void images_settle(struct images *i);
/* Write the IMAGE_FILEs of files that were hit, as many as take no ring's time. */
void images_write_early(struct images *i, struct trace_writer *w, uint64_t time_ns);
/* Write an IMAGE_FILE record for every other file that was hit; no sample comes any more. */
void images_write(struct images *i, struct trace_writer *w, uint64_t time_ns);

#endif
