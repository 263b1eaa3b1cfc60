/* SPDX-License-Identifier: MIT */
#include "analyzer/store/tend.h"

#include "analyzer/store/block.h"
#include "jitreg/output/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR_NS 3600000000000ll
#define DAY_NS (24 * HOUR_NS)
#define AS_RECORDED_NS (2 * DAY_NS)
#define HOURS_NS (28 * DAY_NS)
#define FILLED(cap) ((cap) - (cap) / 100) /* what the file may take before something goes: it grows by pages */
#define DROPPED_AT_ONCE 8
#define FREED(cap) ((cap) - (cap) / 16) /* what is left then: names that nothing has are found by reading all epochs, so seldom */

/* ------------------------------------------------------------------------------------------------------------- tiers */

struct tier {
	int64_t number, length_ns, age_ns; /* of tier number, each so long; made of those below that are so old */
};

/* ?1: its begin, ?2: its length, ?3: the host, ?4: its tier. */
#define OF_IT "WHERE tier < ?4 AND host = ?3 AND begin_ns >= ?1 AND begin_ns < ?1 + ?2"

/* One sum of all that lie in [begin, begin + length), in place of them. */
static void fold_epochs(struct store *s, const struct tier *t, int64_t begin_ns, int64_t host)
{
	static struct statement insert = STATEMENT(
		"INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) SELECT ?1, ?4, "
		"?4, min(begin_ns), max(end_ns), host, sum(samples), sum(effective), sum(lost), max(cpus), sum(parts) FROM epoch " OF_IT
		" HAVING count(*) > 0");
	static struct statement parts = STATEMENT("SELECT id FROM epoch " OF_IT);
	static struct statement reasons = STATEMENT(
		"INSERT INTO reason SELECT ?5, event, reason, sum(samples), sum(weight) FROM reason WHERE epoch "
		"IN (SELECT id FROM epoch " OF_IT
		") GROUP BY 2, 3");
	static struct statement losses = STATEMENT(
		"INSERT INTO loss SELECT ?5, reason, sum(count) FROM loss WHERE epoch IN (SELECT id FROM epoch " OF_IT ") GROUP BY 2");
	static struct statement remember =
		STATEMENT("INSERT OR IGNORE INTO folded SELECT recording, number FROM epoch " OF_IT " AND tier = 0");
	static struct statement drop = STATEMENT("DELETE FROM epoch " OF_IT);
	struct block sum[NR_BLOCK_PARTS] = { { 0 } };
	int64_t id;

	store_run(s, &insert, "iiii", begin_ns, t->length_ns, host, t->number);
	if (s->error || !sqlite3_changes(s->db))
		return;
	id = sqlite3_last_insert_rowid(s->db);
	for (bool more = store_run(s, &parts, "iiii", begin_ns, t->length_ns, host, t->number); more; more = store_next(s, &parts))
		for (enum block_part part = 0; part < NR_BLOCK_PARTS; part++) {
			struct block b = { 0 };

			block_read(s, sqlite3_column_int64(parts.prepared, 0), part, &b);
			for (uint32_t i = 0; i < b.nr; i++)
				if (!block_add(&sum[part], block_row(&b, i)))
					store_fail(s, ENOMEM, "out of memory");
			block_fini(&b);
		}
	for (enum block_part part = 0; part < NR_BLOCK_PARTS; part++) {
		block_write(s, id, part, &sum[part]);
		block_fini(&sum[part]);
	}
	store_run(s, &reasons, "iiiii", begin_ns, t->length_ns, host, t->number, id);
	store_run(s, &losses, "iiiii", begin_ns, t->length_ns, host, t->number, id);
	store_run(s, &remember, "iiii", begin_ns, t->length_ns, host, t->number);
	store_run(s, &drop, "iiii", begin_ns, t->length_ns, host, t->number);
}

static void drop_orphans(struct store *s)
{
	store_execute(s, "DELETE FROM block WHERE epoch NOT IN (SELECT id FROM epoch);"
			 "DELETE FROM reason WHERE epoch NOT IN (SELECT id FROM epoch);"
			 "DELETE FROM loss WHERE epoch NOT IN (SELECT id FROM epoch);");
}

