/* SPDX-License-Identifier: MIT */
/*
 * Any changes of a store, in its pages and by SQL, with rows, blocks whose checksums are right, dates, tables, views and triggers: it is
 * refused in a sentence, or every question to it ends, and so does what adds to it and tends it.
 */
#include "tests/fuzz/fuzz.h"

#include "analyzer/store/block.h"
#include "analyzer/store/changes.h"
#include "analyzer/store/rows.h"
#include "analyzer/store/tables.h"
#include "analyzer/store/tend.h"
#include "jitreg/base/crc32c.h"
#include "tests/fuzz/store_base.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zstd.h>

#define PAGE_BYTES 4096u
#define STORE_MAX (1u << 20)
#define NOW_NS ((int64_t)BASE_BEGIN_NS + 86400000000000ll * 60)

/* In memory where that is a file system: a store waits for its disk after each transaction. */
static char folder[] = "/dev/shm/fuzz_store.XXXXXX", store_path[64], trace_path[64];
static unsigned char base[STORE_MAX], mutant[STORE_MAX];
static size_t base_bytes;
static FILE *nowhere;

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static int64_t take_number(struct input *in)
{
	static const int64_t numbers[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1ll << 27, (1ll << 27) - 1, 1ll << 31, 1ll << 62,
					   -3600000000001ll, 1700000000000000000ll, 4096, 16777216, 16777217, 1000000, 50, 65535,
					   -86400000000000ll };
	unsigned n = take(in);

	return n < 128 ? numbers[n % (sizeof(numbers) / sizeof(numbers[0]))] : (int64_t)(n - 128) << take(in) % 56;
}

static void remove_store(void)
{
	static const char *const suffixes[] = { "", "-lock", "-wal", "-shm", "-journal" };
	char path[128];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", store_path, suffixes[i]);
		unlink(path);
	}
}

static void remove_all(void)
{
	remove_store();
	unlink(trace_path);
	rmdir(folder);
}

static void prepare(void)
{
	FILE *f;

	if (!mkdtemp(folder)) {
		strcpy(folder, "/tmp/fuzz_store.XXXXXX");
		if (!mkdtemp(folder))
			abort();
	}
	snprintf(store_path, sizeof(store_path), "%s/s.tlrs", folder);
	snprintf(trace_path, sizeof(trace_path), "%s/t.tlr", folder);
	nowhere = fopen("/dev/null", "w");
	if (!nowhere || base_make_store(store_path, trace_path, 5) || base_write_trace(trace_path, 6))
		abort();
	f = fopen(store_path, "rb");
	base_bytes = f ? fread(base, 1, sizeof(base), f) : 0;
	if (!base_bytes || base_bytes == sizeof(base))
		abort();
	fclose(f);
	atexit(remove_all);
}

/* ------------------------------------------------------------------------------------------------------------- mutants */

static void mutate_pages(struct input *in, unsigned char *bytes, size_t *nr)
{
	uint32_t page = take(in) % (uint32_t)(*nr / PAGE_BYTES + 1) * PAGE_BYTES, at = (take(in) << 8 | take(in)) % PAGE_BYTES, value;

	if (page >= *nr)
		page = 0;
	switch (take(in) % 5) {
	case 0:
		bytes[page + at] = (unsigned char)take(in);
		break;
	case 1:
		value = (uint32_t)take_number(in);
		memcpy(bytes + page + (at & ~3u), &value, 4);
		break;
	case 2: /* the beginning of a page: its kind, cells, right child */
		bytes[page + at % 16] = (unsigned char)take(in);
		break;
	case 3:
		memmove(bytes + page, bytes + take(in) % (uint32_t)(*nr / PAGE_BYTES) * PAGE_BYTES, PAGE_BYTES);
		break;
	case 4:
		if (take(in) % 8 == 0)
			*nr = page + at + 1;
		else
			bytes[at % 100] = (unsigned char)take(in); /* the file's head */
		break;
	}
}

static int spend(void *left)
{
	return --*(int *)left < 0;
}

