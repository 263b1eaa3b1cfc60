/* SPDX-License-Identifier: MIT */
/* The kernel shows the path of a file that was removed, or replaced by another one, with a mark behind it.  Context: any. */
#ifndef JITREG_DELETED_PATH_H
#define JITREG_DELETED_PATH_H

#include <stddef.h>
#include <string.h>

#define DELETED_PATH " (deleted)"

/* Returns the length of a path of this many bytes without the mark, which is bytes if it has none. */
static inline size_t deleted_path_bytes(const char *path, size_t bytes)
{
	const size_t mark = sizeof(DELETED_PATH) - 1;

	return bytes > mark && memcmp(path + bytes - mark, DELETED_PATH, mark) == 0 ? bytes - mark : bytes;
}

#endif