/* Whole hours, or days, all of whose epochs are old enough, the oldest first: each in a transaction of its own. */
static int make_tier(struct store *s, const struct tier *t, int64_t now_ns, struct diag *d)
{
	static struct statement oldest =
		STATEMENT("SELECT begin_ns, host FROM epoch WHERE tier < ?1 AND begin_ns < ?2 ORDER BY begin_ns LIMIT 1");
	int64_t before_ns = (now_ns - t->age_ns) / t->length_ns * t->length_ns;

	while (store_run(s, &oldest, "ii", t->number, before_ns)) {
		int64_t begin_ns = sqlite3_column_int64(oldest.prepared, 0) / t->length_ns * t->length_ns;
		int64_t host = sqlite3_column_int64(oldest.prepared, 1);

		sqlite3_reset(oldest.prepared);
		store_begin(s);
		fold_epochs(s, t, begin_ns, host);
		drop_orphans(s);
		if (store_commit(s, d))
			return -s->error;
	}
	return store_failed(s, d);
}

/* --------------------------------------------------------------------------------------------------------------- cap */

/* Give what was freed back to the file system: it frees a page a step. */
static void shrink_file(struct store *s)
{
	static struct statement vacuum = STATEMENT("PRAGMA incremental_vacuum");

	for (bool more = store_run(s, &vacuum, ""); more; more = store_next(s, &vacuum))
		;
	sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* Names that no row is of any more. */
static void drop_unused_names(struct store *s)
{
	static const char keep[] =
		"CREATE TEMP TABLE used_place(id INTEGER PRIMARY KEY); CREATE TEMP TABLE used_series(id INTEGER PRIMARY KEY);";
	static const char drop[] =
		"DELETE FROM place WHERE id NOT IN (SELECT id FROM used_place);"
		"DELETE FROM series WHERE id NOT IN (SELECT id FROM used_series) AND id NOT IN (SELECT series FROM place);"
		"DELETE FROM function WHERE id NOT IN (SELECT function FROM place);"
		"DELETE FROM component WHERE id NOT IN (SELECT component FROM series);"
		"DELETE FROM process WHERE id NOT IN (SELECT process FROM series);"
		"DELETE FROM query WHERE id NOT IN (SELECT query FROM component);"
		"DELETE FROM text WHERE id NOT IN (SELECT name FROM function UNION SELECT image FROM function "
		"UNION SELECT level FROM component "
		"UNION SELECT name FROM component UNION SELECT place FROM component UNION SELECT detail FROM "
		"component UNION SELECT label FROM "
		"component UNION SELECT name FROM process UNION SELECT executable FROM process UNION SELECT text "
		"FROM query UNION SELECT name "
		"FROM event UNION SELECT unit FROM event UNION SELECT host FROM epoch UNION SELECT reason FROM "
		"reason UNION SELECT reason FROM "
		"loss);"
		"DROP TABLE used_place; DROP TABLE used_series;";
	struct statement all = STATEMENT("SELECT id FROM epoch"), place = STATEMENT("INSERT OR IGNORE INTO used_place VALUES(?)"),
			 series = STATEMENT("INSERT OR IGNORE INTO used_series VALUES(?)");

	store_execute(s, keep);
	for (bool more = store_run(s, &all, ""); more; more = store_next(s, &all))
		for (enum block_part part = 0; part < NR_BLOCK_PARTS; part++) {
			struct block b = { 0 };

			block_read(s, sqlite3_column_int64(all.prepared, 0), part, &b);
			for (uint32_t i = 0; i < b.nr; i++)
				store_run(s, part == BLOCK_PLACES ? &place : &series, "i", (int64_t)*block_row(&b, i));
			block_fini(&b);
		}
	store_finish(s, &all);
	store_finish(s, &place);
	store_finish(s, &series);
	store_execute(s, drop);
}

/* The oldest epoch's functions, of those whose components are kept for longer; then the oldest epoch.  false: there is none. */
static bool drop_oldest(struct store *s)
{
	static struct statement functions = STATEMENT("SELECT e.id FROM epoch e JOIN block b ON b.epoch = e.id AND b.part = ?1 ORDER BY "
						      "e.begin_ns LIMIT 1"),
				newest = STATEMENT("SELECT max(id), count(*) FROM epoch"),
				detail = STATEMENT("DELETE FROM block WHERE epoch = ?1 AND part = ?2"),
				oldest = STATEMENT("SELECT id FROM epoch ORDER BY begin_ns LIMIT 1"),
				epoch = STATEMENT("DELETE FROM epoch WHERE id = ?1");
	int64_t last, id;

	if (!store_run(s, &newest, "") || sqlite3_column_int64(newest.prepared, 1) < 2)
		return false;
	last = sqlite3_column_int64(newest.prepared, 0);
	sqlite3_reset(newest.prepared);
	if (store_run(s, &functions, "i", (int64_t)BLOCK_PLACES)) {
		id = sqlite3_column_int64(functions.prepared, 0);
		sqlite3_reset(functions.prepared);
		if (id != last) {
			store_run(s, &detail, "ii", id, (int64_t)BLOCK_PLACES);
			return !s->error;
		}
	}
	if (!store_run(s, &oldest, ""))
		return false;
	id = sqlite3_column_int64(oldest.prepared, 0);
	sqlite3_reset(oldest.prepared);
	store_run(s, &epoch, "i", id);
	drop_orphans(s);
	return !s->error;
}

static int drop_names(struct store *s, struct diag *d)
{
	int ret;

	store_begin(s);
	drop_unused_names(s);
	ret = store_commit(s, d);
	shrink_file(s);
	return ret;
}

/* Some at a time: what a transaction has freed is not seen before its end. */
static int drop_epochs(struct store *s, bool *more, struct diag *d)
{
	int ret;

	store_begin(s);
	for (int i = 0; i < DROPPED_AT_ONCE && *more; i++)
		*more = drop_oldest(s);
	ret = store_commit(s, d);
	shrink_file(s);
	return ret;
}

static int keep_cap(struct store *s, struct diag *d)
{
	uint64_t cap = store_cap(s);
	bool more = true;
	int ret;

	if (store_size(s) <= FILLED(cap))
		return store_failed(s, d);
	ret = drop_names(s, d);
	if (ret || store_size(s) <= FREED(cap))
		return ret;
	while (ret == 0 && more && store_size(s) > FREED(cap))
		ret = drop_epochs(s, &more, d);
	return ret ? ret : drop_names(s, d);
}

int tend_store(struct store *s, int64_t now_ns, struct diag *d)
{
	static const struct tier tiers[] = { { 1, HOUR_NS, AS_RECORDED_NS }, { 2, DAY_NS, HOURS_NS } };
	int ret = 0;

	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]) && ret == 0; i++)
		ret = make_tier(s, &tiers[i], now_ns, d);
	if (ret == 0)
		shrink_file(s);
	return ret ? ret : keep_cap(s, d);
}

