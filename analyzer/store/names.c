/* SPDX-License-Identifier: MIT */
#include "analyzer/store/names.h"

#include "jitreg/base/hash_map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096 /* bytes that are kept of one */

static int64_t last_added(struct store *s)
{
	return s->error ? 0 : sqlite3_last_insert_rowid(s->db);
}

static int64_t take_number(struct statement *q)
{
	int64_t id = sqlite3_column_int64(q->prepared, 0);

	sqlite3_reset(q->prepared);
	return id;
}

static int64_t find_text(struct store *s, int64_t hash, const char *text)
{
	static struct statement select = STATEMENT("SELECT id FROM text WHERE hash = ? AND s = ?");

	return store_run(s, &select, "it", hash, text) ? take_number(&select) : 0;
}

int64_t names_text(struct store *s, const char *text)
{
	static struct statement insert = STATEMENT("INSERT INTO text(hash, s) VALUES(?, ?)");
	char *cut = NULL;
	int64_t id, hash;

	if (!text || !*text)
		return 0;
	if (strlen(text) > TEXT_MAX && (cut = strndup(text, TEXT_MAX)))
		text = cut;
	hash = (int64_t)hash_text(text);
	id = find_text(s, hash, text);
	if (!id && !s->error) {
		store_run(s, &insert, "it", hash, text);
		id = last_added(s);
	}
	free(cut);
	return id;
}

int64_t names_process(struct store *s, const char *name, const char *executable)
{
	static struct statement select = STATEMENT("SELECT id FROM process WHERE name = ? AND executable = ?"),
				insert = STATEMENT("INSERT INTO process(name, executable) VALUES(?, ?)");
	int64_t n = names_text(s, name), e = names_text(s, executable);

	if (store_run(s, &select, "ii", n, e))
		return take_number(&select);
	store_run(s, &insert, "ii", n, e);
	return last_added(s);
}

int64_t names_event(struct store *s, const char *name, const char *unit)
{
	static struct statement select = STATEMENT("SELECT id FROM event WHERE name = ? AND unit = ?"),
				insert = STATEMENT("INSERT INTO event(name, unit) VALUES(?, ?)");
	int64_t n = names_text(s, name), u = names_text(s, unit);

	if (store_run(s, &select, "ii", n, u))
		return take_number(&select);
	store_run(s, &insert, "ii", n, u);
	return last_added(s);
}

int64_t names_query(struct store *s, const char *text)
{
	static struct statement select = STATEMENT("SELECT id FROM query WHERE text = ?"),
				insert = STATEMENT("INSERT INTO query(text) VALUES(?)");
	int64_t t = names_text(s, text);

	if (!t)
		return 0;
	if (store_run(s, &select, "i", t))
		return take_number(&select);
	store_run(s, &insert, "i", t);
	return last_added(s);
}

int64_t names_component(struct store *s, const struct component_name *c)
{
	static struct statement select = STATEMENT("SELECT id FROM component WHERE level = ? AND name = ? AND place = ? AND detail = ? AND "
						   "query = ? AND label = ?"),
				insert = STATEMENT("INSERT INTO component(level, name, place, detail, query, label) "
						   "VALUES(?, ?, ?, ?, ?, ?)");
	int64_t level = names_text(s, c->level), name = names_text(s, c->name), place = names_text(s, c->place);
	int64_t detail = names_text(s, c->detail), label = names_text(s, c->label);

	if (store_run(s, &select, "iiiiii", level, name, place, detail, c->query, label))
		return take_number(&select);
	store_run(s, &insert, "iiiiii", level, name, place, detail, c->query, label);
	return last_added(s);
}

int64_t names_function(struct store *s, const char *name, const char *image, bool jit)
{
	static struct statement select = STATEMENT("SELECT id FROM function WHERE name = ? AND image = ? AND jit = ?"),
				insert = STATEMENT("INSERT INTO function(name, image, jit) VALUES(?, ?, ?)");
	int64_t n = names_text(s, name), i = names_text(s, image);

	if (store_run(s, &select, "iii", n, i, (int64_t)jit))
		return take_number(&select);
	store_run(s, &insert, "iii", n, i, (int64_t)jit);
	return last_added(s);
}

int64_t names_series(struct store *s, int64_t process, int64_t component, int64_t event)
{
	static struct statement select = STATEMENT("SELECT id FROM series WHERE process = ? AND component = ? AND event = ?"),
				insert = STATEMENT("INSERT INTO series(process, component, event) VALUES(?, ?, ?)");

	if (store_run(s, &select, "iii", process, component, event))
		return take_number(&select);
	store_run(s, &insert, "iii", process, component, event);
	return last_added(s);
}

int64_t names_place(struct store *s, int64_t series, int64_t function)
{
	static struct statement select = STATEMENT("SELECT id FROM place WHERE series = ? AND function = ?"),
				insert = STATEMENT("INSERT INTO place(series, function) VALUES(?, ?)");

	if (store_run(s, &select, "ii", series, function))
		return take_number(&select);
	store_run(s, &insert, "ii", series, function);
	return last_added(s);
}

/* ------------------------------------------------------------------------------------------------------------ queries */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Behind a quoted text that begins at p; a quote is doubled in it. */
static const char *skip_quoted(const char *p)
{
	for (p++; *p; p++)
		if (*p == '\'' && *++p != '\'')
			break;
	return p;
}

/* Behind the literal at p; p: there is none.  before: the byte in front of it. */
static const char *skip_literal(const char *p, char before)
{
	const char *at = p;

	if (*p == '\'')
		return skip_quoted(p);
	if (!isdigit((unsigned char)*p) || is_word(before))
		return p;
	while (is_word(*at) || *at == '.')
		at++;
	return at;
}

char *names_query_shape(const char *text)
{
	char *shape = malloc(strlen(text) + 2), *to = shape, before = ' ';

	while (shape && *text) {
		const char *behind = skip_literal(text, before);

		if (behind > text) {
			/* of "?, ?" one is left */
			if (to - shape >= 3 && memcmp(to - 3, "?, ", 3) == 0)
				to -= 2;
			else if (to - shape >= 2 && memcmp(to - 2, "?,", 2) == 0)
				to--;
			else
				*to++ = '?';
			before = '?';
			text = behind;
		} else if (isspace((unsigned char)*text)) {
			if (before != ' ' && to > shape)
				*to++ = ' ';
			before = ' ';
			text++;
		} else {
			before = *to++ = *text++;
		}
	}
	while (shape && to > shape && (to[-1] == ' ' || to[-1] == ';'))
		to--;
	if (shape)
		*to = 0;
	return shape;
}
