/* SPDX-License-Identifier: MIT */
/*
 * ClickHouse by its HTTP interface, and what profiles are in it.
 *
 *	rows       samples and weight of a series (tier 1: in an hour) or of a series' function (tier 2: in a day), of a host
 *	manifest   which hours and days there are, of which host; inserted last
 *	series, functions   what the numbers are called: hashes of the names, the same on each host
 *
 * Rows count only if their attempt is the manifest's winner: the largest, whose upper bits are how many epochs it has.  So what an
 * interrupted insert leaves is never counted, what is inserted twice counts once, and an hour that gets a late epoch replaces itself.
 * Each server is by itself: a host's weeks lie on one of them, rows and manifest together, and answers are added up here.
 *
 * Statements are of what version 18.16 has and later ones still have.  Context: thread.
 */
#ifndef TAILOR_FLEET_CLICKHOUSE_H
#define TAILOR_FLEET_CLICKHOUSE_H

#include "analyzer/fleet/http.h"

#include <stdint.h>
#include <stdio.h>

#define CLICKHOUSE_SERVERS_MAX 64
#define CLICKHOUSE_ATTEMPT_BITS 40 /* of chance, below the number of epochs */
#define CLICKHOUSE_END_S (49673 * 86400u) /* behind 2105-12-31, the last day that version 18.16 has; the first is 1970-01-01 */

enum clickhouse_tier { CLICKHOUSE_HOURS = 1, CLICKHOUSE_DAYS = 2 };

struct clickhouse {
	char *url[CLICKHOUSE_SERVERS_MAX]; /* http[s]://[USER:PASSWORD@]HOST:PORT/ */
	int nr;
	char *database;
	bool can_wait[CLICKHOUSE_SERVERS_MAX]; /* it has the setting wait_for_async_insert, as clickhouse_greet() has found */
};

/* clickhouse[s]://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/DATABASE */
bool clickhouse_is_named(const char *text);
/* How much of ADDRESS[@WINDOW] is the address. */
size_t clickhouse_address_bytes(const char *text);
/* 0, or -errno with a sentence: -EINVAL: it is none. */
int clickhouse_init(struct clickhouse *c, const char *text, struct diag *d);
void clickhouse_fini(struct clickhouse *c);

/* Is it a ClickHouse?  To be called before any other statement.  0, or -errno with a sentence. */
int clickhouse_greet(struct clickhouse *c, int server, struct diag *d);
/* A question, in which $ is the database; the answer's body is lines.  0, or -errno with a sentence: -EFBIG: more than 64 MiB of them. */
int clickhouse_ask(const struct clickhouse *c, int server, const char *statement, struct http_answer *a, struct diag *d);
/* A statement that has no answer, and lines of data behind it.  0: the server has it all. */
int clickhouse_tell(const struct clickhouse *c, int server, const char *statement, const char *data, size_t nr, struct diag *d);
/* Database and tables, where they are not there. */
int clickhouse_create(const struct clickhouse *c, int server, struct diag *d);

/* The day (UTC) of a time since 1970, as a column of a line, or in quotes as a part of a statement. */
void clickhouse_format_day(int64_t s, char text[16]);
/* A text as a column of a line; and as a part of a statement, in quotes. */
void clickhouse_put_text(FILE *to, const char *text);
/* The columns of the line at *at, unescaped in place; *at: the next line.  How many; 0: there is no more. */
int clickhouse_split(char **at, char **column, int nr);
/* A column that is a whole number, and nothing else.  false: it is none. */
bool clickhouse_number(const char *text, uint64_t *number);
/* -EBADMSG, with a sentence that has the line, which may be an exception: a server that fails amid an answer has sent its status. */
int clickhouse_misread(const char *line, struct diag *d);

#endif
