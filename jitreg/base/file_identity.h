/* SPDX-License-Identifier: MIT */
/* Which file a path meant when it was mapped, where no build id says it, as the kernel reports it.  Context: any. */
#ifndef TAILOR_FILE_IDENTITY_H
#define TAILOR_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* All 0: not known. */
struct file_identity {
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;
	uint64_t generation; /* of the inode's number, which is used again; /proc/PID/maps has none: 0 */
};

static inline bool file_identity_is_known(const struct file_identity *f)
{
	return f->inode != 0;
}

/* Both known, and the same file. */
static inline bool file_identity_is_same(const struct file_identity *a, const struct file_identity *b)
{
	return file_identity_is_known(a) && a->device == b->device && a->inode == b->inode &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}

/* Nothing says that they are two files. */
static inline bool file_identity_may_be_same(const struct file_identity *a, const struct file_identity *b)
{
	return !file_identity_is_known(a) || !file_identity_is_known(b) || file_identity_is_same(a, b);
}

#endif
