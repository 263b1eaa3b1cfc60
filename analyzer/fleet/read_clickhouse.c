/* SPDX-License-Identifier: MIT */
/*
 * A window is read in three steps. First the manifest gives the hours or days, summed up over all machines. Then their rows are read, a few
 * weeks at a time, so that no answer is large. Last, names are read for the hashes in the rows. Statements name the tier and the days, by
 * which tables are partitioned and with which their keys begin, so that a server reads nothing else. The servers add up whole numbers, and
 * their answers are sorted, so the same window always gives the same bytes.
 */
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
#define DAY_S 86400
#define PIECE_DAYS 28		    /* maximum number of days of rows in one statement */
/* maximum number of hashes in one statement; they have 84 KB of the 256 KiB that servers take by default (max_query_size) */
#define NAMES_AT_ONCE 4000u
#define ROWS_MAX (16u << 20)	    /* maximum number of rows of a window, which take about 1 GiB of memory */
#define BYTES_MAX ((size_t)1 << 30) /* maximum number of bytes of all answers together */
/* servers sum up numbers of samples as whole multiples of 1 / FRACTIONS, because the sum of floats depends on their order */
#define FRACTIONS 1024

struct epoch {
	struct rows_epoch e;
	struct hash_map of; /* (hash of the series, hash of the function) -> 1 + index in `rows` */
	ARRAY(struct rows_row) rows; /* series and function are hashes first, and the store's numbers after number_rows() */
};

struct name {
	uint64_t hash;
	int64_t id; /* number in the store; 0: not read, or the server has no such name */
};

struct names {
	struct hash_map of; /* hash -> 1 + index */
	ARRAY_OF(struct name);
	uint32_t nr_asked;
};

struct reading {
	struct clickhouse from;
	struct store *store;
	const char *host;
	uint32_t from_s, to_s; /* [from_s, to_s): beginnings of the hours or days that are read */
	uint32_t piece_from_s, piece_to_s;
	uint32_t length_s; /* seconds of an hour or a day */
	enum clickhouse_tier tier;
	struct hash_map epoch_of; /* begin + 1 -> 1 + index */
	ARRAY(struct epoch) epochs;
	uint32_t nr_rows;
	struct names series, functions;
	size_t bytes;
	struct diag *d;
	bool failed; /* memory ran out */
};

/* ------------------------------------------------------------------------------------------------------------- answers */

/* Take the columns of a line of an answer. Return false if it is no such line. */
typedef bool take_line(struct reading *x, char **column);

static int take_answer(struct reading *x, struct http_answer *a, int nr, take_line *take)
{
	char *column[16], *at = a->body;

	x->bytes += a->nr;
	if (x->bytes > BYTES_MAX || x->nr_rows > ROWS_MAX)
		return diag_fail(x->d, E2BIG, "ClickHouse's answers are too large for a report: ask for a narrower window or one host");
	for (int columns; (columns = clickhouse_split(&at, column, nr)) > 0;)
		if (columns != nr || !take(x, column))
			return clickhouse_misread(column[0], x->d);
	return x->failed ? diag_fail(x->d, ENOMEM, "out of memory") : 0;
}

/* Close `to`, send the statement that was written to it, take the lines of the answer, of nr columns each, and free *statement. Return 0,
 * or -errno with the reason in x->d. */
static int ask(struct reading *x, int server, FILE *to, char **statement, int nr, take_line *take)
{
	struct http_answer a = { 0 };
	int ret = to && fclose(to) == 0 ? 0 : diag_fail(x->d, ENOMEM, "out of memory");

	if (ret == 0)
		ret = clickhouse_ask(&x->from, server, *statement, &a, x->d);
	if (ret == 0)
		ret = take_answer(x, &a, nr, take);
	http_answer_fini(&a);
	free(*statement);
	*statement = NULL;
	return ret;
}

/* ------------------------------------------------------------------------------------------------------ hours and days */

