/* SPDX-License-Identifier: MIT */
/*
 * The sample table of a trace, and sums over it, for another build of the same code to compare with: columns TRACE OUT writes OUT.bin,
 * column behind column, and OUT.json: where they are, and for each of many filters and keys the groups as this build makes them,
 * block by block as the samples come.  Sums are written as the bits that they are.
 */
#include "analyzer/attribute/attribute.h"
#include "analyzer/table/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 5, FILTERS = 5, KEYS_MAX = 64 };

struct whole {
	uint32_t nr, nr_levels;
	uint64_t *wide[WIDE];
	uint32_t *column[TABLE_COLUMNS];
};

struct sums {
	uint32_t keys[GROUP_KEYS_MAX], nr_keys, filter;
	struct group g;
	void *memory;
};

static struct whole whole;
static struct sums sums[FILTERS * KEYS_MAX];
static uint32_t nr_sums, rows_of_filter[FILTERS];
static uint64_t first_ns, last_ns;

static void *need(void *memory)
{
	if (!memory) {
		fputs("columns: no memory\n", stderr);
		exit(1);
	}
	return memory;
}

/* The same conditions, for this build and, as JSON, for the other. */
static const unsigned char odd[64] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 };
static const struct table_condition conditions[FILTERS][2] = {
	{ { 0 } },
	{ { 0 } }, /* the middle half of the time */
	{ { .column = TABLE_EVENT, .low = 0, .high = 0 }, { .column = TABLE_PHASE, .low = 0, .high = 0, .not = true } },
	{ { .column = TABLE_FUNCTION, .allowed = odd, .nr_allowed = sizeof(odd) } },
	{ { .column = TABLE_LEVEL_0, .allowed = odd, .nr_allowed = sizeof(odd), .not = true },
	  { .column = TABLE_MODE, .low = 0, .high = 0 } },
};
static const uint32_t nr_conditions[FILTERS] = { 0, 0, 2, 1, 2 };

static struct table_filter filter_of(uint32_t f)
{
	uint64_t quarter = (last_ns - first_ns) / 4;

	return (struct table_filter){ f == 1 ? first_ns + quarter : 0, f == 1 ? last_ns - quarter : 0, conditions[f], nr_conditions[f] };
}

static void grow(struct sums *s, uint32_t capacity)
{
	struct group old = s->g;
	void *memory = need(malloc(group_bytes(s->nr_keys, capacity)));

	group_place(&s->g, memory, capacity);
	if (old.capacity && !group_merge(&s->g, &old, 0))
		exit(1);
	free(s->memory);
	s->memory = memory;
}

static void add_sums(uint32_t filter, uint32_t nr, const uint32_t *keys)
{
	struct sums *s = &sums[nr_sums++];

	s->filter = filter;
	s->nr_keys = s->g.nr_keys = nr;
	memcpy(s->keys, keys, nr * 4);
	memcpy(s->g.key, keys, nr * 4);
	s->g.origin_ns = first_ns;
	s->g.bin_ns = 65536;
	grow(s, 64);
}

static void ask_all(uint32_t nr_levels)
{
	for (uint32_t f = 0; f < FILTERS; f++) {
		for (uint32_t key = 0; key < TABLE_LEVEL_0 + nr_levels; key++)
			add_sums(f, 1, (uint32_t[]){ key });
		add_sums(f, 1, (uint32_t[]){ GROUP_BIN });
		add_sums(f, 2, (uint32_t[]){ TABLE_LEVEL_0, TABLE_EVENT });
		add_sums(f, 2, (uint32_t[]){ TABLE_THREAD, GROUP_BIN });
		add_sums(f, 4, (uint32_t[]){ TABLE_CODE, GROUP_IP_HIGH, GROUP_IP_LOW, TABLE_EVENT });
	}
}

static int on_times(void *context, const struct attribution *a, const struct table *t)
{
	(void)context;
	(void)a;
	for (uint32_t i = 0; i < t->nr; i++) {
		first_ns = !first_ns || t->time_ns[i] < first_ns ? t->time_ns[i] : first_ns;
		last_ns = t->time_ns[i] > last_ns ? t->time_ns[i] : last_ns;
	}
	return 0;
}

static int on_rows(void *context, const struct attribution *a, const struct table *t)
{
	uint32_t *selected = need(malloc(((size_t)t->nr + 1) * 4)), nr = 0, filter = UINT32_MAX;
	const void *const wide[WIDE] = { t->time_ns, t->ip, t->address, t->weight, t->share };

	(void)context;
	(void)a;
	for (uint32_t i = 0; i < nr_sums; i++) {
		struct table_filter f = filter_of(sums[i].filter);

		if (sums[i].filter != filter) {
			filter = sums[i].filter;
			nr = table_select(t, &f, NULL, t->nr, selected);
			rows_of_filter[filter] += nr;
		}
		for (uint32_t done = 0; done < nr;) {
			done += group_add_rows(&sums[i].g, t, selected + done, nr - done);
			if (done < nr)
				grow(&sums[i], 4 * sums[i].g.capacity);
		}
	}
	free(selected);
	whole.nr_levels = t->nr_levels;
	for (int w = 0; w < WIDE; w++) {
		whole.wide[w] = need(realloc(whole.wide[w], ((size_t)whole.nr + t->nr) * 8));
		memcpy(whole.wide[w] + whole.nr, wide[w], (size_t)t->nr * 8);
	}
	for (uint32_t c = 0; c < TABLE_LEVEL_0 + t->nr_levels; c++) {
		whole.column[c] = need(realloc(whole.column[c], ((size_t)whole.nr + t->nr) * 4));
		memcpy(whole.column[c] + whole.nr, t->column[c], (size_t)t->nr * 4);
	}
	whole.nr += t->nr;
	return 0;
}

