/* SPDX-License-Identifier: MIT */
#include "agent/recorder/engines/generated_code.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_MAX (1u << 20)
#define WRITTEN_MAX (128ull << 20) /* bytes in one recording */

void generated_code_note_mapping(struct generated_code *g, uint64_t address, uint64_t bytes)
{
	struct generated_region *r = NULL;

	if (!bytes || bytes > REGION_MAX)
		return;
	for (uint32_t i = 0; i < GENERATED_REGIONS && !r; i++)
		if (g->region[i].address == address && g->region[i].bytes == bytes)
			r = &g->region[i];
	if (!r) {
		r = &g->region[g->next++ % GENERATED_REGIONS];
		*r = (struct generated_region){ .address = address, .bytes = bytes };
	}
	r->wanted = g->any_wanted = true;
}

static bool is_generated_mapping(const struct proc_mapping *m)
{
	return m->prot & PROT_EXEC && mapping_kind(m->path, strlen(m->path)) == MAPPING_ANONYMOUS;
}

static int note_generated_mapping(void *context, const struct proc_mapping *m)
{
	if (is_generated_mapping(m))
		generated_code_note_mapping(context, m->start, m->end - m->start);
	return 0;
}

void generated_code_find_mappings(struct generated_code *g, pid_t pid)
{
	proc_each_mapping(pid, note_generated_mapping, g);
}

static int mapping_holds_region(void *context, const struct proc_mapping *m)
{
	const struct generated_region *r = context;

	return is_generated_mapping(m) && !(m->prot & PROT_WRITE) && m->start <= r->address && m->end >= r->address + r->bytes;
}

/* Copies a region to the trace. Returns false if a living process does not have the region any more, or if it is writable, so that the
 * caller looks more often. Returns true also if nothing was copied, because WRITTEN_MAX bytes are written, memory ran out, or the process
 * has ended or cannot be read. */
static bool copy_region_to_trace(struct generated_region *r, pid_t pid, struct trace_writer *w, uint64_t *written)
{
	unsigned char *bytes = *written < WRITTEN_MAX ? malloc(r->bytes) : NULL;
	uint64_t now_ns;
	bool is_there;
	int ret;

	if (!bytes)
		return true;
	ret = proc_mem_read(pid, r->address, bytes, r->bytes);
	if (ret) {
		free(bytes);
		return ret != -EFAULT;
	}
	now_ns = clock_now_ns();
	/* Other memory may be mapped there by now, to which code is being written, so the bytes count only if it is not writable. */
	is_there = proc_each_mapping(pid, mapping_holds_region, r) == 1;
	if (is_there) {
		TRACE_PUT(w, code_bytes, now_ns, (uint32_t)pid, 0, .address = r->address, .loaded_ns = TRACE_NOT_LOADED,
			  .code = { bytes, r->bytes });
		*written += r->bytes;
	}
	free(bytes);
	return is_there;
}

bool generated_code_copy_to_trace(struct generated_code *g, pid_t pid, struct trace_writer *w, uint64_t *written)
{
	bool all = true;

	if (!g->any_wanted)
		return true;
	for (uint32_t i = 0; i < GENERATED_REGIONS; i++)
		if (g->region[i].wanted) {
			g->region[i].wanted = false;
			all &= copy_region_to_trace(&g->region[i], pid, w, written);
		}
	g->any_wanted = false;
	return all;
}
