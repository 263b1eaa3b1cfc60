/* SPDX-License-Identifier: MIT */
/* A mapped file without a build id is recognised by its identity, as the kernel reports it. Context: any. */
#ifndef TAILOR_FILE_IDENTITY_H
#define TAILOR_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* inode is 0 if the identity is unknown. */
struct file_identity {
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;
	uint64_t generation; /* differs if the number of a deleted inode is used again; 0: unknown, as /proc/PID/maps does not have it */
};

static inline bool file_identity_is_known(const struct file_identity *f)
{
	return f->inode != 0;
}

/* Are both known, and is it the same file? */
static inline bool file_identity_is_same(const struct file_identity *a, const struct file_identity *b)
{
	return file_identity_is_known(a) && a->device == b->device && a->inode == b->inode &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}

/* Can it be the same file?  Yes if either is unknown. */
static inline bool file_identity_may_be_same(const struct file_identity *a, const struct file_identity *b)
{
	return !file_identity_is_known(a) || !file_identity_is_known(b) || file_identity_is_same(a, b);
}

#endif
