/* SPDX-License-Identifier: MIT */
#include "analyzer/store/tend.h"

#include "analyzer/store/block.h"
#include "analyzer/store/cap.h"
#include "jitreg/output/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR_NS 3600000000000ll
#define DAY_NS (24 * HOUR_NS)
#define AS_RECORDED_NS (2 * DAY_NS)
#define HOURS_NS (28 * DAY_NS)

/* ------------------------------------------------------------------------------------------------------------- tiers */

struct tier {
	/* length_ns: length of the tier's epochs; age_ns: age from which epochs of lower tiers become part of them */
	int64_t number, length_ns, age_ns;
};

/*
 * Selects the epochs whose sum is to be a new epoch. ?1: where the new one begins, ?2: its length, ?3: its host, ?4: its tier, ?5: its id,
 * so that it is not selected itself.  If there is an hour or a day of this time already, it is selected, too, so that an old trace that is
 * added late becomes part of it.
 */
#define OF_IT "WHERE tier <= ?4 AND host = ?3 AND begin_ns >= ?1 AND begin_ns < ?1 + ?2 AND id != ?5"

/* Inserts the new epoch, without blocks.  Other hosts may have one of the same time, so it gets a number that is not in use.  Returns
 * its id, or 0 if no epoch is selected or the store has failed. */
static int64_t insert_sum(struct store *s, const struct tier *t, int64_t begin_ns, int64_t host)
{
	static struct statement insert = STATEMENT(
		"INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) SELECT ?1, "
		"ifnull((SELECT max(number) + 1 FROM epoch WHERE recording = ?1 AND tier = ?4), ?4), ?4, min(begin_ns), max(end_ns), host, "
		"sum(samples), sum(effective), sum(lost), max(cpus), sum(parts) FROM epoch " OF_IT " HAVING count(*) > 0");

	store_run(s, &insert, "iiiii", begin_ns, t->length_ns, host, t->number, (int64_t)0);
	return s->error || !sqlite3_changes(s->db) ? 0 : sqlite3_last_insert_rowid(s->db);
}

/* Adds up the blocks of the selected epochs. If one of them has no functions, neither has the sum, since those of the other epochs would
 * seem to be all of them. */
static void add_up_blocks(struct store *s, const struct tier *t, int64_t begin_ns, int64_t host, int64_t id)
{
	static struct statement parts = STATEMENT("SELECT id, EXISTS(SELECT 1 FROM block WHERE epoch = id AND part = 1), "
						"EXISTS(SELECT 1 FROM block WHERE epoch = id AND part = 2) FROM epoch " OF_IT);
	struct block sum[NR_BLOCK_PARTS] = { { 0 } };
	bool has_functions = true, has_totals = false;

	for (bool more = store_run(s, &parts, "iiiii", begin_ns, t->length_ns, host, t->number, id); more; more = store_next(s, &parts)) {
		has_functions &= sqlite3_column_int(parts.prepared, 1) != 0;
		has_totals |= sqlite3_column_int(parts.prepared, 2) != 0;
		for (enum block_part part = 0; part < NR_BLOCK_PARTS; part++) {
			struct block b = { 0 };

			block_read(s, sqlite3_column_int64(parts.prepared, 0), part, &b);
			block_add_all(s, &sum[part], &b);
			block_fini(&b);
		}
	}
	for (enum block_part part = 0; part < NR_BLOCK_PARTS; part++) {
		if ((part != BLOCK_PLACES || has_functions) && (part != BLOCK_TOTALS || has_totals))
			block_write(s, id, part, &sum[part]);
		block_fini(&sum[part]);
	}
}

/* Replaces all epochs of a host that begin in [begin, begin + length) by their sum. Returns false if there are none, or if their sum could
 * not be inserted. The caller learns from store_commit() whether the store has failed later. */
static bool fold_epochs(struct store *s, const struct tier *t, int64_t begin_ns, int64_t host)
{
	static struct statement rest[] = {
		STATEMENT("INSERT INTO reason SELECT ?5, event, reason, sum(samples), sum(weight) FROM reason WHERE epoch IN (SELECT id "
			  "FROM epoch " OF_IT ") GROUP BY 2, 3"),
		STATEMENT("INSERT INTO loss SELECT ?5, reason, sum(count) FROM loss WHERE epoch IN (SELECT id FROM epoch " OF_IT
			  ") GROUP BY 2"),
		STATEMENT("INSERT OR IGNORE INTO folded SELECT recording, number FROM epoch " OF_IT " AND tier = 0"),
		STATEMENT("DELETE FROM block WHERE epoch IN (SELECT id FROM epoch " OF_IT ")"),
		STATEMENT("DELETE FROM reason WHERE epoch IN (SELECT id FROM epoch " OF_IT ")"),
		STATEMENT("DELETE FROM loss WHERE epoch IN (SELECT id FROM epoch " OF_IT ")"),
		STATEMENT("DELETE FROM epoch " OF_IT),
	};
	int64_t id = insert_sum(s, t, begin_ns, host);

	if (!id)
		return false;
	add_up_blocks(s, t, begin_ns, host, id);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		store_run(s, &rest[i], "iiiii", begin_ns, t->length_ns, host, t->number, id);
	return true;
}

/* Returns where the hour or day begins that a time is in, also for times before 1970. */
static int64_t round_down(int64_t ns, int64_t length_ns)
{
	int64_t behind = ns % length_ns;

	behind += behind < 0 ? length_ns : 0;
	return ns < INT64_MIN + behind ? ns : ns - behind;
}

