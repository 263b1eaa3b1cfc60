/* SPDX-License-Identifier: MIT */
/*
 * Keeps the executable mappings of processes, and the mapped files in which an address of a sample or of its stack lies.  A file is opened
 * when the first such address is seen. The parts that analysis needs are written to the trace. In a live recording that fetches no symbols,
 * those of small files are written soon, so that an incomplete trace has them. All others are written at the end, when no ring can overflow
 * and the needed symbols and frames are known. Context: thread.
 */
#ifndef TAILOR_IMAGES_H
#define TAILOR_IMAGES_H

#include "agent/recorder/perf/name_source.h"

struct images;

/*
 * note_mapping() replaces what a mapping overlaps.  A mapping without a file replaces no file's mapping, because a program may move its
 * text to other memory.  note_sample() notes the addresses of a sample and of its stack.  write_files() writes an IMAGE_FILE record for
 * each file in which an address was seen.
 *
 * Symbols that this machine lacks are fetched from debuginfod's servers if the user asked for it by an option or by the environment.  If
 * samples are counted for the code of images, only images with more than 1 % of them have symbols fetched.  In an import, files are opened
 * by their paths only, and process numbers may have been reused.
 */
extern const struct name_source images_source;

/* Makes the last write_files() also write the code of sampled functions, the hottest that the limit has room for (0: none).  Called before
 * the first mapping.  Returns 0 or -ENOMEM. */
int images_keep_code(struct images *i, uint64_t limit_bytes);
#define IMAGES_CODE_DEFAULT (256u << 10)

/* Sets is_over(context), which the last write_files() calls before each file, and while it fetches symbols. If it returns true, no time is
 * left, and a notice says how many files are not read. */
void images_set_limit(struct images *i, bool (*is_over)(void *context), void *context);

#endif
