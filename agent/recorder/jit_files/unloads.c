/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/unloads.h"

#include <stdlib.h>

void unloads_fini(struct unloads *u)
{
	free(u->unload);
	*u = (struct unloads){ 0 };
}

static struct unload *at(const struct unloads *u, uint64_t i)
{
	return &u->unload[i % UNLOADS_MAX];
}

static uint64_t oldest(const struct unloads *u)
{
	return u->nr > UNLOADS_MAX ? u->nr - UNLOADS_MAX : 0;
}

static bool overlaps(const struct unload *f, uint64_t start, uint64_t end)
{
	return f->start < end && start < f->end;
}

void unloads_add(struct unloads *u, uint64_t start, uint64_t end, uint64_t time_ns)
{
	if (!u->unload)
		u->unload = calloc(UNLOADS_MAX, sizeof(*u->unload));
	if (u->unload && start < end)
		*at(u, u->nr++) = (struct unload){ start, end, time_ns, false };
}

void unloads_mapped(struct unloads *u, uint64_t start, uint64_t end, uint64_t time_ns)
{
	for (uint64_t i = u->nr; i > oldest(u); i--) {
		struct unload *f = at(u, i - 1);

		if (!overlaps(f, start, end) || f->time_ns > time_ns)
			continue;
		if (f->mapped_again)
			return; /* earlier unloads of this memory are taken to have been marked together with it */
		f->mapped_again = true;
	}
}

uint64_t unloads_before_name(const struct unloads *u, uint64_t start, uint64_t end, uint64_t after_ns, uint64_t since_ns,
			     uint64_t until_ns)
{
	uint64_t first_ns = 0;

	for (uint64_t i = u ? u->nr : 0; u && i > oldest(u); i--) {
		const struct unload *f = at(u, i - 1);

		if (f->time_ns <= after_ns)
			break;
		if (!overlaps(f, start, end) || !f->mapped_again || f->time_ns > until_ns)
			continue;
		first_ns = f->time_ns;
		if (first_ns <= since_ns)
			break;
	}
	return first_ns;
}
