/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/perf_map.h"

#include "jitreg/base/hash_map.h"
#include "jitreg/base/planted.h"
#include "jitreg/jitreg.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 4096u /* a longer line is cut there */
#define CODE_BYTES_MAX (1ull << 32)
#define ADDRESS_MAX (1ull << 56)
#define RANGES_MAX (4u << 20) /* maximum number of remembered ranges. Code beyond them is reported as new whenever its line is repeated. */

/* This struct is a range in the tree (tsearch(3)), whose comparison takes overlapping ranges for equal, so all ranges in it are
 * disjoint. */
struct range {
	uint64_t start, end;
	uint64_t name; /* hash of its name; 0: it was merged from ranges with different bounds */
	uint64_t from_ns; /* time since which the name holds; of a merged range, the latest such time */
	uint64_t told_ns; /* until_ns of the look that read its latest name */
};

struct perf_map {
	void *ranges;
	size_t nr_ranges;
	uint64_t nr_ambiguous;
	char line[LINE_MAX_BYTES]; /* a line without its newline yet */
	size_t line_bytes;
	char entry[LINE_MAX_BYTES]; /* an entry whose name goes on in the line */
	size_t entry_bytes;
	bool is_named; /* the last line was an entry, or a part of its name */
};

struct perf_map *perf_map_create(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_destroy(struct perf_map *m)
{
	if (m)
		tdestroy(m->ranges, free);
	free(m);
}

uint64_t perf_map_ambiguous(const struct perf_map *m)
{
	return m ? m->nr_ambiguous : 0;
}

void perf_map_restart(struct perf_map *m)
{
	m->line_bytes = m->entry_bytes = 0;
	m->is_named = false;
}

/* Parses a hexadecimal number and the blank behind it.  Returns their bytes, or 0 if there is no number of at most 16 digits with a blank
 * behind it. */
static size_t parse_hex_number(const char *text, size_t bytes, uint64_t *v)
{
	size_t i = 0, digits = 0;

	*v = 0;
	if (bytes > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		i = 2;
	for (; i < bytes && digits <= 16; i++, digits++) {
		char c = text[i] | 0x20;
		unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;

		if (d == 16 || (text[i] & 0x80) || text[i] < '0')
			break;
		*v = *v << 4 | d;
	}
	return digits && digits <= 16 && i < bytes && (text[i] == ' ' || text[i] == '\t') ? i + 1 : 0;
}

int perf_map_parse_line(const char *line, size_t bytes, struct perf_map_entry *e)
{
	size_t n, m;

	while (bytes && (line[bytes - 1] == '\r' || line[bytes - 1] == ' ' || line[bytes - 1] == '\n'))
		bytes--;
	n = parse_hex_number(line, bytes, &e->address);
	if (!n)
		return -EBADMSG;
	m = parse_hex_number(line + n, bytes - n, &e->bytes);
	if (!m || !e->bytes || e->bytes > CODE_BYTES_MAX || e->address > ADDRESS_MAX)
		return -EBADMSG;
	e->name = line + n + m;
	e->name_bytes = bytes - n - m;
	while (e->name_bytes && *e->name == ' ') {
		e->name++;
		e->name_bytes--;
	}
	return e->name_bytes ? 0 : -EBADMSG;
}

static int compare_disjoint_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->end <= y->start ? -1 : x->start >= y->end;
}

static uint64_t hash_name_nonzero(const char *text, size_t bytes)
{
	uint64_t h = hash_bytes(text, bytes);

	return h ? h : 1;
}

#define SAID_BEFORE UINT64_MAX

/* Returns the time since which e's name holds, or SAID_BEFORE if the same entry was reported before and its memory was not freed since.
 * Ranges that e overlaps become one range with it. */
static uint64_t merge_range_of_entry(struct perf_map *m, const struct perf_map_entry *e, const struct perf_map_look *look)
{
	struct range key = { e->address, e->address + e->bytes, hash_name_nonzero(e->name, e->name_bytes), 0, look->until_ns }, *r, **found;
	bool other = false, at_once = false;
	uint64_t freed_ns, told_ns;

	while ((found = tfind(&key, &m->ranges, compare_disjoint_ranges))) {
		r = *found;
		if (r->start == key.start && r->end == key.end && r->name == key.name &&
		    !unloads_before_name(look->unloads, key.start, key.end, r->from_ns, look->since_ns, look->until_ns))
			return SAID_BEFORE;
		/* If only the name is new, the range gets it.  If the bounds differ, the merged range has no name. */
		if (r->start != key.start || r->end != key.end)
			key.name = 0;
		key.start = r->start < key.start ? r->start : key.start;
		key.end = r->end > key.end ? r->end : key.end;
		key.from_ns = r->from_ns > key.from_ns ? r->from_ns : key.from_ns;
		told_ns = r->told_ns;
		tdelete(r, &m->ranges, compare_disjoint_ranges);
		free(r);
		m->nr_ranges--;
		other = true;
		at_once |= told_ns == look->until_ns;
	}
	r = m->nr_ranges < RANGES_MAX ? malloc(sizeof(*r)) : NULL;
	freed_ns = unloads_before_name(look->unloads, e->address, e->address + e->bytes, key.from_ns, look->since_ns, look->until_ns);
	m->nr_ambiguous += look->late && at_once && !freed_ns;
	if (freed_ns)
		key.from_ns = freed_ns + 1;
	else if (!other && r)
		key.from_ns = JITREG_TIME_BEFORE;
	else if (key.from_ns < look->since_ns)
		key.from_ns = look->since_ns;
	if (!r)
		return key.from_ns;
	*r = key;
	if (tsearch(r, &m->ranges, compare_disjoint_ranges))
		m->nr_ranges++;
	else
		free(r);
	return key.from_ns;
}

static bool report_map_line(struct perf_map *m, const char *line, size_t bytes, const struct perf_map_look *look, perf_map_report report,
			    void *context)
{
	struct perf_map_entry e;
	uint64_t from_ns;

	planted_fault("map", line, bytes);
	if (perf_map_parse_line(line, bytes, &e))
		return false;
	from_ns = merge_range_of_entry(m, &e, look);
	if (from_ns != SAID_BEFORE)
		report(context, &e, from_ns);
	return true;
}

/* Does the text look like an entry, which may have an invalid number?  is_line: it is a whole line. Otherwise it counts as an entry as long
 * as nothing shows that it is none. */
static bool begins_as_entry(const char *text, size_t bytes, bool is_line)
{
	size_t at = 0;

	for (int number = 0; number < 2; number++) {
		size_t first = at;

		if (bytes - at > 2 && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X'))
			at += 2;
		while (at < bytes && isxdigit((unsigned char)text[at]))
			at++;
		if (at == bytes)
			return !is_line;
		if (at == first || (text[at] != ' ' && text[at] != '\t'))
			return false;
		at++;
	}
	return true;
}

static void append(char *to, size_t *nr, const char *text, size_t bytes)
{
	const size_t room = LINE_MAX_BYTES - *nr;

	memcpy(to + *nr, text, bytes < room ? bytes : room);
	*nr += bytes < room ? bytes : room;
}

/* Reports the entry whose lines are complete.  Returns the number of invalid lines. */
static uint64_t report_entry(struct perf_map *m, const char *line, size_t bytes, const struct perf_map_look *look, perf_map_report report,
			     void *context)
{
	m->is_named = report_map_line(m, line, bytes, look, report, context);
	m->entry_bytes = 0;
	return !m->is_named;
}

/*
 * Takes a complete line.  What follows it in the file tells whether its name goes on: the format has no escape, and V8 names regular
 * expressions with their newlines. So a line that does not look like an entry belongs to the name before it. An entry at the end of what is
 * read is reported at once, and a line that continues its name later is left out. Returns the number of invalid lines.
 */
static uint64_t take_line(struct perf_map *m, const char *line, size_t bytes, const char *next, size_t next_bytes,
			  const struct perf_map_look *look, perf_map_report report, void *context)
{
	const bool is_whole = next_bytes == 0 || begins_as_entry(next, next_bytes, false);

	if (begins_as_entry(line, bytes, true)) {
		if (is_whole)
			return report_entry(m, line, bytes, look, report, context);
		append(m->entry, &m->entry_bytes, line, bytes);
		return 0;
	}
	if (!m->entry_bytes)
		return bytes && !m->is_named;
	append(m->entry, &m->entry_bytes, "\n", 1);
	append(m->entry, &m->entry_bytes, line, bytes);
	return is_whole ? report_entry(m, m->entry, m->entry_bytes, look, report, context) : 0;
}

uint64_t perf_map_feed(struct perf_map *m, const char *text, size_t bytes, const struct perf_map_look *look, perf_map_report report,
		       void *context)
{
	uint64_t bad = 0;

	while (bytes) {
		const char *newline = memchr(text, '\n', bytes), *line = text;
		size_t piece = newline ? (size_t)(newline - text) : bytes, line_bytes = piece;

		text += piece + (newline != NULL);
		bytes -= piece + (newline != NULL);
		if (!newline || m->line_bytes || piece > LINE_MAX_BYTES) {
			append(m->line, &m->line_bytes, line, piece);
			line = m->line;
			line_bytes = m->line_bytes;
		}
		if (newline) {
			bad += take_line(m, line, line_bytes, text, bytes, look, report, context);
			m->line_bytes = 0;
		}
	}
	return bad;
}

void perf_map_end(struct perf_map *m, const struct perf_map_look *look, perf_map_report report, void *context)
{
	if (m->entry_bytes)
		take_line(m, m->line, m->line_bytes, NULL, 0, look, report, context);
	else if (m->line_bytes)
		report_map_line(m, m->line, m->line_bytes, look, report, context);
	m->line_bytes = 0;
}
