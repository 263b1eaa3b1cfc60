/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/push_clickhouse.h"

#include "analyzer/fleet/clickhouse.h"
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
#define FULL_BYTES (4u << 20) /* of rows that are sent at once */
#define SERIES_TEXTS 11
#define LATE_S HOUR_S	      /* an hour that nothing follows is complete then */

/* An hour or a day of the host. */
struct unit {
	enum clickhouse_tier tier;
	int64_t begin_s;
	uint32_t parts;	    /* epochs that the store has of it */
	uint32_t has_parts; /* that a server has */
	int server;	    /* which; -1: none */
	bool coarse; /* the store has a day in one epoch */
};

/* What is summed up of one. */
struct sum {
	int64_t unit; /* index; -1: none */
	struct hash_map of; /* (series, function) -> 1 + index */
	struct sum_row {
		int64_t series, function;
		uint64_t n, w;
	} *row;
	uint32_t nr, capacity;
	int64_t first_ns, last_ns;
	uint32_t parts, cpus;
	double samples, effective;
	uint64_t lost;
};

/* What one server is to get. */
struct outgoing {
	FILE *rows, *manifest, *series, *functions;
	char *text[4];
	size_t bytes[4];
	struct hash_map series_put, functions_put; /* hashes that were put */
	unsigned nr_units;
};

struct pushing {
	struct clickhouse to;
	struct store *store;
	const char *host;
	uint64_t host_hash;
	int64_t from_s, to_s; /* the days (UTC) that the window has something of */
	int64_t complete_s; /* what ends by then is complete */
	struct unit *unit;
	uint32_t nr, capacity;
	struct hash_map unit_of; /* (tier, begin) -> 1 + index */
	struct sum sums[2]; /* hour, day */
	struct outgoing out[CLICKHOUSE_SERVERS_MAX];
	struct fleet_pushed *pushed;
	struct diag *d;
	bool failed; /* no memory */
};

/* ------------------------------------------------------------------------------------------------------------- hashes */

static uint64_t hash_of(const char *const *text, int nr)
{
	char *all = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&all, &bytes);
	uint64_t hash = 0;

	if (!to)
		return 0;
	for (int i = 0; i < nr; i++)
		fprintf(to, "%zu:%s", strlen(text[i]), text[i]); /* no two lists are one text */
	if (fclose(to) == 0)
		hash = hash_bytes(all, bytes);
	free(all);
	return hash ? hash : 1;
}

/* Which server has a week of the host, if none has it yet: the one of the largest hash, so that a new one takes weeks of its own alone. */
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
		return &x->unit[i - 1];
	if (!GROW(x->unit, x->nr, x->capacity) || !hash_map_set(&x->unit_of, tier, (uint64_t)begin_s, x->nr + 1)) {
		x->failed = true;
		return NULL;
	}
	x->unit[x->nr] = (struct unit){ .tier = tier, .begin_s = begin_s, .server = -1 };
	return &x->unit[x->nr++];
}

/* Its DateTime has 32 bits: what began before 1970 or after 2106 is at the end of that time. */
static int64_t begin_of(const struct rows_epoch *e, enum clickhouse_tier tier)
{
	int64_t length = tier == CLICKHOUSE_HOURS ? HOUR_S : DAY_S, begin_s = e->begin_ns / SECOND_NS;

	begin_s = begin_s < 0 ? 0 : begin_s > UINT32_MAX ? UINT32_MAX : begin_s;
	return begin_s - begin_s % length;
}

/* Counts, and wants no rows. */
static bool count_epoch(void *context, const struct rows_epoch *e)
{
	struct pushing *x = context;

	for (int tier = CLICKHOUSE_HOURS; tier <= CLICKHOUSE_DAYS; tier++) {
		struct unit *u = unit_at(x, (enum clickhouse_tier)tier, begin_of(e, (enum clickhouse_tier)tier));

		if (!u)
			return false;
		u->parts += e->parts;
		u->coarse |= e->tier == 2;
	}
	return false;
}

