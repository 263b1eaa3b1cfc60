/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/push_clickhouse.h"

#include "analyzer/fleet/outgoing.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define HOUR_S 3600ll
#define DAY_S 86400ll
#define SECOND_NS 1000000000ll
#define LATE_S HOUR_S /* an hour is over so many seconds after its end at the latest, or when the store has a later epoch */

/* A unit is an hour or a day of the host. */
struct unit {
	enum clickhouse_tier tier;
	int64_t begin_s;
	uint32_t parts;	    /* number of its epochs in the store */
	uint32_t has_parts; /* number of its epochs on a server */
	int server;	    /* index of the server that has it; -1: none */
	bool coarse; /* an epoch of it in the store is a whole day */
};

struct sum_row {
	int64_t series, function;
	uint64_t n, w;
};

struct sum {
	int64_t unit; /* index in `units` of what is summed up; -1: nothing */
	struct hash_map of; /* (series, function) -> 1 + index */
	ARRAY(struct sum_row) rows;
	int64_t first_ns, last_ns;
	uint32_t parts, cpus;
	double samples, effective;
	uint64_t lost;
};

struct pushing {
	struct clickhouse to;
	struct store *store;
	const char *host;
	uint64_t host_hash;
	int64_t from_s, to_s; /* [from_s, to_s): days (UTC) that overlap the window, also those that ClickHouse cannot store */
	int64_t complete_s; /* hours and days that end by then are over */
	ARRAY(struct unit) units;
	struct hash_map unit_of; /* (tier, begin) -> 1 + index */
	struct sum sums[2]; /* [tier - 1]: the hour and the day that are summed up now */
	struct outgoing out[CLICKHOUSE_SERVERS_MAX];
	struct fleet_pushed *pushed;
	struct diag *d;
	bool failed; /* memory ran out */
};

/* Return the index of the server for a week of the host that is on no server yet. It is the one with the largest hash of week and server,
 * so that a new server gets a share of the weeks and all others stay. */
static int server_of_week(const struct pushing *x, int64_t begin_s)
{
	uint64_t most = 0;
	int best = 0;

	for (int i = 0; i < x->to.nr; i++) {
		uint64_t key[3] = { x->host_hash, (uint64_t)((begin_s / DAY_S + 3) / 7), hash_text(http_shown_url(x->to.url[i])) };
		uint64_t hash = hash_bytes(key, sizeof(key));

		if (i == 0 || hash > most) {
			most = hash;
			best = i;
		}
	}
	return best;
}

/* -------------------------------------------------------------------------------------------------- what is to be sent */

static struct unit *unit_at(struct pushing *x, enum clickhouse_tier tier, int64_t begin_s)
{
	uint32_t i = hash_map_find(&x->unit_of, tier, (uint64_t)begin_s);

	if (i)
		return &x->units.at[i - 1];
	if (!ARRAY_GROW(x->units) || !hash_map_set(&x->unit_of, tier, (uint64_t)begin_s, x->units.nr + 1)) {
		x->failed = true;
		return NULL;
	}
	x->units.at[x->units.nr] = (struct unit){ .tier = tier, .begin_s = begin_s, .server = -1 };
	return &x->units.at[x->units.nr++];
}

/* Return the largest multiple of step that is not above value, which may be negative for times before 1970. If that is below the range,
 * return the least multiple in it. */
static int64_t floor_to(int64_t value, int64_t step)
{
	int64_t rest = value % step;

	return rest < 0 ? (value - INT64_MIN < step ? INT64_MIN / step * step : value - rest - step) : value - rest;
}

static int64_t begin_of(const struct rows_epoch *e, enum clickhouse_tier tier)
{
	return floor_to(e->begin_ns, (tier == CLICKHOUSE_HOURS ? HOUR_S : DAY_S) * SECOND_NS) / SECOND_NS;
}

static bool has_date(int64_t day_s)
{
	return day_s >= 0 && day_s < CLICKHOUSE_END_S;
}

/* Count an epoch in its hour and its day, or in pushed->undated. Return false, because its rows are not needed now. */
static bool count_epoch(void *context, const struct rows_epoch *e)
{
	struct pushing *x = context;
	int64_t day_s = begin_of(e, CLICKHOUSE_DAYS);

	if (day_s < x->from_s || day_s >= x->to_s) /* window_to_read() adds a day at both ends, which is not pushed */
		return false;
	if (!has_date(day_s)) {
		x->pushed->undated++;
		return false;
	}
	for (int tier = CLICKHOUSE_HOURS; tier <= CLICKHOUSE_DAYS; tier++) {
		struct unit *u = unit_at(x, (enum clickhouse_tier)tier, begin_of(e, (enum clickhouse_tier)tier));

		if (!u)
			return false;
		u->parts += e->parts;
		u->coarse |= e->tier == 2;
	}
	return false;
}

