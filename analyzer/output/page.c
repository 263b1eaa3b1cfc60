/* SPDX-License-Identifier: MIT */
#include "analyzer/output/page.h"

#include "analyzer/output/page_json.h"
#include "jitreg/base/suggest.h"
#include "jitreg/base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN 40

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Return $COLUMNS, or else the width of the terminal fd. If fd is a pipe, as to a pager, the terminal of stderr is taken instead. A width
 * below COLUMNS_MIN does not count. Return COLUMNS_DEFAULT if no width is known. */
static int terminal_columns(int fd)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	int n = said ? atoi(said) : 0;

	if (n < COLUMNS_MIN)
		n = ioctl(is_pipe(fd) ? 2 : fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	return n < COLUMNS_MIN ? COLUMNS_DEFAULT : n;
}

bool page_locale_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int page_init(struct page *p, FILE *to, enum page_form form)
{
	memset(p, 0, sizeof(*p));
	p->to = to;
	p->form = form;
	p->top = 10;
	p->utf8 = page_locale_is_utf8();
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

void page_fact_time(struct page *p, const char *key, int64_t ns)
{
	if (p->json)
		page_json_whole(p->json, key, ns);
}

/* Return the blank behind a word, or NULL at the end. A number and its percent sign are one word, so that no line breaks between them. */
static char *word_end(char *word)
{
	char *end = strchr(word, ' ');

	while (end && end[1] == '%')
		end = strchr(end + 1, ' ');
	return end;
}

void page_put_words(const struct page *p, char *text, int used, int indent)
{
	for (char *word = text, *end; word; word = end) {
		int width;

		end = word_end(word);
		if (end)
			*end++ = 0;
		width = page_width(p, word);
		if (word != text && used + 1 + width > p->columns) {
			fprintf(p->to, "\n%*s", indent, "");
			used = indent;
		} else if (word != text) {
			fputc(' ', p->to);
			used++;
		}
		used += page_put(p, word, p->columns - used);
	}
}

void page_put_wrapped(struct page *p, char *text)
{
	p->begun = true;
	page_put_words(p, text, 0, 2);
	fputc('\n', p->to);
}

void page_reason(struct page *p, const char *text)
{
	page_sentence(p, "%c%s.", toupper((unsigned char)*text), *text ? text + 1 : "");
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
		page_put_wrapped(p, text);
	}
	free(text);
}

void page_heading(struct page *p, const char *format, ...)
{
	char text[160];
	va_list list;

	if (p->form != PAGE_TEXT)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (p->begun)
		fputc('\n', p->to);
	p->begun = true;
	page_style(p, "1");
	page_put(p, text, p->columns);
	page_style(p, "0");
	fputc('\n', p->to);
}

void page_text(struct page *p, const char *before, int indent, const char *format, ...)
{
	char *text = NULL;
	va_list list;
	int n;

	if (p->form != PAGE_TEXT)
		return;
	va_start(list, format);
	n = vasprintf(&text, format, list);
	va_end(list);
	if (n < 0)
		return;
	p->begun = true;
	fputs(before, p->to);
	page_put_words(p, text, page_width(p, before), indent);
	fputc('\n', p->to);
	free(text);
}

void page_dots(struct page *p, const unsigned char *cells, int columns, int rows, const char *format, ...)
{
	char *heading = NULL;
	va_list list;
	int n;

	va_start(list, format);
	n = vasprintf(&heading, format, list);
	va_end(list);
	if (n < 0)
		return;
	fputc('\n', p->to);
	page_put_wrapped(p, heading);
	free(heading);
	for (const unsigned char *row = cells; row < cells + rows * columns; row += columns) {
		int last = columns;

		while (last > 0 && !row[last - 1])
			last--;
		fputs(p->utf8 ? "│" : "|", p->to);
		for (int c = 0; c < last; c++) {
			unsigned dots = row[c], set = (unsigned)__builtin_popcount(dots);

			if (!dots)
				fputc(' ', p->to);
			else if (p->utf8)
				fprintf(p->to, "%c%c%c", 0xe2, 0xa0 + (dots >> 6), 0x80 + (dots & 0x3f));
			else
				fputc(set == 1 ? '.' : set < 4 ? ':' : '#', p->to);
		}
		fputc('\n', p->to);
	}
}

bool page_note_name(struct page_names *names, const char *name)
{
	for (uint32_t i = 0; i < names->nr; i++)
		if (strcmp(names->name[i], name) == 0)
			return false;
	if (names->nr < PAGE_NAMES_MAX && (names->name[names->nr] = strdup(name)))
		names->nr++;
	return true;
}

const char *page_suggest(const struct page_names *names, const char *wanted, char *text, size_t bytes)
{
	return suggest(wanted, (const char *const *)names->name, names->nr, text, bytes);
}

