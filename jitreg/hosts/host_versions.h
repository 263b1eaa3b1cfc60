/* SPDX-License-Identifier: MIT */
/*
 * This file lists hosts whose internal data structures the profiler reads. For each it has the versions with which that was tested, what a
 * recording lacks if the version is another one or lacks a function that is needed, and what users can do then. The agent, the recorder
 * and `tailor doctor` only find the host and the reason (struct host_lack). docs/hosts.md has the list as a table, which
 * tests/unit/test_host_versions.c compares. Context: any. No function allocates memory.
 */
#ifndef TAILOR_HOST_VERSIONS_H
#define TAILOR_HOST_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

/* These are versions of hosts, also for the agent's code that compares with them. */
#define HOST_V8_OLDEST 9
#define HOST_V8_NEWEST 14
#define HOST_CPYTHON_OLDEST 8 /* minor version of Python 3 */
#define HOST_CPYTHON_NEWEST 15

#define HOST_TEXT_(x) #x
#define HOST_TEXT(x) HOST_TEXT_(x)

/*
 * Columns: constant, host, names of its rows in jit_hosts (jit_hosts.h), oldest and newest tested version, what is missing with others,
 * what users can do.  A version such as "3.40" stands for all that begin with its numbers.  The last text is a sentence without its full
 * stop.
 */
#define HOST_VERSIONS(X) \
	X(V8, "V8", "Node deno", HOST_TEXT(HOST_V8_OLDEST), HOST_TEXT(HOST_V8_NEWEST), "names of JavaScript functions", \
	  "Run node with --perf-basic-prof") \
	X(CPYTHON, "CPython", "CPython", "3." HOST_TEXT(HOST_CPYTHON_OLDEST), "3." HOST_TEXT(HOST_CPYTHON_NEWEST), \
	  "names of Python functions", "Run python with -X perf") \
	X(POSTGRESQL, "PostgreSQL", "", "14", "19", "plan nodes and conditions", "EXPLAIN (ANALYZE) has times of plan nodes") \
	X(DUCKDB, "DuckDB", "", "1.2", "2.0", "queries, pipelines and operators", "EXPLAIN ANALYZE has times of operators") \
	X(SQLITE, "SQLite", "", "3.40", "3.46", "statements and their instructions", \
	  "sqlite3's .scanstats vm has times of instructions") \
	X(SQLITE_STEP, "SQLite", "", "3.40", "3.40", "instructions of statements", \
	  "Samples belong to statements; sqlite3's .scanstats vm has times of instructions") \
	X(OPENJDK, "OpenJDK", "OpenJDK", "17", "25", "names of compiled Java methods", "Start it under `tailor run`") \
	X(RUBY, "Ruby", "Ruby", "3.1", "3.3", "names of YJIT's code", "YJIT of Ruby 3.1 and 3.3 tells them") \
	X(PHP, "PHP", "PHP", "8.2", "8.6", "names of compiled functions", "Run php with -d opcache.jit_debug=0x100") \
	X(ERLANG, "Erlang", "Erlang", "25", "27", "names of generated code", "Run erl with +JPperf true") \
	X(LUAJIT, "LuaJIT", "LuaJIT", "2.1", "2.1", "names of traces", "`tailor report --view asm` lists their instructions") \
	X(SPARK, "Spark", "", "4.0", "4.0", "lines of generated code", "`tailor plan --spark EVENTLOG` adds the plans of an event log")

#define HOST_NAME_(NAME, ...) HOST_##NAME,
enum host_version { HOST_VERSIONS(HOST_NAME_) NR_HOST_VERSIONS };
#undef HOST_NAME_

struct host_versions {
	const char *key; /* the constant without HOST_, as "V8", which agents send in CONTROL records */
	const char *host, *jit_hosts, *oldest, *newest, *missing, *helps;
};
extern const struct host_versions host_versions[NR_HOST_VERSIONS];

/*
 * Information of a host is missing because its version is not one of the tested ones, or because it lacks a part that is needed. version:
 * digits and dots, or "" if unknown. why: a printable clause about the missing part, which fits after "because", or "" if the version is
 * the reason.
 */
#define HOST_VERSION_BYTES 32
#define HOST_WHY_BYTES 192
struct host_lack {
	enum host_version host;
	char version[HOST_VERSION_BYTES], why[HOST_WHY_BYTES];
};

/* This is the printf() format of why, and its arguments, if a function with this name is missing.  Long names are cut. */
#define HOST_LACKS_SYMBOL "its library lacks %.60s%s"
#define HOST_LACKS_SYMBOL_ARGUMENTS(name) name, strlen(name) > 60 ? "..." : ""

/* Fill *l. version: the digits and dots at its beginning, or behind a "v" there, are taken. why: characters other than printable ASCII
 * become '?'. Long texts are cut. */
void host_lack_set(struct host_lack *l, enum host_version host, const char *version, const char *why);
bool host_lack_is(const struct host_lack *a, const struct host_lack *b);
/* Parse the text of an agent's CONTROL record (JIT_CONTROL_LACK), which is untrusted: key, version and why, with newlines between them.
 * Returns false if a newline is missing, or if no host has the key. */
bool host_lack_parse(struct host_lack *l, const char *text, size_t bytes);

/* Is the version from the oldest to the newest tested version?  An unknown version ("") counts as one. */
bool host_version_is_verified(enum host_version host, const char *version);

/* Returns the sentence that says what users can do.  It is "" for versions older than the tested ones, for which it may not be true. */
const char *host_lack_helps(const struct host_lack *l);
/* Write the reason as a clause, and return text: that the version is not a tested one ("it is newer than the versions verified (9 to 14)"),
 * or else l->why with the tested versions. */
#define HOST_REASON_BYTES (HOST_WHY_BYTES + 96)
const char *host_lack_reason(const struct host_lack *l, char text[HOST_REASON_BYTES]);
/* Write the sentence "V8 99.1: names of JavaScript functions are missing, because REASON. WHAT HELPS", without its last full stop, and
 * return text. */
#define HOST_SENTENCE_BYTES 640
const char *host_lack_sentence(const struct host_lack *l, char text[HOST_SENTENCE_BYTES]);

/* This struct is a list of entries, no two of which are equal. */
#define HOST_LACKS_MAX 16
struct host_lacks {
	struct host_lack list[HOST_LACKS_MAX];
	unsigned nr;
};
/* Add an entry.  Returns false if the list has an equal one already, or is full. */
bool host_lacks_add(struct host_lacks *all, const struct host_lack *l);
/* host_lacks_have(): does the list have an entry whose host has this name in jit_hosts?  host_is_named(): is jit_host one of the words,
 * separated by spaces, of jit_hosts? */
bool host_lacks_have(const struct host_lacks *all, const char *jit_host);
bool host_is_named(const char *jit_hosts, const char *jit_host);

#endif
