/* SPDX-License-Identifier: MIT */
/*
 * The kind of a mapping, from the path that the kernel gives in /proc/PID/maps (proc(5)) and in perf's records ("//anon"), and whether the
 * mapping may hold generated code.  Context: any.
 */
#ifndef TAILOR_MAPPING_KIND_H
#define TAILOR_MAPPING_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mapping_kind {
	MAPPING_ANONYMOUS,
	MAPPING_MEMORY, /* named memory without a file system: memfd, System V, shared anonymous memory, large pages */
	MAPPING_KERNEL, /* [vdso] and the like */
	MAPPING_DEVICE, /* opening it may have side effects */
	MAPPING_FILE,	/* including /dev/shm */
};
enum mapping_kind mapping_kind(const char *path, size_t bytes);

/* Can an executable mapping hold generated code?  prot: PROT_*.  Libraries are mapped privately and never writable.  A file that is not an
 * ELF file holds generated code too, which callers check themselves. */
bool mapping_may_hold_generated_code(const char *path, size_t bytes, uint32_t prot, bool shared);

#endif