static int read_manifest(struct pushing *x, int server)
{
	char statement[256], *column[3], *at;
	struct http_answer a;
	int ret;

	ret = clickhouse_create(&x->to, server, x->d);
	if (ret)
		return ret;
	snprintf(statement, sizeof(statement), "SELECT tier, toUInt32(begin), max(attempt) FROM $.manifest WHERE host = %" PRIu64
		 " GROUP BY tier, begin FORMAT TabSeparated", x->host_hash);
	ret = clickhouse_ask(&x->to, server, statement, NULL, 0, &a, x->d);
	at = a.body;
	while (ret == 0 && clickhouse_split(&at, column, 3) == 3) {
		int64_t begin_s = strtoll(column[1], NULL, 10);
		uint32_t parts = (uint32_t)(strtoull(column[2], NULL, 10) >> CLICKHOUSE_ATTEMPT_BITS);
		struct unit *u = unit_at(x, strtol(column[0], NULL, 10) == 2 ? CLICKHOUSE_DAYS : CLICKHOUSE_HOURS, begin_s);

		if (u && (u->server < 0 || parts > u->has_parts)) {
			u->server = server;
			u->has_parts = parts;
		}
	}
	http_answer_fini(&a);
	return ret;
}

/* Hours of a day that the store has in one epoch are not told apart any more: it goes into its first hour, if none has been sent. */
static bool day_has_hours(const struct pushing *x, int64_t begin_s)
{
	for (uint32_t i = 0; i < x->nr; i++)
		if (x->unit[i].tier == CLICKHOUSE_HOURS && x->unit[i].has_parts && x->unit[i].begin_s / DAY_S == begin_s / DAY_S)
			return true;
	return false;
}

static bool is_of_window(const struct pushing *x, const struct unit *u)
{
	return u->begin_s >= x->from_s && u->begin_s < x->to_s;
}

static bool is_to_be_sent(const struct pushing *x, const struct unit *u)
{
	int64_t end_s = u->begin_s + (u->tier == CLICKHOUSE_HOURS ? HOUR_S : DAY_S);

	return is_of_window(x, u) && u->parts > u->has_parts && end_s <= x->complete_s &&
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

static bool begin_outgoing(struct outgoing *o)
{
	FILE **files[] = { &o->rows, &o->manifest, &o->series, &o->functions };

	for (int i = 0; i < 4; i++)
		if (!*files[i] && !(*files[i] = open_memstream(&o->text[i], &o->bytes[i])))
			return false;
	return true;
}

static int insert(struct pushing *x, int server, const char *table, FILE **from, char **text, const size_t *bytes)
{
	struct http_answer a;
	char statement[256];
	int ret = 0;

	if (*from && fclose(*from))
		ret = diag_fail(x->d, ENOMEM, "out of memory");
	*from = NULL;
	snprintf(statement, sizeof(statement), "INSERT INTO $.%s FORMAT TabSeparated", table);
	if (ret == 0 && *bytes) {
		ret = clickhouse_ask(&x->to, server, statement, *text, *bytes, &a, x->d);
		http_answer_fini(&a);
		x->pushed->requests++;
		x->pushed->bytes += (double)*bytes;
	}
	free(*text);
	*text = NULL;
	return ret;
}

/* Names before the rows that have them, the manifest last: from then on they count. */
static int send_outgoing(struct pushing *x, int server)
{
	static const char series[] = "series (id, event, unit, process, executable, service, level, component, place, detail, "
				     "label, query)",
			  manifest[] = "manifest (tier, day, host, begin, attempt, host_name, first_ns, last_ns, parts, rows, samples, "
				       "effective, n, w, lost, cpus)";
	struct outgoing *o = &x->out[server];
	int ret;

	if (!o->rows)
		return 0;
	ret = insert(x, server, series, &o->series, &o->text[2], &o->bytes[2]);
	if (ret == 0)
		ret = insert(x, server, "functions (id, name, image, jit)", &o->functions, &o->text[3], &o->bytes[3]);
	if (ret == 0)
		ret = insert(x, server, "rows", &o->rows, &o->text[0], &o->bytes[0]);
	if (ret == 0)
		ret = insert(x, server, manifest, &o->manifest, &o->text[1], &o->bytes[1]);
	if (ret == 0)
		x->pushed->units += o->nr_units;
	o->nr_units = 0;
	return ret;
}

static uint64_t put_series(struct pushing *x, struct outgoing *o, int64_t id)
{
	struct rows_series s = rows_series(x->store, id);
	const char *const text[] = { s.event,	 s.unit,  s.process, s.executable, s.service, s.level,
				     s.component, s.place, s.detail,  s.label,	   s.query };
	uint64_t hash = hash_of(text, SERIES_TEXTS);

	if (hash_map_find(&o->series_put, hash, 0))
		return hash;
	x->failed |= !hash_map_set(&o->series_put, hash, 0, 1);
	fprintf(o->series, "%" PRIu64, hash);
	for (int i = 0; i < SERIES_TEXTS; i++) {
		putc('\t', o->series);
		clickhouse_put_text(o->series, text[i]);
	}
	putc('\n', o->series);
	return hash;
}

static uint64_t put_function(struct pushing *x, struct outgoing *o, int64_t id)
{
	struct rows_function f = rows_function(x->store, id);
	const char *const text[] = { f.name, f.image, f.jit ? "1" : "0" };
	uint64_t hash;

	if (!id)
		return 0;
	hash = hash_of(text, 3);
	if (hash_map_find(&o->functions_put, hash, 0))
		return hash;
	x->failed |= !hash_map_set(&o->functions_put, hash, 0, 1);
	fprintf(o->functions, "%" PRIu64, hash);
	for (int i = 0; i < 3; i++) {
		putc('\t', o->functions);
		clickhouse_put_text(o->functions, text[i]);
	}
	putc('\n', o->functions);
	return hash;
}

static void format_day(int64_t s, char text[16])
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, 16, "%Y-%m-%d", &tm))
		strcpy(text, "1970-01-01");
}

