/* SPDX-License-Identifier: MIT */
/* Makes perf.data files, in both forms, from events, records and features. */
#ifndef TAILOR_PERF_DATA_FILE_H
#define TAILOR_PERF_DATA_FILE_H

#include "tests/unit/unit.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MADE_EVENTS 4
#define MADE_IDS 2 /* of each event */
#define MADE_BYTES (256u << 10)

/* types of records and numbers of features that perf itself made up */
enum { MADE_ATTR = 64, MADE_TRACING_DATA = 66, MADE_BUILD_ID = 67, MADE_ROUND = 68, MADE_AUXTRACE = 71, MADE_UPDATE = 78, MADE_FEATURE = 80,
       MADE_COMPRESSED = 81, MADE_COMPRESSED2 = 83 };
enum { FEATURE_BUILD_ID = 2, FEATURE_HOST = 3, FEATURE_RELEASE = 4, FEATURE_VERSION = 5, FEATURE_MACHINE = 6, FEATURE_CPUS = 7,
       FEATURE_COMMAND = 11, FEATURE_EVENTS = 12, FEATURE_CLOCK = 29 };

struct bytes {
	unsigned char at[MADE_BYTES];
	size_t nr;
};

struct made {
	bool pipe;
	size_t attr_bytes; /* 0: ours */
	struct perf_event_attr attr[MADE_EVENTS];
	const char *name[MADE_EVENTS];
	unsigned nr_events;
	struct bytes records, feature[32], file;
	bool has[32];
};

static inline void put(struct bytes *b, const void *p, size_t nr)
{
	assert_true(nr <= sizeof(b->at) - b->nr);
	if (nr)
		memcpy(b->at + b->nr, p, nr);
	b->nr += nr;
}

static inline void put_u32(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put_u64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put_zeros(struct bytes *b, size_t nr)
{
	while (nr--)
		put(b, "", 1);
}

/* A NUL-terminated text in room bytes; 0: as many as it takes, a multiple of 8. */
static inline void put_room(struct bytes *b, const char *text, size_t room)
{
	size_t n = strlen(text);

	put(b, text, n);
	put_zeros(b, room ? room - n : 8 - n % 8);
}

/* u32 room, text */
static inline void put_text(struct bytes *b, const char *text)
{
	put_u32(b, (uint32_t)(strlen(text) + 8) & ~7u);
	put_room(b, text, 0);
}

static inline void put_record(struct bytes *b, uint32_t type, uint16_t misc, const void *body, size_t nr)
{
	struct perf_event_header h = { .type = type, .misc = misc, .size = (uint16_t)(sizeof(h) + nr) };

	assert_true(sizeof(h) + nr <= UINT16_MAX);
	put(b, &h, sizeof(h));
	put(b, body, nr);
}

static inline void made_record(struct made *m, uint32_t type, uint16_t misc, const struct bytes *body)
{
	put_record(&m->records, type, misc, body->at, body->nr);
}

#define MADE_WORDS(m, type, misc, ...)                                                                                            \
	put_record(&(m)->records, type, misc, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }))

static inline struct bytes *made_feature(struct made *m, unsigned number)
{
	m->has[number] = true;
	m->feature[number].nr = 0;
	return &m->feature[number];
}

/* The records so far become compressed ones of at most piece bytes; second: of the newer kind, which says how many. */
static inline void made_pack(struct made *m, size_t piece, bool second)
{
	static unsigned char packed[2 * MADE_BYTES];
	size_t nr = ZSTD_compress(packed, sizeof(packed), m->records.at, m->records.nr, 1);
	static struct bytes body;

	assert_false(ZSTD_isError(nr));
	m->records.nr = 0;
	for (size_t at = 0; at < nr; at += piece) {
		size_t here = nr - at < piece ? nr - at : piece;

		body.nr = 0;
		if (second)
			put_u64(&body, here);
		put(&body, packed + at, here);
		if (second)
			put_zeros(&body, -here & 7);
		put_record(&m->records, second ? MADE_COMPRESSED2 : MADE_COMPRESSED, 0, body.at, body.nr);
	}
}

/* One compressed record more, of nr records of eight bytes that are all the same. */
static inline void made_pack_same(struct made *m, size_t nr)
{
	struct perf_event_header h = { .type = MADE_ROUND, .size = sizeof(h) };
	struct perf_event_header *all = calloc(nr, sizeof(h));
	size_t room = ZSTD_compressBound(nr * sizeof(h));
	void *packed = malloc(room);

	for (size_t i = 0; i < nr; i++)
		all[i] = h;
	put_record(&m->records, MADE_COMPRESSED, 0, packed, ZSTD_compress(packed, room, all, nr * sizeof(h), 19));
	free(packed);
	free(all);
}

static inline uint64_t made_id(unsigned event, unsigned i)
{
	return 100 * (event + 1) + i;
}