static struct epoch *find_epoch(const struct reading *x, uint64_t begin_s)
{
	uint32_t i = hash_map_find(&x->epoch_of, begin_s + 1, 0);

	return i ? &x->epochs.at[i - 1] : NULL;
}

static struct epoch *epoch_at(struct reading *x, uint64_t begin_s)
{
	struct epoch *e = find_epoch(x, begin_s);

	if (e)
		return e;
	if (!ARRAY_GROW(x->epochs) || !hash_map_set(&x->epoch_of, begin_s + 1, 0, x->epochs.nr + 1)) {
		x->failed = true;
		return NULL;
	}
	e = &x->epochs.at[x->epochs.nr++];
	*e = (struct epoch){ .e = { .recording = (int64_t)begin_s, .tier = x->tier, .begin_ns = INT64_MAX, .host = "" } };
	return e;
}

/* Take a line of "begin, first_ns, last_ns, parts, samples, effective, lost, cpus". Lines outside of the requested hours or days are
 * refused, so a server cannot make more epochs than these. */
static bool take_epoch(struct reading *x, char **column)
{
	uint64_t value[8];
	struct epoch *e;

	for (int i = 0; i < 8; i++)
		if (!clickhouse_number(column[i], &value[i]))
			return false;
	if (value[0] < x->from_s || value[0] >= x->to_s || value[0] % x->length_s || value[1] > INT64_MAX || value[2] > INT64_MAX)
		return false;
	e = epoch_at(x, value[0]);
	if (!e)
		return true;
	e->e.begin_ns = (int64_t)value[1] < e->e.begin_ns ? (int64_t)value[1] : e->e.begin_ns;
	e->e.end_ns = (int64_t)value[2] > e->e.end_ns ? (int64_t)value[2] : e->e.end_ns;
	e->e.parts += (uint32_t)value[3];
	e->e.samples += (double)value[4] / FRACTIONS;
	e->e.effective += (double)value[5] / FRACTIONS;
	e->e.lost += value[6];
	e->e.cpus += (uint32_t)value[7];
	return true;
}

/* Write the condition on the tier and the days [from_s, to_s), by which tables are partitioned and with which keys begin. */
static void put_days(FILE *to, const struct reading *x, uint32_t from_s, uint32_t to_s)
{
	char first[16], last[16];

	clickhouse_format_day(from_s, first);
	clickhouse_format_day((int64_t)to_s - 1, last);
	fprintf(to, "tier = %d AND day >= '%s' AND day <= '%s'", x->tier, first, last);
}

/* Write the condition on the manifest: tier, days, beginnings, and the host if one was given. */
static void put_asked(FILE *to, const struct reading *x, uint32_t from_s, uint32_t to_s)
{
	put_days(to, x, from_s, to_s);
	fprintf(to, " AND toUInt32(begin) >= %u AND toUInt32(begin) < %u", from_s, to_s);
	if (x->host) {
		fputs(" AND host_name = '", to);
		clickhouse_put_text(to, x->host);
		putc('\'', to);
	}
}

/* Read the hours or days. Of several attempts for one hour of one machine only the largest counts, once, even if a row of the manifest was
 * inserted twice. */
static int read_epochs(struct reading *x, int server)
{
	char *statement = NULL;
	size_t bytes;
	FILE *to = open_memstream(&statement, &bytes);

	if (to) {
		fprintf(to, "SELECT toUInt32(begin), min(first), max(last), sum(p), sum(s), sum(e), sum(l), sum(c) FROM "
			"(SELECT host, begin, argMax(first_ns, attempt) AS first, argMax(last_ns, attempt) AS last, "
			"argMax(parts, attempt) AS p, toUInt64(argMax(samples, attempt) * %d) AS s, "
			"toUInt64(argMax(effective, attempt) * %d) AS e, argMax(lost, attempt) AS l, argMax(cpus, attempt) AS c "
			"FROM $.manifest WHERE ", FRACTIONS, FRACTIONS);
		put_asked(to, x, x->from_s, x->to_s);
		fputs(" GROUP BY host, begin) GROUP BY begin ORDER BY begin FORMAT TabSeparated", to);
	}
	return ask(x, server, to, &statement, 8, take_epoch);
}

