/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/outgoing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FULL_BYTES (4u << 20) /* bytes of rows from which a request is sent */
/* maximum number of partitions of an insert; since version 19.5 a server refuses more than 100 (max_partitions_per_insert_block) */
#define PARTITIONS_MAX 64
#define DAY_S 86400ll
#define SERIES_TEXTS 11

uint64_t outgoing_hash(const char *const *text, int nr)
{
	char *all = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&all, &bytes);
	uint64_t hash = 0;

	if (!to)
		return 0;
	for (int i = 0; i < nr; i++)
		fprintf(to, "%zu:%s", strlen(text[i]), text[i]); /* with the lengths, no two lists of texts become the same text */
	if (fclose(to) == 0)
		hash = hash_bytes(all, bytes);
	free(all);
	return hash ? hash : 1;
}

/* Return the number of the week of a time from 1970 on, which is never 0. Weeks begin on Monday, as the partitions of the tables do. 1
 * January 1970 was a Thursday. */
static int64_t week_of(int64_t begin_s)
{
	return (begin_s / DAY_S + 3) / 7 + 1;
}

bool outgoing_is_full(const struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s)
{
	return o->rows && (ftell(o->rows) > (long)FULL_BYTES ||
			   (o->nr_partitions >= PARTITIONS_MAX && o->week[tier - 1] != week_of(begin_s)));
}

bool outgoing_begin_unit(struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s)
{
	FILE **files[] = { &o->rows, &o->manifest, &o->series, &o->functions };

	for (int i = 0; i < 4; i++)
		if (!*files[i] && !(*files[i] = open_memstream(&o->text[i], &o->bytes[i])))
			return false;
	/* hours and days come in the order of their beginning, so a new week is a new partition */
	if (o->week[tier - 1] != week_of(begin_s)) {
		o->week[tier - 1] = week_of(begin_s);
		o->nr_partitions++;
	}
	o->nr_units++;
	return true;
}

static void put_line(FILE *to, uint64_t hash, const char *const *text, int nr)
{
	fprintf(to, "%" PRIu64, hash);
	for (int i = 0; i < nr; i++) {
		putc('\t', to);
		clickhouse_put_text(to, text[i]);
	}
	putc('\n', to);
}

bool outgoing_put_series(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash)
{
	struct rows_series x = rows_series(s, id);
	const char *const text[] = { x.event,	  x.unit,  x.process, x.executable, x.service, x.level,
				     x.component, x.place, x.detail,  x.label,	    x.query };

	*hash = outgoing_hash(text, SERIES_TEXTS);
	if (hash_map_find(&o->series_put, *hash, 0))
		return true;
	put_line(o->series, *hash, text, SERIES_TEXTS);
	return hash_map_set(&o->series_put, *hash, 0, 1);
}

bool outgoing_put_function(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash)
{
	struct rows_function f = rows_function(s, id);
	const char *const text[] = { f.name, f.image, f.jit ? "1" : "0" };

	*hash = id ? outgoing_hash(text, 3) : 0;
	if (!id || hash_map_find(&o->functions_put, *hash, 0))
		return true;
	put_line(o->functions, *hash, text, 3);
	return hash_map_set(&o->functions_put, *hash, 0, 1);
}

static int insert(struct outgoing *o, int which, FILE **from, const char *table, const struct clickhouse *to, int server,
		  struct fleet_pushed *p, struct diag *d)
{
	char statement[256];
	int ret = 0;

	if (*from && fclose(*from))
		ret = diag_fail(d, ENOMEM, "out of memory");
	*from = NULL;
	snprintf(statement, sizeof(statement), "INSERT INTO $.%s FORMAT TabSeparated", table);
	if (ret == 0 && o->bytes[which]) {
		ret = clickhouse_tell(to, server, statement, o->text[which], o->bytes[which], d);
		p->requests++;
		p->bytes += (double)o->bytes[which];
	}
	free(o->text[which]);
	o->text[which] = NULL;
	return ret;
}

int outgoing_send(struct outgoing *o, const struct clickhouse *to, int server, struct fleet_pushed *p, struct diag *d)
{
	static const char series[] = "series (id, event, unit, process, executable, service, level, component, place, detail, "
				     "label, query)",
			  manifest[] = "manifest (tier, day, host, begin, attempt, host_name, first_ns, last_ns, parts, rows, samples, "
				       "effective, n, w, lost, cpus)";
	int ret;

	if (!o->rows)
		return 0;
	ret = insert(o, 2, &o->series, series, to, server, p, d);
	if (ret == 0)
		ret = insert(o, 3, &o->functions, "functions (id, name, image, jit)", to, server, p, d);
	if (ret == 0)
		ret = insert(o, 0, &o->rows, "rows", to, server, p, d);
	if (ret == 0)
		ret = insert(o, 1, &o->manifest, manifest, to, server, p, d);
	if (ret == 0)
		p->units += o->nr_units;
	o->nr_units = o->nr_partitions = 0;
	memset(o->week, 0, sizeof(o->week));
	return ret;
}

void outgoing_fini(struct outgoing *o)
{
	FILE *files[] = { o->rows, o->manifest, o->series, o->functions };

	for (int i = 0; i < 4; i++) {
		if (files[i])
			fclose(files[i]);
		free(o->text[i]);
	}
	hash_map_fini(&o->series_put);
	hash_map_fini(&o->functions_put);
	memset(o, 0, sizeof(*o));
}