/* -------------------------------------------------------------------------------------------------------------- check */

static void check_rows(struct store *s, FILE *to, uint32_t *nr, const char *what, const char *sql)
{
	struct statement q = STATEMENT(sql);

	for (bool more = store_run(s, &q, ""); more; more = store_next(s, &q)) {
		fprintf(to, "%s: %s\n", what, store_printable((const char *)sqlite3_column_text(q.prepared, 0)));
		++*nr;
	}
	store_finish(s, &q);
	if (s->error) { /* that part cannot be read: the others may be */
		fprintf(to, "%s: %s\n", what, s->failure.text);
		++*nr;
		s->error = 0;
	}
}

/* Does every row name something that there is? */
static void check_block(struct store *s, int64_t epoch, enum block_part part, FILE *to, uint32_t *nr)
{
	static struct statement has_series = STATEMENT("SELECT 1 FROM series WHERE id = ?"),
				has_place = STATEMENT("SELECT 1 FROM place WHERE id = ?");
	struct statement *has = part == BLOCK_SERIES ? &has_series : &has_place;
	struct block b = { 0 };

	if (!block_read(s, epoch, part, &b)) {
		fprintf(to, "block: %s\n", s->failure.text);
		++*nr;
		s->error = 0;
		return;
	}
	for (uint32_t i = 0; i < b.nr; i++)
		if (!store_run(s, has, "i", (int64_t)*block_row(&b, i)) && !s->error) {
			fprintf(to, "block: epoch %lld, part %d: row %u is of nothing that has a name\n", (long long)epoch, (int)part, i);
			++*nr;
		}
	block_fini(&b);
}