static void free_names(struct page_names *names)
{
	while (names->nr)
		free(names->name[--names->nr]);
}

int page_end(struct page *p)
{
	int ret = p->json ? page_json_end(p->json, p->to) : 0;

	p->json = NULL;
	free_names(&p->tables);
	free_names(&p->headings);
	free(p->why);
	p->why = NULL;
	return fflush(p->to) || ferror(p->to) ? -EIO : ret;
}

#define COMBINING_MAX 4 /* maximum number of combining marks on one character; more are dropped, so that a name stays in its line */
#define DROPPED_MAX 64	/* maximum number of marks that follow a character and are shown or dropped; further ones are shown as '?' */

/* Get the next character of a text with its combining marks, as the page shows it: *bytes bytes at *shown. Return its columns, and move
 * *text on. */
static int next_shown_piece(const struct page *p, const char **text, const char **shown, size_t *bytes)
{
	struct utf8_character c = utf8_next(*text);
	bool as_it_is = c.printable && (p->utf8 || c.bytes == 1) && c.columns > 0;

	*shown = as_it_is ? *text : **text == '\n' || **text == '\t' ? " " : "?";
	*bytes = as_it_is ? (size_t)c.bytes : 1;
	*text += c.bytes;
	if (!as_it_is)
		return 1;
	for (int n = 0; p->utf8 && **text && n < DROPPED_MAX; n++) {
		struct utf8_character mark = utf8_next(*text);

		if (!mark.printable || mark.columns > 0)
			break;
		*text += mark.bytes;
		if (n < COMBINING_MAX)
			*bytes += (size_t)mark.bytes;
	}
	return c.columns;
}

/* bytes; a text is examined only up to so many for each of the page's columns, because names may have megabytes */
#define BYTES_A_COLUMN 64

static size_t bytes_looked_at(const struct page *p)
{
	return (size_t)p->columns * BYTES_A_COLUMN;
}

int page_width(const struct page *p, const char *text)
{
	const char *shown, *end = text ? text + strnlen(text, bytes_looked_at(p)) : NULL;
	size_t bytes;
	int n = 0;

	while (text < end)
		n += next_shown_piece(p, &text, &shown, &bytes);
	return end && *end && n <= p->columns ? p->columns + 1 : n;
}

int page_put(const struct page *p, const char *text, int columns)
{
	bool fits = page_width(p, text) <= columns;
	const char *shown;
	size_t bytes;
	int used = 0;

	for (text = text ? text : ""; *text && used < columns;) {
		int width = next_shown_piece(p, &text, &shown, &bytes);

		if (!fits && used + width > columns - 1) {
			fputs(p->utf8 ? "…" : "~", p->to);
			return used + 1;
		}
		fwrite(shown, 1, bytes, p->to);
		used += width;
	}
	return used;
}

#define NAME_CUT_LEAST 5 /* columns; a name that gets fewer is cut at its end, because there is no room for both ends */

/* Return "a::f const" for "a::f(int, b<c>) const", which the caller frees. Return NULL if the text has no parameters, is not such a name of
 * C++, or if memory runs out. */
static char *without_parameters(const char *text)
{
	const char *open = NULL, *close = NULL;
	int depth = 0;
	char *out;

	for (const char *at = text; *at; at++) {
		if (*at == '(' && depth++ == 0 && at > text && at[-1] != ' ' && at[-1] != ':') {
			open = at;
			close = NULL;
		} else if (*at == ')' && depth && --depth == 0 && open && !close) {
			close = at;
		}
	}
	if (!open || !close || !memmem(text, (size_t)(open - text), "::", 2))
		return NULL;
	return asprintf(&out, "%.*s%s", (int)(open - text), text, close + 1) < 0 ? NULL : out;
}

#define ARGUMENTS_BYTES 4096 /* a longer name keeps its arguments, because each "<" may be looked at as often as there are others */

