/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/read_clickhouse.h"

#include "analyzer/fleet/clickhouse.h"
#include "analyzer/store/gather.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ll

struct epoch {
	struct rows_epoch e;
	struct hash_map of; /* (series, function), numbers of the store -> 1 + index */
	struct rows_row *row;
	uint32_t nr, capacity;
};

struct reading {
	struct clickhouse from;
	struct store *store;
	char *conditions; /* of the manifest's rows that are asked for */
	struct hash_map epoch_of, series_of, function_of; /* begin, hash -> number; numbers of names are below 2^32 */
	struct epoch *epoch;
	uint32_t nr, capacity;
	struct diag *d;
	bool functions, failed;
};

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

/* Each line of an answer; the statement has $ for the database, and %s for the conditions. */
static int each_line(struct reading *x, int server, const char *format, int nr, void (*line)(struct reading *x, char **column))
{
	char *statement = NULL, *column[16], *at;
	struct http_answer a = { 0 };
	int ret = asprintf(&statement, format, x->conditions, x->conditions) < 0 ? diag_fail(x->d, ENOMEM, "out of memory") : 0;

	if (ret == 0)
		ret = clickhouse_ask(&x->from, server, statement, NULL, 0, &a, x->d);
	free(statement);
	at = a.body;
	for (int columns; ret == 0 && (columns = clickhouse_split(&at, column, nr)) > 0;)
		if (columns != nr)
			ret = diag_fail(x->d, EBADMSG, "ClickHouse's answer has a line of %d columns, not %d", columns, nr);
		else
			line(x, column);
	http_answer_fini(&a);
	return ret;
}

static struct epoch *epoch_at(struct reading *x, const char *begin)
{
	uint32_t i = hash_map_find(&x->epoch_of, number(begin), 0);

	if (i)
		return &x->epoch[i - 1];
	if (!GROW(x->epoch, x->nr, x->capacity) || !hash_map_set(&x->epoch_of, number(begin), 0, x->nr + 1)) {
		x->failed = true;
		return NULL;
	}
	x->epoch[x->nr] = (struct epoch){ .e = { .recording = (int64_t)number(begin), .host = "" } };
	return &x->epoch[x->nr++];
}

/* begin, first_ns, last_ns, parts, samples, effective, lost, cpus, tier */
static void take_epoch(struct reading *x, char **column)
{
	struct epoch *e = epoch_at(x, column[0]);
	int64_t first_ns = strtoll(column[1], NULL, 10), last_ns = strtoll(column[2], NULL, 10);

	if (!e)
		return;
	e->e.begin_ns = !e->e.begin_ns || first_ns < e->e.begin_ns ? first_ns : e->e.begin_ns;
	e->e.end_ns = last_ns > e->e.end_ns ? last_ns : e->e.end_ns;
	e->e.parts += (uint32_t)number(column[3]);
	e->e.samples += strtod(column[4], NULL);
	e->e.effective += strtod(column[5], NULL);
	e->e.lost += number(column[6]);
	e->e.cpus += (uint32_t)number(column[7]);
	e->e.tier = (uint32_t)number(column[8]);
}

static void take_number(struct reading *x, struct hash_map *map, const char *hash, int64_t id)
{
	x->failed |= id > 0 && id <= UINT32_MAX && !hash_map_set(map, number(hash), 0, (uint32_t)id);
}

static void take_series(struct reading *x, char **c)
{
	struct rows_series s = { c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11] };

	if (!hash_map_find(&x->series_of, number(c[0]), 0))
		take_number(x, &x->series_of, c[0], gather_series(x->store, &s));
}

static void take_function(struct reading *x, char **c)
{
	struct rows_function f = { c[1], c[2], number(c[3]) != 0 };

	if (!hash_map_find(&x->function_of, number(c[0]), 0))
		take_number(x, &x->function_of, c[0], gather_function(x->store, &f));
}

/* begin, series, function, n, w */
static void take_row(struct reading *x, char **column)
{
	struct epoch *e = epoch_at(x, column[0]);
	uint32_t series = hash_map_find(&x->series_of, number(column[1]), 0);
	uint32_t function = hash_map_find(&x->function_of, number(column[2]), 0), i = e ? hash_map_find(&e->of, series, function) : 0;

	if (!e)
		return;
	if (!i) {
		if (!GROW(e->row, e->nr, e->capacity) || !hash_map_set(&e->of, series, function, e->nr + 1)) {
			x->failed = true;
			return;
		}
		e->row[e->nr] = (struct rows_row){ series, function, 0, 0 };
		i = ++e->nr;
	}
	e->row[i - 1].samples += number(column[3]);
	e->row[i - 1].weight += number(column[4]);
}

/* The winning attempts of an hour or day; all statements name them alike. */
#define WINNERS "(SELECT host, begin, max(attempt) FROM $.manifest WHERE %s GROUP BY host, begin)"

