/* SPDX-License-Identifier: MIT */
/*
 * SQLite keeps the text of each CREATE statement, and compiles it when a file is opened.  A view in place of a table runs at each question
 * to that table, a trigger at each change, and both may run for ever.  So the texts are compared with those that tailor writes.
 */
#include "analyzer/store/schema.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Names are rows of the table text, and other tables have the numbers of those rows.  Number 0 stands for no name. */
static const char *const schema[] = {
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
	"CREATE TABLE text(id INTEGER PRIMARY KEY, hash INT NOT NULL, s TEXT NOT NULL)",
	"CREATE INDEX text_hash ON text(hash)",
	/* a row is all processes of one executable that work for one service */
	"CREATE TABLE process(id INTEGER PRIMARY KEY, name INT NOT NULL, executable INT NOT NULL, service INT NOT NULL,"
	" UNIQUE(name, executable, service))",
	"CREATE TABLE event(id INTEGER PRIMARY KEY, name INT NOT NULL, unit INT NOT NULL, UNIQUE(name, unit))",
	"CREATE TABLE query(id INTEGER PRIMARY KEY, text INT NOT NULL UNIQUE)",
	/* a component is identified by texts, since each trace numbers components anew; place: names of its consumers */
	"CREATE TABLE component(id INTEGER PRIMARY KEY, level INT NOT NULL, name INT NOT NULL, place INT NOT NULL, detail INT NOT NULL,"
	" query INT NOT NULL, label INT NOT NULL, UNIQUE(level, name, place, detail, query, label))",
	/* a function of an image, at whichever addresses processes have it; jit: it was generated */
	"CREATE TABLE function(id INTEGER PRIMARY KEY, name INT NOT NULL, image INT NOT NULL, jit INT NOT NULL, UNIQUE(name, image, jit))",
	/* a row of a block is for a series or a place */
	"CREATE TABLE series(id INTEGER PRIMARY KEY, process INT NOT NULL, component INT NOT NULL, event INT NOT NULL,"
	" UNIQUE(process, component, event))",
	"CREATE TABLE place(id INTEGER PRIMARY KEY, series INT NOT NULL, function INT NOT NULL, UNIQUE(series, function))",
	/* begin_ns, end_ns: UTC. tier: 0 as recorded, 1 an hour, 2 a day. effective: how many samples of equal weight would have the
	 * same statistical error. */
	"CREATE TABLE epoch(id INTEGER PRIMARY KEY, recording INT NOT NULL, number INT NOT NULL, tier INT NOT NULL, begin_ns INT NOT NULL,"
	" end_ns INT NOT NULL, host INT NOT NULL, samples REAL NOT NULL, effective REAL NOT NULL, lost INT NOT NULL, cpus INT NOT NULL,"
	" parts INT NOT NULL, UNIQUE(recording, number, tier))",
	"CREATE INDEX epoch_time ON epoch(begin_ns)",
	/* epochs that are parts of an hour or a day, or were removed to keep the cap, so that none is added twice */
	"CREATE TABLE folded(recording INT NOT NULL, number INT NOT NULL, PRIMARY KEY(recording, number)) WITHOUT ROWID",
	"CREATE TABLE block(epoch INT NOT NULL, part INT NOT NULL, rows INT NOT NULL, bytes INT NOT NULL, crc INT NOT NULL,"
	" data BLOB NOT NULL, PRIMARY KEY(epoch, part))",
	"CREATE TABLE reason(epoch INT NOT NULL, event INT NOT NULL, reason INT NOT NULL, samples REAL NOT NULL, weight REAL NOT NULL,"
	" PRIMARY KEY(epoch, event, reason)) WITHOUT ROWID",
	"CREATE TABLE loss(epoch INT NOT NULL, reason INT NOT NULL, count INT NOT NULL, PRIMARY KEY(epoch, reason)) WITHOUT ROWID",
};
#define NR_OBJECTS (sizeof(schema) / sizeof(schema[0]))
_Static_assert(NR_OBJECTS <= 32, "a bit of struct schema_seen for each");

