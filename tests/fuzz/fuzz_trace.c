/* SPDX-License-Identifier: MIT */
/*
 * A whole trace: every field of every record read as what it is and as what it is not, every sample decoded, everything
 * dumped, all views made, each sample printed with its witness, one format exported or the page written or served, the trace
 * compared with itself and scrubbed; and samples that are summed up at once come to the same sums as one by one.  A chunk's
 * checksum is put right first, so that mutations of bodies get behind it.
 *
 * With FUZZ_VIEWS=N it is the default report, N views and an export, chosen by the bytes: a tenth of the time for each input.  With
 * FUZZ_PAGE=1 it is the page alone.
 */
#include "analyzer/compare/inlined.h"
#include "analyzer/compare/match.h"
#include "analyzer/compare/native.h"
#include "analyzer/export/export.h"
#include "analyzer/listing/best_case.h"
#include "analyzer/page/html_page.h"
#include "analyzer/reading/reading_command.h"
#include "analyzer/report/default_report.h"
#include "analyzer/report/views.h"
#include "analyzer/scrub/scrub.h"
#include "analyzer/serve/served.h"
#include "jitreg/base/crc32c.h"
#include "jitreg/trace/dump.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void repair(uint8_t *data, size_t size)
{
	for (size_t at = 0; size - at >= sizeof(struct trace_chunk) && at < size;) {
		struct trace_chunk c;
		size_t left = size - at - sizeof(c);

		memcpy(&c, data + at, sizeof(c));
		if (c.magic != TRACE_MAGIC) {
			at++;
			continue;
		}
		if (c.stored_bytes > left)
			c.stored_bytes = (uint32_t)left;
		if (!(c.flags & TRACE_CHUNK_ZSTD))
			c.body_bytes = c.stored_bytes;
		c.crc32c = crc32c(crc32c(0, &c, sizeof(c) - 4), data + at + sizeof(c), c.stored_bytes);
		memcpy(data + at, &c, sizeof(c));
		at += sizeof(c) + c.stored_bytes;
	}
}

static unsigned sink;

/* As a number, as bytes, as text and as a list, whatever it is; also behind the last field and element. */
static void read_fields(const struct trace_record *r)
{
	for (int i = -1; i <= r->nr_values; i++) {
		size_t bytes;
		const char *p = trace_bytes(r, i, &bytes);
		char *text = trace_text(r, i);

		for (size_t n = 0; n < bytes; n++)
			sink += (unsigned char)p[n];
		sink += (unsigned)trace_u64(r, i) + (unsigned)trace_s64(r, i) + (unsigned)strlen(text);
		free(text);
		for (uint64_t e = 0; i >= 0 && i < r->nr_values && e <= r->values[i].u && e < 1000; e++)
			for (int m = -1; m < 6; m++) {
				struct trace_value v = trace_element(&r->values[i], e, m);

				for (size_t n = 0; (v.kind == TRACE_TEXT || v.kind == TRACE_BYTES) && n < v.bytes; n++)
					sink += (unsigned char)v.p[n];
			}
	}
}

static void read_samples(const struct trace_record *r, struct sample_block *b)
{
	if (sample_block_decode(r, b))
		return;
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t nr_kernel;
		const uint64_t *kernel = sample_block_kernel_chain(b, i, &nr_kernel);
		size_t bytes;
		/* mostly in order, now and then back */
		const unsigned char *stack = sample_block_stack(b, i % 64 == 63 ? i / 2 : i, &bytes);

		for (size_t n = 0; n < bytes; n++)
			sink += stack[n];
		for (uint64_t n = 0; n < nr_kernel; n++)
			sink += (unsigned)kernel[n];
		for (uint64_t n = dump_chain_start(b, i); n < dump_chain_start(b, i + 1); n++)
			sink += (unsigned)b->chain[n];
		if (b->nr_ips)
			sink += (unsigned)b->ips[b->ip_index[i]];
	}
}

/* Each record as text or as JSON, by turns: first is one of them in half of the inputs. */
static void read_records(const char *path, FILE *to, bool first)
{
	struct dump_options o = { .to = to, .full = true };
	struct sample_block b = { 0 };
	struct trace_reader *t;
	struct trace_record r;
	bool text = first;

	if (trace_open(path, &t, NULL))
		return;
	for (; trace_next(t, &r) == 1; text = !text) {
		uint64_t offset;
		const struct trace_chunk *c = trace_get_chunk(t, &offset);
		bool samples = r.id == TRACE_SAMPLES;

		read_fields(&r);
		if (samples)
			read_samples(&r, &b);
		if (text) {
			dump_text_record(&o, &r);
			dump_text_chunk(&o, c, offset);
			if (samples)
				dump_text_samples(&o, &b);
		} else {
			dump_json_record(&o, &r);
			dump_json_chunk(&o, c, offset);
			if (samples)
				dump_json_samples(&o, &b);
		}
	}
	sample_block_fini(&b);
	trace_close(t);
}

