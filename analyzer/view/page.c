/* SPDX-License-Identifier: MIT */
#include "page.h"

#include "page_json.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN 40

static int terminal_columns(int fd)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	int n = said ? atoi(said) : 0;

	if (n < COLUMNS_MIN)
		n = isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	return n < COLUMNS_MIN ? COLUMNS_DEFAULT : n;
}

int page_init(struct page *p, FILE *to, enum page_form form)
{
	memset(p, 0, sizeof(*p));
	p->to = to;
	p->form = form;
	p->top = 10;
	p->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	p->colour = form == PAGE_TEXT && isatty(fileno(to)) && !getenv("NO_COLOR");
	p->columns = terminal_columns(fileno(to));
	if (form == PAGE_JSON)
		p->json = page_json_create();
	return form == PAGE_JSON && !p->json ? -ENOMEM : 0;
}

void page_fact(struct page *p, const char *key, const char *text)
{
	if (p->json)
		page_json_text(p->json, key, text);
}

void page_fact_number(struct page *p, const char *key, double value)
{
	if (p->json)
		page_json_number(p->json, key, value);
}

/* Lines break at blanks; what follows is indented. */
static void put_wrapped(const struct page *p, char *text)
{
	int used = 0;

	for (char *word = text, *end; word; word = end) {
		int width;

		end = strchr(word, ' ');
		if (end)
			*end++ = 0;
		width = page_width(p, word);
		if (used && used + 1 + width > p->columns) {
			fputs("\n  ", p->to);
			used = 2;
		} else if (word != text) {
			fputc(' ', p->to);
			used++;
		}
		used += page_put(p, word, p->columns);
	}
	fputc('\n', p->to);
}

void page_sentence(struct page *p, const char *format, ...)
{
	char *text = NULL;
	va_list list;
	int n;

	va_start(list, format);
	n = vasprintf(&text, format, list);
	va_end(list);
	if (n < 0)
		return;
	if (p->json) {
		page_json_note(p->json, text);
	} else if (p->form == PAGE_TEXT) {
		put_wrapped(p, text);
	}
	free(text);
}

int page_end(struct page *p)
{
	int ret = p->json ? page_json_end(p->json, p->to) : 0;

	p->json = NULL;
	return fflush(p->to) || ferror(p->to) ? -EIO : ret;
}

/* Bytes of the character at c, 0 when it is none that may be printed as it is. */
static int character(const struct page *p, const unsigned char *c)
{
	int bytes = *c < 0x80 ? 1 : *c >= 0xf8 ? 0 : *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;

	for (int i = 1; i < bytes; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if (*c < 0x20 || *c == 0x7f || (bytes == 2 && *c == 0xc2 && c[1] < 0xa0) || (bytes > 1 && !p->utf8))
		return 0;
	return bytes;
}

static int skip(const unsigned char *c)
{
	int n = 1;

	while (*c >= 0xc0 && (c[n] & 0xc0) == 0x80 && n < 4)
		n++;
	return n;
}

int page_width(const struct page *p, const char *text)
{
	int n = 0;

	for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; n++) {
		int bytes = character(p, c);

		c += bytes ? bytes : skip(c);
	}
	return n;
}

int page_put(const struct page *p, const char *text, int columns)
{
	const unsigned char *c = (const unsigned char *)(text ? text : "");
	int used = 0;

	for (; *c && used < columns; used++) {
		int bytes = character(p, c), step = bytes ? bytes : skip(c);

		if (used == columns - 1 && c[step]) {
			fputs(p->utf8 ? "…" : "~", p->to);
			return used + 1;
		}
		if (bytes)
			fwrite(c, 1, (size_t)bytes, p->to);
		else
			fputc('?', p->to);
		c += step;
	}
	return used;
}

void page_style(const struct page *p, const char *sgr)
{
	if (p->colour)
		fprintf(p->to, "\033[%sm", sgr);
}
