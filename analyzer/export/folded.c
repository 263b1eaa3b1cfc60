/* SPDX-License-Identifier: MIT */
/* Writes the format folded, which is one line per call stack, "outer;inner;innermost weight", as the scripts of B. Gregg's FlameGraph read
 * it. */
#include "analyzer/export/export.h"
#include "analyzer/query/calltree.h"

#include <errno.h>
#include <stdlib.h>

static void prepare_folded(struct export *e)
{
	export_ask_stacks(e);
}

static void write_folded_name(FILE *to, const char *name)
{
	for (; *name; name++) /* the format gives a meaning to ';' and to ends of lines */
		fputc(*name == ';' ? ':' : (unsigned char)*name < 0x20 ? '?' : *name, to);
}

/* Write the names of the calls from the outermost one to this one. way: scratch memory for as many numbers as t has calls. */
static void write_folded_stack(const struct export *e, const struct calltree *t, uint32_t call, uint32_t *way, FILE *to)
{
	uint32_t nr = 0;
	char spare[32];

	for (; call; call = t->at[call].parent)
		way[nr++] = call;
	while (nr > 0) {
		write_folded_name(to, calltree_name(e->report, t, way[--nr], spare));
		if (nr)
			fputc(';', to);
	}
}

static int write_folded(struct export *e, FILE *to)
{
	struct calltree t;
	struct export_whole whole = { 0 };
	int ret = calltree_make(e->report, e->by_stack, e->level, false, &t) ? 0 : -ENOMEM;
	uint32_t *way = calloc((size_t)t.nr + 1, sizeof(*way));

	ret = way ? ret : -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < t.nr; i++) {
		uint64_t weight = export_next_whole(&whole, t.at[i].own);

		if (!weight)
			continue;
		if (i)
			write_folded_stack(e, &t, i, way, to);
		else
			fputs(e->level == LEVELS_MAX ? "(no call stack)" : "(unattributed)", to);
		fprintf(to, " %llu\n", (unsigned long long)weight);
	}
	free(way);
	calltree_fini(&t);
	return ret;
}

const struct exporter exporter_folded = {
	"folded", ".folded", "one line per call stack, for flame graph scripts",
	false, prepare_folded, write_folded, true,
};
