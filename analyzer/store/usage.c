/* SPDX-License-Identifier: MIT */
#include "analyzer/store/usage.h"

#include "analyzer/model/host_levels.h"
#include "analyzer/store/block.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX (1ll << 27)
#define EPOCH_STEPS 16 /* steps of the budget for an epoch, in addition to SQLite's own */

/* A row takes these bytes with its index entry and its part of the pages' headers, as measured by SQLite's dbstat. */
#define TEXT_BYTES 36.0 /* a text, in addition to its characters */
#define BLOCK_BYTES 30.0
#define EPOCH_BYTES 120.0
static const double row_bytes[NR_USAGE_TABLES] = {
	[USAGE_PLACE] = 28, [USAGE_SERIES] = 32, [USAGE_FUNCTION] = 30, [USAGE_COMPONENT] = 50, [USAGE_PROCESS] = 34, [USAGE_QUERY] = 24,
};

const char *const usage_tables[NR_USAGE_TABLES] = {
	[USAGE_PLACE] = "place",     [USAGE_SERIES] = "series", [USAGE_FUNCTION] = "function", [USAGE_COMPONENT] = "component",
	[USAGE_PROCESS] = "process", [USAGE_QUERY] = "query",	[USAGE_TEXT] = "text",
};

static uint32_t step_of_stripping(const struct usage *u, uint32_t epoch)
{
	return epoch < u->nr_stripped ? epoch + 1 : USAGE_KEPT;
}

static uint32_t step_of_going(const struct usage *u, uint32_t epoch)
{
	return epoch + 1 < u->epochs.nr ? u->nr_stripped + epoch + 1 : USAGE_KEPT;
}

/* Notes that a name is needed at least until that step. */
static void need(struct usage *u, enum usage_table table, int64_t id, uint32_t step)
{
	struct usage_names *n = &u->names[table];

	if (id > 0 && id < n->nr && n->step[id] < step)
		n->step[id] = step;
}

static uint32_t step_of(const struct usage *u, enum usage_table table, int64_t id)
{
	return id > 0 && id < u->names[table].nr ? u->names[table].step[id] : USAGE_KEPT;
}

static void count(struct usage *u, uint32_t step, double bytes)
{
	if (step == USAGE_KEPT)
		u->bytes_kept += bytes;
	else
		u->bytes[step] += bytes;
}

static void read_epochs(struct store *s, struct usage *u)
{
	static struct statement all =
		STATEMENT("SELECT id, begin_ns, end_ns, recording, number, parts, samples, tier, EXISTS(SELECT 1 FROM block WHERE epoch "
			  "= id AND part = 1) FROM epoch ORDER BY begin_ns, id");

	for (bool more = store_run(s, &all, ""); more; more = store_next(s, &all)) {
		sqlite3_stmt *p = all.prepared;

		if (!store_spend(s, EPOCH_STEPS))
			break;
		if (!ARRAY_GROW(u->epochs)) {
			store_fail(s, ENOMEM, "out of memory");
			break;
		}
		u->epochs.at[u->epochs.nr++] = (struct usage_epoch){ .id = sqlite3_column_int64(p, 0),
								 .begin_ns = sqlite3_column_int64(p, 1),
								 .end_ns = sqlite3_column_int64(p, 2),
								 .recording = sqlite3_column_int64(p, 3),
								 .number = sqlite3_column_int64(p, 4),
								 .parts = sqlite3_column_int64(p, 5),
								 .samples = sqlite3_column_double(p, 6),
								 .tier = (uint32_t)sqlite3_column_int64(p, 7),
								 .has_functions = sqlite3_column_int(p, 8) };
	}
}

static bool make_room(struct store *s, struct usage *u)
{
	char text[64];

	for (int i = 0; i < NR_USAGE_TABLES; i++) {
		int64_t most;

		snprintf(text, sizeof(text), "SELECT max(id) FROM %s", usage_tables[i]);
		most = store_ask_number(s, text);
		u->names[i].nr = (most < 0 ? 0 : most < ID_MAX ? most : ID_MAX) + 1;
		if (!store_has_room(s, (uint64_t)u->names[i].nr * sizeof(*u->names[i].step)))
			return false;
		u->names[i].step = calloc((size_t)u->names[i].nr, sizeof(*u->names[i].step));
		if (!u->names[i].step)
			return false;
	}
	u->bytes = calloc((size_t)u->nr_steps + 1, sizeof(*u->bytes));
	return u->bytes;
}

