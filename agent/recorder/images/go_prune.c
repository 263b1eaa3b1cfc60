/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/go_prune.h"

#include "jitreg/base/go_table.h"

#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES 8u

struct pruning {
	const struct go_table *t;
	unsigned char *kept;
	/* The inlined calls, and the copy with those that are kept. */
	const unsigned char *calls;
	unsigned char *kept_calls;
	uint64_t calls_bytes;
	uint64_t work; /* number of bytes and values that were looked at */
};

#define WORK_EACH 16u /* maximum work per byte of the table, beyond which it is not pruned; tables that linkers write need two */

static void keep(struct pruning *p, uint64_t at, uint64_t bytes)
{
	p->work += bytes;
	if (at <= p->t->nr && bytes <= p->t->nr - at)
		memcpy(p->kept + at, p->t->bytes + at, bytes);
}

static void keep_text(struct pruning *p, const char *text)
{
	if (text)
		keep(p, (uint64_t)((const unsigned char *)text - p->t->bytes), strlen(text) + 1);
}

/* Keeps one table of values of a function, and the names of files that it refers to. Returns the largest value, or -1 if there is none. */
static int32_t keep_values(struct pruning *p, const struct go_function *f, int of)
{
	struct go_values v = go_values_of(p->t, f, of);
	const unsigned char *begin = v.at;
	int32_t most = -1;

	while (go_values_next(&v)) {
		uint64_t entry, name;

		p->work++;
		most = v.value > most ? v.value : most;
		if (of == GO_FILE && go_table_file_at(p->t, f, v.value, &entry, &name)) {
			keep(p, entry, 4);
			keep_text(p, go_table_file(p->t, f, v.value));
		}
	}
	if (begin)
		keep(p, (uint64_t)(begin - p->t->bytes), (uint64_t)(v.at - begin));
	return most;
}

static void keep_calls(struct pruning *p, const struct go_function *f, int32_t most)
{
	uint64_t bytes = go_inlined_bytes(p->t) * ((uint64_t)most + 1);

	if (f->inlined == GO_NONE || most < 0 || most >= (int32_t)GO_INLINED_MAX || f->inlined > p->calls_bytes ||
	    bytes > p->calls_bytes - f->inlined)
		return;
	memcpy(p->kept_calls + f->inlined, p->calls + f->inlined, bytes);
	p->work += bytes;
	for (uint32_t i = 0; i <= (uint32_t)most; i++)
		keep_text(p, go_table_name(p->t, go_inlined_read(p->t, p->calls + f->inlined, i).name));
}

static void keep_function(struct pruning *p, const struct go_function *f)
{
	int32_t most = -1;

	keep(p, f->at, f->record_bytes);
	keep_text(p, go_table_name(p->t, f->name));
	for (int of = 0; of < NR_GO_VALUES; of++)
		most = keep_values(p, f, of);
	keep_calls(p, f, most); /* most is that of GO_INLINED, the last table */
}

/* Writes the index of functions.  Functions that are left out in a row all have the address of the first of them, and no record. */
static void keep_places(const struct pruning *p, const unsigned char *is_kept)
{
	const unsigned char *from = p->t->bytes + p->t->functions;
	unsigned char *to = p->kept + p->t->functions, *before = NULL;

	for (uint32_t i = 0; i < p->t->nr_functions; i++, from += PLACE_BYTES, to += PLACE_BYTES) {
		memcpy(to, before ? before : from, 4);
		if (is_kept[i])
			memcpy(to, from, PLACE_BYTES);
		else
			memset(to + 4, 0, 4);
		before = is_kept[i] ? NULL : to;
	}
	memcpy(to, from, 4);
}

/* Allocates memory for what is kept.  Returns false if it runs out. */
static bool begin(struct pruning *p, const struct elf_parts *parts)
{
	const struct elf_part *calls = parts->go_calls;
	bool inside = calls == parts->go;

	p->kept = calloc(1, p->t->nr);
	if (!p->kept || !calls || parts->go_calls_at >= calls->nr)
		return p->kept;
	p->calls = (const unsigned char *)calls->bytes + parts->go_calls_at;
	p->calls_bytes = calls->nr - parts->go_calls_at;
	p->kept_calls = inside ? p->kept + parts->go_calls_at : calloc(1, calls->nr);
	if (p->kept_calls)
		return true;
	free(p->kept);
	return false;
}

static void take(struct elf_part *part, unsigned char *bytes)
{
	free(part->bytes);
	part->bytes = bytes;
}

void go_prune(struct elf_parts *parts, bool (*is_seen)(const void *context, uint64_t start, uint64_t end), const void *context)
{
	bool beside = parts->go_calls && parts->go_calls != parts->go;
	struct go_table t;
	struct pruning p = { .t = &t };
	unsigned char *is_kept;

	if (!go_table_open(parts->go->bytes, parts->go->nr, &t) || !begin(&p, parts))
		return;
	beside = beside && p.kept_calls;
	is_kept = calloc(1, (size_t)t.nr_functions + 1);
	keep(&p, 0, GO_HEAD_BYTES);
	for (uint32_t i = 0; is_kept && i < t.nr_functions && p.work < WORK_EACH * t.nr; i++) {
		struct go_function f;

		is_kept[i] = go_table_function(&t, i, &f) && is_seen(context, parts->go_text + f.start, parts->go_text + f.end);
		if (is_kept[i])
			keep_function(&p, &f);
	}
	if (is_kept && p.work < WORK_EACH * t.nr) {
		keep_places(&p, is_kept);
		take(parts->go, p.kept);
		if (beside)
			take(parts->go_calls, p.kept_calls);
	} else {
		free(p.kept);
		if (beside)
			free(p.kept_calls);
	}
	free(is_kept);
}
