/* SPDX-License-Identifier: MIT */
/*
 * Executable mappings of processes, and the mapped files that have a sample or a frame.  A file is opened when the first address in it
 * is sampled; the parts that analysis needs are written to the trace: of small files soon, so that an incomplete trace has them; of
 * large files at the end, when no ring can overflow and the symbols and frames that are needed are known.
 * Context: thread.
 */
#ifndef TAILOR_IMAGES_H
#define TAILOR_IMAGES_H

#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

struct images;

/* frames: unwind tables of files are wanted. */
int images_create(bool frames, struct images **out);
void images_destroy(struct images *i);
/* Write the code of sampled functions as well, the hottest that the limit has room for (0: none).  Before the first mapping.  0 or
 * -ENOMEM. */
int images_keep_code(struct images *i, uint64_t limit_bytes);
#define IMAGES_CODE_DEFAULT (256u << 10)
/* Symbols that are nowhere on this machine come from debuginfod's servers, if asked by an option or by the environment: for images with 1 %
 * of the samples, when all files are written.  Before the first mapping. */
void images_fetch(struct images *i, bool asked);
/* A sentence, if they could not be fetched; else NULL. */
const char *images_fetch_problem(const struct images *i);
/* For an import: processes have exited, so files are opened by their paths only, and PIDs may have been reused.  same_kernel: the
 * running kernel was the sampled one, so [vdso] is the same. */
void images_set_past(struct images *i, bool same_kernel);

/* While images_write() reads files, is_over(context) says whether no more time is left for them.  The files that are left out then are
 * counted by images_left_out(). */
void images_set_limit(struct images *i, bool (*is_over)(void *context), void *context);
uint32_t images_left_out(const struct images *i);

/* A process has a new executable mapping since time_ns, which replaces what it overlaps.  Nothing of m is kept. */
void images_add_mapping(struct images *i, const struct mapping *m, uint64_t time_ns);
/* pid runs another program since then: what was mapped before is gone.  Rings of processors are drained one after the other, so what the
 * new program mapped may be known already. */
void images_note_exec(struct images *i, uint32_t pid, uint64_t time_ns);
/* pid has a copy of ppid's mappings since then / has ended, but samples of it may still come, and, from another ring, its begin. */
void images_note_fork(struct images *i, uint32_t ppid, uint32_t pid, uint64_t time_ns);
void images_note_exit(struct images *i, uint32_t pid, uint64_t time_ns);
/* A sample was taken.  Hot: called for each. */
void images_add_sample(struct images *i, const struct sample_seen *seen);
/* After each drain: look up addresses whose mapping was not known yet; remove processes that have exited. */
void images_settle(struct images *i);
/* Write the IMAGE_FILEs of files that were hit, as many as take no ring's time. */
void images_write_early(struct images *i, struct trace_writer *w, uint64_t time_ns);
/* Write an IMAGE_FILE record for every other file that was hit, and their code; no sample comes any more. */
void images_write(struct images *i, struct trace_writer *w, uint64_t time_ns);
/* Files that could not be read; at whose paths others lie.  After images_write(). */
struct images_missing {
	uint32_t nr;
	char first[256]; /* the path of one */
};
const struct images_missing *images_gone(const struct images *i);
const struct images_missing *images_replaced(const struct images *i);

#endif
