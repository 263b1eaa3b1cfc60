/* SPDX-License-Identifier: MIT */
/*
 * Files of one build id have the same code, whatever their paths: containers' copies of one library, or a program and the stripped copy
 * that was installed.  A trace has their parts once; what it lacks of one of them comes from the others.  Context: thread.
 */
#ifndef TAILOR_IMAGE_COPIES_H
#define TAILOR_IMAGE_COPIES_H

#include "analyzer/model/model.h"

/* Is it named by a build id? */
static inline bool image_file_has_build_id(const struct image_file *f)
{
	return f->key && f->path && strcmp(f->key, f->path) != 0;
}

/* Give files without parts those of their copies, and files without symbols the symbols of theirs.  After all files were read, and before
 * anything is asked of them.  false without memory. */
bool image_copies_share(struct model *m);

#endif
