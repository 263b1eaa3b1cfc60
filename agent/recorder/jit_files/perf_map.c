/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/perf_map.h"

#include "jitreg/base/hash_map.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 4096u /* a longer one is cut there */
#define CODE_BYTES_MAX (1ull << 32)
#define ADDRESS_MAX (1ull << 56)
#define RANGES_MAX (4u << 20) /* remembered; code beyond them is reported as new each time */

/* Disjoint ranges in a tree that takes overlapping ones for equal. */
struct range {
	uint64_t start, end;
	uint64_t name; /* hash of what all of it is called; 0: several names */
};

struct perf_map {
	void *ranges;
	size_t nr_ranges;
	char line[LINE_MAX_BYTES];
	size_t line_bytes;
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

void perf_map_restart(struct perf_map *m)
{
	m->line_bytes = 0;
}

/* A number in hex with an end; 0 when there is none. */
static size_t take_hex(const char *text, size_t bytes, uint64_t *v)
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

	while (bytes && (line[bytes - 1] == '\r' || line[bytes - 1] == ' '))
		bytes--;
	n = take_hex(line, bytes, &e->address);
	if (!n)
		return -EBADMSG;
	m = take_hex(line + n, bytes - n, &e->bytes);
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

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->end <= y->start ? -1 : x->start >= y->end;
}

static uint64_t hash(const char *text, size_t bytes)
{
	uint64_t h = hash_bytes(text, bytes);

	return h ? h : 1;
}

enum novelty { NEW_CODE, OTHER_CODE, SAID_BEFORE };

/* Was there anything at e?  What it overlaps becomes one range with it. */
static enum novelty learn(struct perf_map *m, const struct perf_map_entry *e)
{
	struct range key = { e->address, e->address + e->bytes, hash(e->name, e->name_bytes) }, *r, **found;
	enum novelty novelty = NEW_CODE;

	while ((found = tfind(&key, &m->ranges, compare))) {
		r = *found;
		if (r->start == key.start && r->end == key.end && r->name == key.name)
			return SAID_BEFORE;
		/* the very range gets another name; else the pieces' names are forgotten */
		if (r->start != key.start || r->end != key.end)
			key.name = 0;
		key.start = r->start < key.start ? r->start : key.start;
		key.end = r->end > key.end ? r->end : key.end;
		tdelete(r, &m->ranges, compare);
		free(r);
		m->nr_ranges--;
		novelty = OTHER_CODE;
	}
	r = m->nr_ranges < RANGES_MAX ? malloc(sizeof(*r)) : NULL;
	if (!r)
		return OTHER_CODE;
	*r = key;
	if (tsearch(r, &m->ranges, compare))
		m->nr_ranges++;
	else
		free(r);
	return novelty;
}

static bool take_line(struct perf_map *m, const char *line, size_t bytes, uint64_t since_ns, perf_map_report report, void *context)
{
	struct perf_map_entry e;
	enum novelty novelty;

	if (perf_map_parse_line(line, bytes, &e))
		return false;
	novelty = learn(m, &e);
	if (novelty != SAID_BEFORE)
		report(context, &e, novelty == NEW_CODE ? JITREG_TIME_BEFORE : since_ns);
	return true;
}

uint64_t perf_map_feed(struct perf_map *m, const char *text, size_t bytes, uint64_t since_ns, perf_map_report report,
		       void *context)
{
	uint64_t bad = 0;

	while (bytes) {
		const char *newline = memchr(text, '\n', bytes);
		size_t piece = newline ? (size_t)(newline - text) : bytes, room = LINE_MAX_BYTES - m->line_bytes;

		if (newline && !m->line_bytes && piece <= LINE_MAX_BYTES) {
			bad += piece && !take_line(m, text, piece, since_ns, report, context);
		} else {
			memcpy(m->line + m->line_bytes, text, piece < room ? piece : room);
			m->line_bytes += piece < room ? piece : room;
			if (newline) {
				bad += !take_line(m, m->line, m->line_bytes, since_ns, report, context);
				m->line_bytes = 0;
			}
		}
		text += piece + (newline != NULL);
		bytes -= piece + (newline != NULL);
	}
	return bad;
}
