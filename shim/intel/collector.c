/* SPDX-License-Identifier: MIT */
/*
 * Implements the collector's side of Intel's JIT profiling interface (ittapi's jitprofiling.h).  A JIT loads the library that
 * INTEL_JIT_PROFILER64 names and calls it for each method.  libtailor-intel.so is a separate library, because any program may use the names
 * of its two functions for something else.  It registers code with the agent through jitreg.h, as hosts do.
 *
 * Context: the host's threads.
 */
#include "jitreg/jitreg.h"

#define EXPORT __attribute__((visibility("default")))
#define SAMPLING_ON 1
#define METHOD_LOAD_FINISHED 13
#define LINES_BYTES 16384

struct line {
	uint32_t offset, number; /* the line covers the code from the previous entry's offset up to this one */
};

/* This is the first version of ittapi's iJIT_Method_Load. */
struct method {
	uint32_t id;
	const char *name;
	const void *address;
	uint32_t bytes;
	uint32_t nr_lines;
	const struct line *lines;
	uint32_t class_id;
	const char *class_file;
	const char *source_file;
};

EXPORT int Initialize(void);
EXPORT int Initialize(void)
{
	return SAMPLING_ON;
}

/* Sends the lines in jitdump's encoding.  Lines that do not fit are left out. */
static void register_method_lines(const struct method *m)
{
	size_t file_bytes = strlen(m->source_file) + 1, bytes = 0;
	uint64_t address = (uint64_t)(uintptr_t)m->address, nr = 0;
	unsigned char buffer[LINES_BYTES];
	uint32_t from = 0, discriminator = 0;

	for (uint32_t i = 0; i < m->nr_lines && 16 + file_bytes <= sizeof(buffer) - bytes; i++) {
		uint64_t at = address + from;

		memcpy(buffer + bytes, &at, 8);
		memcpy(buffer + bytes + 8, &m->lines[i].number, 4);
		memcpy(buffer + bytes + 12, &discriminator, 4);
		memcpy(buffer + bytes + 16, m->source_file, file_bytes);
		bytes += 16 + file_bytes;
		from = m->lines[i].offset;
		nr++;
	}
	if (nr)
		jitreg_debug_info(address, nr, buffer, bytes);
}

EXPORT int NotifyEvent(int event, void *data);
EXPORT int NotifyEvent(int event, void *data)
{
	const struct method *m = data;

	if (event != METHOD_LOAD_FINISHED || !m || !m->address || !m->bytes)
		return 1;
	if (m->nr_lines && m->lines && m->source_file)
		register_method_lines(m);
	jitreg_code_load((uint64_t)(uintptr_t)m->address, m->bytes, m->id, m->name ? m->name : "(no name)", m->address);
	return 1;
}
