/* SPDX-License-Identifier: MIT */
#include "agent/recorder/import/old_execs.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

void old_execs_note_comm(struct old_execs *e, const struct kernel_comm *c, uint64_t time_ns)
{
	uint32_t i = hash_map_find(&e->of_pid, c->pid, 0);
	struct old_exec *p;

	if (!i && (!ARRAY_GROW(e->pending) || !hash_map_set(&e->of_pid, c->pid, 0, e->pending.nr + 1)))
		return;
	p = &e->pending.at[i ? i - 1 : e->pending.nr++];
	*p = (struct old_exec){ .pid = c->pid, .time_ns = time_ns };
	p->bytes = (uint32_t)(c->bytes < sizeof(p->name) ? c->bytes : sizeof(p->name) - 1);
	memcpy(p->name, c->name, p->bytes);
}

/* Is the file named as a program, and not as a library (libc.so.6, libc-2.15.so)? */
static bool is_named_as_program(const struct mapping *m)
{
	const char *slash = m->path_bytes && *m->path == '/' ? memrchr(m->path, '/', m->path_bytes) : NULL;
	const char *end = m->path + m->path_bytes;

	for (const char *so = slash; so && end - so >= 3; so++)
		if (memcmp(so, ".so", 3) == 0 && (end - so == 3 || so[3] == '.' || so[3] == 0))
			return false;
	return slash;
}

bool old_execs_note_mapping(struct old_execs *e, const struct mapping *m, struct kernel_comm *out, uint64_t *time_ns)
{
	uint32_t i = hash_map_find(&e->of_pid, m->pid, 0);
	struct old_exec *p = i ? &e->pending.at[i - 1] : NULL;
	bool is_exec = p && p->bytes && is_named_as_program(m);

	if (is_exec) {
		*out = (struct kernel_comm){ .pid = m->pid, .tid = m->pid, .exec = true, .name = p->name, .bytes = p->bytes };
		*time_ns = p->time_ns;
	}
	if (p)
		p->bytes = 0; /* only the first mapping behind a name tells */
	return is_exec;
}

void old_execs_fini(struct old_execs *e)
{
	hash_map_fini(&e->of_pid);
	free(e->pending.at);
}