/* One entry of the list of build ids: of 20 bytes, all of them b. */
static inline void put_build_id(struct bytes *to, uint32_t pid, unsigned char b, const char *path)
{
	static struct bytes body;

	body.nr = 0;
	put_u32(&body, pid);
	for (int i = 0; i < 20; i++)
		put(&body, &b, 1);
	put_zeros(&body, 4);
	put_room(&body, path, 0);
	put_record(to, MADE_BUILD_ID, 2, body.at, body.nr);
}

static inline void made_pipe(struct made *m)
{
	static struct bytes body;

	put(&m->file, "PERFILE2", 8);
	put_u64(&m->file, 16);
	for (unsigned e = 0; e < m->nr_events; e++) {
		body.nr = 0;
		m->attr[e].size = (uint32_t)(m->attr_bytes ? m->attr_bytes : sizeof(m->attr[e]));
		put(&body, &m->attr[e], m->attr[e].size < sizeof(m->attr[e]) ? m->attr[e].size : sizeof(m->attr[e]));
		put_zeros(&body, m->attr[e].size - (body.nr < m->attr[e].size ? body.nr : m->attr[e].size));
		for (unsigned i = 0; i < MADE_IDS; i++)
			put_u64(&body, made_id(e, i));
		put_record(&m->file, MADE_ATTR, 0, body.at, body.nr);
		if (!m->name[e])
			continue;
		body.nr = 0;
		put_u64(&body, 2); /* a name */
		put_u64(&body, made_id(e, 0));
		put_room(&body, m->name[e], 0);
		put_record(&m->file, MADE_UPDATE, 0, body.at, body.nr);
	}
	for (unsigned f = 0; f < 32; f++)
		if (m->has[f] && f == FEATURE_BUILD_ID) {
			put(&m->file, m->feature[f].at, m->feature[f].nr);
		} else if (m->has[f] && f != FEATURE_EVENTS) {
			body.nr = 0;
			put_u64(&body, f);
			put(&body, m->feature[f].at, m->feature[f].nr);
			put_record(&m->file, MADE_FEATURE, 0, body.at, body.nr);
		}
	put(&m->file, m->records.at, m->records.nr);
}

static inline void made_file(struct made *m)
{
	size_t attr_bytes = m->attr_bytes ? m->attr_bytes : sizeof(m->attr[0]), known = sizeof(m->attr[0]);
	uint64_t features = 0, at = 104, ids = 8 * MADE_IDS, data = at + m->nr_events * (ids + attr_bytes + 16);

	for (unsigned f = 0; f < 32; f++)
		features |= (uint64_t)m->has[f] << f;
	put(&m->file, "PERFILE2", 8);
	put_u64(&m->file, 104);
	put_u64(&m->file, attr_bytes + 16);
	put_u64(&m->file, at + m->nr_events * ids);
	put_u64(&m->file, m->nr_events * (attr_bytes + 16));
	put_u64(&m->file, data);
	put_u64(&m->file, m->records.nr);
	put_zeros(&m->file, 16);
	put_u64(&m->file, features);
	put_zeros(&m->file, 24);
	for (unsigned e = 0; e < m->nr_events; e++)
		for (unsigned i = 0; i < MADE_IDS; i++)
			put_u64(&m->file, made_id(e, i));
	for (unsigned e = 0; e < m->nr_events; e++) {
		m->attr[e].size = (uint32_t)attr_bytes;
		put(&m->file, &m->attr[e], attr_bytes < known ? attr_bytes : known);
		put_zeros(&m->file, attr_bytes < known ? 0 : attr_bytes - known);
		put_u64(&m->file, at + e * ids);
		put_u64(&m->file, ids);
	}
	put(&m->file, m->records.at, m->records.nr);
	at = m->file.nr + 16 * (unsigned)__builtin_popcountll(features);
	for (unsigned f = 0; f < 32; f++)
		if (m->has[f]) {
			put_u64(&m->file, at);
			put_u64(&m->file, m->feature[f].nr);
			at += m->feature[f].nr;
		}
	for (unsigned f = 0; f < 32; f++)
		if (m->has[f])
			put(&m->file, m->feature[f].at, m->feature[f].nr);
}

/* m->file is the whole of it. */
static inline void made_finish(struct made *m)
{
	struct bytes *events = m->nr_events && m->name[0] ? made_feature(m, FEATURE_EVENTS) : NULL;

	if (events) {
		put_u32(events, m->nr_events);
		put_u32(events, sizeof(m->attr[0]));
		for (unsigned e = 0; e < m->nr_events; e++) {
			put(events, &m->attr[e], sizeof(m->attr[e]));
			put_u32(events, MADE_IDS);
			put_text(events, m->name[e] ? m->name[e] : "");
			for (unsigned i = 0; i < MADE_IDS; i++)
				put_u64(events, made_id(e, i));
		}
	}
	m->file.nr = 0;
	if (m->pipe)
		made_pipe(m);
	else
		made_file(m);
}

#endif