int tend_check(struct store *s, FILE *to, uint32_t *nr, struct diag *d)
{
	static const struct {
		const char *what, *sql;
	} tests[] = {
		{ "file", "SELECT * FROM pragma_integrity_check WHERE integrity_check != 'ok'" },
		{ "series",
		  "SELECT 'series ' || id || ' is of a process, component or event that is not there' FROM series WHERE process NOT IN "
		  "(SELECT id FROM process) OR (component != 0 AND component NOT IN (SELECT id FROM component)) OR event NOT IN (SELECT id "
		  "FROM event)" },
		{ "place",
		  "SELECT 'place ' || id || ' is of a series or function that is not there' FROM place WHERE series NOT IN (SELECT id FROM "
		  "series) OR (function != 0 AND function NOT IN (SELECT id FROM function))" },
		{ "name",
		  "SELECT 'component ' || id || ' has a name that is not there' FROM component WHERE name != 0 AND name NOT IN (SELECT id "
		  "FROM text) OR level NOT IN (SELECT id FROM text) OR query != 0 AND query NOT IN (SELECT id FROM query)" },
		{ "name",
		  "SELECT 'function ' || id || ' has a name that is not there' FROM function WHERE name != 0 AND name NOT IN (SELECT id "
		  "FROM "
		  "text) OR image != 0 AND image NOT IN (SELECT id FROM text)" },
		{ "epoch", "SELECT 'epoch ' || id || ' has no sums' FROM epoch WHERE id NOT IN (SELECT epoch FROM block WHERE part = 0)" },
		{ "epoch",
		  "SELECT 'epoch ' || id || ' ends before it begins, or has less than no samples' FROM epoch WHERE end_ns < begin_ns OR "
		  "samples < 0 OR effective < 0 OR lost < 0" },
		{ "block",
		  "SELECT 'block of epoch ' || epoch || ', which is not there' FROM block WHERE epoch NOT IN (SELECT id FROM epoch)" },
	};
	static struct statement epochs = STATEMENT("SELECT id FROM epoch ORDER BY id");

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check_rows(s, to, nr, tests[i].what, tests[i].sql);
	for (bool more = store_run(s, &epochs, ""); more; more = store_next(s, &epochs))
		for (enum block_part part = 0; part < NR_BLOCK_PARTS; part++)
			check_block(s, sqlite3_column_int64(epochs.prepared, 0), part, to, nr);
	if (*nr == 0)
		fprintf(to, "%s: nothing is damaged\n", s->path);
	return store_failed(s, d);
}

/* --------------------------------------------------------------------------------------------------------------- copy */

int tend_copy(struct store *s, const char *path, struct diag *d)
{
	struct output_file file = { .form = &store_output_form, .is_named = true };
	char temporary[4096];
	sqlite3 *to = NULL;
	sqlite3_backup *b;
	int ret;

	if (output_file_is_same(path, s->path))
		return diag_fail(d, EINVAL, "%s is the store itself", path);
	ret = output_file_open(&file, path, d);
	if (ret)
		return ret;
	output_file_temporary(&file, temporary, sizeof(temporary)); /* SQLite opens files by their path */
	ret = file.is_direct ? SQLITE_CANTOPEN : sqlite3_open_v2(temporary, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (ret == SQLITE_OK)
		sqlite3_exec(to, "PRAGMA journal_mode = OFF", NULL, NULL, NULL); /* a part of a copy is removed, and not rolled back */
	b = ret == SQLITE_OK ? sqlite3_backup_init(to, "main", s->db, "main") : NULL;
	if (b) {
		sqlite3_backup_step(b, -1);
		sqlite3_backup_finish(b);
	}
	ret = file.is_direct ? SQLITE_CANTOPEN : sqlite3_errcode(to);
	if (file.is_direct)
		diag_fail(d, EINVAL, "%s: a store cannot be copied into a pipe or a device", path);
	else if (ret != SQLITE_OK)
		diag_fail(d, EIO, "%s: cannot be written: %s", path, sqlite3_errmsg(to));
	sqlite3_close(to);
	if (ret == SQLITE_OK)
		return output_file_end(&file, d);
	output_file_drop(&file);
	return -EIO;
}

/* ---------------------------------------------------------------------------------------------------------------- sql */

static void show_rows(struct store *s, sqlite3_stmt *q, struct grid *g, struct page *p)
{
	int columns = sqlite3_column_count(q), *column = calloc((size_t)columns + 1, sizeof(*column)), ret = SQLITE_ROW;

	for (int i = 0; column && i < columns; i++)
		column[i] = grid_column(g, sqlite3_column_name(q, i), sqlite3_column_name(q, i), CELL_TEXT, 0, 0);
	while (column && (ret = sqlite3_step(q)) == SQLITE_ROW) {
		grid_row(g);
		for (int i = 0; i < columns; i++)
			if (sqlite3_column_type(q, i) != SQLITE_NULL)
				grid_set_text(g, column[i], (const char *)sqlite3_column_text(q, i));
	}
	if (ret != SQLITE_DONE)
		store_fail(s, EINVAL, "%s", store_printable(sqlite3_errmsg(s->db)));
	free(column);
	grid_show(g, p);
}

int tend_sql(struct store *s, const char *query, struct page *p, struct diag *d)
{
	sqlite3_stmt *q = NULL;
	const char *rest = "";

	if (sqlite3_prepare_v2(s->db, query, -1, &q, &rest) != SQLITE_OK || !q)
		store_fail(s, EINVAL, "%s", q || sqlite3_errcode(s->db) ? store_printable(sqlite3_errmsg(s->db)) : "no query");
	else if (rest[strspn(rest, " \t\n;")])
		store_fail(s, EINVAL, "one query at a time, not '%s'", rest);
	else
		show_rows(s, q, grid_create("rows", "Rows"), p);
	sqlite3_finalize(q);
	return store_failed(s, d);
}