const char *schema_statement(size_t i)
{
	return i < NR_OBJECTS ? schema[i] : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- grammar */

struct scan {
	const char *at;
};

static void skip_space(struct scan *x)
{
	x->at += strspn(x->at, " \t\n");
}

static bool take_mark(struct scan *x, char mark)
{
	skip_space(x);
	if (*x->at != mark)
		return false;
	x->at++;
	return true;
}

/* Takes any name (word NULL), or this word in upper or lower case. */
static bool take_word(struct scan *x, const char *word)
{
	size_t nr = 0;

	skip_space(x);
	while (isalpha((unsigned char)x->at[nr]) || x->at[nr] == '_' || (nr && isdigit((unsigned char)x->at[nr])))
		nr++;
	if (!nr || (word && (strlen(word) != nr || strncasecmp(x->at, word, nr) != 0)))
		return false;
	x->at += nr;
	return true;
}

static bool take_words(struct scan *x, const char *first, const char *second)
{
	struct scan before = *x;

	if (take_word(x, first) && take_word(x, second))
		return true;
	*x = before;
	return false;
}

static bool take_number(struct scan *x)
{
	size_t nr;

	take_mark(x, '-');
	skip_space(x);
	nr = strspn(x->at, "0123456789.");
	x->at += nr;
	return nr;
}

static bool take_names(struct scan *x)
{
	if (!take_mark(x, '('))
		return false;
	do {
		if (!take_word(x, NULL))
			return false;
	} while (take_mark(x, ','));
	return take_mark(x, ')');
}

static bool take_column(struct scan *x)
{
	static const char *const types[] = { "INT", "INTEGER", "REAL", "TEXT", "BLOB" };

	if (!take_word(x, NULL))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (take_word(x, types[i]))
			break;
	for (;;) {
		if (take_word(x, "DEFAULT")) {
			if (!take_number(x))
				return false;
		} else if (!take_words(x, "NOT", "NULL") && !take_words(x, "PRIMARY", "KEY")) {
			return true;
		}
	}
}

static bool take_key(struct scan *x)
{
	return (take_words(x, "PRIMARY", "KEY") || take_word(x, "UNIQUE")) && take_names(x);
}

static bool is_at_end(struct scan *x)
{
	skip_space(x);
	return !*x->at;
}

static bool is_plain_table(struct scan x)
{
	if (!take_words(&x, "CREATE", "TABLE") || !take_word(&x, NULL) || !take_mark(&x, '('))
		return false;
	do {
		struct scan before = x;

		if (!take_key(&x)) {
			x = before;
			if (!take_column(&x))
				return false;
		}
	} while (take_mark(&x, ','));
	if (!take_mark(&x, ')'))
		return false;
	take_words(&x, "WITHOUT", "ROWID");
	return is_at_end(&x);
}

static bool is_plain_index(struct scan x)
{
	if (!take_word(&x, "CREATE"))
		return false;
	take_word(&x, "UNIQUE");
	return take_word(&x, "INDEX") && take_word(&x, NULL) && take_word(&x, "ON") && take_word(&x, NULL) && take_names(&x) &&
	       is_at_end(&x);
}

bool schema_is_plain(const char *sql)
{
	return is_plain_table((struct scan){ sql }) || is_plain_index((struct scan){ sql });
}

/* Returns whether a text of so many bytes is a list of plain columns, such as ", a INT, b REAL NOT NULL DEFAULT 0". */
static bool are_plain_columns(const char *text, size_t bytes)
{
	struct scan x = { text };

	while (x.at < text + bytes && take_mark(&x, ','))
		if (!take_column(&x))
			return false;
	skip_space(&x);
	return x.at == text + bytes;
}

/* ALTER TABLE adds a new column after the last one, before the keys. */
bool schema_is_widened(const char *sql, const char *ours)
{
	size_t nr_ours = strlen(ours), nr = strlen(sql), more = nr - nr_ours;

	if (nr <= nr_ours || strncmp(ours, "CREATE TABLE ", 13) != 0)
		return false;
	for (size_t i = 0; i < nr_ours && (!i || sql[i - 1] == ours[i - 1]); i++)
		if ((ours[i] == ',' || ours[i] == ')') && strcmp(sql + i + more, ours + i) == 0 && are_plain_columns(sql + i, more))
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------------------- comparison */

static const char *name_of(size_t i, size_t *bytes)
{
	const char *at = strchr(schema[i] + strlen("CREATE "), ' ') + 1;

	*bytes = strcspn(at, "( ");
	return at;
}

/* Returns the index in schema[] of the table or index of this name, or NR_OBJECTS. */
static size_t find_object(const char *name)
{
	for (size_t i = 0; i < NR_OBJECTS; i++) {
		size_t nr;
		const char *at = name_of(i, &nr);

		if (strlen(name) == nr && strncasecmp(at, name, nr) == 0)
			return i;
	}
	return NR_OBJECTS;
}

/* Returns whether this is an index that SQLite makes for a key.  Such an index has no text. */
static bool is_index_of_key(const char *type, const char *name, const char *sql)
{
	return !sql && strcmp(type, "index") == 0 && strncmp(name, "sqlite_autoindex_", 17) == 0;
}

bool schema_takes(struct schema_seen *seen, const char *type, const char *name, const char *sql)
{
	size_t i = find_object(name);

	if (++seen->nr > SCHEMA_OBJECTS_MAX)
		return false;
	if (is_index_of_key(type, name, sql))
		return true;
	if (i == NR_OBJECTS)
		return sql && schema_is_plain(sql);
	if (!sql || (strcmp(sql, schema[i]) != 0 && !schema_is_widened(sql, schema[i])))
		return false;
	seen->has |= 1u << i;
	return true;
}

const char *schema_missing(const struct schema_seen *seen, int *bytes)
{
	for (size_t i = 0; i < NR_OBJECTS; i++)
		if (!(seen->has & 1u << i)) {
			size_t nr;
			const char *name = name_of(i, &nr);

			*bytes = (int)nr;
			return name;
		}
	return NULL;
}
