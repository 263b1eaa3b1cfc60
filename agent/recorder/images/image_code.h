/* SPDX-License-Identifier: MIT */
/* Keeps the machine code of sampled functions of images. These are the hottest functions that a limit of bytes has room for, without those
 * that have only one sample or more than 256 KiB. A function is what a symbol with a size covers, else what an entry of .eh_frame covers.
 * Context: thread. */
#ifndef TAILOR_IMAGE_CODE_H
#define TAILOR_IMAGE_CODE_H

#include "agent/recorder/images/elf_parts.h"
#include "jitreg/base/file_identity.h"
#include "jitreg/trace/writer.h"

/* A line is this part of a file, 64 bytes, for which samples are counted.  A function has the samples of all lines that it reaches into. */
#define IMAGE_CODE_LINE_SHIFT 6

struct image_code;

/* Returns NULL if memory runs out. */
struct image_code *image_code_create(uint64_t limit_bytes);
void image_code_destroy(struct image_code *c);
/* Finds the sampled functions of one file. If there are any, keeps a duplicate of fd, from which image_code_write() reads their code. key,
 * identity: those of the file's IMAGE_FILE record. samples: number of samples of each of the file's nr lines; NULL: does nothing.
 * At most 512 files are kept. */
void image_code_find_functions(struct image_code *c, int fd, const char *key, const struct file_identity *identity, struct elf_parts *parts,
			       const uint32_t *samples, uint64_t nr);
/* Writes the code of the hottest functions as IMAGE_CODE records, one per file. */
void image_code_write(struct image_code *c, struct trace_writer *w, uint64_t time_ns);

#endif