static uint64_t new_attempt(uint32_t parts)
{
	uint64_t chance = 0;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15;
	return (uint64_t)(parts < 1u << 23 ? parts : 1u << 23) << CLICKHOUSE_ATTEMPT_BITS | chance >> (64 - CLICKHOUSE_ATTEMPT_BITS);
}

static int end_unit(struct pushing *x, struct sum *sum)
{
	const struct unit *u = sum->unit >= 0 ? &x->unit[sum->unit] : NULL;
	int server = u && u->server >= 0 ? u->server : u ? server_of_week(x, u->begin_s) : 0;
	struct outgoing *o = &x->out[server];
	uint64_t attempt = new_attempt(sum->parts), n = 0, w = 0;
	char day[16];
	int ret = 0;

	if (u && begin_outgoing(o)) {
		format_day(u->begin_s, day);
		for (uint32_t i = 0; i < sum->nr; i++) {
			const struct sum_row *r = &sum->row[i];

			uint64_t series = put_series(x, o, r->series), function = put_function(x, o, r->function);

			fprintf(o->rows, "%d\t%s\t%" PRIu64 "\t%" PRId64 "\t%" PRIu64, u->tier, day, x->host_hash, u->begin_s, attempt);
			fprintf(o->rows, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", series, function, r->n, r->w);
			n += r->n;
			w += r->w;
		}
		fprintf(o->manifest, "%d\t%s\t%" PRIu64 "\t%" PRId64 "\t%" PRIu64 "\t", u->tier, day, x->host_hash, u->begin_s, attempt);
		clickhouse_put_text(o->manifest, x->host);
		fprintf(o->manifest, "\t%" PRId64 "\t%" PRId64 "\t%u\t%u\t%.17g\t%.17g\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\n",
			sum->first_ns, sum->last_ns, sum->parts, sum->nr, sum->samples, sum->effective, n, w, sum->lost, sum->cpus);
		o->nr_units++;
		if (ftell(o->rows) > (long)FULL_BYTES)
			ret = send_outgoing(x, server);
	} else if (u) {
		x->failed = true;
	}
	hash_map_fini(&sum->of);
	free(sum->row);
	*sum = (struct sum){ .unit = -1 };
	return ret;
}

static void add_row(struct pushing *x, struct sum *sum, int64_t series, int64_t function, uint64_t n, uint64_t w)
{
	uint32_t i = hash_map_find(&sum->of, (uint64_t)series, (uint64_t)function);

	if (!i) {
		if (!GROW(sum->row, sum->nr, sum->capacity) ||
		    !hash_map_set(&sum->of, (uint64_t)series, (uint64_t)function, sum->nr + 1)) {
			x->failed = true;
			return;
		}
		sum->row[sum->nr] = (struct sum_row){ .series = series, .function = function };
		i = ++sum->nr;
	}
	sum->row[i - 1].n += n;
	sum->row[i - 1].w += w;
}

/* Epochs come by their begin, so that an hour, and a day, is complete when one of another comes. */
static int add_epoch(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr)
{
	struct pushing *x = context;

	for (int tier = CLICKHOUSE_HOURS; tier <= CLICKHOUSE_DAYS; tier++) {
		struct sum *sum = &x->sums[tier - 1];
		struct unit *u = unit_at(x, (enum clickhouse_tier)tier, begin_of(e, (enum clickhouse_tier)tier));
		int64_t at = u ? u - x->unit : -1;

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

static void drop_outgoing(struct outgoing *o)
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

/* Hours and days are sent as a whole, so the window is of days: of those that ClickHouse has times of. */
static void choose_days(struct pushing *x, const struct window *w)
{
	const int64_t last_s = UINT32_MAX / DAY_S * DAY_S - DAY_S;
	int64_t from_s = w->from_ns / SECOND_NS, to_s = (w->to_ns - 1) / SECOND_NS;

	x->from_s = from_s < DAY_S ? DAY_S : from_s - from_s % DAY_S;
	x->to_s = to_s >= last_s ? last_s : to_s - to_s % DAY_S + DAY_S;
}

static int push_host(struct pushing *x)
{
	/* an epoch is of the day that it begins in, and of the window that its middle is in */
	const struct window w = { (x->from_s - DAY_S) * SECOND_NS, (x->to_s + DAY_S) * SECOND_NS };
	const char *const identity[] = { rows_store_name(x->store), x->host };
	struct rows_reader reader = { .wanted = count_epoch, .epoch = add_epoch, .context = x };
	int ret;

	x->host_hash = hash_of(identity, 2);
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
		ret = send_outgoing(x, i);
	for (uint32_t i = 0; i < x->nr; i++)
		x->pushed->had += is_of_window(x, &x->unit[i]) && x->unit[i].parts && x->unit[i].parts <= x->unit[i].has_parts;
	for (int i = 0; i < 2; i++) {
		hash_map_fini(&x->sums[i].of);
		free(x->sums[i].row);
		x->sums[i] = (struct sum){ .unit = -1 };
	}
	for (int i = 0; i < x->to.nr; i++)
		drop_outgoing(&x->out[i]);
	hash_map_fini(&x->unit_of);
	free(x->unit);
	x->unit = NULL;
	x->nr = x->capacity = 0;
	return x->failed ? diag_fail(x->d, ENOMEM, "out of memory") : ret;
}

int push_clickhouse(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d)
{
	struct pushing *x = calloc(1, sizeof(*x));
	char *host = strdup("");
	struct window all;
	int ret = x && host ? clickhouse_init(&x->to, target, d) : diag_fail(d, ENOMEM, "out of memory");

	if (ret == 0 && rows_span(s, &all)) {
		int64_t late_s = (int64_t)time(NULL) - LATE_S;

		x->store = s;
		x->pushed = p;
		x->d = d;
		choose_days(x, &what->window);
		x->complete_s = all.to_ns / SECOND_NS > late_s ? all.to_ns / SECOND_NS : late_s;
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