#define IS_OF_LANGUAGE "component IN (SELECT id FROM component WHERE level = (SELECT id FROM text WHERE s = ?))"

void usage_add_plain_series(struct store *s)
{
	static struct statement add = STATEMENT("INSERT OR IGNORE INTO series(process, component, event) SELECT DISTINCT process, 0, event "
						"FROM series WHERE " IS_OF_LANGUAGE);

	store_run(s, &add, "t", host_level_names[HOST_LEVEL_FUNCTION]);
}

static void read_plain_series(struct store *s, struct usage *u)
{
	static struct statement all =
		STATEMENT("SELECT id, (SELECT p.id FROM series p WHERE p.process = series.process AND p.component = 0 AND p.event = "
			  "series.event) FROM series WHERE " IS_OF_LANGUAGE);

	for (bool more = store_run(s, &all, "t", host_level_names[HOST_LEVEL_FUNCTION]); more; more = store_next(s, &all)) {
		int64_t id = sqlite3_column_int64(all.prepared, 0), plain = sqlite3_column_int64(all.prepared, 1);

		if (id > 0 && plain >= 0 && plain < ID_MAX && !hash_map_set(&u->plain, (uint64_t)id, 0, 1 + (uint32_t)plain)) {
			store_fail(s, ENOMEM, "out of memory");
			break;
		}
	}
	if (all.prepared)
		sqlite3_reset(all.prepared);
}

/* Notes that an epoch needs a series. A series of a function of a language is needed only until the epoch's functions are removed, and the
 * series without a component that takes its place is needed until the epoch is removed. */
static void need_series(struct usage *u, uint32_t epoch, int64_t id)
{
	uint32_t plain = hash_map_find(&u->plain, (uint64_t)id, 0);

	need(u, USAGE_SERIES, id, plain && u->epochs.at[epoch].has_functions ? step_of_stripping(u, epoch) : step_of_going(u, epoch));
	if (plain)
		need(u, USAGE_SERIES, plain - 1, step_of_going(u, epoch));
}

/* Notes what a part of an epoch needs, and its bytes.  Does nothing if the epoch has no such part. */
static void read_block(struct store *s, struct usage *u, uint32_t epoch, enum block_part part, uint32_t step)
{
	static struct statement stored = STATEMENT("SELECT length(data) FROM block WHERE epoch = ? AND part = ?");
	struct block b = { 0 };

	if (!block_read(s, u->epochs.at[epoch].id, part, &b))
		return;
	for (uint32_t i = 0; i < b.nr; i++) {
		int64_t id = (int64_t)block_row(&b, i)->id;

		if (part == BLOCK_SERIES)
			need_series(u, epoch, id);
		else
			need(u, part == BLOCK_PLACES ? USAGE_PLACE : USAGE_SERIES, id, step);
	}
	block_fini(&b);
	if (store_run(s, &stored, "ii", u->epochs.at[epoch].id, (int64_t)part))
		count(u, step, (double)store_take_number(&stored) + BLOCK_BYTES);
}

static void read_blocks(struct store *s, struct usage *u)
{
	for (uint32_t i = 0; i < u->epochs.nr && !s->error; i++) {
		if (u->epochs.at[i].has_functions)
			read_block(s, u, i, BLOCK_PLACES, step_of_stripping(u, i));
		read_block(s, u, i, BLOCK_SERIES, step_of_going(u, i));
		read_block(s, u, i, BLOCK_TOTALS, u->epochs.at[i].has_functions ? step_of_stripping(u, i) : step_of_going(u, i));
		count(u, step_of_going(u, i), EPOCH_BYTES);
	}
}

/* Notes that rows of other tables are needed as long as the rows of this table that refer to them.  The statement's first column is the
 * number of a row of this table, and the others are the numbers of rows in the tables of `to`. */
