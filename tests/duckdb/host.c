/* SPDX-License-Identifier: MIT */
/*
 * A program that runs SQL in DuckDB's library, which it loads when it has started:
 *
 *	host LIBRARY [DATABASE] < STATEMENTS
 *
 * A statement ends with a semicolon at the end of a line.  Lines before it say what is done with it:
 *
 *	-- repeat SECONDS   again and again, for so long
 *	-- print            its rows
 *	-- expect MESSAGE   it fails, for this reason
 *	-- processor time   from now on the library's clocks are of the processor time of the thread that reads them
 *
 * For each repeated statement: its begin and end by CLOCK_MONOTONIC in ns, how often it ran, and a hash of its rows.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t idx_t;
/* duckdb_result of duckdb.h: only functions look into it. */
struct result {
	idx_t columns, rows, changed;
	void *internal[3];
};

static int (*db_open)(const char *path, void **database);
static int (*db_connect)(void *database, void **connection);
static int (*db_query)(void *connection, const char *text, struct result *out);
static void (*db_destroy)(struct result *r);
static idx_t (*db_columns)(struct result *r);
static idx_t (*db_rows)(struct result *r);
static char *(*db_text)(struct result *r, idx_t column, idx_t row);
static const char *(*db_error)(struct result *r);
static void (*db_free)(void *p);
static void (*db_disconnect)(void **connection);
static void (*db_close)(void **database);

static void *library;
static int is_processor_time;
static int64_t clock_cost_ns; /* of reading the processor time, which is a system call */

/* std::chrono's clocks, which the library calls in this program: what EXPLAIN (ANALYZE) measures then is free of other work on the
 * machine. */
int64_t steady_now(void) __asm__("_ZNSt6chrono3_V212steady_clock3nowEv");
int64_t system_now(void) __asm__("_ZNSt6chrono3_V212system_clock3nowEv");

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Without what it costs to be asked so often. */
static int64_t read_clock(clockid_t clock)
{
	static __thread int64_t cost_ns, last;
	int64_t now;

	if (!is_processor_time)
		return nanoseconds(clock);
	now = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cost_ns;
	cost_ns += clock_cost_ns;
	last = now > last ? now : last;
	return last;
}

static void begin_processor_time(void)
{
	int64_t begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	const int times = 10000;

	for (int i = 0; i < times; i++)
		nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	clock_cost_ns = (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin) / times;
	is_processor_time = 1;
}

int64_t steady_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t system_now(void)
{
	return read_clock(CLOCK_REALTIME);
}

static void *symbol(const char *name)
{
	void *p = dlsym(library, name);

	if (!p) {
		fprintf(stderr, "host: %s\n", dlerror());
		exit(1);
	}
	return p;
}

static void load(const char *path)
{
	library = dlopen(path, RTLD_LAZY);
	if (!library) {
		fprintf(stderr, "host: %s\n", dlerror());
		exit(1);
	}
	*(void **)&db_open = symbol("duckdb_open");
	*(void **)&db_connect = symbol("duckdb_connect");
	*(void **)&db_query = symbol("duckdb_query");
	*(void **)&db_destroy = symbol("duckdb_destroy_result");
	*(void **)&db_columns = symbol("duckdb_column_count");
	*(void **)&db_rows = symbol("duckdb_row_count");
	*(void **)&db_text = symbol("duckdb_value_varchar");
	*(void **)&db_error = symbol("duckdb_result_error");
	*(void **)&db_free = symbol("duckdb_free");
	*(void **)&db_disconnect = symbol("duckdb_disconnect");
	*(void **)&db_close = symbol("duckdb_close");
}

static uint64_t now_ns(void)
{
	return (uint64_t)nanoseconds(CLOCK_MONOTONIC);
}

/* Rows may come in any order. */
static uint64_t take_rows(struct result *r, int print)
{
	uint64_t sum = 0;

	for (idx_t row = 0; row < db_rows(r); row++) {
		uint64_t hash = 14695981039346656037ull;

		for (idx_t column = 0; column < db_columns(r); column++) {
			char *text = db_text(r, column, row);

			for (const char *c = text ? text : "NULL"; *c; c++)
				hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
			hash = (hash ^ 31) * 1099511628211ull;
			if (print)
				printf("%s%s", column ? "\t" : "", text ? text : "NULL");
			db_free(text);
		}
		if (print)
			putchar('\n');
		sum += hash;
	}
	return sum;
}

static int run(void *connection, const char *text, double seconds, int print, const char *expected)
{
	uint64_t begin = now_ns(), hash = 0, times = 0;

	do {
		struct result r;

		if (db_query(connection, text, &r)) {
			const char *error = db_error(&r);

			if (*expected && error && strstr(error, expected)) {
				printf("failed as expected\n");
			} else {
				fprintf(stderr, "host: %s: %s\n", text, error ? error : "?");
				return 1;
			}
		} else {
			uint64_t of = take_rows(&r, print && !times);

			if (times && of != hash) {
				fprintf(stderr, "host: %s: the rows differ from those before\n", text);
				return 1;
			}
			hash = of;
		}
		db_destroy(&r);
		times++;
	} while (now_ns() < begin + (uint64_t)(seconds * 1e9));
	if (seconds > 0)
		printf("repeated %llu %llu %llu %016llx\n", (unsigned long long)begin, (unsigned long long)now_ns(),
		       (unsigned long long)times, (unsigned long long)hash);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	void *database, *connection;
	static char line[8192], expected[256], text[1 << 20];
	double seconds = 0;
	int print = 0;

	if (argc < 2)
		return 2;
	load(argv[1]);
	if (db_open(argc > 2 ? argv[2] : NULL, &database) || db_connect(database, &connection)) {
		fprintf(stderr, "host: the database cannot be opened\n");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		size_t n = strlen(line);

		if (!*text && sscanf(line, "-- repeat %lf", &seconds) == 1)
			continue;
		if (!*text && sscanf(line, "-- expect %255[^\n]", expected) == 1)
			continue;
		if (!*text && strncmp(line, "-- processor time", 17) == 0) {
			begin_processor_time();
			continue;
		}
		if (!*text && strncmp(line, "-- print", 8) == 0) {
			print = 1;
			continue;
		}
		if (!*text && line[0] == '-' && line[1] == '-')
			continue; /* a comment */
		if (strlen(text) + n >= sizeof(text))
			return 1;
		strcat(text, line);
		if (n < 2 || strcmp(line + n - 2, ";\n") != 0)
			continue;
		if (run(connection, text, seconds, print, expected))
			return 1;
		*text = *expected = 0;
		seconds = print = 0;
	}
	db_disconnect(&connection);
	db_close(&database);
	return 0;
}
