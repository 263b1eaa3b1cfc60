/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/duckdb_explain.h"

#include <string.h>

#define VALUE_BYTES 1024u
#define SKIP_DEPTH_MAX 64

struct reader {
	const char *at, *end;
	struct duckdb_explanation *to;
};

static char peek_json_character(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
	return r->at < r->end ? *r->at : 0;
}

static bool take_json_character(struct reader *r, char c)
{
	if (peek_json_character(r) != c || r->at == r->end)
		return false;
	r->at++;
	return true;
}

/* Read a string, cut to room - 1 bytes.  Control characters, and all escapes but those of ", \ and /, become blanks.  Returns false if
 * there is no complete string. */
static bool read_json_string(struct reader *r, char *to, size_t room)
{
	size_t nr = 0;

	if (!take_json_character(r, '"'))
		return false;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;

		if (c == '\\') {
			if (r->at == r->end)
				return false;
			c = *r->at++;
			if (c == 'u' && r->end - r->at >= 4)
				r->at += 4;
			if (c != '"' && c != '\\' && c != '/')
				c = ' ';
		}
		if ((unsigned char)c < ' ')
			c = ' ';
		if (nr + 1 < room)
			to[nr++] = c;
	}
	while (nr && (unsigned char)to[nr - 1] >= 0x80 && nr + 1 >= room) /* the character at the cut may be incomplete */
		nr--;
	to[nr] = 0;
	return take_json_character(r, '"');
}

static bool skip_json_value(struct reader *r, int depth)
{
	char unused[2], close;
	bool object;

	switch (peek_json_character(r)) {
	case '"':
		return read_json_string(r, unused, sizeof(unused));
	case '{':
	case '[':
		object = *r->at == '{';
		close = object ? '}' : ']';
		r->at++;
		if (depth == SKIP_DEPTH_MAX)
			return false;
		if (take_json_character(r, close))
			return true;
		do {
			if (object && !(read_json_string(r, unused, sizeof(unused)) && take_json_character(r, ':')))
				return false;
			if (!skip_json_value(r, depth + 1))
				return false;
		} while (take_json_character(r, ','));
		return take_json_character(r, close);
	case 0:
		return false;
	default: /* a number or a word */
		while (r->at < r->end && !strchr(",]} \n\t\r", *r->at))
			r->at++;
		return true;
	}
}

/* Read a string, or the strings of a list with ", " between them.  Another value is skipped, and *to is "".  Returns false if the value is
 * malformed, or is a list of other values. */
static bool read_json_value(struct reader *r, char *to, size_t room)
{
	size_t nr = 0;

	*to = 0;
	if (peek_json_character(r) == '"')
		return read_json_string(r, to, room);
	if (peek_json_character(r) != '[')
		return skip_json_value(r, 0);
	r->at++;
	if (take_json_character(r, ']'))
		return true;
	do {
		if (nr && nr + 3 < room) {
			memcpy(to + nr, ", ", 3);
			nr += 2;
		}
		if (!read_json_string(r, to + nr, room - nr))
			return false;
		nr += strlen(to + nr);
	} while (take_json_character(r, ','));
	return take_json_character(r, ']');
}

static void append_detail_text(struct duckdb_explanation *to, const char *text)
{
	size_t n = strlen(text), left = sizeof(to->text) - to->nr_text;

	n = n < left ? n : left;
	memcpy(to->text + to->nr_text, text, n);
	to->nr_text += (uint32_t)n;
}

static void add_operator_fact(struct duckdb_explanation *to, struct duckdb_explained *o, const char *key, const char *value)
{
	if (!*value)
		return;
	if (strcmp(key, "Estimated Cardinality") == 0) {
		o->rows = 0;
		for (const char *c = value; *c >= '0' && *c <= '9' && o->rows < INT64_MAX / 10 - 1; c++)
			o->rows = o->rows * 10 + (*c - '0');
		return;
	}
	if (strcmp(key, "Table") == 0) {
		size_t n = strlen(o->name), bytes = strlen(value);

		if (n + 1 + bytes >= sizeof(o->name))
			bytes = n + 2 < sizeof(o->name) ? sizeof(o->name) - n - 2 : 0;
		o->name[n] = bytes ? ' ' : 0;
		memcpy(o->name + n + (bytes > 0), value, bytes);
		o->name[n + (bytes > 0) + bytes] = 0;
		return;
	}
	if (to->nr_text > o->detail)
		append_detail_text(to, "; ");
	append_detail_text(to, key);
	append_detail_text(to, ": ");
	append_detail_text(to, value);
}

static bool read_operator_facts(struct reader *r, struct duckdb_explained *o)
{
	char key[64], value[VALUE_BYTES];

	if (!take_json_character(r, '{'))
		return skip_json_value(r, 0);
	o->detail = r->to->nr_text;
	if (take_json_character(r, '}'))
		return true;
	do {
		if (!read_json_string(r, key, sizeof(key)) || !take_json_character(r, ':') || !read_json_value(r, value, sizeof(value)))
			return false;
		add_operator_fact(r->to, o, key, value);
	} while (take_json_character(r, ','));
	o->detail_bytes = r->to->nr_text - o->detail;
	return take_json_character(r, '}');
}

static bool read_operators(struct reader *r, int depth);

static bool read_operator(struct reader *r, int depth)
{
	struct duckdb_explained *o;
	char key[32];
	size_t n;

	if (r->to->nr == DUCKDB_OPERATORS_MAX || !take_json_character(r, '{'))
		return false;
	o = &r->to->operator[r->to->nr++];
	*o = (struct duckdb_explained){ .rows = -1 };
	if (take_json_character(r, '}'))
		return true;
	do {
		if (!read_json_string(r, key, sizeof(key)) || !take_json_character(r, ':'))
			return false;
		if (strcmp(key, "name") == 0	   ? !read_json_string(r, o->name, sizeof(o->name)) :
		    strcmp(key, "children") == 0   ? !read_operators(r, depth + 1) :
		    strcmp(key, "extra_info") == 0 ? !read_operator_facts(r, o) :
						     !skip_json_value(r, 0))
			return false;
		for (n = strlen(o->name); n && o->name[n - 1] == ' ';)
			o->name[--n] = 0;
	} while (take_json_character(r, ','));
	return take_json_character(r, '}');
}

static bool read_operators(struct reader *r, int depth)
{
	if (depth == DUCKDB_DEPTH_MAX || !take_json_character(r, '['))
		return false;
	if (take_json_character(r, ']'))
		return true;
	do {
		if (!read_operator(r, depth))
			return false;
	} while (take_json_character(r, ','));
	return take_json_character(r, ']');
}

bool duckdb_explain_read(const char *json, size_t bytes, struct duckdb_explanation *to)
{
	struct reader r = { json, json + bytes, to };

	to->nr = to->nr_text = 0;
	return read_operators(&r, 0) && to->nr && !peek_json_character(&r);
}
