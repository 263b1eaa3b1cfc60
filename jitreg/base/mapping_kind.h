/* SPDX-License-Identifier: MIT */
/*
 * What is mapped, by the path that the kernel gives for it in /proc/PID/maps (proc(5)) and in perf's records ("//anon"), and whether code
 * may be generated there.  Context: any.
 */
#ifndef TAILOR_MAPPING_KIND_H
#define TAILOR_MAPPING_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mapping_kind {
	MAPPING_ANONYMOUS,
	MAPPING_MEMORY, /* memory with a name, of no file system: memfd, System V, shared anonymous memory, large pages */
	MAPPING_KERNEL, /* [vdso] and the like */
	MAPPING_DEVICE, /* to open it may do something */
	MAPPING_FILE,	/* also in /dev/shm */
};
enum mapping_kind mapping_kind(const char *path, size_t bytes);

/* Of an executable mapping; prot: PROT_*.  Libraries are mapped privately, and for writing by none.  Files that are no ELF files hold
 * generated code, too: who knows that need not ask. */
bool mapping_may_hold_generated_code(const char *path, size_t bytes, uint32_t prot, bool shared);

#endif