static void pass_on(struct store *s, struct usage *u, enum usage_table from, const char *sql, const enum usage_table *to)
{
	struct statement q = STATEMENT(sql);

	for (bool more = store_run(s, &q, ""); more; more = store_next(s, &q)) {
		uint32_t step = step_of(u, from, sqlite3_column_int64(q.prepared, 0));

		count(u, step, row_bytes[from]);
		for (int i = 1; i < sqlite3_column_count(q.prepared); i++)
			need(u, to[i - 1], sqlite3_column_int64(q.prepared, i), step);
	}
	store_finish(s, &q);
}

static void pass_on_names(struct store *s, struct usage *u)
{
	static const enum usage_table of_place[] = { USAGE_SERIES, USAGE_FUNCTION }, of_series[] = { USAGE_PROCESS, USAGE_COMPONENT },
				      of_component[] = { USAGE_QUERY, USAGE_TEXT, USAGE_TEXT, USAGE_TEXT, USAGE_TEXT, USAGE_TEXT },
				      texts[] = { USAGE_TEXT, USAGE_TEXT, USAGE_TEXT };

	pass_on(s, u, USAGE_PLACE, "SELECT id, series, function FROM place", of_place);
	pass_on(s, u, USAGE_SERIES, "SELECT id, process, component FROM series", of_series);
	pass_on(s, u, USAGE_FUNCTION, "SELECT id, name, image FROM function", texts);
	pass_on(s, u, USAGE_COMPONENT, "SELECT id, query, level, name, place, detail, label FROM component", of_component);
	pass_on(s, u, USAGE_PROCESS, "SELECT id, name, executable, service FROM process", texts);
	pass_on(s, u, USAGE_QUERY, "SELECT id, text FROM query", texts);
}

/* Keeps the texts that events, epochs (their host), reasons and losses refer to through all steps, because pass_on_names() does not reach
 * them. */
static void keep_other_texts(struct store *s, struct usage *u)
{
	static struct statement others = STATEMENT("SELECT name FROM event UNION SELECT unit FROM event UNION SELECT host FROM epoch UNION "
						   "SELECT reason FROM reason UNION SELECT reason FROM loss");

	for (bool more = store_run(s, &others, ""); more; more = store_next(s, &others))
		need(u, USAGE_TEXT, sqlite3_column_int64(others.prepared, 0), USAGE_KEPT);
}

static void count_texts(struct store *s, struct usage *u)
{
	static struct statement texts = STATEMENT("SELECT id, octet_length(s) FROM text"),
				older = STATEMENT("SELECT id, length(CAST(s AS BLOB)) FROM text");
	struct statement *q = sqlite3_libversion_number() >= 3043000 ? &texts : &older;

	for (bool more = store_run(s, q, ""); more; more = store_next(s, q))
		count(u, step_of(u, USAGE_TEXT, sqlite3_column_int64(q->prepared, 0)),
		      TEXT_BYTES + (double)sqlite3_column_int64(q->prepared, 1));
}

bool usage_read(struct store *s, bool strip_all, struct usage *u)
{
	memset(u, 0, sizeof(*u));
	read_epochs(s, u);
	if (u->epochs.nr) {
		u->nr_stripped = strip_all ? u->epochs.nr : u->epochs.nr - 1;
		u->nr_steps = u->nr_stripped + u->epochs.nr - 1;
	}
	if (!s->error && !make_room(s, u))
		store_fail(s, ENOMEM, "out of memory");
	if (!s->error) {
		read_plain_series(s, u);
		read_blocks(s, u);
		pass_on_names(s, u);
		keep_other_texts(s, u);
		count_texts(s, u);
	}
	if (s->error)
		usage_fini(u);
	return !s->error;
}

void usage_fini(struct usage *u)
{
	for (int i = 0; i < NR_USAGE_TABLES; i++)
		free(u->names[i].step);
	hash_map_fini(&u->plain);
	free(u->bytes);
	free(u->epochs.at);
	memset(u, 0, sizeof(*u));
}
