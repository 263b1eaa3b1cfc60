/* SPDX-License-Identifier: MIT */
#include "analyzer/output/escape.h"

#include "jitreg/base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Return the number of bytes of the next character, and set *valid to whether they are valid UTF-8. Most text is ASCII, which takes the
 * short way. */
static int next_character_bytes(const char *text, bool *valid)
{
	struct utf8_character c;

	*valid = true;
	if ((unsigned char)*text < 0x80)
		return 1;
	c = utf8_next(text);
	*valid = c.valid;
	return c.bytes;
}

static bool is_control(const char *text)
{
	return (unsigned char)*text < 0x20 || *text == 0x7f || utf8_is_c1(text);
}

static void put_question_marks(FILE *to, int nr)
{
	while (nr-- > 0)
		fputc('?', to);
}

static const char *xml_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void escape_xml(FILE *to, const char *text)
{
	bool valid;

	for (int n; text && *text; text += n) {
		n = next_character_bytes(text, &valid);
		if ((unsigned char)*text < 0x20 && *text != '\t' && *text != '\n' && *text != '\r')
			valid = false;
		if (strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0) /* U+FFFE, U+FFFF */
			valid = false;
		if (!valid)
			put_question_marks(to, n);
		else if (xml_entity(*text))
			fputs(xml_entity(*text), to);
		else
			fwrite(text, 1, (size_t)n, to);
	}
}

void escape_json(FILE *to, const char *text)
{
	bool valid;

	for (int n; text && *text; text += n) {
		n = next_character_bytes(text, &valid);
		if (*text == '\n' || *text == '\r' || *text == '\t') /* a text of several lines, such as a query, stays readable */
			fputc(' ', to);
		else if (!valid || is_control(text))
			put_question_marks(to, n);
		else if (*text == '"' || *text == '\\')
			fprintf(to, "\\%c", *text);
		else if (*text == '<')
			fputs("\\u003c", to);
		else
			fwrite(text, 1, (size_t)n, to);
	}
}

void escape_json_string(FILE *to, const char *text)
{
	fputc('"', to);
	escape_json(to, text);
	fputc('"', to);
}

void escape_csv(FILE *to, const char *text)
{
	bool valid;

	fputc('"', to);
	if (*text == '=' || *text == '+' || *text == '-' || *text == '@')
		fputc('\'', to);
	for (int n; *text; text += n) {
		n = next_character_bytes(text, &valid);
		if (*text == '"')
			fputc('"', to);
		if (!valid)
			fputc('?', to);
		else if (is_control(text))
			fputc(' ', to);
		else
			fwrite(text, 1, (size_t)n, to);
	}
	fputc('"', to);
}
