/* SPDX-License-Identifier: MIT */
/* This file has the table of sources of names (agent/recorder/perf/name_source.h). */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/engines/engines.h"
#include "agent/recorder/hotspot/jvms.h"
#include "agent/recorder/images/images.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/jit_files/gdb_jit_poll.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/jit_files/luajit.h"

#include <errno.h>

/*
 * This table has a row for each source, in the order in which their operations are called.  Memory of processes is read first, since it
 * changes while other sources read, and code that is freed between two looks gets no name.  jvms come before jit_files, which read the
 * bytes of code that jvms have just written without them.  kernel_names and images come last, because what they read stays as it is, and
 * reading large files at the end may take seconds.  Apart from that, no source depends on another.
 */
static const struct name_source *const sources[] = {
	&gdb_jit_poll_source,
	&luajit_source,
	&engines_source,
	&jvms_source,
	&jit_files_source,
	&kernel_names_source,
	&images_source,
};
#define NR_SOURCES (sizeof(sources) / sizeof(sources[0]))
_Static_assert(NR_SOURCES <= SOURCES_MAX, "struct recording has no room for all sources");

int recording_create_sources(struct recording *r)
{
	for (size_t i = 0; i < NR_SOURCES; i++) {
		struct created_source *s = &r->source[r->nr_sources];

		if (sources[i]->is_live_only && r->options.sources.past_end_ns)
			continue;
		*s = (struct created_source){ sources[i], NULL };
		if (sources[i]->create(&r->for_sources, &s->state))
			return -ENOMEM;
		r->nr_sources++;
	}
	return 0;
}

void recording_destroy_sources(struct recording *r)
{
	while (r->nr_sources) {
		const struct created_source *s = &r->source[--r->nr_sources];

		s->is->destroy(s->state);
	}
}

void *recording_source(const struct recording *r, const struct name_source *is)
{
	for (uint32_t i = 0; i < r->nr_sources; i++)
		if (r->source[i].is == is)
			return r->source[i].state;
	return NULL;
}
