/* SPDX-License-Identifier: MIT */
/* Unwind information that a JIT registered or sent: .eh_frame bytes, by the code that they describe. */
#include "analyzer/model/read.h"

#include "analyzer/unwind/eh_frame.h"

#include <stdlib.h>
#include <string.h>

struct frame_ranges {
	struct process *process;
	struct frames *frames;
	uint64_t from_ns;
	uint32_t nr;
};

static bool add_frame_range(void *context, const struct eh_frame_fde *f)
{
	struct frame_ranges *c = context;

	if (f->bytes <= UINT64_MAX - f->start)
		code_map_add(&c->process->frames, f->start, f->start + f->bytes, c->from_ns, c->frames);
	c->nr++;
	return true;
}

/* How many ranges of code the bytes describe. */
uint32_t model_add_frames(struct model *m, struct process *p, uint64_t address, const void *bytes, size_t nr, uint64_t from_ns)
{
	struct frames *f = calloc(1, sizeof(*f)), **slot = f ? APPEND(m->frames, m->nr_frames) : NULL;
	struct frame_ranges ranges = { p, f, from_ns, 0 };

	if (!slot) {
		free(f);
		return 0;
	}
	*slot = f;
	f->number = m->nr_frames;
	f->address = address;
	f->bytes = malloc(nr + 1);
	if (!f->bytes)
		return 0;
	memcpy(f->bytes, bytes, nr);
	f->nr = nr;
	eh_frame_each(f->bytes, f->nr, f->address, add_frame_range, &ranges);
	return ranges.nr;
}

void model_read_eh_frame(struct model *m, struct process *p, const struct trace_record *r)
{
	size_t nr;
	const char *bytes = trace_bytes(r, F(eh_frame, frames), &nr);

	model_add_frames(m, p, trace_u64(r, F(eh_frame, address)), bytes, nr, r->time_ns);
}
