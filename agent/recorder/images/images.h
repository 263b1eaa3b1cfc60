/* SPDX-License-Identifier: MIT */
/*
 * Keeps the executable mappings of processes, and the mapped files in which an address of a sample or of its stack lies.  A file is opened
 * when the first such address is seen.  The parts that analysis needs are written to the trace: those of small files soon, so that an
 * incomplete trace has them, and those of large files at the end, when no ring can overflow and the needed symbols and frames are known.
 * Context: thread.
 */
#ifndef TAILOR_IMAGES_H
#define TAILOR_IMAGES_H

#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

struct images;

/* frames: unwind tables of files are wanted.  Returns 0 or -ENOMEM. */
int images_create(bool frames, struct images **out);
void images_destroy(struct images *i);
/* Makes images_write() also write the code of sampled functions, the hottest that the limit has room for (0: none).  Called before the
 * first mapping.  Returns 0 or -ENOMEM. */
int images_keep_code(struct images *i, uint64_t limit_bytes);
#define IMAGES_CODE_DEFAULT (256u << 10)
/*
 * Lets images_write() fetch symbols that this machine lacks from debuginfod's servers, if the user asked for it by an option (asked) or by
 * the environment.  If samples are counted for images_keep_code(), only images with more than 1 % of them have symbols fetched.  Called
 * before the first mapping.
 */
void images_fetch(struct images *i, bool asked);
/* Returns a sentence if symbols could not be fetched, else NULL. */
const char *images_fetch_problem(const struct images *i);
/* Prepares for an import.  The processes have exited, so files are opened by their paths only, and PIDs may have been reused.  same_kernel:
 * the running kernel was the sampled one, so [vdso] is the same. */
void images_set_past(struct images *i, bool same_kernel);

/* Sets is_over(context), which images_write() calls before each file.  If it returns true, no time is left, and images_left_out() counts
 * the files that are not read. */
void images_set_limit(struct images *i, bool (*is_over)(void *context), void *context);
uint32_t images_left_out(const struct images *i);

/* Adds an executable mapping of a process since time_ns, which replaces what it overlaps.  A mapping without a file replaces no file's
 * mapping, because a program may move its text to other memory.  m is copied. */
void images_add_mapping(struct images *i, const struct mapping *m, uint64_t time_ns);
/* Notes that pid has run another program since time_ns, so that earlier mappings are gone.  Rings of processors are drained one after the
 * other, so mappings of the new program may be known already, and stay. */
void images_note_exec(struct images *i, uint32_t pid, uint64_t time_ns);
/* Note that pid has a copy of ppid's mappings since time_ns, and that it has ended.  Samples of an ended process, and from another ring its
 * fork, may still come after its end. */
void images_note_fork(struct images *i, uint32_t ppid, uint32_t pid, uint64_t time_ns);
void images_note_exit(struct images *i, uint32_t pid, uint64_t time_ns);
/* Notes the addresses of a sample.  Called for each sample, so it has to be fast. */
void images_add_sample(struct images *i, const struct sample_seen *seen);
/* Looks up addresses whose mapping was not known yet, and forgets processes that exited 200 drains ago.  Called after each drain. */
void images_settle(struct images *i);
/* Writes IMAGE_FILE records of small files in which addresses were seen, 4 MiB per call, so that rings do not overflow meanwhile.  Writes
 * nothing if symbols may be fetched, which would take too long. */
void images_write_early(struct images *i, struct trace_writer *w, uint64_t time_ns);
/* Writes an IMAGE_FILE record for every other file in which an address was seen, and the code that images_keep_code() asks for.  Called
 * when no sample comes any more. */
void images_write(struct images *i, struct trace_writer *w, uint64_t time_ns);
/* Paths of files that could not be read (images_gone()), or where other files lie by now (images_replaced()).  Valid after images_write().
 * */
struct images_missing {
	uint32_t nr;
	char first[256]; /* path of the first one */
};
const struct images_missing *images_gone(const struct images *i);
const struct images_missing *images_replaced(const struct images *i);

#endif