#define SHOWN_MAX 64
static struct view_instance shown[SHOWN_MAX];
static struct default_report for_people, for_programs;
static uint64_t wanted = ~0ull; /* views, by number */

static void ask(void *context, struct report *r)
{
	(void)context;
	memset(shown, 0, sizeof(shown));
	r->processor = BEST_CASE_NONE; /* llvm-mca would be started for each input */
	default_report_ask(&for_people, r, false);
	default_report_ask(&for_programs, r, true);
	for (int i = 0, n = 0; view_at(i) && n < SHOWN_MAX; i++)
		if (wanted >> i % 64 & 1) {
			shown[n].view = view_at(i);
			shown[n].view->prepare(r, &shown[n]);
			n++;
		}
}

static void make_views(const char *path, FILE *to, enum page_form form)
{
	struct reading_arguments arguments = { 0 };
	struct reading s = { 0 };
	struct page page;

	s.options.each = to;
	s.options.also_by_stack = true;
	memset(shown, 0, sizeof(shown));
	if (reading_command_open(&s, path, &arguments, ask, NULL) == 0) {
		if (page_init(&page, to, form) == 0) {
			page.top = 10;
			view_header(&s.report, &page);
			for (int i = 0; i < SHOWN_MAX && shown[i].view; i++)
				shown[i].view->show(&s.report, &shown[i], &page);
			page_end(&page);
		}
		if (default_report_settle(&for_people, &s.report) == 0 && page_init(&page, to, PAGE_TEXT) == 0) {
			page.colour = true;
			default_report_text(&for_people, &s.report, &page);
			page_end(&page);
		}
		if (default_report_settle(&for_programs, &s.report) == 0)
			default_report_json(&for_programs, &s.report, to);
		reading_command_close(&s, 0);
	}
}