/* A statement of any kind, with ?1 and ?2. */
static void run_sql(sqlite3 *db, const char *sql, int64_t a, int64_t b)
{
	while (*sql) {
		sqlite3_stmt *q = NULL;

		if (sqlite3_prepare_v2(db, sql, -1, &q, &sql) != SQLITE_OK || !q)
			return;
		sqlite3_bind_int64(q, 1, a);
		sqlite3_bind_int64(q, 2, b);
		for (int i = 0; i < 100 && sqlite3_step(q) == SQLITE_ROW; i++)
			;
		sqlite3_finalize(q);
	}
}

static const char *const changes_by_sql[] = {
	"UPDATE epoch SET begin_ns = ?1",
	"UPDATE epoch SET end_ns = ?1",
	"UPDATE epoch SET begin_ns = ?1, end_ns = ?2 WHERE id % 2",
	"UPDATE epoch SET begin_ns = begin_ns + ?1 * id, end_ns = end_ns - ?2 * id",
	"UPDATE epoch SET begin_ns = 1e300",
	"UPDATE epoch SET begin_ns = -1e300 WHERE id = 2",
	"UPDATE epoch SET begin_ns = 'x', end_ns = x'00'",
	"UPDATE epoch SET samples = ?1, effective = ?2",
	"UPDATE epoch SET samples = 1e308 * 10, effective = -1e308 * 10",
	"UPDATE epoch SET samples = 'nan', lost = ?1",
	"UPDATE epoch SET tier = ?1, host = ?2",
	"UPDATE OR IGNORE epoch SET recording = ?1, number = ?2",
	"UPDATE epoch SET lost = ?1, cpus = ?2, parts = ?1",
	"UPDATE OR IGNORE epoch SET id = ?1 WHERE id = 3",
	"UPDATE OR IGNORE series SET process = ?1, component = ?2",
	"UPDATE OR IGNORE series SET event = ?1",
	"UPDATE OR IGNORE series SET id = ?1 WHERE id = (SELECT max(id) FROM series)",
	"UPDATE OR IGNORE place SET series = ?1, function = function + ?2",
	"UPDATE OR IGNORE place SET id = ?1 WHERE id = (SELECT max(id) FROM place)",
	"UPDATE OR IGNORE text SET id = ?1 WHERE id = ?2",
	"UPDATE text SET s = hex(zeroblob(?1 & 65535))",
	"UPDATE text SET s = x'1b5d303b07ff80' || s",
	"UPDATE text SET s = zeroblob(9), hash = ?1",
	"UPDATE OR IGNORE component SET level = ?1, name = ?2",
	"UPDATE OR IGNORE component SET place = ?1, detail = ?2, query = ?1, label = ?2",
	"UPDATE OR IGNORE function SET name = ?1, image = ?2, jit = ?1",
	"UPDATE OR IGNORE process SET name = ?1, executable = ?2, service = ?1",
	"UPDATE OR IGNORE event SET name = ?1, unit = ?2",
	"UPDATE block SET rows = ?1",
	"UPDATE block SET bytes = ?1",
	"UPDATE block SET crc = ?1, data = zeroblob(?2 & 65535)",
	"UPDATE OR IGNORE block SET epoch = ?1, part = ?2 WHERE epoch = 1",
	"INSERT OR IGNORE INTO folded VALUES(?1, ?2)",
	"INSERT OR REPLACE INTO meta VALUES('cap', ?1)",
	"INSERT OR REPLACE INTO meta VALUES('cap', 'x')",
	"UPDATE meta SET value = zeroblob(?1 & 65535)",
	"INSERT INTO reason SELECT id, ?1, ?2, 1e308, -1e308 FROM epoch",
	"INSERT OR IGNORE INTO loss SELECT id, ?1, ?2 FROM epoch",
	"INSERT OR IGNORE INTO epoch SELECT id + 100, recording + ?1, number, 0, begin_ns + ?2, end_ns, host, samples, effective, 0, 1, 1 "
	"FROM epoch;"
	"INSERT OR IGNORE INTO block SELECT epoch + 100, part, rows, bytes, crc, data FROM block",
	"DELETE FROM text WHERE id > ?1",
	"DELETE FROM function; DELETE FROM component",
	"DROP TABLE text; CREATE VIEW text(id, hash, s) AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) "
	"SELECT x, 1, 'a' FROM t",
	"DROP TABLE place; CREATE VIEW place AS SELECT 1 AS id, 1 AS series, 1 AS function",
	"CREATE VIEW other AS SELECT * FROM epoch",
	"CREATE TRIGGER x AFTER INSERT ON epoch BEGIN DELETE FROM block; END",
	"CREATE TRIGGER x BEFORE DELETE ON text BEGIN INSERT INTO text(hash, s) VALUES(1, hex(zeroblob(9999))); END",
	"CREATE INDEX i ON text(length(hex(zeroblob(99999))))",
	"CREATE INDEX i ON text(s) WHERE id > 3",
	"CREATE INDEX i ON place(function)",
	"ALTER TABLE epoch ADD COLUMN x INT",
	"ALTER TABLE epoch ADD COLUMN x INT AS (length(hex(zeroblob(99999999))))",
	"ALTER TABLE block ADD COLUMN x INT NOT NULL DEFAULT 3",
	"CREATE TABLE plain(a INT, b TEXT); INSERT INTO plain VALUES(?1, ?2)",
	"DROP TABLE loss; CREATE TABLE loss(epoch INT NOT NULL, reason INT NOT NULL, count INT AS (epoch * 2))",
	"DROP INDEX text_hash",
	"ANALYZE",
	"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = ?1 WHERE name = 'text'",
	"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'place') WHERE "
	"name = 'epoch'",
	"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'series'",
	"PRAGMA user_version = 4",
	"PRAGMA journal_mode = DELETE",
	"PRAGMA default_cache_size = 1000000",
};
#define NR_CHANGES (sizeof(changes_by_sql) / sizeof(changes_by_sql[0]))

