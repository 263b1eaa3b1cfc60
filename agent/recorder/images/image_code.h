/* SPDX-License-Identifier: MIT */
/*
 * Keeps the machine code of image functions with at least two samples, the hottest that a limit of bytes has room for.  A function is what
 * a symbol with a size covers, else what an entry of .eh_frame covers.  Context: thread.
 */
#ifndef TAILOR_IMAGE_CODE_H
#define TAILOR_IMAGE_CODE_H

#include "agent/recorder/images/elf_parts.h"
#include "jitreg/base/file_identity.h"
#include "jitreg/trace/writer.h"

/* Samples are counted per line of this size of the file.  A function has the samples of the lines that it reaches into. */
#define IMAGE_CODE_LINE_SHIFT 6

struct image_code;

/* Returns NULL without memory. */
struct image_code *image_code_create(uint64_t limit_bytes);
void image_code_destroy(struct image_code *c);
/*
 * Takes the sampled functions of one file.  fd: is duplicated.  key, identity: those of its IMAGE_FILE record.  samples: per line of the
 * file, nr of them.
 */
void image_code_find_functions(struct image_code *c, int fd, const char *key, const struct file_identity *identity, struct elf_parts *parts,
			       const uint32_t *samples, uint64_t nr);
/* Writes IMAGE_CODE records, one per file. */
void image_code_write(struct image_code *c, struct trace_writer *w, uint64_t time_ns);

#endif