/* What sums can be made of.  one_by_one: also something that only single samples tell. */
static void ask_sums(void *context, struct report *r)
{
	const bool *one_by_one = context;

	report_add_group(r, 0, TABLE_FUNCTION, TABLE_METHOD, TABLE_REASON, TABLE_EVENT, -1);
	report_add_group(r, 0, TABLE_LINE, TABLE_CODE, TABLE_MODE, TABLE_PROCESS, -1);
	report_add_group(r, 0, TABLE_PHASE, TABLE_IMAGE, -1);
	for (uint32_t level = 0; level < r->model->dictionary.nr_levels; level++)
		report_add_group(r, 0, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
	if (*one_by_one)
		report_add_group(r, 0, GROUP_BIN, -1);
}

static bool differ(double a, double b)
{
	return !(a - b <= 1e-9 * (a + b) && b - a <= 1e-9 * (a + b));
}

static void compare_sums(const struct group *a, const struct group *b)
{
	if (a->nr != b->nr)
		abort();
	for (uint32_t i = 0; i < a->nr; i++) {
		const struct group_sum *x = &a->sum[i], *y = group_find(b, a->value + (size_t)i * a->nr_keys);

		if (!y || differ(x->samples, y->samples) || differ(x->kernel, y->kernel) || differ(x->weight, y->weight) ||
		    differ(x->weight_squares, y->weight_squares) || x->first_ns != y->first_ns || x->last_ns != y->last_ns)
			abort();
	}
}

static void make_sums(const char *path)
{
	struct reading_arguments arguments = { 0 };
	struct reading at_once = { 0 }, each = { 0 };
	bool no = false, yes = true;

	if (reading_command_open(&at_once, path, &arguments, ask_sums, &no) == 0) {
		if (reading_command_open(&each, path, &arguments, ask_sums, &yes) == 0) {
			/* a column that only one of them reads may not make sense */
			const bool alike = at_once.attribution->bad_blocks == each.attribution->bad_blocks;

			for (uint32_t i = 0; alike && i < at_once.report.nr_groups; i++)
				compare_sums(&at_once.report.group[i]->g, &each.report.group[i]->g);
			reading_command_close(&each, 0);
		}
		reading_command_close(&at_once, 0);
	}
}

struct exporting {
	const struct exporter *format;
	struct export export;
	struct profile_question question;
};

static void ask_export(void *context, struct report *r)
{
	struct exporting *e = context;

	e->export.report = r;
	e->export.level = report_find_level(r, NULL);
	e->format->prepare(&e->export);
	profile_ask(&e->question, r, NULL, true);
}

static void make_export(const char *path, FILE *to, const struct exporter *format)
{
	struct exporting e = { .format = format, .export = { .each = to } };
	struct reading_arguments arguments = { 0 };
	struct reading s = { 0 };
	struct profile p[2];
	struct match m;

	if (reading_command_open(&s, path, &arguments, ask_export, &e) == 0) {
		format->write(&e.export, to);
		if (profile_make(&e.question, &s.report, "a", &p[0]) == 0) {
			if (profile_make(&e.question, &s.report, "b", &p[1]) == 0) {
				if (inlined_settle(p, 2) == 0 && native_settle(p, 2) == 0 && match_make_lines(p, 2, &m) == 0)
					match_fini(&m);
				profile_fini(&p[1]);
			}
			profile_fini(&p[0]);
		}
		reading_command_close(&s, 0);
	}
	export_fini(&e.export);
}

static void ask_page(void *context, struct report *r)
{
	html_trace_ask(context, r);
}

/* Its filters may be any: all samples pass the first, none the second. */
static void read_served(struct served *s)
{
	struct crossfilter_sum sum[2];
	const struct crossfilter_key all = { .column = { NULL, 4 }, .nr = 1 };

	for (uint32_t i = 0; i < s->nr_columns; i++)
		for (size_t n = 0; n < (size_t)s->column[i].nr * s->column[i].width; n++)
			sink += ((unsigned char *)s->column[i].data)[n];
	crossfilter_sum_groups(&s->cross, 0, s->cross.nr, 0, &all, &all, &sum[0]);
	crossfilter_apply_range(s->fails, s->cross.nr, 1, (struct crossfilter_column){ s->column[0].data, s->column[0].width }, 1, 0);
	crossfilter_sum_groups(&s->cross, 0, s->cross.nr, 0, &all, &all, &sum[1]);
	if (sum[1].samples > 0 || strlen(s->facts) != s->facts_bytes)
		abort();
}

/* served: its data are kept for a server. */
static void make_page(const char *path, FILE *to, bool served)
{
	struct html_pairs pairs = { .wanted = true };
	struct html_trace t = { .path = path, .number = 1, .pairs = &pairs, .stacks = true, .addresses = true,
				.source_bytes = 1000 };
	struct reading_arguments arguments = { 0 };
	struct reading session = { 0 };
	struct served s = { 0 };

	if (reading_command_open(&session, path, &arguments, ask_page, &t) == 0) {
		/* it is compared with itself */
		if (html_pairs_keep(&pairs, &session.report, 0) || html_pairs_keep(&pairs, &session.report, 1))
			served = false;
		else if (!served)
			html_trace_write(&t, to);
		else if (served_keep_trace(&s, &t) == 0)
			read_served(&s);
		served_fini(&s);
		reading_command_close(&session, 0);
	}
	html_trace_fini(&t);
	html_pairs_fini(&pairs);
}

static void make_scrubbed(const char *path, bool all)
{
	struct scrub_options o = { .names = all, .code = all };
	struct scrub_counts counts;
	struct trace_reader *t;
	struct trace_writer *c;
	struct model *m;

	if (trace_open(path, &t, NULL))
		return;
	if (model_create(t, &m, NULL) == 0) {
		if (trace_writer_open("/dev/null", TRACE_SMALL, &c, NULL) == 0) {
			scrub_trace(t, m, &o, c, &counts, NULL);
			trace_writer_close(c);
		}
		model_destroy(m);
	}
	trace_close(t);
}

/* Views that the bytes choose; all where no number is given. */
static uint64_t choose_views(const uint8_t *data, size_t size)
{
	const char *text = getenv("FUZZ_VIEWS");
	int nr = text ? atoi(text) : 0, nr_views = 0;
	uint64_t chosen = nr ? 0 : ~0ull, state = crc32c(0, data, size);

	while (view_at(nr_views) && nr_views < 64)
		nr_views++;
	for (; nr > 0; nr--) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		chosen |= 1ull << (state >> 33) % (unsigned)nr_views;
	}
	return chosen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool page_alone = getenv("FUZZ_PAGE") != NULL;
	int nr_formats = 0, format;
	static const enum page_form forms[] = { PAGE_TEXT, PAGE_JSON, PAGE_CSV };
	FILE *nowhere = fopen("/dev/null", "we"), *errors = stderr;
	uint8_t *copy = malloc(size + 1);
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (!nowhere || !copy || fd < 0)
		abort();
	stderr = nowhere; /* sentences about the damage; the sanitizers write to the descriptor */
	memcpy(copy, data, size);
	repair(copy, size);
	if (write(fd, copy, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	wanted = page_alone ? 0 : choose_views(data, size);
	if (wanted == ~0ull)
		read_records(path, nowhere, size && copy[size / 7] % 2);
	if (!page_alone)
		make_views(path, nowhere, forms[size ? copy[size / 2] % 3 : 0]);
	if (wanted == ~0ull && size && copy[size / 5] % 4 == 0) /* it takes as long as all the rest */
		make_sums(path);
	while (export_at(nr_formats))
		nr_formats++;
	format = size ? copy[size / 3] % (nr_formats + 2) : 0;
	if (format < nr_formats && !page_alone)
		make_export(path, nowhere, export_at(format));
	else
		make_page(path, nowhere, format % 2);
	if (wanted == ~0ull)
		make_scrubbed(path, size && copy[size / 4] % 2);
	free(copy);
	close(fd);
	stderr = errors;
	fclose(nowhere);
	return 0;
}