/* Take a line of "tier, begin, attempt" of the manifest. Return false if it is none. */
static bool take_attempt(struct pushing *x, int server, char **column)
{
	uint64_t tier, begin_s, attempt;
	struct unit *u;

	if (!clickhouse_number(column[0], &tier) || !clickhouse_number(column[1], &begin_s) || !clickhouse_number(column[2], &attempt) ||
	    begin_s > UINT32_MAX)
		return false;
	u = unit_at(x, tier == CLICKHOUSE_DAYS ? CLICKHOUSE_DAYS : CLICKHOUSE_HOURS, (int64_t)begin_s);
	if (u && (u->server < 0 || attempt >> CLICKHOUSE_ATTEMPT_BITS > u->has_parts)) {
		u->server = server;
		u->has_parts = (uint32_t)(attempt >> CLICKHOUSE_ATTEMPT_BITS);
	}
	return true;
}

/* Read which hours and days a server has, only for the days of the store's epochs, because a server has those of all machines and years.
 * Return 0, or -errno with the reason in d. */
static int read_manifest(struct pushing *x, int server)
{
	char statement[320], from[16], to[16], *column[3], *at;
	int64_t from_s = INT64_MAX, to_s = INT64_MIN;
	struct http_answer a;
	int ret;

	for (uint32_t i = 0; i < x->units.nr; i++) {
		from_s = x->units.at[i].begin_s < from_s ? x->units.at[i].begin_s : from_s;
		to_s = x->units.at[i].begin_s > to_s ? x->units.at[i].begin_s : to_s;
	}
	if (!x->units.nr)
		return 0;
	clickhouse_format_day(from_s, from);
	clickhouse_format_day(to_s, to);
	snprintf(statement, sizeof(statement),
		 "SELECT tier, toUInt32(begin), max(attempt) FROM $.manifest WHERE tier IN (%d, %d) AND day >= '%s' AND day <= '%s' "
		 "AND host = %" PRIu64 " GROUP BY tier, begin FORMAT TabSeparated",
		 CLICKHOUSE_HOURS, CLICKHOUSE_DAYS, from, to, x->host_hash);
	ret = clickhouse_ask(&x->to, server, statement, &a, x->d);
	at = a.body;
	for (int columns; ret == 0 && (columns = clickhouse_split(&at, column, 3)) > 0;)
		if (columns != 3 || !take_attempt(x, server, column))
			ret = clickhouse_misread(column[0], x->d);
	http_answer_fini(&a);
	return ret;
}

/* Return whether a server has any hour of the day. A day that the store has in one epoch has no separate hours any more. It is sent as its
 * first hour, but only if none has been sent before. */
static bool day_has_hours(const struct pushing *x, int64_t begin_s)
{
	for (uint32_t i = 0; i < x->units.nr; i++) {
		const struct unit *u = &x->units.at[i];

		if (u->tier == CLICKHOUSE_HOURS && u->has_parts && u->begin_s / DAY_S == begin_s / DAY_S)
			return true;
	}
	return false;
}

static bool is_of_window(const struct pushing *x, const struct unit *u)
{
	return u->begin_s >= x->from_s && u->begin_s < x->to_s && has_date(u->begin_s);
}

static bool is_over(const struct pushing *x, const struct unit *u)
{
	return u->begin_s + (u->tier == CLICKHOUSE_HOURS ? HOUR_S : DAY_S) <= x->complete_s;
}

static bool is_to_be_sent(const struct pushing *x, const struct unit *u)
{
	return is_of_window(x, u) && u->parts > u->has_parts && is_over(x, u) &&
	       !(u->tier == CLICKHOUSE_HOURS && u->coarse && day_has_hours(x, u->begin_s));
}

static bool wants_epoch(void *context, const struct rows_epoch *e)
{
	struct pushing *x = context;
	const struct unit *hour = unit_at(x, CLICKHOUSE_HOURS, begin_of(e, CLICKHOUSE_HOURS));
	const struct unit *day;

	if (hour && is_to_be_sent(x, hour))
		return true;
	day = unit_at(x, CLICKHOUSE_DAYS, begin_of(e, CLICKHOUSE_DAYS));
	return day && is_to_be_sent(x, day);
}

/* ------------------------------------------------------------------------------------------------------------ sending */

