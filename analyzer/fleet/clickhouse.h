/* SPDX-License-Identifier: MIT */
/*
 * ClickHouse by its HTTP interface, and the tables of profiles in it.
 *
 *	rows       samples and weight of a host's series (tier 1: in an hour) or of a function of a series (tier 2: in a day)
 *	manifest   the hours and days of each host; inserted last
 *	series, functions   names of the numbers, which are hashes of the names, the same on each host
 *
 * Rows count only if their attempt is the manifest's winner, which is the largest. Its upper bits are the number of its epochs. So rows of
 * an interrupted insert are never counted, an hour that is inserted twice counts once, and an hour that gets a late epoch replaces itself.
 * Each server stands alone: a host's weeks lie on one of them, rows and manifest together, and the reader adds up the answers.
 *
 * Statements only use features that version 18.16 has and later ones still have. Context: thread.
 */
#ifndef TAILOR_FLEET_CLICKHOUSE_H
#define TAILOR_FLEET_CLICKHOUSE_H

#include "analyzer/fleet/http.h"

#include <stdint.h>
#include <stdio.h>

#define CLICKHOUSE_SERVERS_MAX 64
#define CLICKHOUSE_ATTEMPT_BITS 40 /* random bits below the number of epochs */
#define CLICKHOUSE_END_S (49673 * 86400u) /* behind 2105-12-31, the last day of version 18.16; the first is 1970-01-01 */

enum clickhouse_tier { CLICKHOUSE_HOURS = 1, CLICKHOUSE_DAYS = 2 };

struct clickhouse {
	char *url[CLICKHOUSE_SERVERS_MAX]; /* http[s]://[USER:PASSWORD@]HOST:PORT/ */
	int nr;
	char *database;
	bool can_wait[CLICKHOUSE_SERVERS_MAX]; /* the server has the setting wait_for_async_insert; set by clickhouse_greet() */
};

/* clickhouse[s]://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/DATABASE */
bool clickhouse_is_named(const char *text);
/* Return how many bytes of ADDRESS[@WINDOW] are the address. */
size_t clickhouse_address_bytes(const char *text);
/* Return 0, or -errno with a sentence. -EINVAL: the text is no such address. */
int clickhouse_init(struct clickhouse *c, const char *text, struct diag *d);
void clickhouse_fini(struct clickhouse *c);

/* Is the server a ClickHouse? Call this before any other statement. Return 0, or -errno with a sentence. */
int clickhouse_greet(struct clickhouse *c, int server, struct diag *d);
/* Ask a question, in which $ is the database. The answer's body is lines. Return 0, or -errno with a sentence. -EFBIG: the lines have more
 * than 64 MiB. */
int clickhouse_ask(const struct clickhouse *c, int server, const char *statement, struct http_answer *a, struct diag *d);
/* Send a statement without an answer, and lines of data behind it. Return 0 if the server has it all, or -errno with a sentence. */
int clickhouse_tell(const struct clickhouse *c, int server, const char *statement, const char *data, size_t nr, struct diag *d);
/* Create the database and the tables if they do not exist. */
int clickhouse_create(const struct clickhouse *c, int server, struct diag *d);

/* Format the day (UTC) of a time in seconds since 1970, as a column of a line, or in quotes as a part of a statement. */
void clickhouse_format_day(int64_t s, char text[16]);
/* Write a text as a column of a line, or in quotes as a part of a statement. */
void clickhouse_put_text(FILE *to, const char *text);
/* Split the line at *at into columns, unescaped in place, and move *at to the next line. Return how many columns there are, or 0 at the
 * end. */
int clickhouse_split(char **at, char **column, int nr);
/* Parse a column that is a whole number. Return false if it is anything else. */
bool clickhouse_number(const char *text, uint64_t *number);
/* Return -EBADMSG, with a sentence that contains the line. The line may be an exception, because a server that fails amid an answer has
 * already sent its status. */
int clickhouse_misread(const char *line, struct diag *d);

#endif
