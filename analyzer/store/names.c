/* SPDX-License-Identifier: MIT */
#include "analyzer/store/names.h"

#include "jitreg/base/hash_map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int64_t last_added(struct store *s)
{
	return s->error ? 0 : sqlite3_last_insert_rowid(s->db);
}

static int64_t find_text(struct store *s, int64_t hash, const char *text)
{
	static struct statement select = STATEMENT("SELECT id FROM text WHERE hash = ? AND s = ?");

	return store_run(s, &select, "it", hash, text) ? store_take_number(&select) : 0;
}

bool names_has_text(struct store *s, const char *text)
{
	return strlen(text) <= NAMES_TEXT_MAX && find_text(s, (int64_t)hash_text(text), text) != 0;
}

int64_t names_text(struct store *s, const char *text)
{
	static struct statement insert = STATEMENT("INSERT INTO text(hash, s) VALUES(?, ?)");
	char *cut = NULL;
	int64_t id, hash;

	if (!text || !*text)
		return 0;
	if (strlen(text) > NAMES_TEXT_MAX && (cut = strndup(text, NAMES_TEXT_MAX)))
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

/* Everything else is a row of numbers, which is there once. */
struct table {
	struct statement select, insert;
};
#define TABLE(name, columns, values, conditions) \
	{ STATEMENT("SELECT id FROM " name " WHERE " conditions), STATEMENT("INSERT INTO " name "(" columns ") VALUES(" values ")") }

static int64_t find_or_add(struct store *s, struct table *t, const int64_t *value, int nr)
{
	if (store_run_numbers(s, &t->select, value, nr))
		return store_take_number(&t->select);
	store_run_numbers(s, &t->insert, value, nr);
	return last_added(s);
}
#define FIND_OR_ADD(s, t, ...) \
	find_or_add(s, t, (const int64_t[]){ __VA_ARGS__ }, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))

int64_t names_process(struct store *s, const char *name, const char *executable, const char *service)
{
	static struct table t = TABLE("process", "name, executable, service", "?, ?, ?", "name = ? AND executable = ? AND service = ?");
	int64_t of_name = names_text(s, name), of_executable = names_text(s, executable), of_service = names_text(s, service);

	return FIND_OR_ADD(s, &t, of_name, of_executable, of_service);
}

int64_t names_event(struct store *s, const char *name, const char *unit)
{
	static struct table t = TABLE("event", "name, unit", "?, ?", "name = ? AND unit = ?");
	int64_t of_name = names_text(s, name), of_unit = names_text(s, unit);

	return FIND_OR_ADD(s, &t, of_name, of_unit);
}

int64_t names_query(struct store *s, const char *text)
{
	static struct table t = TABLE("query", "text", "?", "text = ?");
	int64_t of_text = names_text(s, text);

	return of_text ? FIND_OR_ADD(s, &t, of_text) : 0;
}

int64_t names_component(struct store *s, const struct component_name *c)
{
	static struct table t = TABLE("component", "level, name, place, detail, query, label", "?, ?, ?, ?, ?, ?",
				      "level = ? AND name = ? AND place = ? AND detail = ? AND query = ? AND label = ?");
	int64_t level = names_text(s, c->level), name = names_text(s, c->name), place = names_text(s, c->place);
	int64_t detail = names_text(s, c->detail), label = names_text(s, c->label);

	return FIND_OR_ADD(s, &t, level, name, place, detail, c->query, label);
}

int64_t names_function(struct store *s, const char *name, const char *image, bool jit)
{
	static struct table t = TABLE("function", "name, image, jit", "?, ?, ?", "name = ? AND image = ? AND jit = ?");
	int64_t of_name = names_text(s, name), of_image = names_text(s, image);

	return FIND_OR_ADD(s, &t, of_name, of_image, jit);
}

int64_t names_series(struct store *s, int64_t process, int64_t component, int64_t event)
{
	static struct table t = TABLE("series", "process, component, event", "?, ?, ?", "process = ? AND component = ? AND event = ?");

	return FIND_OR_ADD(s, &t, process, component, event);
}

int64_t names_place(struct store *s, int64_t series, int64_t function)
{
	static struct table t = TABLE("place", "series, function", "?, ?", "series = ? AND function = ?");

	return FIND_OR_ADD(s, &t, series, function);
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