/* Return the end of a list in angle brackets that begins at `at`, which is behind its ">", or NULL if it does not end. "->" ends none. */
static const char *end_of_arguments(const char *at)
{
	int depth = 0;

	for (const char *from = at; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && at > from && at[-1] != '-' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Return the name without the path of the type in "<a::b::Type<c> as d::Trait>::f" of Rust, and set *bytes to the length of "Type". */
static const char *type_of_method(const char *text, const char *end, size_t *bytes)
{
	const char *type = text + 1, *stop = text + 1;

	while (stop < end - 1 && *stop != '<' && *stop != ' ')
		stop++;
	for (const char *at = type; at + 1 < stop; at++)
		if (at[0] == ':' && at[1] == ':')
			type = at + 2;
	*bytes = (size_t)(stop - type);
	return type;
}

/* Return "a::f<…>::g" for "a::f<b<c>, d>::g", and "<Type>::f" for "<a::b::Type<c> as d::Trait>::f", which the caller frees. What tells
 * names of C++ and Rust apart mostly stands before and behind arguments of templates and generics. Return NULL if the text has none, is no
 * name with "::", or if memory runs out. */
static char *without_arguments(const struct page *p, const char *text)
{
	const char *const mark = p->utf8 ? "…" : "~";
	const size_t nr = strnlen(text, ARGUMENTS_BYTES);
	char *out = nr < ARGUMENTS_BYTES && strstr(text, "::") && strchr(text, '<') ? malloc(nr * 4 + 1) : NULL, *to = out;

	for (const char *at = text; out && *at;) {
		/* "operator<<" and "a < b" begin no list */
		const bool is_operator = at >= text + 8 && *at == '<' && (memcmp(at - 8, "operator", 8) == 0 || at[-1] == '<');
		const char *end = *at == '<' && !is_operator && (at == text || at[-1] != ' ') ? end_of_arguments(at) : NULL;
		size_t bytes;

		if (!end) {
			*to++ = *at++;
			continue;
		}
		if (at == text) {
			const char *type = type_of_method(at, end, &bytes);

			to += sprintf(to, "<%.*s>", (int)bytes, type);
		} else {
			to += sprintf(to, "<%s>", mark);
		}
		at = end;
	}
	if (out)
		*to = 0;
	return out;
}

/* Return the longest end of a text that takes at most so many columns. */
static const char *tail_within_columns(const struct page *p, const char *text, int columns)
{
	size_t most = bytes_looked_at(p), all = strlen(text);
	const char *shown;
	size_t bytes;
	int width;

	if (all >= most)
		text += all - most + 1;
	for (int n = 0; n < 3 && all >= most && (*text & 0xc0) == 0x80; n++) /* skip the rest of a character */
		text++;
	for (width = page_width(p, text); *text && width > columns;)
		width -= next_shown_piece(p, &text, &shown, &bytes);
	return text;
}

int page_put_name(const struct page *p, const char *text, int columns)
{
	int width = page_width(p, text), head, used;
	char *brief = width > columns ? without_parameters(text) : NULL, *briefer;

	text = brief ? brief : text;
	width = brief ? page_width(p, brief) : width;
	briefer = width > columns ? without_arguments(p, text) : NULL;
	text = briefer ? briefer : text;
	width = briefer ? page_width(p, briefer) : width;
	if (width <= columns || columns < NAME_CUT_LEAST) {
		used = page_put(p, text, columns);
	} else {
		head = *text == '/' ? 0 : columns / 2;
		used = head ? page_put(p, text, head + 1) : 0; /* page_put() cuts the text here and writes the mark itself */
		if (!head)
			used += fputs(p->utf8 ? "…" : "~", p->to) >= 0;
		used += page_put(p, tail_within_columns(p, text, columns - used), columns - used);
	}
	free(briefer);
	free(brief);
	return used;
}

static const char *put_into_buffer(const struct page *p, const char *text, int columns, char *to, size_t bytes,
				   int (*put)(const struct page *p, const char *text, int columns))
{
	struct page into = *p;

	memset(to, 0, bytes);
	into.to = fmemopen(to, bytes - 1, "w"); /* a longer text is cut at the end */
	if (!into.to)
		return to;
	put(&into, text, columns);
	fclose(into.to);
	return to;
}

const char *page_cut(const struct page *p, const char *text, int columns, char *to, size_t bytes)
{
	return put_into_buffer(p, text, columns, to, bytes, page_put);
}

const char *page_cut_name(const struct page *p, const char *text, int columns, char *to, size_t bytes)
{
	return put_into_buffer(p, text, columns, to, bytes, page_put_name);
}

#define NAME_WANTED 12 /* columns that branches leave to the name behind them, if they are cut */

int page_branches_width(const struct page *p, const char *branches, int columns)
{
	int width = page_width(p, branches);

	if (width <= columns - PAGE_NAME_LEAST)
		return width;
	return columns > NAME_WANTED && width > columns - NAME_WANTED ? columns - NAME_WANTED : 0;
}

int page_put_branches(const struct page *p, const char *branches, int columns)
{
	int width = page_branches_width(p, branches, columns);

	if (!width || width == page_width(p, branches))
		return page_put(p, branches, width);
	fputs(p->utf8 ? "…" : "~", p->to);
	return 1 + page_put(p, tail_within_columns(p, branches, width - 1), width - 1);
}

void page_style(const struct page *p, const char *sgr)
{
	if (p->colour)
		fprintf(p->to, "\033[%sm", sgr);
}