/* ---------------------------------------------------------------------------------------------------------------- rows */

static void note_name(struct reading *x, struct names *n, uint64_t hash)
{
	if (!hash || hash_map_find(&n->of, hash, 0))
		return;
	if (!ARRAY_GROW(*n) || !hash_map_set(&n->of, hash, 0, n->nr + 1)) {
		x->failed = true;
		return;
	}
	n->at[n->nr++] = (struct name){ hash, 0 };
}

static struct rows_row *row_at(struct reading *x, struct epoch *e, uint64_t series, uint64_t function)
{
	uint32_t i = hash_map_find(&e->of, series, function);

	if (i)
		return &e->rows.at[i - 1];
	if (!ARRAY_GROW(e->rows) || !hash_map_set(&e->of, series, function, e->rows.nr + 1)) {
		x->failed = true;
		return NULL;
	}
	note_name(x, &x->series, series);
	note_name(x, &x->functions, function);
	x->nr_rows++;
	e->rows.at[e->rows.nr] = (struct rows_row){ (int64_t)series, (int64_t)function, 0, 0 };
	return &e->rows.at[e->rows.nr++];
}

/* Take a line of "begin, series, function, n, w". A row that a push has added after the manifest was read may belong to an hour that is not
 * known here, and is ignored. */
static bool take_row(struct reading *x, char **column)
{
	uint64_t value[5];
	struct rows_row *row;
	struct epoch *e;

	for (int i = 0; i < 5; i++)
		if (!clickhouse_number(column[i], &value[i]))
			return false;
	if (value[0] < x->piece_from_s || value[0] >= x->piece_to_s)
		return false;
	e = find_epoch(x, value[0]);
	if (!e || x->nr_rows > ROWS_MAX)
		return true;
	row = row_at(x, e, value[1], value[2]);
	if (row) {
		row->samples += value[3];
		row->weight += value[4];
	}
	return true;
}

static int read_piece(struct reading *x, int server)
{
	char *statement = NULL;
	size_t bytes;
	FILE *to = open_memstream(&statement, &bytes);

	if (to) {
		fputs("SELECT toUInt32(begin), series, location, sum(n), sum(w) FROM $.rows WHERE ", to);
		put_days(to, x, x->piece_from_s, x->piece_to_s);
		fputs(" AND (host, begin, attempt) IN (SELECT host, begin, max(attempt) FROM $.manifest WHERE ", to);
		put_asked(to, x, x->piece_from_s, x->piece_to_s);
		fputs(" GROUP BY host, begin) GROUP BY begin, series, location ORDER BY begin, series, location FORMAT TabSeparated", to);
	}
	return ask(x, server, to, &statement, 5, take_row);
}

/* Read the rows of all hours or days. Days without any are skipped, and if an answer would be too large, the statement is repeated for
 * fewer days. Return 0, or -errno with the reason in x->d. */
static int read_rows(struct reading *x, int server)
{
	uint32_t days = PIECE_DAYS;
	int ret = 0;

	for (uint32_t i = 0; i < x->epochs.nr && ret == 0;) {
		uint64_t begin_s = (uint64_t)x->epochs.at[i].e.recording, end_s = begin_s - begin_s % DAY_S + (uint64_t)days * DAY_S;

		x->piece_from_s = (uint32_t)begin_s;
		x->piece_to_s = end_s < x->to_s ? (uint32_t)end_s : x->to_s;
		ret = read_piece(x, server);
		if (ret == -EFBIG && days > 1) {
			days /= 2;
			ret = 0;
			continue;
		}
		while (i < x->epochs.nr && x->epochs.at[i].e.recording < (int64_t)x->piece_to_s)
			i++;
	}
	return ret;
}

/* --------------------------------------------------------------------------------------------------------------- names */

