/* SPDX-License-Identifier: MIT */
/* A store: its schema is ours, or plain; what a trace with generated code has comes out of it; what a file says is bounded. */
#include "tests/unit/unit.h"

#include "analyzer/store/block.h"
#include "analyzer/store/names.h"
#include "analyzer/store/rows.h"
#include "analyzer/store/schema.h"
#include "analyzer/store/sums.h"
#include "analyzer/store/tend.h"
#include "tests/fuzz/store_base.h"

#include <errno.h>

static char folder[] = "/tmp/tailor-test-XXXXXX", store_path[64], trace_path[64];

static int make_store(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(store_path, sizeof(store_path), "%s/s.tlrs", folder);
	snprintf(trace_path, sizeof(trace_path), "%s/t.tlr", folder);
	return base_make_store(store_path, trace_path, 3);
}

static int remove_store(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void plain_words_are_told_from_code(void **state)
{
	static const char ours[] = "CREATE TABLE event(id INTEGER PRIMARY KEY, name INT NOT NULL, unit INT NOT NULL, UNIQUE(name, unit))";

	(void)state;
	assert_true(schema_is_plain(ours));
	assert_true(schema_is_plain("CREATE TABLE t(a, b TEXT DEFAULT -1.5 NOT NULL, PRIMARY KEY(a, b)) WITHOUT ROWID"));
	assert_true(schema_is_plain("CREATE UNIQUE INDEX i ON t(a, b)"));
	assert_false(schema_is_plain("CREATE VIEW t AS SELECT 1"));
	assert_false(schema_is_plain("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM block; END"));
	assert_false(schema_is_plain("CREATE VIRTUAL TABLE t USING fts5(a)"));
	assert_false(schema_is_plain("CREATE TABLE t(a INT AS (b + 1), b)"));
	assert_false(schema_is_plain("CREATE TABLE t(a INT DEFAULT (random()))"));
	assert_false(schema_is_plain("CREATE TABLE t(a INT CHECK(a > 1))"));
	assert_false(schema_is_plain("CREATE TABLE t(a INT UNIQUE ON CONFLICT REPLACE)"));
	assert_false(schema_is_plain("CREATE TABLE t(a TEXT COLLATE other)"));
	assert_false(schema_is_plain("CREATE TABLE t(a INT REFERENCES u(b) ON DELETE CASCADE)"));
	assert_false(schema_is_plain("CREATE INDEX i ON t(a + 1)"));
	assert_false(schema_is_plain("CREATE INDEX i ON t(a) WHERE a > 1"));
	assert_true(schema_is_widened("CREATE TABLE event(id INTEGER PRIMARY KEY, name INT NOT NULL, unit INT NOT NULL, more INT, most "
				      "REAL NOT NULL DEFAULT 0, UNIQUE(name, unit))", ours));
	assert_false(schema_is_widened("CREATE TABLE event(id INTEGER PRIMARY KEY, name INT NOT NULL, unit INT NOT NULL, more INT AS (id), "
				       "UNIQUE(name, unit))", ours));
	assert_false(schema_is_widened("CREATE TABLE event(id INTEGER PRIMARY KEY, name INT NOT NULL, unit INT NOT NULL UNIQUE, "
				       "UNIQUE(name, unit))", ours));
	assert_false(schema_is_widened("CREATE TABLE event(id INTEGER PRIMARY KEY, name INT NOT NULL, UNIQUE(name, unit))", ours));
}

static double weight_of(const char *event, double *samples)
{
	const struct sums_question q = { .window = WINDOW_ALL, .by = SUMS_FUNCTION, .event = event };
	struct diag d = { "" };
	struct sums sums;
	struct store *s;
	double weight;

	assert_int_equal(store_open(store_path, STORE_READ, &s, &d), 0);
	assert_int_equal(sums_make(s, &q, &sums, &d), 0);
	*samples = sums.samples;
	weight = sums.weight;
	sums_fini(&sums);
	store_close(s);
	return weight;
}

static int take_rows(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr)
{
	(void)e;
	for (uint32_t i = 0; i < nr; i++)
		if (row[i].weight == row[i].samples && row[i].function)
			*(uint64_t *)context += row[i].weight;
	return 0;
}

/* Rows of generated code weigh one: in the store as it was added, and after its epochs became a day. */
static void generated_code_is_counted_once(void **state)
{
	double expected = 3.0 * BASE_FUNCTIONS, samples;
	struct diag d = { "" };
	uint64_t loads = 0;
	const struct rows_reader reader = { NULL, take_rows, &loads };
	const struct window all = WINDOW_ALL;
	struct store *s;

	(void)state;
	assert_true(weight_of(FOLD_LOADS, &samples) == expected && samples == expected);
	assert_true(weight_of("task-clock", &samples) == 10 * expected && samples == expected);
	assert_int_equal(store_open(store_path, STORE_CHANGE, &s, &d), 0);
	assert_int_equal(rows_read(s, &all, NULL, &reader, &d), 0);
	assert_int_equal(loads, 3 * BASE_FUNCTIONS);
	assert_int_equal(tend_store(s, (int64_t)BASE_BEGIN_NS + 86400000000000ll * 60, NULL, &d), 0);
	assert_int_equal(store_ask_number(s, "SELECT count(id) FROM epoch WHERE tier = 2"), 1);
	store_close(s);
	assert_true(weight_of(FOLD_LOADS, &samples) == expected && samples == expected);
	assert_true(weight_of("task-clock", &samples) == 10 * expected && samples == expected);
}

/* A function has one row, although its label may change from epoch to epoch, and is missing in epochs of an older tailor. */
static void labels_do_not_split_functions(void **state)
{
	static const char *const names[] = { "encode", "encode (= checksum)", "each (2 functions of this name)",
					     "each (3 functions of this name)", "eaches", "encode (int)" };
	struct joined_function joined[16] = { 0 };
	int64_t id[6], other, generated;
	struct diag d = { "" };
	struct store *s;

	(void)state;
	assert_int_equal(store_open_in_memory("labels", &s, &d), 0);
	for (int i = 0; i < 6; i++)
		id[i] = names_function(s, names[i], "/lib/libvideo.so", false);
	other = names_function(s, "encode", "/opt/libvideo.so", false);
	generated = names_function(s, "encode (= checksum)", "/lib/libvideo.so", true); /* a JIT's own name */
	assert_true(generated < 16);
	assert_true(names_join_functions(s, joined, 16));
	assert_int_equal(joined[id[0]].first, id[1]); /* the label is shown */
	assert_int_equal(joined[id[1]].first, id[1]);
	assert_int_equal(joined[other].first, id[1]);
	assert_int_equal(joined[id[1]].paths, 2);
	assert_int_equal(joined[id[3]].first, joined[id[2]].first);
	assert_int_equal(joined[joined[id[2]].first].paths, 1);
	assert_int_equal(joined[id[4]].first, id[4]);
	assert_int_equal(joined[generated].first, generated);
	assert_int_equal(joined[id[5]].first, id[5]);
	assert_int_equal(store_failed(s, &d), 0);
	store_close(s);
}

static void change_by_sql(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(store_path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void expect_refusal(const char *word)
{
	struct diag d = { "" };
	struct store *s;

	for (int access = STORE_READ; access <= STORE_ADD; access++) {
		assert_int_equal(store_open(store_path, (enum store_access)access, &s, &d), -EBADMSG);
		assert_non_null(strstr(d.text, "its schema is not that of a store of tailor"));
		assert_non_null(strstr(d.text, word));
	}
}

static void views_are_refused(void **state)
{
	(void)state;
	change_by_sql("CREATE VIEW later AS SELECT * FROM epoch");
	expect_refusal("view 'later'");
}

static void triggers_are_refused(void **state)
{
	(void)state;
	change_by_sql("CREATE TRIGGER later AFTER INSERT ON text BEGIN DELETE FROM block; END");
	expect_refusal("trigger 'later'");
}

static void plain_additions_are_taken(void **state)
{
	struct diag d = { "" };
	struct store *s;

	(void)state;
	change_by_sql("ALTER TABLE epoch ADD COLUMN later INT; CREATE TABLE later(a INT, b TEXT, UNIQUE(a)); ANALYZE;");
	assert_int_equal(store_open(store_path, STORE_ADD, &s, &d), 0);
	assert_int_equal(base_write_trace(trace_path, 4), 0);
	assert_int_equal(base_add_trace(s, trace_path, &d), 0);
	store_close(s);
}

static void endless_questions_are_given_up(void **state)
{
	static struct statement endless =
		STATEMENT("WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(x) FROM t");
	struct diag d = { "" };
	struct store *s;

	(void)state;
	assert_int_equal(store_open(store_path, STORE_READ, &s, &d), 0);
	assert_false(store_run(s, &endless, ""));
	assert_int_equal(store_failed(s, &d), -E2BIG);
	assert_non_null(strstr(d.text, "reading it takes more work than a file of its size should"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_words_are_told_from_code),
		cmocka_unit_test_setup_teardown(generated_code_is_counted_once, make_store, remove_store),
		cmocka_unit_test(labels_do_not_split_functions),
		cmocka_unit_test_setup_teardown(views_are_refused, make_store, remove_store),
		cmocka_unit_test_setup_teardown(triggers_are_refused, make_store, remove_store),
		cmocka_unit_test_setup_teardown(plain_additions_are_taken, make_store, remove_store),
		cmocka_unit_test_setup_teardown(endless_questions_are_given_up, make_store, remove_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
