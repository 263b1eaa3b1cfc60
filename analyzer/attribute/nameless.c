/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/nameless.h"

#include "analyzer/unwind/eh_frame.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"
#include "jitreg/hosts/jit_hosts.h"

#include <stdlib.h>

struct fde_range {
	uint64_t start, bytes;
};

struct nameless_image {
	struct nameless_image *next;
	const struct elf_object *elf;
	ARRAY(struct fde_range) ranges; /* sorted by start */
};

static bool add_fde_range(void *context, const struct eh_frame_fde *f)
{
	struct nameless_image *i = context;

	if (!f->bytes)
		return true; /* the linker discarded the code, but not its FDE */
	if (!ARRAY_PUSH(i->ranges, (struct fde_range){ f->start, f->bytes }))
		return false;
	return true;
}

static int compare_range_starts(const void *a, const void *b)
{
	const struct fde_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct nameless_image *get_nameless_image(struct nameless *n, struct elf_object *elf)
{
	struct nameless_image *i = n->first;
	struct elf_section s;

	while (i && i->elf != elf)
		i = i->next;
	if (i)
		return i;
	i = calloc(1, sizeof(*i));
	if (!i)
		return NULL;
	i->elf = elf;
	i->next = n->first;
	n->first = i;
	if (elf_find_section(elf, ".eh_frame", &s) && s.data)
		eh_frame_each(s.data, s.bytes, s.address, add_fde_range, i);
	if (i->ranges.nr)
		qsort(i->ranges.at, i->ranges.nr, sizeof(*i->ranges.at), compare_range_starts);
	return i;
}

/* Returns how many ranges begin at address or before. */
static size_t ranges_up_to(const struct nameless_image *i, uint64_t address)
{
	return SORTED_COUNT(i ? i->ranges.nr : 0, n, i->ranges.at[n].start <= address);
}

static bool address_in_last_range(const struct nameless_image *i, size_t nr, uint64_t address)
{
	return nr && address - i->ranges.at[nr - 1].start < i->ranges.at[nr - 1].bytes;
}

bool nameless_find_function(struct nameless *n, struct elf_object *elf, uint64_t address, uint64_t *start)
{
	const struct nameless_image *i = get_nameless_image(n, elf);
	size_t nr = ranges_up_to(i, address);

	if (!address_in_last_range(i, nr, address))
		return false;
	*start = i->ranges.at[nr - 1].start;
	return true;
}

bool nameless_same_function(struct nameless *n, struct elf_object *elf, uint64_t first, uint64_t second)
{
	const struct nameless_image *i = get_nameless_image(n, elf);
	size_t nr = ranges_up_to(i, first);

	return nr == ranges_up_to(i, second) && address_in_last_range(i, nr, first) == address_in_last_range(i, nr, second);
}

void nameless_fini(struct nameless *n)
{
	while (n->first) {
		struct nameless_image *i = n->first;

		n->first = i->next;
		free(i->ranges.at);
		free(i);
	}
}

/* -------------------------------------------------------------------------------------------------- generated code */

#define FORKS_MAX 64

struct candidates {
	const struct jit_host *host; /* host of all candidates so far; NULL: there is none */
	const char *path;
	bool several;
};

static void add_maker_candidate(struct candidates *c, const struct jit_host *host, const char *path)
{
	if (!c->host) {
		c->host = host;
		c->path = path;
	} else if (c->host != host) {
		c->several = true;
	}
}

/* Returns the path of the JIT host that may have made a process's code: its program, if that is a host, else the library of the one host
 * that it has loaded.  If it has loaded none or several, returns its program.  Libraries that other hosts load as well (PCRE2) count only
 * if no other host is loaded. */
static const char *maker_of_process(const struct process *p)
{
	struct candidates runtimes = { NULL, NULL, false }, libraries = { NULL, NULL, false };
	const struct process *of = p;
	uint64_t until_ns = UINT64_MAX;

	if (jit_host_of_object(p->executable))
		return p->executable;
	for (int n = 0; of && n < FORKS_MAX; n++) {
		for (size_t i = 0; i < of->code.facts.nr; i++) {
			const struct code_fact *f = &of->code.facts.at[i];
			const struct code *c = f->owner;
			const struct jit_host *host = c && c->kind == CODE_IMAGE && c->path && f->from_ns <= until_ns ?
				jit_host_of_library(c->path) : NULL;

			if (host)
				add_maker_candidate(jit_host_serves_others(host) ? &libraries : &runtimes, host, c->path);
		}
		if (of->forked_ns < until_ns)
			until_ns = of->forked_ns;
		of = of->parent;
	}
	if (!runtimes.host)
		runtimes = libraries;
	return runtimes.host && !runtimes.several ? runtimes.path : p->executable;
}

const char *makers_find(struct makers *s, const struct model *m, const struct process *p, const struct code *code)
{
	if (code->mapper && *code->mapper)
		return code->mapper;
	if (!s->of_process) {
		s->of_process = calloc(m->processes.nr, sizeof(*s->of_process));
		s->nr = s->of_process ? m->processes.nr : 0;
	}
	if (p->number >= s->nr)
		return p->executable;
	if (!s->of_process[p->number])
		s->of_process[p->number] = maker_of_process(p);
	return s->of_process[p->number];
}

void makers_fini(struct makers *s)
{
	free(s->of_process);
}