/* Adds up epochs that are old enough by whole hours or days, the oldest first, each hour or day in a transaction of its own.  Returns 0,
 * or -errno with the reason in d. */
static int make_tier(struct store *s, const struct tier *t, int64_t now_ns, struct diag *d)
{
	static struct statement oldest =
		STATEMENT("SELECT begin_ns, host FROM epoch WHERE tier < ?1 AND begin_ns < ?2 ORDER BY begin_ns LIMIT 1");
	int64_t before_ns = round_down(now_ns - t->age_ns, t->length_ns);

	/* An epoch whose time or host is no number belongs to no hour.  It stays, and ends the work, since it would be found again. */
	bool is_folded = true;

	while (is_folded && store_run(s, &oldest, "ii", t->number, before_ns)) {
		int64_t begin_ns = round_down(sqlite3_column_int64(oldest.prepared, 0), t->length_ns);
		int64_t host = sqlite3_column_int64(oldest.prepared, 1);

		sqlite3_reset(oldest.prepared);
		store_begin(s);
		is_folded = fold_epochs(s, t, begin_ns, host);
		if (store_commit(s, d))
			return -s->error;
	}
	return store_failed(s, d);
}

static const struct tier tiers[] = { { 1, HOUR_NS, AS_RECORDED_NS }, { 2, DAY_NS, HOURS_NS } };
#define NR_TIERS (sizeof(tiers) / sizeof(tiers[0]))

int tend_store(struct store *s, int64_t now_ns, struct cap_work *work, struct diag *d)
{
	int ret = 0;

	store_begin_question(s);
	for (size_t i = 0; i < NR_TIERS && ret == 0; i++)
		ret = make_tier(s, &tiers[i], now_ns, d);
	return ret ? ret : cap_keep(s, 0, work, d);
}

int tend_foresee(struct store *s, int64_t now_ns, uint64_t cap, struct tend_foreseen *f, struct diag *d)
{
	static struct statement old = STATEMENT("SELECT count(*) FROM epoch WHERE tier < ?1 AND begin_ns < ?2");

	f->nr_folded = 0;
	for (size_t i = 0; i < NR_TIERS; i++)
		if (store_run(s, &old, "ii", tiers[i].number, round_down(now_ns - tiers[i].age_ns, tiers[i].length_ns)))
			f->nr_folded += (uint32_t)store_take_number(&old);
	return cap_foresee(s, cap, &f->work, d);
}

/* -------------------------------------------------------------------------------------------------------------- check */

#define LINES_MOST 1000 /* maximum number of lines for the damages that one test finds, or that are in one block */

static bool is_listed_enough(FILE *to, const char *what, uint32_t nr_lines)
{
	if (nr_lines == LINES_MOST)
		fprintf(to, "%s: there are more than these %u, which are not listed\n", what, LINES_MOST);
	return nr_lines >= LINES_MOST;
}

static void check_rows(struct store *s, FILE *to, uint32_t *nr, const char *what, const char *sql)
{
	struct statement q = STATEMENT(sql);
	uint32_t nr_lines = 0;

	for (bool more = store_run(s, &q, ""); more && !is_listed_enough(to, what, nr_lines++); more = store_next(s, &q)) {
		fprintf(to, "%s: %s\n", what, store_printable((const char *)sqlite3_column_text(q.prepared, 0)));
		++*nr;
	}
	store_finish(s, &q);
	if (s->error && !s->budget.exceeded) { /* goes on, since the next test may not need what cannot be read */
		fprintf(to, "%s: %s\n", what, s->failure.text);
		++*nr;
		s->error = 0;
	}
}

/* Checks that the block can be read, and that each row's series or place exists. */
static void check_block(struct store *s, int64_t epoch, enum block_part part, FILE *to, uint32_t *nr)
{
	static struct statement has_series = STATEMENT("SELECT 1 FROM series WHERE id = ?"),
				has_place = STATEMENT("SELECT 1 FROM place WHERE id = ?");
	struct statement *has = part == BLOCK_PLACES ? &has_place : &has_series;
	struct block b = { 0 };
	uint32_t nr_lines = 0;

	if (!block_read(s, epoch, part, &b) && s->budget.exceeded)
		return;
	if (s->error) {
		fprintf(to, "block: %s\n", s->failure.text);
		++*nr;
		s->error = 0;
		return;
	}
	for (uint32_t i = 0; i < b.nr && !s->error; i++)
		if (!store_run(s, has, "i", (int64_t)block_row(&b, i)->id) && !s->error) {
			if (is_listed_enough(to, "block", nr_lines++))
				break;
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
		{ "epoch",
		  "SELECT 'epoch ' || id || ' has a time or a host that is no number, or a time before 1823 or behind 2116' FROM epoch "
		  "WHERE typeof(begin_ns) != 'integer' OR typeof(end_ns) != 'integer' OR typeof(host) != 'integer' OR "
		  "abs(begin_ns / 2) > 1 << 61 OR abs(end_ns / 2) > 1 << 61" },
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
	output_file_temporary(&file, temporary, sizeof(temporary)); /* the path is needed, since SQLite opens files by path */
	ret = file.is_direct ? SQLITE_CANTOPEN : sqlite3_open_v2(temporary, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (ret == SQLITE_OK)
		sqlite3_exec(to, "PRAGMA journal_mode = OFF", NULL, NULL, NULL); /* an incomplete copy is removed, not rolled back */
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
