/* SPDX-License-Identifier: MIT */
/* Splits generated Java into words and lines.  Context: thread. */
#ifndef TAILOR_SPARK_JAVA_WORDS_H
#define TAILOR_SPARK_JAVA_WORDS_H

#include "analyzer/spark/java_text.h"

#include <ctype.h>
#include <string.h>

static inline bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Returns the next word in [*at, end), and moves *at behind it. *bytes: its length.  Returns NULL if there is none. */
static inline const char *next_word(const char **at, const char *end, size_t *bytes)
{
	const char *word;

	while (*at < end && !is_letter(**at))
		++*at;
	for (word = *at; *at < end && is_letter(**at);)
		++*at;
	*bytes = (size_t)(*at - word);
	return *bytes ? word : NULL;
}

/* Returns 1 + index of the first prefix that the word begins with, followed by '_', or 0 if it begins with none. */
static inline uint32_t prefix_of_word(const char *word, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		size_t n = strlen(prefix[i].text);

		if (bytes > n && memcmp(word, prefix[i].text, n) == 0 && word[n] == '_')
			return i + 1;
	}
	return 0;
}

static inline bool begins_with(const char *text, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Returns the next line in [*at, end) without leading blanks, and moves *at to the line after it.  Returns NULL if there is none. */
static inline const char *next_line(const char **at, const char *end, size_t *bytes)
{
	const char *line = *at, *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;

	if (line >= end)
		return NULL;
	*at = newline ? newline + 1 : end;
	*bytes = (size_t)((newline ? newline : end) - line);
	for (; *bytes && isspace((unsigned char)*line); line++)
		--*bytes;
	return line;
}

/* Returns the decimal number at `at`, of which digits are read as long as it is at most NUMBER_MOST. *digits: how many digits were read. */
#define NUMBER_MOST 999999u
static inline uint32_t take_number(const char *at, const char *end, size_t *digits)
{
	uint32_t number = 0;
	size_t n = 0;

	for (; at + n < end && isdigit((unsigned char)at[n]) && number <= NUMBER_MOST / 10; n++)
		number = number * 10 + (uint32_t)(at[n] - '0');
	*digits = n;
	return number;
}

/* Returns whether a line begins a method or an inner class of the generated class. */
static inline bool line_defines(const char *line, size_t bytes)
{
	return bytes && line[bytes - 1] == '{' &&
	       (begins_with(line, bytes, "private ") || begins_with(line, bytes, "public ") || begins_with(line, bytes, "protected "));
}

#endif
