/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/java_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "class GeneratedIteratorForCodegenStage"

uint32_t spark_text_codegen(const char *text, size_t bytes)
{
	const char *at = memmem(text, bytes, CLASS, strlen(CLASS));
	uint32_t number = 0;

	for (at = at ? at + strlen(CLASS) : text + bytes; at < text + bytes && isdigit((unsigned char)*at) && number < 100000; at++)
		number = number * 10 + (uint32_t)(*at - '0');
	return number;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The next word in [*at, end), and its length; NULL: there is none. */
static const char *next_word(const char **at, const char *end, size_t *bytes)
{
	const char *word;

	while (*at < end && !is_letter(**at))
		++*at;
	for (word = *at; *at < end && is_letter(**at);)
		++*at;
	*bytes = (size_t)(*at - word);
	return *bytes ? word : NULL;
}

/* 1 + index; 0: the word begins with none. */
static uint32_t prefix_of_word(const char *word, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		size_t n = strlen(prefix[i].text);

		if (bytes > n && memcmp(word, prefix[i].text, n) == 0 && word[n] == '_')
			return i + 1;
	}
	return 0;
}

bool spark_text_has_prefixes(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	bool has[SPARK_PREFIXES_MAX + 1] = { false };
	const char *at = text, *word;
	size_t n;

	while ((word = next_word(&at, text + bytes, &n)))
		has[prefix_of_word(word, n, prefix, nr)] = true;
	for (uint32_t i = 1; i <= nr; i++)
		if (!has[i])
			return false;
	return true;
}

static bool begins_with(const char *text, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* PREFIX_c_NUMBER; those of the stage itself and of its inputs are no operator's. */
static bool is_operator_mark(const char *word, size_t bytes)
{
	const char *mark = memmem(word, bytes, "_c_", 3);

	return mark && mark + 3 < word + bytes && isdigit((unsigned char)mark[3]) && !begins_with(word, bytes, "wholestagecodegen_") &&
	       !begins_with(word, bytes, "inputadapter_");
}

bool spark_text_has_other_operators(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	const char *at = text, *word;
	size_t n;

	while ((word = next_word(&at, text + bytes, &n)))
		if (is_operator_mark(word, n) && !prefix_of_word(word, n, prefix, nr))
			return true;
	return false;
}

uint32_t spark_text_count_numbers(const char *text, size_t bytes, const char *plan)
{
	const char *at = plan, *end = plan + strlen(plan), *word, *in, *other;
	uint32_t found = 0;
	size_t n, of;

	for (int looked = 0; looked < 32 && (word = next_word(&at, end, &n));) {
		if (!isdigit((unsigned char)*word))
			continue;
		looked++;
		for (in = text; (other = next_word(&in, text + bytes, &of));)
			if (of >= n && of <= n + 1 && memcmp(other, word, n) == 0 && (of == n || strchr("LDF", other[n]))) {
				found++;
				break;
			}
	}
	return found;
}

struct lines {
	const struct spark_prefix *prefix;
	uint32_t nr;
	int depth; /* of braces */
	uint32_t class, region; /* of the inner class and of the method around; 1 + index */
};

/* The prefix of the variable that a line assigns or declares, else the only one in it; 0: there is none, or there are several. */
static uint32_t prefix_of_line(const struct lines *l, const char *line, size_t bytes)
{
	const char *equals = memchr(line, '=', bytes), *at = line, *word;
	uint32_t only = 0;
	size_t n;

	while ((word = next_word(&at, line + bytes, &n))) {
		uint32_t p = prefix_of_word(word, n, l->prefix, l->nr);

		if (p && equals && word < equals && !begins_with(equals, (size_t)(line + bytes - equals), "=="))
			return p;
		only = p && only && p != only ? UINT32_MAX : p ? p : only;
	}
	return only == UINT32_MAX ? 0 : only;
}

static uint32_t read_line(struct lines *l, const char *line, size_t bytes)
{
	const bool is_member = begins_with(line, bytes, "private ") || begins_with(line, bytes, "public ") ||
			       begins_with(line, bytes, "protected ");
	const bool defines = is_member && line[bytes - 1] == '{';
	const bool class = defines && memmem(line, bytes, " class ", 7) && !memmem(line, bytes, "(", 1);
	uint32_t own = prefix_of_line(l, line, bytes);

	if (defines && class)
		l->class = l->region = own;
	else if (defines && l->depth <= 1)
		l->region = own;
	else if (own && begins_with(line, bytes, "/*"))
		l->region = own;
	for (size_t i = 0; i < bytes; i++)
		l->depth += line[i] == '{' ? 1 : line[i] == '}' ? -1 : 0;
	own = own ? own : l->region ? l->region : l->class;
	if (l->depth <= 1 && !defines)
		l->class = l->region = 0;
	return own;
}

uint32_t spark_text_lines(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr, uint8_t *of_line, uint32_t max)
{
	struct lines l = { .prefix = prefix, .nr = nr };
	const char *at = text, *end = text + bytes;
	uint32_t lines = 0;

	while (at < end && lines < max) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at), blank = 0;

		while (blank < n && isspace((unsigned char)at[blank]))
			blank++;
		of_line[lines++] = (uint8_t)read_line(&l, at + blank, n - blank);
		at = newline ? newline + 1 : end;
	}
	return lines;
}