static void put_condition(FILE *to, const struct table_condition *c)
{
	fprintf(to, "{\"column\":%d,\"not\":%d,", (int)c->column, c->not);
	if (!c->allowed) {
		fprintf(to, "\"low\":%u,\"high\":%u}", c->low, c->high);
		return;
	}
	fputs("\"allowed\":[", to);
	for (uint32_t i = 0; i < c->nr_allowed; i++)
		fprintf(to, "%s%d", i ? "," : "", c->allowed[i]);
	fputs("]}", to);
}

static void put_sum(FILE *to, const struct group_sum *sum)
{
	uint64_t bits[sizeof(*sum) / 8];

	memcpy(bits, sum, sizeof(bits));
	for (size_t i = 0; i < sizeof(bits) / 8; i++)
		fprintf(to, ",\"%016" PRIx64 "\"", bits[i]);
}

static void put_json(FILE *to)
{
	fprintf(to, "{\"rows\":%u,\"levels\":%u,\"origin\":\"%" PRIu64 "\",\"bin\":\"65536\",\"filters\":[", whole.nr, whole.nr_levels,
		first_ns);
	for (uint32_t f = 0; f < FILTERS; f++) {
		struct table_filter filter = filter_of(f);

		fprintf(to, "%s{\"from\":\"%" PRIu64 "\",\"to\":\"%" PRIu64 "\",\"rows\":%u,\"conditions\":[", f ? "," : "", filter.from_ns,
			filter.to_ns, rows_of_filter[f]);
		for (size_t c = 0; c < filter.nr_conditions; c++) {
			fputs(c ? "," : "", to);
			put_condition(to, &filter.conditions[c]);
		}
		fputs("]}", to);
	}
	fputs("],\"groups\":[", to);
	for (uint32_t i = 0; i < nr_sums; i++) {
		const struct group *g = &sums[i].g;

		fprintf(to, "%s\n{\"filter\":%u,\"keys\":[", i ? "," : "", sums[i].filter);
		for (uint32_t k = 0; k < sums[i].nr_keys; k++)
			fprintf(to, "%s%u", k ? "," : "", sums[i].keys[k]);
		fputs("],\"total\":[0", to);
		put_sum(to, &g->total);
		fputs("],\"groups\":[", to);
		for (uint32_t n = 0; n < g->nr; n++) {
			fprintf(to, "%s[[", n ? "," : "");
			for (uint32_t k = 0; k < g->nr_keys; k++)
				fprintf(to, "%s%u", k ? "," : "", g->value[(size_t)n * g->nr_keys + k]);
			fputc(']', to);
			put_sum(to, &g->sum[n]);
			fputc(']', to);
		}
		fputs("]}", to);
	}
	fputs("]}\n", to);
}

static FILE *create(const char *path, const char *suffix)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return need(fopen(name, "w"));
}

static int read_samples(const char *path, int (*rows)(void *, const struct attribution *, const struct table *), bool ask)
{
	struct attribute_options o = { .rows = rows, .run_mark = "run", .addresses = true };
	struct attribution *a = NULL;
	struct trace_reader *t = NULL;
	struct model *m = NULL;
	struct diag d = { "" };
	int ret = trace_open(path, &t, &d);

	if (ret == 0)
		ret = model_create(t, &m, &d);
	if (ret == 0 && ask)
		ask_all(m->dictionary.nr_levels);
	if (ret == 0)
		ret = attribute_trace(t, m, &o, &a, &d);
	if (ret)
		fprintf(stderr, "columns: %s\n", d.text);
	if (a)
		attribution_destroy(a);
	if (m)
		model_destroy(m);
	if (t)
		trace_close(t);
	return ret;
}

int main(int argc, char **argv)
{
	FILE *f;

	if (argc != 3) {
		fprintf(stderr, "usage: columns TRACE OUT\n");
		return 2;
	}
	if (read_samples(argv[1], on_times, false) || read_samples(argv[1], on_rows, true))
		return 1;
	f = create(argv[2], ".bin");
	for (int w = 0; w < WIDE; w++)
		fwrite(whole.wide[w], 8, whole.nr, f);
	for (uint32_t c = 0; c < TABLE_LEVEL_0 + whole.nr_levels; c++)
		fwrite(whole.column[c], 4, whole.nr, f);
	if (fclose(f))
		return 1;
	f = create(argv[2], ".json");
	put_json(f);
	return fclose(f) ? 1 : 0;
}