static void set_name(struct names *n, const char *hash, int64_t id)
{
	uint64_t number;
	uint32_t i = clickhouse_number(hash, &number) ? hash_map_find(&n->of, number, 0) : 0;

	if (i)
		n->at[i - 1].id = id;
}

static bool take_series(struct reading *x, char **c)
{
	struct rows_series s = { c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11] };

	set_name(&x->series, c[0], gather_series(x->store, &s));
	return true;
}

static bool take_function(struct reading *x, char **c)
{
	struct rows_function f = { c[1], c[2], strcmp(c[3], "0") != 0 };

	set_name(&x->functions, c[0], gather_function(x->store, &f));
	return true;
}

static int read_names(struct reading *x, int server, struct names *n, const char *select, int columns, take_line *take)
{
	uint32_t most = NAMES_AT_ONCE;
	int ret = 0;

	while (n->nr_asked < n->nr && ret == 0) {
		uint32_t nr = n->nr - n->nr_asked < most ? n->nr - n->nr_asked : most;
		char *statement = NULL;
		size_t bytes;
		FILE *to = open_memstream(&statement, &bytes);

		if (to) {
			fputs(select, to);
			for (uint32_t i = 0; i < nr; i++)
				fprintf(to, "%s%" PRIu64, i ? "," : " WHERE id IN (", n->at[n->nr_asked + i].hash);
			fputs(") GROUP BY id ORDER BY id FORMAT TabSeparated", to);
		}
		ret = ask(x, server, to, &statement, columns, take);
		if (ret == 0)
			n->nr_asked += nr;
		if (ret == -EFBIG && nr > 1) {
			most = nr / 2;
			ret = 0;
		}
	}
	return ret;
}

static int read_server(struct reading *x, int server)
{
	int ret = read_rows(x, server);

	if (ret == 0)
		ret = read_names(x, server, &x->series,
				 "SELECT id, any(event), any(unit), any(process), any(executable), any(service), any(level), "
				 "any(component), any(place), any(detail), any(label), any(query) FROM $.series", 12, take_series);
	if (ret == 0)
		ret = read_names(x, server, &x->functions, "SELECT id, any(name), any(image), any(jit) FROM $.functions", 4,
				 take_function);
	if (ret == -EFBIG)
		ret = diag_fail(x->d, E2BIG, "ClickHouse's answer of one day is larger than 64 MiB: ask for a host (--host)");
	return ret;
}

/* --------------------------------------------------------------------------------------------------------------- whole */

static int compare_epochs(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	return x->e.recording < y->e.recording ? -1 : x->e.recording > y->e.recording;
}

/* Sort epochs by their beginning, and renumber x->epoch_of. */
static void sort_epochs(struct reading *x)
{
	if (x->epochs.nr)
		qsort(x->epochs.at, x->epochs.nr, sizeof(*x->epochs.at), compare_epochs);
	for (uint32_t i = 0; i < x->epochs.nr; i++)
		x->failed |= !hash_map_set(&x->epoch_of, (uint64_t)x->epochs.at[i].e.recording + 1, 0, i + 1);
}

static int64_t id_of(const struct names *n, int64_t hash)
{
	uint32_t i = hash_map_find(&n->of, (uint64_t)hash, 0);

	return i ? n->at[i - 1].id : 0;
}

/* Replace hashes by the store's numbers, and sort by these. Rows that get the same numbers, because no server has their names, become one
 * row. */
static void number_rows(struct reading *x, struct epoch *e)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < e->rows.nr; i++) {
		e->rows.at[i].series = id_of(&x->series, e->rows.at[i].series);
		e->rows.at[i].function = id_of(&x->functions, e->rows.at[i].function);
	}
	if (e->rows.nr)
		qsort(e->rows.at, e->rows.nr, sizeof(*e->rows.at), rows_compare);
	for (uint32_t i = 0; i < e->rows.nr; i++)
		if (nr && rows_compare(&e->rows.at[nr - 1], &e->rows.at[i]) == 0) {
			e->rows.at[nr - 1].samples += e->rows.at[i].samples;
			e->rows.at[nr - 1].weight += e->rows.at[i].weight;
		} else {
			e->rows.at[nr++] = e->rows.at[i];
		}
	e->rows.nr = nr;
}