static uint64_t new_attempt(uint32_t parts)
{
	uint64_t chance = 0;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15;
	return (uint64_t)(parts < 1u << 23 ? parts : 1u << 23) << CLICKHOUSE_ATTEMPT_BITS | chance >> (64 - CLICKHOUSE_ATTEMPT_BITS);
}

static void put_rows(struct pushing *x, struct outgoing *o, const struct sum *sum, uint64_t attempt)
{
	const struct unit *u = &x->units.at[sum->unit];
	uint64_t n = 0, w = 0, series, function;
	char key[128], day[16];

	clickhouse_format_day(u->begin_s, day);
	/* A time with less than ten digits would be misread by a server that accepts dates of many forms, as it does by default since
	 * version 26.5. */
	snprintf(key, sizeof(key), "%d\t%s\t%" PRIu64 "\t%010" PRId64 "\t%" PRIu64, u->tier, day, x->host_hash, u->begin_s, attempt);
	for (uint32_t i = 0; i < sum->rows.nr; i++) {
		const struct sum_row *r = &sum->rows.at[i];

		x->failed |= !outgoing_put_series(o, x->store, r->series, &series) ||
			     !outgoing_put_function(o, x->store, r->function, &function);
		if (x->failed)
			return;
		fprintf(o->rows, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", key, series, function, r->n, r->w);
		n += r->n;
		w += r->w;
	}
	fprintf(o->manifest, "%s\t", key);
	clickhouse_put_text(o->manifest, x->host);
	fprintf(o->manifest, "\t%" PRId64 "\t%" PRId64 "\t%u\t%u\t%.17g\t%.17g\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\n", sum->first_ns,
		sum->last_ns, sum->parts, sum->rows.nr, sum->samples, sum->effective, n, w, sum->lost, sum->cpus);
}

/* End an hour or a day, and put its rows into the request for its server. A request that is full is sent before that, so that none ends
 * within an hour or a day. Return 0, or -errno with the reason in x->d. */
static int end_unit(struct pushing *x, struct sum *sum)
{
	const struct unit *u = sum->unit >= 0 ? &x->units.at[sum->unit] : NULL;
	int server = u && u->server >= 0 ? u->server : u ? server_of_week(x, u->begin_s) : 0;
	struct outgoing *o = &x->out[server];
	int ret = 0;

	if (u && outgoing_is_full(o, u->tier, u->begin_s))
		ret = outgoing_send(o, &x->to, server, x->pushed, x->d);
	if (u && ret == 0 && outgoing_begin_unit(o, u->tier, u->begin_s))
		put_rows(x, o, sum, new_attempt(sum->parts));
	else if (u && ret == 0)
		x->failed = true;
	hash_map_fini(&sum->of);
	free(sum->rows.at);
	*sum = (struct sum){ .unit = -1 };
	return ret;
}

static void add_row(struct pushing *x, struct sum *sum, int64_t series, int64_t function, uint64_t n, uint64_t w)
{
	uint32_t i = hash_map_find(&sum->of, (uint64_t)series, (uint64_t)function);

	if (!i) {
		if (!ARRAY_GROW(sum->rows) ||
		    !hash_map_set(&sum->of, (uint64_t)series, (uint64_t)function, sum->rows.nr + 1)) {
			x->failed = true;
			return;
		}
		sum->rows.at[sum->rows.nr] = (struct sum_row){ .series = series, .function = function };
		i = ++sum->rows.nr;
	}
	sum->rows.at[i - 1].n += n;
	sum->rows.at[i - 1].w += w;
}

/* Add the rows of an epoch to its hour and its day. Epochs come in the order of their beginning, so the hour or day before is complete when
 * an epoch of another one comes. */
static int add_epoch(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr)
{
	struct pushing *x = context;

	for (int tier = CLICKHOUSE_HOURS; tier <= CLICKHOUSE_DAYS; tier++) {
		struct sum *sum = &x->sums[tier - 1];
		struct unit *u = unit_at(x, (enum clickhouse_tier)tier, begin_of(e, (enum clickhouse_tier)tier));
		int64_t at = u ? u - x->units.at : -1;

		if (sum->unit != at) {
			int ret = end_unit(x, sum);

			if (ret)
				return ret;
		}
		if (!u || !is_to_be_sent(x, u))
			continue;
		sum->unit = at;
		sum->first_ns = sum->parts ? sum->first_ns : e->begin_ns;
		sum->last_ns = e->end_ns > sum->last_ns ? e->end_ns : sum->last_ns;
		sum->parts += e->parts;
		sum->cpus = e->cpus > sum->cpus ? e->cpus : sum->cpus;
		sum->samples += e->samples;
		sum->effective += e->effective;
		sum->lost += e->lost;
		for (uint32_t i = 0; i < nr; i++)
			add_row(x, sum, row[i].series, tier == CLICKHOUSE_HOURS ? 0 : row[i].function, row[i].samples, row[i].weight);
	}
	return x->failed ? -ENOMEM : 0;
}

/* Set the days that are sent. Only whole hours and days are sent, so the window is extended to whole days. */
static void choose_days(struct pushing *x, const struct window *w)
{
	int64_t last_ns = w->to_ns > w->from_ns ? w->to_ns - 1 : w->from_ns;

	x->from_s = floor_to(w->from_ns, DAY_S * SECOND_NS) / SECOND_NS;
	x->to_s = floor_to(last_ns, DAY_S * SECOND_NS) / SECOND_NS + DAY_S;
}

/* Return the window that is read from the store. An epoch belongs to the day in which it begins, but a store has it in the window that its
 * middle is in, so one more day is read at both ends. */
static struct window window_to_read(const struct pushing *x)
{
	struct window w = WINDOW_ALL;

	if (x->from_s > INT64_MIN / SECOND_NS + DAY_S)
		w.from_ns = (x->from_s - DAY_S) * SECOND_NS;
	if (x->to_s < INT64_MAX / SECOND_NS - DAY_S)
		w.to_ns = (x->to_s + DAY_S) * SECOND_NS;
	return w;
}

static int push_host(struct pushing *x)
{
	const struct window w = window_to_read(x);
	const char *const identity[] = { rows_store_name(x->store), x->host };
	struct rows_reader reader = { .wanted = count_epoch, .epoch = add_epoch, .context = x };
	int ret;

	x->host_hash = outgoing_hash(identity, 2);
	x->sums[0].unit = x->sums[1].unit = -1;
	ret = rows_read(x->store, &w, x->host, &reader, x->d);
	for (int i = 0; i < x->to.nr && ret == 0; i++)
		ret = read_manifest(x, i);
	reader.wanted = wants_epoch;
	if (ret == 0)
		ret = rows_read(x->store, &w, x->host, &reader, x->d);
	for (int i = 0; i < 2 && ret == 0; i++)
		ret = end_unit(x, &x->sums[i]);
	for (int i = 0; i < x->to.nr && ret == 0; i++)
		ret = outgoing_send(&x->out[i], &x->to, i, x->pushed, x->d);
	for (uint32_t i = 0; i < x->units.nr; i++) {
		const struct unit *u = &x->units.at[i];

		x->pushed->had += is_of_window(x, u) && u->parts && u->parts <= u->has_parts;
		x->pushed->waiting += is_of_window(x, u) && u->parts > u->has_parts && !is_over(x, u);
	}
	for (int i = 0; i < 2; i++) {
		hash_map_fini(&x->sums[i].of);
		free(x->sums[i].rows.at);
		x->sums[i] = (struct sum){ .unit = -1 };
	}
	for (int i = 0; i < x->to.nr; i++)
		outgoing_fini(&x->out[i]);
	hash_map_fini(&x->unit_of);
	ARRAY_FREE(x->units);
	return x->failed ? diag_fail(x->d, ENOMEM, "out of memory") : ret;
}

int push_clickhouse(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d)
{
	struct pushing *x = calloc(1, sizeof(*x));
	char *host = strdup("");
	struct window all;
	int ret = x && host ? clickhouse_init(&x->to, target, d) : diag_fail(d, ENOMEM, "out of memory");

	if (ret == 0 && rows_span(s, &all)) {
		int64_t now_s = (int64_t)time(NULL), late_s = now_s - LATE_S, last_s = all.to_ns / SECOND_NS;

		x->store = s;
		x->pushed = p;
		x->d = d;
		choose_days(x, &what->window);
		for (int i = 0; i < x->to.nr && ret == 0; i++) {
			ret = clickhouse_greet(&x->to, i, d);
			if (ret == 0)
				ret = clickhouse_create(&x->to, i, d);
		}
		/* an epoch from a clock that was ahead must not make the present hour count as over */
		last_s = last_s < now_s ? last_s : now_s;
		x->complete_s = last_s > late_s ? last_s : late_s;
		while (ret == 0 && rows_next_host(s, &host)) {
			x->host = host;
			if (!what->host || strcmp(what->host, host) == 0)
				ret = push_host(x);
		}
	}
	if (x)
		clickhouse_fini(&x->to);
	free(host);
	free(x);
	return ret;
}
