/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/store_profiles.h"

#include "analyzer/store/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct adding {
	struct store *store;
	struct wire_profiles *p;
	const char *event;
	int (*full)(void *context);
	void *context;
	uint32_t part;
};

/* A root has the profile of a series in an epoch, and the stack of query and component to which its functions are added. */
struct root {
	uint32_t profile, stack;
	bool wanted;
};

/* Return the time, or 0 for one before 1970, because viewers accept none. */
static uint64_t since_1970(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static struct root root_of_series(struct adding *a, const struct rows_epoch *e, int64_t series)
{
	struct rows_series x = rows_series(a->store, series);
	struct wire_profile of = { .process = wire_process(a->p, x.service, x.process, x.executable, e->host, 0),
				   .begin_ns = since_1970(e->begin_ns),
				   .end_ns = since_1970(e->end_ns > e->begin_ns ? e->end_ns : e->begin_ns + 1),
				   .recording = (uint64_t)e->recording,
				   .number = (uint32_t)e->number,
				   .part = a->part };
	struct root root = { .wanted = !a->event || strcmp(a->event, x.event) == 0 };

	if (!root.wanted)
		return root;
	root.profile = wire_profile(a->p, &of, x.event, x.unit);
	if (*x.query)
		root.stack = wire_stack(a->p, 0, &(struct wire_frame){ .kind = WIRE_QUERY, .name = x.query });
	if (*x.label)
		root.stack = wire_stack(a->p, root.stack, &(struct wire_frame){ .kind = WIRE_COMPONENT, .name = x.label });
	return root;
}

static uint32_t stack_of_function(struct adding *a, uint32_t root, int64_t function)
{
	struct rows_function f = rows_function(a->store, function);

	if (!function)
		return wire_stack(a->p, root, &(struct wire_frame){ .kind = WIRE_UNKNOWN, .name = "[functions not kept]" });
	return wire_stack(a->p, root, &(struct wire_frame){ .kind = f.jit			       ? WIRE_GENERATED :
								    strncmp(f.image, "[kernel", 7) == 0 ? WIRE_KERNEL :
								    *f.name == '['			? WIRE_UNKNOWN :
													  WIRE_NATIVE,
							     .name = f.name,
							     .image = f.image });
}

static int add_epoch(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr)
{
	struct adding *a = context;
	struct root root = { 0 };
	bool is_known = false;

	a->part = 0;
	for (uint32_t i = 0; i < nr && !a->p->failed; i++) {
		if (a->full && a->p->samples.nr >= STORE_PROFILES_MAX) {
			int ret = a->full(a->context);

			if (ret)
				return ret;
			a->part++;
			is_known = false;
		}
		is_known = is_known && row[i].series == row[i - 1].series;
		if (!is_known)
			root = root_of_series(a, e, row[i].series);
		is_known = true;
		if (root.wanted)
			wire_sample(a->p, &(struct wire_sample){ .profile = root.profile,
								 .stack = stack_of_function(a, root.stack, row[i].function),
								 .samples = row[i].samples,
								 .weight = row[i].weight });
	}
	return a->p->failed ? -ENOMEM : 0;
}

int store_profiles_add(struct store *s, const struct fleet_what *what, const char *event, struct wire_profiles *p,
		       int (*full)(void *context), void *context, struct diag *d)
{
	struct adding a = { s, p, event, full, context, 0 };
	int ret = rows_read(s, &what->window, what->host, &(struct rows_reader){ .epoch = add_epoch, .context = &a }, d);

	return p->failed ? diag_fail(d, ENOMEM, "out of memory") : ret;
}

char *store_profiles_main_event(struct store *s, const struct window *w, struct diag *d)
{
	struct sums_question q = { .window = *w, .by = SUMS_PROCESS };
	struct sums sums;
	char *event;

	if (sums_make(s, &q, &sums, d))
		return NULL;
	event = sums.event;
	sums.event = NULL;
	sums_fini(&sums);
	return event;
}