/* A block whose checksum is right, of bytes that say anything. */
static void put_block(struct input *in, sqlite3 *db)
{
	static unsigned char plain[1 << 18], packed[1 << 18];
	int64_t rows = take_number(in), epoch = 1 + take(in) % 6;
	size_t nr = 1 + (take(in) << 10) % sizeof(plain), stored;
	unsigned char fill = (unsigned char)take(in);
	sqlite3_stmt *q;

	memset(plain, fill, nr);
	for (unsigned i = take(in) % 32; i; i--)
		plain[(take(in) << 4) % nr] = (unsigned char)take(in);
	stored = ZSTD_compress(packed, sizeof(packed), plain, nr, 1);
	if (ZSTD_isError(stored) ||
	    sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO block VALUES(?, ?, ?, ?, ?, ?)", -1, &q, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_int64(q, 1, epoch);
	sqlite3_bind_int64(q, 2, take(in) % 2);
	sqlite3_bind_int64(q, 3, rows % 2 ? rows : (int64_t)(nr / 3));
	sqlite3_bind_int64(q, 4, (int64_t)nr);
	sqlite3_bind_int64(q, 5, (int64_t)crc32c(0, packed, stored));
	sqlite3_bind_blob(q, 6, packed, (int)stored, SQLITE_STATIC);
	sqlite3_step(q);
	sqlite3_finalize(q);
}

static void mutate_rows(struct input *in)
{
	int left = 1000;
	sqlite3 *db;

	if (sqlite3_open_v2(store_path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		sqlite3_close(db);
		return;
	}
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
	sqlite3_progress_handler(db, 1000, spend, &left);
	for (unsigned n = 1 + take(in) % 3; n; n--) {
		unsigned kind = take(in) % (NR_CHANGES + 8);

		if (kind >= NR_CHANGES) {
			put_block(in, db);
		} else {
			int64_t a = take_number(in), b = take_number(in);

			run_sql(db, changes_by_sql[kind], a, b);
		}
	}
	sqlite3_close(db);
}

static bool write_file(const unsigned char *bytes, size_t nr)
{
	FILE *f = fopen(store_path, "wb");
	bool is_written = f && fwrite(bytes, 1, nr, f) == nr;

	return f && fclose(f) == 0 && is_written;
}

static void make_mutant(struct input *in)
{
	unsigned order = take(in);
	size_t nr = base_bytes;
	FILE *f;

	remove_store();
	if (!write_file(base, base_bytes))
		abort();
	if (order % 4) /* rows first, so that their pages are mutated, too */
		mutate_rows(in);
	if (order % 4 == 1)
		return;
	f = fopen(store_path, "rb");
	nr = f ? fread(mutant, 1, sizeof(mutant), f) : 0;
	if (f)
		fclose(f);
	for (unsigned n = 1 + take(in) % 6; n && nr > 2 * PAGE_BYTES; n--)
		mutate_pages(in, mutant, &nr);
	if (!write_file(mutant, nr))
		abort();
}

/* ----------------------------------------------------------------------------------------------------------- questions */

static void expect_sentence(int ret, const struct diag *d)
{
	if (ret < 0 && ret != -1 && !d->text[0])
		abort();
}

/* A fuzzer has less patience than a user. */
static void bound(struct store *s)
{
	static const struct budget_size small = { .steps = 1000000, .bytes = 256u << 20, .steps_each = 2, .bytes_each = 32 };

	s->budget_size = &small;
}

static void show(struct store *s, enum sums_by by, const struct sums *sums, struct diag *d)
{
	for (int form = 0; form < 2; form++) {
		struct page p;

		if (page_init(&p, nowhere, form ? PAGE_JSON : PAGE_TEXT))
			return;
		p.top = form ? 0 : 5;
		tables_describe(&p, sums);
		if (sums->epochs.nr) {
			tables_lines(&p, s, by, sums, d);
			tables_timeline(&p, s, by, sums, d);
			tables_reasons(&p, s, sums, d);
			tables_epochs(&p, sums);
		}
		page_end(&p);
	}
}

static int take_epoch(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr)
{
	struct store *s = context;

	for (uint32_t i = 0; i < nr && i < 100; i++) {
		rows_series(s, row[i].series);
		rows_function(s, row[i].function);
	}
	return e->host ? 0 : -EINVAL;
}

static void ask_all(void)
{
	struct changes changes = { 0 };
	struct window w = WINDOW_ALL;
	struct profile profile;
	struct diag d = { "" };
	struct rows_reader reader = { .epoch = take_epoch };
	uint32_t nr = 0;
	struct store *s;
	int ret = store_open(store_path, STORE_READ, &s, &d);

	expect_sentence(ret, &d);
	if (ret)
		return;
	bound(s);
	for (int by = SUMS_COMPONENT; by <= SUMS_SERVICE && !store_has_failed(s); by++) {
		const struct sums_question q = { .window = WINDOW_ALL, .by = (enum sums_by)by };
		struct sums sums;

		d.text[0] = 0;
		ret = sums_make(s, &q, &sums, &d);
		expect_sentence(ret, &d);
		if (ret == 0)
			show(s, q.by, &sums, &d);
		sums_fini(&sums);
		if (sums_profile(s, &q, "it", &profile, &d) == 0)
			profile_fini(&profile);
		if (by == SUMS_COMPONENT && changes_find(s, &q, &changes, &d) == 0)
			nr = changes.nr;
		changes_fini(&changes);
	}
	reader.context = s;
	rows_span(s, &w);
	rows_read(s, &w, NULL, &reader, &d);
	store_close(s);
	d.text[0] = 0;
	ret = store_open(store_path, STORE_READ, &s, &d);
	expect_sentence(ret, &d);
	if (ret)
		return;
	bound(s);
	expect_sentence(tend_check(s, nowhere, &nr, &d), &d);
	store_close(s);
}

static void tend(enum store_access access)
{
	struct diag d = { "" };
	struct store *s;
	int ret = store_open(store_path, access, &s, &d);

	expect_sentence(ret, &d);
	if (ret)
		return;
	bound(s);
	if (access == STORE_ADD)
		expect_sentence(base_add_trace(s, trace_path, &d), &d);
	else
		store_set_cap(s, 100000, &d);
	if (!store_has_failed(s))
		expect_sentence(tend_store(s, NOW_NS, NULL, &d), &d);
	store_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (!base_bytes)
		prepare();
	make_mutant(&in);
	ask_all();
	tend(STORE_ADD);
	tend(STORE_CHANGE);
	return 0;
}
