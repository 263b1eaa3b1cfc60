/* SPDX-License-Identifier: MIT */
#include "analyzer/top/lines.h"

#include "analyzer/output/escape.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDE 72 /* columns from which a row has its place and kernel share, and the title is longer */
#define NAME_PART 3 / 5

static double share_of(const struct top_rows *rows, double part)
{
	return rows->measure > 0 ? part / rows->measure : 0;
}

void lines_format_title(const struct page *p, const struct top_rows *rows, const struct lines_head *h, char *text)
{
	char said[256], name[512];
	int n = snprintf(said, sizeof(said), "%.1f to %.1f s  %.0f samples  %llu lost%s", h->from_s, h->to_s, rows->samples,
			 (unsigned long long)rows->lost, h->paused ? "  paused" : "");

	if (p->columns < WIDE)
		n = snprintf(said, sizeof(said), "%.1f to %.1f s  %.0f%s", h->from_s, h->to_s, rows->samples, h->paused ? "  paused" : "");
	page_cut(p, h->what, p->columns - n - 2 > 0 ? p->columns - n - 2 : 0, name, sizeof(name));
	snprintf(text, LINES_BYTES, "%s%s%s", name, *name ? "  " : "", said);
}

bool lines_format_note(const struct page *p, const char *note, int nth, char *text)
{
	const size_t width = p->columns > 20 ? (size_t)p->columns : 20;

	for (const char *at = note; *at;) {
		size_t left = strlen(at), bytes = left < width ? left : width;

		while (bytes < left && bytes > 1 && at[bytes] != ' ')
			bytes--;
		bytes = bytes > 1 || left <= width ? bytes : width; /* cuts a word that is longer than a line */
		if (nth-- == 0) {
			snprintf(text, LINES_BYTES, "%.*s", (int)bytes, at);
			*text = at == note ? (char)toupper((unsigned char)*text) : *text;
			return true;
		}
		at += bytes + (at[bytes] == ' ');
	}
	return false;
}

void lines_format_path(const struct page *p, const struct lines_head *h, char *text)
{
	char said[1600];

	snprintf(said, sizeof(said), "by %s%s%s%s%s%s", top_sort_names[h->sort], *h->path ? "  in " : "", h->path, h->filter ? "  /" : "",
		 h->filter ? h->filter : "", h->filter ? "/" : "");
	page_cut(p, said, p->columns, text, LINES_BYTES);
}

/* Formats the numbers in front of the name.  Returns how wide they are. */
static int format_numbers(const struct page *p, const struct top_rows *rows, const char *self, const char *total, const char *samples,
			  const char *kernel, char text[96])
{
	int n = snprintf(text, 96, "%7s", self);

	if (rows->has_totals)
		n += snprintf(text + n, 96 - (size_t)n, " %7s", total);
	n += snprintf(text + n, 96 - (size_t)n, " %8s", samples);
	if (p->columns >= WIDE)
		n += snprintf(text + n, 96 - (size_t)n, " %6s", kernel);
	n += snprintf(text + n, 96 - (size_t)n, "  ");
	return n;
}

void lines_format_heading(const struct page *p, const struct top_rows *rows, char *text)
{
	char numbers[96];
	int n = format_numbers(p, rows, rows->level == TOP_CALLERS ? "share" : "self", "total", "samples", "kernel", numbers);

	snprintf(text, LINES_BYTES, "%s", numbers);
	page_cut(p, rows->heading, p->columns - n, text + n, LINES_BYTES - (size_t)n);
}

static void format_share(double share, char text[16])
{
	snprintf(text, 16, "%.1f %%", grid_percent(share));
}

void lines_format_row(const struct page *p, const struct top_rows *rows, uint32_t i, char *text)
{
	const struct top_row *r = &rows->at[i];
	char self[16], total[16], samples[16], kernel[16] = "", numbers[96], place[512];
	int n, left, width, used;

	format_share(share_of(rows, r->self), self);
	format_share(share_of(rows, r->total), total);
	snprintf(samples, sizeof(samples), "%.0f", r->samples);
	if (r->kernel > 0)
		snprintf(kernel, sizeof(kernel), "%.0f %%", 100 * r->kernel / r->samples);
	n = format_numbers(p, rows, self, total, samples, kernel, numbers);
	left = p->columns - n;
	width = *r->place && p->columns >= WIDE ? left * NAME_PART : left;
	strcpy(text, numbers);
	if (rows->level == TOP_CALLERS)
		page_cut(p, r->name, width, text + n, LINES_BYTES - 512 - (size_t)n);
	else
		page_cut_name(p, r->name, width, text + n, LINES_BYTES - 512 - (size_t)n);
	if (width == left)
		return;
	used = page_width(p, text + n);
	page_cut(p, r->place, left - width - 2, place, sizeof(place));
	n = (int)strlen(text);
	snprintf(text + n, LINES_BYTES - (size_t)n, "%*s%s", width - used + 2 > 0 ? width - used + 2 : 0, "", place);
}

static void write_key(FILE *to, const char *key, const char *text)
{
	fprintf(to, ",\"%s\":", key);
	escape_json_string(to, text);
}

static void write_number(FILE *to, const char *key, double value)
{
	fprintf(to, ",\"%s\":%.17g", key, isfinite(value) ? value : 0);
}

void lines_write_json(FILE *to, const struct top_rows *rows, const struct lines_head *h, const uint32_t *shown, uint32_t nr)
{
	fprintf(to, "{\"schema\":%d", PAGE_SCHEMA);
	write_key(to, "by", top_level_names[rows->level]);
	write_key(to, "level", rows->heading);
	write_key(to, "event", rows->event);
	fprintf(to, ",\"from_s\":%.3f,\"to_s\":%.3f", h->from_s, h->to_s);
	write_number(to, "samples", rows->samples);
	write_number(to, "weight", rows->measure);
	fprintf(to, ",\"lost\":%llu,\"notes\":[", (unsigned long long)rows->lost);
	for (uint32_t i = 0; i < rows->nr_notes; i++) {
		fputs(i ? "," : "", to);
		escape_json_string(to, rows->note[i]);
	}
	fputs("],\"rows\":[", to);
	for (uint32_t i = 0; i < nr; i++) {
		const struct top_row *r = &rows->at[shown[i]];

		fprintf(to, "%s{\"share\":%.9g", i ? "," : "", share_of(rows, r->self));
		if (rows->has_totals)
			fprintf(to, ",\"total\":%.9g", share_of(rows, r->total));
		write_number(to, "samples", r->samples);
		if (rows->has_totals)
			write_number(to, "total_samples", r->total_samples);
		write_number(to, "kernel_samples", r->kernel);
		write_key(to, "name", r->name);
		if (*r->place)
			write_key(to, "place", r->place);
		fputc('}', to);
	}
	fputs("]}\n", to);
}
