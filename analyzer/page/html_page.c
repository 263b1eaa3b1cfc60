/* SPDX-License-Identifier: MIT */
#include "analyzer/page/html_page.h"

#include "analyzer/listing/disassembly.h"
#include "analyzer/output/escape.h"
#include "analyzer/page/html_block.h"
#include "analyzer/whatif/timeline.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The files that analyzer/page/build.sh made of the folder web become a part of the program here. They are empty if esbuild or clang was
 * missing. */
__asm__(".pushsection .rodata\n"
	"html_head: .incbin \"" PAGE_FOLDER "/head.html\"\n"
	"html_tail: .incbin \"" PAGE_FOLDER "/tail.html\"\n"
	"html_policy: .incbin \"" PAGE_FOLDER "/policy\"\n"
	"html_end: .popsection\n");
extern const char html_head[] __attribute__((visibility("hidden")));
extern const char html_tail[] __attribute__((visibility("hidden")));
extern const char html_policy[] __attribute__((visibility("hidden")));
extern const char html_end[] __attribute__((visibility("hidden")));

#define DATA_BEGINS "\n<!--tailor data 1-->\n"
static const char data_begins[] = DATA_BEGINS, data_ends[] = "<!--/tailor data-->\n";
static const char title_begins[] = "<title>", title_ends[] = "</title>";

const struct output_form html_output_form = { "a page", DATA_BEGINS, sizeof(DATA_BEGINS) - 1, 0, 1 << 17 };

bool html_is_built(void)
{
	return &html_tail[0] > &html_head[0];
}

void html_put_policy(FILE *to, bool served)
{
	fwrite(html_policy, 1, (size_t)(&html_end[0] - &html_policy[0]), to);
	if (served)
		fputs("; connect-src 'self'", to);
}

void html_put_head(FILE *to, const char *title, uint32_t served)
{
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"", to);
	html_put_policy(to, served > 0);
	fputs("\">\n", to);
	if (served)
		fprintf(to, "<meta name=\"tailor-server\" content=\"%u\">\n", served);
	fwrite(html_head, 1, (size_t)(&html_tail[0] - &html_head[0]), to);
	fputs(title_begins, to);
	escape_xml(to, title);
	fprintf(to, "%s%s", title_ends, data_begins);
}

void html_put_tail(FILE *to)
{
	fputs(data_ends, to);
	fwrite(html_tail, 1, (size_t)(&html_policy[0] - &html_tail[0]), to);
}

/* ------------------------------------------------------------------------------------------------------------- a trace */

int html_trace_ask(struct html_trace *t, struct report *r)
{
	t->report = r;
	r->stacks |= t->stacks;
	r->addresses = t->addresses;
	report_add_callback(r, html_rows_add, &t->rows);
	html_pairs_ask(t->pairs, r);
	t->by_place = hits_ask_group(r, REPORT_ALL_EVENTS);
	t->by_line = report_add_group(r, REPORT_ALL_EVENTS, TABLE_LINE, -1);
	leading_ask(&t->leading, r);
	t->by_function = report_add_group(r, 0, TABLE_FUNCTION, -1);
	if (t->stacks && r->model->leaving != MODEL_NO_EVENT && r->model->preempted != MODEL_NO_EVENT)
		t->timeline = timeline_ask(r);
	return r->error;
}

static int write_facts_block(const struct html_trace *t, const struct html_columns *c, FILE *to)
{
	struct html_block *b;
	char *text = NULL, id[32];
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	int ret = 0;

	if (!f)
		return -ENOMEM;
	html_put_facts(t, c, f);
	ret = ferror(f) ? -ENOMEM : 0;
	if (fclose(f))
		ret = -ENOMEM;
	snprintf(id, sizeof(id), "tailor-%u-facts", t->number);
	b = ret ? NULL : html_block_begin(to, id);
	if (!b) {
		free(text);
		return -ENOMEM;
	}
	html_block_add(b, text, bytes);
	free(text);
	return html_block_end(b);
}

int html_trace_write(struct html_trace *t, FILE *to)
{
	struct html_columns columns;
	int ret = html_rows_settle(&t->rows);

	if (ret)
		return ret;
	fputs("<section class=\"plain\">\n", to);
	html_put_plain(t, to);
	fputs("</section>\n", to);
	columns = (struct html_columns){ .to = to };
	ret = html_columns_write(&columns, t);
	return ret ? ret : write_facts_block(t, &columns, to);
}

void html_trace_fini(struct html_trace *t)
{
	html_rows_fini(&t->rows);
}

/* ----------------------------------------------------------------------------------------------------------- an old page */

static FILE *open_page(const char *path)
{
	int fd = regular_file_open(path);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

static char *read_whole_file(const char *path, size_t *nr)
{
	FILE *f = open_page(path);
	size_t capacity = 1u << 16, got;
	char *text = f ? malloc(capacity) : NULL;

	*nr = 0;
	while (text && (got = fread(text + *nr, 1, capacity - 1 - *nr, f)) > 0) {
		*nr += got;
		if (*nr == capacity - 1) {
			char *bigger = capacity < SIZE_MAX / 2 ? realloc(text, 2 * capacity) : NULL;

			if (!bigger) {
				free(text);
				text = NULL;
				errno = ENOMEM;
				break;
			}
			text = bigger;
			capacity *= 2;
		}
	}
	if (f)
		fclose(f);
	if (text)
		text[*nr] = 0;
	return text;
}

static bool file_is_html_page(const char *path)
{
	char start[16] = "";
	FILE *f = open_page(path);
	size_t nr = f ? fread(start, 1, sizeof(start) - 1, f) : 0;

	if (f)
		fclose(f);
	return nr == sizeof(start) - 1 && strncasecmp(start, "<!doctype html>", 15) == 0;
}

/* Copy the title of a page without HTML's escapes. Only the beginning of a long one is copied. */
static void copy_page_title(const char *text, const char *end, char title[256])
{
	static const struct {
		const char *entity;
		char c;
	} entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&#39;", '\'' } };
	const char *at = memmem(text, (size_t)(end - text), title_begins, sizeof(title_begins) - 1), *stop;
	size_t n = 0;

	title[0] = 0;
	if (!at)
		return;
	at += sizeof(title_begins) - 1;
	stop = memmem(at, (size_t)(end - at), title_ends, sizeof(title_ends) - 1);
	while (stop && at < stop && n < 255) {
		char c = *at++;

		for (size_t e = 0; c == '&' && e < sizeof(entities) / sizeof(entities[0]); e++)
			if (strncmp(at - 1, entities[e].entity, strlen(entities[e].entity)) == 0) {
				at += strlen(entities[e].entity) - 1;
				c = entities[e].c;
				break;
			}
		title[n++] = c;
	}
	title[n] = 0;
}

int html_read_data(const char *path, char **data, size_t *nr, char title[256])
{
	char *text, *from, *end;
	size_t bytes;

	if (!file_is_html_page(path))
		return -EINVAL;
	text = read_whole_file(path, &bytes);
	if (!text)
		return -errno;
	from = memmem(text, bytes, data_begins, sizeof(data_begins) - 1);
	end = from ? memmem(from, bytes - (size_t)(from - text), data_ends, sizeof(data_ends) - 1) : NULL;
	if (!end) {
		free(text);
		return -EBADMSG;
	}
	copy_page_title(text, from, title);
	from += sizeof(data_begins) - 1;
	*nr = (size_t)(end - from);
	memmove(text, from, *nr);
	*data = text;
	return 0;
}
