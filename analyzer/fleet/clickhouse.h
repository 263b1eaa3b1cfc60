/* SPDX-License-Identifier: MIT */
/*
 * Speaks to ClickHouse by its HTTP interface, and creates the tables of profiles in it.
 *
 *	rows       samples and weight of a host's series (tier 1: in an hour) or of a function of a series (tier 2: in a day)
 *	manifest   the hours and days of each host; inserted last
 *	series, functions   names of the numbers, which are hashes of the names, the same on each host
 *
 * Each insert of an hour or a day of a host has a number, its attempt, in its rows and in the manifest. Only the rows of the largest
 * attempt in the manifest count. The upper bits of an attempt are the number of epochs of the hour or day, up to 2^23. So rows of an
 * interrupted insert are never counted, an hour that is inserted twice counts once, and an hour that gets a late epoch replaces what was
 * inserted before. Servers do not know of each other. The rows of an hour or a day of a host are on one of them, together with their line
 * of the manifest, and the reader adds up the answers of all servers.
 *
 * Statements only use features that version 18.16 has and later ones still have. Context: thread.
 */
#ifndef TAILOR_FLEET_CLICKHOUSE_H
#define TAILOR_FLEET_CLICKHOUSE_H

#include "analyzer/fleet/http.h"

#include <stdint.h>
#include <stdio.h>

#define CLICKHOUSE_SERVERS_MAX 64
#define CLICKHOUSE_ATTEMPT_BITS 40 /* lower bits of an attempt, which are random; the number of epochs is above */
/* seconds since 1970 of the end of 2105-12-31, the last day that version 18.16 has; the first one is 1970-01-01 */
#define CLICKHOUSE_END_S (49673 * 86400u)

enum clickhouse_tier { CLICKHOUSE_HOURS = 1, CLICKHOUSE_DAYS = 2 };

struct clickhouse {
	char *url[CLICKHOUSE_SERVERS_MAX]; /* http[s]://[USER:PASSWORD@]HOST:PORT/ */
	int nr;
	char *database;
	bool can_wait[CLICKHOUSE_SERVERS_MAX]; /* by server: it has the setting wait_for_async_insert; set by clickhouse_greet() */
};

/* Return whether the text begins with clickhouse:// or clickhouses://, as the address
 * clickhouse[s]://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/DATABASE does. */
bool clickhouse_is_named(const char *text);
/* Return the length of the address in ADDRESS[@WINDOW]. The text must begin like an address. */
size_t clickhouse_address_bytes(const char *text);
/* Parse an address, which may be followed by @WINDOW. The text must begin like an address. Return 0, or -errno with the reason in d;
 * -EINVAL if it is no such address. After 0, the caller calls clickhouse_fini(). */
int clickhouse_init(struct clickhouse *c, const char *text, struct diag *d);
void clickhouse_fini(struct clickhouse *c);

/* Check that the server is a ClickHouse, before any other statement is sent to it, and set can_wait of the server. Return 0, or -errno with
 * the reason in d. */
int clickhouse_greet(struct clickhouse *c, int server, struct diag *d);
/* Send a statement that has an answer, with the name of the database in place of each $. The lines of the answer are a->body. Return 0, or
 * -errno with the reason in d; -EFBIG if they have more than 64 MiB, or if the headers are too large. The caller calls http_answer_fini()
 * in any case. */
int clickhouse_ask(const struct clickhouse *c, int server, const char *statement, struct http_answer *a, struct diag *d);
/* Send a statement that has no answer, with the name of the database in place of each $, followed by nr bytes of lines of data. Return 0 if
 * the server has taken all of it, or -errno with the reason in d. */
int clickhouse_tell(const struct clickhouse *c, int server, const char *statement, const char *data, size_t nr, struct diag *d);
/* Create the database and the tables if they do not exist. Return 0, or -errno with the reason in d. */
int clickhouse_create(const struct clickhouse *c, int server, struct diag *d);

/* Write the day (UTC) of a time in seconds since 1970, as columns of lines and statements (in quotes) have it. */
void clickhouse_format_day(int64_t s, char text[16]);
/* Write a text, escaped for a column of a line, or for a statement, where the caller puts it in quotes. */
void clickhouse_put_text(FILE *to, const char *text);
/* Split the line at *at into at most nr columns, which are unescaped in place, and move *at to the next line. Return how many columns there
 * are, or 0 at the end. */
int clickhouse_split(char **at, char **column, int nr);
/* Parse a column that is a whole number without a sign. Return false if it is anything else. */
bool clickhouse_number(const char *text, uint64_t *number);
/* Return -EBADMSG, with a reason in d that shows the line of an answer that was not expected. It may be the text of an exception, because a
 * server that fails amid an answer has sent its status before. */
int clickhouse_misread(const char *line, struct diag *d);

#endif