static int read_server(struct reading *x, int server)
{
	int ret = each_line(x, server,
			    "SELECT toUInt32(begin), min(first_ns), max(last_ns), sum(parts), sum(samples), sum(effective), sum(lost), "
			    "sum(cpus), any(tier) FROM (SELECT * FROM $.manifest WHERE %s) WHERE (host, begin, attempt) IN " WINNERS
			    " GROUP BY begin FORMAT TabSeparated", 9, take_epoch);

	if (ret == 0)
		ret = each_line(x, server,
				"SELECT id, any(event), any(unit), any(process), any(executable), any(service), any(level), "
				"any(component), any(place), any(detail), any(label), any(query) FROM $.series WHERE id IN "
				"(SELECT DISTINCT series FROM $.rows WHERE (host, begin, attempt) IN " WINNERS ") "
				"GROUP BY id FORMAT TabSeparated", 12, take_series);
	if (ret == 0)
		ret = each_line(x, server,
				"SELECT id, any(name), any(image), any(jit) FROM $.functions WHERE id IN (SELECT DISTINCT location FROM "
				"$.rows WHERE (host, begin, attempt) IN " WINNERS ") GROUP BY id FORMAT TabSeparated", 4, take_function);
	if (ret == 0)
		ret = each_line(x, server,
				"SELECT toUInt32(begin), series, location, sum(n), sum(w) FROM $.rows WHERE (host, begin, attempt) IN "
				WINNERS " GROUP BY begin, series, location FORMAT TabSeparated", 5, take_row);
	return ret;
}

static int compare_epochs(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	return x->e.recording < y->e.recording ? -1 : x->e.recording > y->e.recording;
}

/* An hour or a day belongs to the window that its middle is in.  Days are what partitions are of. */
static char *make_conditions(const struct window *w, const char *host, bool functions)
{
	int64_t half_s = functions ? 43200 : 1800, last_s = UINT32_MAX - 2 * 86400ll;
	int64_t from_s = w->from_ns > 0 ? (w->from_ns + SECOND_NS - 1) / SECOND_NS - half_s : 0;
	int64_t to_s = w->to_ns / SECOND_NS < last_s ? (w->to_ns + SECOND_NS - 1) / SECOND_NS - half_s : last_s;
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	from_s = from_s > 0 ? from_s : 0;
	to_s = to_s > 0 ? to_s : 0;
	fprintf(to, "tier = %d AND toUInt32(begin) >= %" PRId64 " AND toUInt32(begin) < %" PRId64,
		functions ? CLICKHOUSE_DAYS : CLICKHOUSE_HOURS, from_s, to_s);
	fprintf(to, " AND toUInt16(day) >= %" PRId64 " AND toUInt16(day) <= %" PRId64, from_s / 86400, to_s / 86400);
	if (host) {
		fputs(" AND host_name = '", to);
		clickhouse_put_text(to, host);
		putc('\'', to);
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/* A store divides a series' weight by samples.  Of a day's epochs, whose samples weigh differently, they become what divides it rightly. */
static void weigh_samples(struct epoch *e)
{
	uint32_t end;

	if (e->nr)
		qsort(e->row, e->nr, sizeof(*e->row), rows_compare);
	for (uint32_t i = 0; i < e->nr; i = end) {
		double samples = 0, weight = 0;

		for (end = i; end < e->nr && e->row[end].series == e->row[i].series; end++) {
			samples += (double)e->row[end].samples;
			weight += (double)e->row[end].weight;
		}
		for (uint32_t j = i; j < end && weight > 0; j++) {
			double part = (double)e->row[j].weight * samples / weight;

			e->row[j].samples = part < 1 ? e->row[j].samples > 0 : part < 0x1p63 ? (uint64_t)(part + 0.5) : INT64_MAX;
		}
	}
}

static int read_all(struct reading *x)
{
	int ret = 0;

	for (int i = 0; i < x->from.nr && ret == 0; i++)
		ret = read_server(x, i);
	if (x->nr)
		qsort(x->epoch, x->nr, sizeof(*x->epoch), compare_epochs);
	for (uint32_t i = 0; i < x->nr && ret == 0; i++) {
		if (x->functions)
			weigh_samples(&x->epoch[i]);
		gather_epoch(x->store, &x->epoch[i].e, x->epoch[i].row, x->epoch[i].nr);
	}
	return ret == 0 && x->failed ? diag_fail(x->d, ENOMEM, "out of memory") : ret;
}

int read_clickhouse(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d)
{
	struct reading x = { .conditions = make_conditions(w, host, functions), .functions = functions, .d = d };
	struct diag other;
	int ret = x.conditions ? clickhouse_init(&x.from, address, d) : diag_fail(d, ENOMEM, "out of memory");

	if (ret == 0 && (ret = gather_begin(x.from.database, &x.store, d)) == 0) {
		ret = read_all(&x);
		if (ret == 0)
			ret = gather_end(x.store, d);
		else if (gather_end(x.store, &other) == 0)
			store_close(x.store);
	}
	if (ret == 0)
		*out = x.store;
	for (uint32_t i = 0; i < x.nr; i++) {
		hash_map_fini(&x.epoch[i].of);
		free(x.epoch[i].row);
	}
	free(x.epoch);
	free(x.conditions);
	hash_map_fini(&x.epoch_of);
	hash_map_fini(&x.series_of);
	hash_map_fini(&x.function_of);
	clickhouse_fini(&x.from);
	return ret;
}
