/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/sql_text.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define TAG_MAX 64 /* maximum length of the tag of a dollar-quoted string */

struct text {
	const char *at, *end;
	char *begin, *to;
	bool blank;   /* a blank is to be written before the next character */
	bool in_list; /* the text is in the list of an IN, whose adjacent literals become one */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* This table marks the characters of identifiers, among them all bytes of non-ASCII characters. A table is fast, and every statement of
 * a server is normalised. */
static const unsigned char identifier[256] = { ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['_'] = 1,
					       ['$'] = 1,	  ['a' ... 'z'] = 1, [128 ... 255] = 1 };

static bool is_identifier_character(char c)
{
	return identifier[(unsigned char)c];
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool text_comes_next(const struct text *t, const char *what)
{
	size_t bytes = strlen(what);

	return (size_t)(t->end - t->at) >= bytes && memcmp(t->at, what, bytes) == 0;
}

static void put_character(struct text *t, char c)
{
	if (t->blank && t->to > t->begin)
		*t->to++ = ' ';
	t->blank = false;
	*t->to++ = c;
}

static bool output_ends_with(const struct text *t, const char *what)
{
	size_t bytes = strlen(what);

	return (size_t)(t->to - t->begin) >= bytes && memcmp(t->to - bytes, what, bytes) == 0;
}

/* Does the text up to end close with a keyword behind which an expression begins?  A name behind a dot is none. */
static bool ends_with_keyword(const char *begin, const char *end)
{
	static const char *const keywords[] = { "all", "and", "between", "by", "case", "distinct", "else", "from", "having", "limit", "not",
						"offset", "on", "or", "returning", "select", "then", "to", "when", "where" };
	const char *word = end;

	while (word > begin && is_identifier_character(word[-1]))
		word--;
	if (word > begin && word[-1] == '.')
		return false;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strlen(keywords[i]) == (size_t)(end - word) && strncasecmp(word, keywords[i], (size_t)(end - word)) == 0)
			return true;
	return false;
}

/* Does the output end in a minus that is the sign of the literal that follows?  It is if an operator, an opening bracket, a comma or a
 * keyword is in front of it. */
static bool is_sign_of_literal(const struct text *t)
{
	const char *c = t->to - 1;

	if (t->blank || c <= t->begin || *c != '-')
		return false;
	for (c--; c > t->begin && *c == ' '; c--)
		;
	return strchr("+-*/%<>=(,[|", *c) != NULL || ends_with_keyword(t->begin, c + 1);
}

static void put_literal(struct text *t)
{
	if (is_sign_of_literal(t)) {
		t->to--;
		if (t->to > t->begin && t->to[-1] == ' ') {
			t->to--;
			t->blank = true;
		}
	}
	if (t->in_list && output_ends_with(t, "?,")) {
		t->to--;
		t->blank = false;
	} else {
		put_character(t, '?');
	}
}

/* Skip a quoted string or name, up to its closing quote or the end of the text.  A doubled quote does not close it, nor, if escapes is set,
 * a quote behind a backslash. */
static void skip_quoted(struct text *t, char quote, bool escapes)
{
	for (t->at++; t->at < t->end; t->at++) {
		if (escapes && *t->at == '\\' && t->at + 1 < t->end) {
			t->at++;
		} else if (*t->at == quote) {
			if (t->at + 1 >= t->end || t->at[1] != quote)
				break;
			t->at++;
		}
	}
	if (t->at < t->end)
		t->at++;
}

/* Skip a string $tag$ ... $tag$, up to the end of the text if it is not closed.  Returns false if no such string begins here, but, for
 * instance, a parameter ($1). */
static bool skip_dollar_quoted(struct text *t)
{
	const char *tag_end = t->at + 1;
	size_t bytes;

	while (tag_end < t->end && *tag_end != '$' && is_identifier_character(*tag_end) && tag_end - t->at < TAG_MAX)
		tag_end++;
	if (tag_end >= t->end || *tag_end != '$' || is_digit(t->at[1]))
		return false;
	bytes = (size_t)(tag_end + 1 - t->at);
	for (const char *p = tag_end + 1; p + bytes <= t->end; p++)
		if (memcmp(p, t->at, bytes) == 0) {
			t->at = p + bytes;
			return true;
		}
	t->at = t->end;
	return true;
}

static void skip_comment(struct text *t)
{
	int depth = 0;

	if (*t->at == '-') {
		while (t->at < t->end && *t->at != '\n')
			t->at++;
		return;
	}
	do {
		if (text_comes_next(t, "/*")) {
			depth++;
			t->at += 2;
		} else if (text_comes_next(t, "*/")) {
			depth--;
			t->at += 2;
		} else {
			t->at++;
		}
	} while (depth && t->at < t->end);
}

static void skip_number(struct text *t)
{
	while (t->at < t->end && (is_identifier_character(*t->at) || *t->at == '.' ||
				  ((*t->at == '+' || *t->at == '-') && (t->at[-1] == 'e' || t->at[-1] == 'E'))))
		t->at++;
}

/* Returns how many characters in front of a quote here belong to the string, as in E'\n', U&'a', b'01', or 0.  Sets *escapes if a backslash
 * quotes in the string. */
static size_t string_prefix_bytes(const struct text *t, bool *escapes)
{
	*escapes = false;
	if (t->end - t->at < 2 || (t->at[1] != '\'' && t->at[1] != '&'))
		return 0;
	*escapes = text_comes_next(t, "E'") || text_comes_next(t, "e'");
	if (text_comes_next(t, "U&'") || text_comes_next(t, "u&'"))
		return 2;
	return *escapes || text_comes_next(t, "B'") || text_comes_next(t, "b'") || text_comes_next(t, "X'") || text_comes_next(t, "x'") ||
	       text_comes_next(t, "N'") || text_comes_next(t, "n'");
}

/* Copy a word or a quoted name unchanged. */
static void copy_name(struct text *t)
{
	const char *from = t->at;

	if (*t->at == '"')
		skip_quoted(t, '"', false);
	else
		while (t->at < t->end && is_identifier_character(*t->at))
			t->at++;
	put_character(t, *from++);
	memmove(t->to, from, (size_t)(t->at - from));
	t->to += t->at - from;
}

static bool is_behind_in_keyword(const struct text *t)
{
	return t->to - t->begin >= 3 && (t->to[-1] | 32) == 'n' && (t->to[-2] | 32) == 'i' && !is_identifier_character(t->to[-3]);
}

static void normalise_next_token(struct text *t)
{
	bool escapes;
	size_t prefix;

	if (*t->at >= 'a' && *t->at <= 'z' && !(t->end - t->at > 1 && (t->at[1] == '\'' || t->at[1] == '&'))) {
		copy_name(t); /* this is the most common case */
		return;
	}
	prefix = string_prefix_bytes(t, &escapes);
	if (is_blank(*t->at)) {
		t->blank = true;
		t->at++;
	} else if (text_comes_next(t, "--") || text_comes_next(t, "/*")) {
		t->blank = true;
		skip_comment(t);
	} else if (*t->at == '\'' || prefix) {
		t->at += prefix;
		skip_quoted(t, '\'', escapes);
		put_literal(t);
	} else if (*t->at == '$' && skip_dollar_quoted(t)) {
		put_literal(t);
	} else if (is_digit(*t->at) || (*t->at == '.' && t->at + 1 < t->end && is_digit(t->at[1]))) {
		skip_number(t);
		put_literal(t);
	} else if (*t->at == '"' || is_identifier_character(*t->at)) {
		copy_name(t);
	} else {
		if (*t->at == '(')
			t->in_list = is_behind_in_keyword(t);
		else if (*t->at == ')')
			t->in_list = false;
		put_character(t, *t->at++);
	}
}

size_t sql_text_normalise(char *text, size_t bytes)
{
	struct text t = { .at = text, .end = text + bytes, .begin = text, .to = text };

	while (t.at < t.end)
		normalise_next_token(&t);
	while (t.to > t.begin && (t.to[-1] == ';' || is_blank(t.to[-1])))
		t.to--;
	*t.to = 0;
	return (size_t)(t.to - t.begin);
}

size_t sql_text_shorten(const char *text, size_t bytes, char *to, size_t room)
{
	if (bytes < room) {
		memcpy(to, text, bytes);
		to[bytes] = 0;
		return bytes;
	}
	bytes = room - 4;
	while (bytes && (text[bytes] & 0xc0) == 0x80)
		bytes--;
	memcpy(to, text, bytes);
	memcpy(to + bytes, "...", 4);
	return bytes + 3;
}
