/* SPDX-License-Identifier: MIT */
/*
 * Tells the kind of a mapping by the path that the kernel gives it in /proc/PID/maps (proc(5)) or in perf's records ("//anon"), and whether
 * the mapping may hold generated code.  Context: any.
 */
#ifndef TAILOR_MAPPING_KIND_H
#define TAILOR_MAPPING_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum mapping_kind {
	MAPPING_ANONYMOUS,
	MAPPING_MEMORY, /* named memory without a file system: memfd, System V, shared anonymous memory, large pages */
	MAPPING_KERNEL, /* [vdso] and the like */
	MAPPING_DEVICE, /* a device, which must not be opened, since that may have side effects */
	MAPPING_FILE,	/* a file, also one of /dev/shm */
};
/* Returns the kind of a mapping by its path of this many bytes, which need not be NUL-terminated. An unknown path, as [heap] or [stack],
 * counts as anonymous memory. */
enum mapping_kind mapping_kind(const char *path, size_t bytes);

/* May an executable mapping hold generated code? Memory without a file may. A mapping of a file may if it is shared or writable, because
 * code of programs and libraries is mapped privately and not writable. A private mapping of a file that is not an ELF file may as well,
 * which callers check themselves. */
bool mapping_may_hold_generated_code(const char *path, size_t bytes, uint32_t prot, bool shared);

/* A program or library that was loaded from a file in memory (memfd_create(2)) has its name in this folder as path, which leads nowhere.
 * The agent's shim/images.c gives the same path. */
#define MEMORY_FILE_FOLDER "/memfd/"
static inline bool path_is_of_memory_file(const char *path)
{
	return strncmp(path, MEMORY_FILE_FOLDER, sizeof(MEMORY_FILE_FOLDER) - 1) == 0;
}

#endif
