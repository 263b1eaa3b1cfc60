/* SPDX-License-Identifier: MIT */
#include "jitreg/base/message.h"

#include "jitreg/base/utf8.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPED_BYTES 4u /* \xNN */

static char *put_escaped(char *to, const char *text, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		if (text[i] == '\n' || text[i] == '\t')
			to += sprintf(to, "\\%c", text[i] == '\n' ? 'n' : 't');
		else
			to += sprintf(to, "\\x%02x", (unsigned)(unsigned char)text[i]);
	}
	return to;
}

char *message_escape(const char *text)
{
	size_t bytes = strlen(text);
	char *escaped = bytes < SIZE_MAX / ESCAPED_BYTES ? malloc(bytes * ESCAPED_BYTES + 1) : NULL, *to = escaped;

	for (; to && *text;) {
		struct utf8_character c = utf8_next(text);

		if (c.visible)
			to = mempcpy(to, text, (size_t)c.bytes);
		else
			to = put_escaped(to, text, c.bytes);
		text += c.bytes;
	}
	if (to)
		*to = 0;
	return escaped;
}

static char *format_escaped(const char *format, va_list list)
{
	char *text = NULL, *escaped;

	if (vasprintf(&text, format, list) < 0)
		return NULL;
	escaped = message_escape(text);
	free(text);
	return escaped;
}

static const char *or_no_memory(const char *text)
{
	return text ? text : "out of memory";
}

void message_vprint(const char *format, va_list list)
{
	char *text = format_escaped(format, list);

	fprintf(stderr, "%s: %s\n", program_invocation_name, or_no_memory(text));
	free(text);
}

void message_print(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	message_vprint(format, list);
	va_end(list);
}

void message_put(FILE *to, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	text = format_escaped(format, list);
	va_end(list);
	fprintf(to, "%s\n", or_no_memory(text));
	free(text);
}

void usage_fail(const struct argp_state *state, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	text = format_escaped(format, list);
	va_end(list);
	argp_error(state, "%s", or_no_memory(text));
	free(text);
}