/* A store keeps the mean weight of a row's samples only roughly (block.h). The samples of a day's epochs have different weights, so each
 * row of a series gets a number of samples in proportion to its weight, with about the same sum. */
static void weigh_samples(struct epoch *e)
{
	uint32_t end;

	for (uint32_t i = 0; i < e->rows.nr; i = end) {
		double samples = 0, weight = 0;

		for (end = i; end < e->rows.nr && e->rows.at[end].series == e->rows.at[i].series; end++) {
			samples += (double)e->rows.at[end].samples;
			weight += (double)e->rows.at[end].weight;
		}
		for (uint32_t j = i; j < end && weight > 0; j++) {
			double part = (double)e->rows.at[j].weight * samples / weight;

			e->rows.at[j].samples = part < 1 ? e->rows.at[j].samples > 0 : part < 0x1p63 ? (uint64_t)(part + 0.5) : INT64_MAX;
		}
	}
}

static int read_all(struct reading *x)
{
	int ret = 0;

	for (int i = 0; i < x->from.nr && ret == 0; i++) {
		ret = clickhouse_greet(&x->from, i, x->d);
		if (ret == 0)
			ret = read_epochs(x, i);
	}
	sort_epochs(x);
	for (int i = 0; i < x->from.nr && ret == 0; i++)
		ret = read_server(x, i);
	for (uint32_t i = 0; i < x->epochs.nr && ret == 0; i++) {
		number_rows(x, &x->epochs.at[i]);
		if (x->tier == CLICKHOUSE_DAYS)
			weigh_samples(&x->epochs.at[i]);
		gather_epoch(x->store, &x->epochs.at[i].e, x->epochs.at[i].rows.at, x->epochs.at[i].rows.nr);
	}
	return ret == 0 && x->failed ? diag_fail(x->d, ENOMEM, "out of memory") : ret;
}

/* Return the least number of seconds since 1970 at which an hour or a day may begin so that its middle is not before the time. A unit
 * belongs to the window that its middle is in. */
static uint32_t begin_after(int64_t ns, uint32_t length_s)
{
	int64_t s = ns / SECOND_NS + (ns % SECOND_NS > 0) - length_s / 2;

	return s < 0 ? 0 : s > CLICKHOUSE_END_S ? CLICKHOUSE_END_S : (uint32_t)s;
}

static void fini(struct reading *x)
{
	struct names *all[] = { &x->series, &x->functions };

	for (uint32_t i = 0; i < x->epochs.nr; i++) {
		hash_map_fini(&x->epochs.at[i].of);
		free(x->epochs.at[i].rows.at);
	}
	free(x->epochs.at);
	hash_map_fini(&x->epoch_of);
	for (int i = 0; i < 2; i++) {
		hash_map_fini(&all[i]->of);
		free(all[i]->at);
	}
	clickhouse_fini(&x->from);
}

int read_clickhouse(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d)
{
	struct reading x = { .host = host,
			     .tier = functions ? CLICKHOUSE_DAYS : CLICKHOUSE_HOURS,
			     .length_s = functions ? DAY_S : 3600,
			     .d = d };
	struct diag other;
	int ret = clickhouse_init(&x.from, address, d);

	x.from_s = begin_after(w->from_ns, x.length_s);
	x.to_s = begin_after(w->to_ns, x.length_s);
	if (ret == 0 && (ret = gather_begin(x.from.database, &x.store, d)) == 0) {
		ret = x.from_s < x.to_s ? read_all(&x) : 0;
		if (ret == 0)
			ret = gather_end(x.store, d);
		else if (gather_end(x.store, &other) == 0)
			store_close(x.store);
	}
	if (ret == 0)
		*out = x.store;
	fini(&x);
	return ret;
}
