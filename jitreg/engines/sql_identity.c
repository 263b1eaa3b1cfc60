/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/sql_identity.h"

#include "jitreg/engines/sql_text.h"

#include <stdbool.h>
#include <string.h>

/* Replaces "?, ?" and "?,?" by "?", wherever they are. */
static size_t fold_lists(char *text, size_t bytes)
{
	size_t to = 0;

	for (size_t from = 0; from < bytes;) {
		size_t comma = from + 1;

		text[to++] = text[from++];
		if (text[to - 1] != '?')
			continue;
		while (comma < bytes && text[comma] == ',') {
			comma += comma + 1 < bytes && text[comma + 1] == ' ' ? 2 : 1;
			if (comma >= bytes || text[comma] != '?')
				break;
			from = ++comma;
		}
	}
	return to;
}

/* Replaces parameters, "$1", by "?": a plan that was made for one execution has their values. */
static size_t replace_parameters(char *text, size_t bytes)
{
	size_t to = 0;

	for (size_t from = 0; from < bytes;) {
		size_t digits = from + 1;

		while (text[from] == '$' && digits < bytes && text[digits] >= '0' && text[digits] <= '9')
			digits++;
		text[to++] = digits > from + 1 ? '?' : text[from];
		from = digits;
	}
	return to;
}

/* Returns the end of a name and its literal, "rows=?" or "p1 ?", which begin at p, or NULL if something else does. */
static const char *skip_number_of_name(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && *at != '=' && *at != ' ' && *at != '?' && *at != '(' && *at != '\'')
		at++;
	if (at == p || end - at < 2 || (*at != '=' && *at != ' '))
		return NULL;
	at += 1 + (at[1] == '-');
	return at < end && *at == '?' ? at + 1 : NULL;
}

/* Does a part of a detail consist of numbers with names alone?  At least two are asked for, since one may be a condition ("k=?"). */
static bool is_of_numbers(const char *at, const char *end)
{
	int nr = 0;

	for (; at && at < end; nr++) {
		at = skip_number_of_name(at, end);
		if (at && at < end && *at == ',')
			at++;
		if (at && at < end && *at++ != ' ')
			return false;
	}
	return at && nr >= 2;
}

static size_t remove_numbers(char *text, size_t bytes)
{
	char *to = text, *end = text + bytes;

	for (char *from = text; from < end;) {
		char *behind = from, *next;

		while (behind < end && !(behind[0] == ';' && end - behind > 1 && behind[1] == ' '))
			behind++;
		next = behind < end ? behind + 2 : end;
		if (!is_of_numbers(from, behind)) {
			if (to > text) {
				memcpy(to, "; ", 2);
				to += 2;
			}
			memmove(to, from, (size_t)(behind - from));
			to += behind - from;
		}
		from = next;
	}
	return (size_t)(to - text);
}

size_t sql_text_identity(char *text, size_t bytes)
{
	bytes = sql_text_normalise(text, bytes);
	bytes = replace_parameters(text, bytes);
	bytes = fold_lists(text, bytes);
	bytes = remove_numbers(text, bytes);
	text[bytes] = 0;
	return bytes;
}
