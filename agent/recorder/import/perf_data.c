/* SPDX-License-Identifier: MIT */
#include "agent/recorder/import/perf_data.h"

#include "agent/recorder/import/other_formats.h"
#include "agent/recorder/import/perf_compressed.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#define MAGIC_OLD "PERFFILE" /* perf before Linux 3.3 wrote it; header and records are the same */
#define MAGIC_BYTES 8u
#define MISC_BUILD_ID_SIZE (1u << 15)
#define TEXT_MAX 4096u
#define WORDS_BYTES_MAX (2u << 20) /* the kernel's own limit of a command line */
#define BUILD_ID_EVENT_BYTES 36u /* header, pid, 20 bytes of the id, how many of them count, and padding, before a path */

/* These are types of perf's own records, from tools/perf/util/event.h. */
enum {
	HEADER_ATTR = 64,
	HEADER_TRACING_DATA = 66,
	HEADER_BUILD_ID = 67,
	AUXTRACE = 71,
	EVENT_UPDATE = 78,
	HEADER_FEATURE = 80,
	COMPRESSED = 81,
	COMPRESSED2 = 83,
};
#define EVENT_UPDATE_NAME 2u

/* These are features of the header, from tools/perf/util/header.h. */
enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_CLOCK_DATA = 29,
	NR_FEATURES = 256,
};

struct section {
	uint64_t offset, size;
};

struct file_header {
	char magic[MAGIC_BYTES];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[NR_FEATURES / 64];
};

/* A place is a range of bytes of the file. Numbers that are taken beyond its end are 0. */
struct place {
	const unsigned char *at;
	size_t left;
};

static const void *take_file_bytes(struct place *p, uint64_t bytes)
{
	const void *here = p->at;

	if (bytes > p->left) {
		p->left = 0;
		return NULL;
	}
	p->at += bytes;
	p->left -= (size_t)bytes;
	return here;
}

static uint32_t take_u32(struct place *p)
{
	const void *here = take_file_bytes(p, 4);
	uint32_t v = 0;

	if (here)
		memcpy(&v, here, 4);
	return v;
}

static uint64_t take_u64(struct place *p)
{
	const void *here = take_file_bytes(p, 8);
	uint64_t v = 0;

	if (here)
		memcpy(&v, here, 8);
	return v;
}

bool perf_data_text_is(struct perf_data_text t, const char *text)
{
	return t.p && t.bytes == strlen(text) && memcmp(t.p, text, t.bytes) == 0;
}

/* Takes a text, which is a u32 (the number of bytes that follow), the text itself, and zeros. */
static struct perf_data_text take_perf_text(struct place *p)
{
	uint32_t room = take_u32(p);
	const char *text = take_file_bytes(p, room);

	return (struct perf_data_text){ text, text ? strnlen(text, room < TEXT_MAX ? room : TEXT_MAX) : 0 };
}

static bool find_file_section(const struct perf_data *p, const struct section *s, struct place *out)
{
	if (s->offset > p->size || s->size > p->size - s->offset)
		return false;
	*out = (struct place){ p->bytes + s->offset, (size_t)s->size };
	return true;
}

/* ------------------------------------------------------------------------------------------------------- events */

/* Adds an event.  bytes: size of the attr in this file, which may be of an older or a newer kernel. */
static int add_perf_data_event(struct perf_data *p, const void *attr, size_t bytes, const char *path, struct diag *d)
{
	struct perf_data_event *e = &p->event[p->nr_events];

	if (p->nr_events == PERF_DATA_EVENTS_MAX)
		return diag_fail(d, E2BIG, "%s has more than %u events", path, PERF_DATA_EVENTS_MAX);
	memset(e, 0, sizeof(*e));
	memcpy(&e->attr, attr, bytes < sizeof(e->attr) ? bytes : sizeof(e->attr));
	if (record_layout(&e->attr, &e->layout))
		return diag_fail(d, ENOTSUP, "%s: event %u has an unknown sample type (0x%llx)", path,
				 p->nr_events + 1, (unsigned long long)e->attr.sample_type);
	p->nr_events++;
	return 0;
}

static int add_event_ids(struct perf_data *p, struct place ids, uint32_t event)
{
	int ret = 0;

	/* In a hostile file, the lists of several events may overlap, so the number of all ids is limited. */
	while (ids.left >= 8 && ret == 0 && p->ids.nr < p->size / 8) {
		uint64_t id = take_u64(&ids);

		ret = id ? event_ids_add(&p->ids, id, event) : 0;
	}
	return ret;
}

static int read_event_attrs(struct perf_data *p, const struct file_header *h, const char *path, struct diag *d)
{
	struct place attrs, ids;

	if (h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct section) || !find_file_section(p, &h->attrs, &attrs))
		return diag_fail(d, EBADMSG, "%s: invalid list of events", path);
	while (attrs.left >= h->attr_size) {
		const unsigned char *attr = take_file_bytes(&attrs, h->attr_size);
		size_t bytes = (size_t)h->attr_size - sizeof(struct section);
		struct section where;
		int ret = add_perf_data_event(p, attr, bytes, path, d);

		if (ret)
			return ret;
		memcpy(&where, attr + bytes, sizeof(where));
		if (find_file_section(p, &where, &ids) && add_event_ids(p, ids, p->nr_events - 1))
			return diag_fail(d, ENOMEM, "out of memory for the events of %s", path);
	}
	return 0;
}

/* Reads the names in FEATURE_EVENT_DESC, which is u32 nr, u32 attr_size, and for each event its attr, u32 nr_ids, its name, and the ids. */
static void read_event_descriptions(struct perf_data *p, struct place at)
{
	uint32_t nr = take_u32(&at), attr_size = take_u32(&at);

	for (uint32_t i = 0; i < nr && i < p->nr_events && at.left; i++) {
		uint32_t nr_ids;

		take_file_bytes(&at, attr_size);
		nr_ids = take_u32(&at);
		p->event[i].name = take_perf_text(&at);
		take_file_bytes(&at, 8ull * nr_ids);
	}
}

/* ------------------------------------------------------------------------------------------------------ features */

static int add_build_id(struct perf_data *p, struct place record)
{
	const unsigned char *at = take_file_bytes(&record, BUILD_ID_EVENT_BYTES);
	struct perf_data_build_id *b;
	struct perf_event_header h;

	if (!at)
		return 0;
	if (!ARRAY_GROW(p->build_ids))
		return -ENOMEM;
	b = &p->build_ids.at[p->build_ids.nr++];
	memset(b, 0, sizeof(*b));
	memcpy(&h, at, sizeof(h));
	memcpy(b->id, at + 12, sizeof(b->id));
	b->bytes = h.misc & MISC_BUILD_ID_SIZE && at[32] <= sizeof(b->id) ? at[32] : sizeof(b->id);
	b->path = (struct perf_data_text){ (const char *)record.at, strnlen((const char *)record.at, record.left) };
	return 0;
}

static int read_build_ids(struct perf_data *p, struct place at)
{
	int ret = 0;

	while (at.left >= BUILD_ID_EVENT_BYTES && ret == 0) {
		struct perf_event_header h;
		const void *record;

		memcpy(&h, at.at, sizeof(h));
		record = h.size >= BUILD_ID_EVENT_BYTES ? take_file_bytes(&at, h.size) : NULL;
		if (!record)
			return 0;
		ret = add_build_id(p, (struct place){ record, h.size });
	}
	return ret;
}

static int read_header_feature(struct perf_data *p, uint64_t feature, struct place at)
{
	switch (feature) {
	case FEATURE_BUILD_ID:
		return read_build_ids(p, at);
	case FEATURE_HOSTNAME:
		p->host_name = take_perf_text(&at);
		break;
	case FEATURE_OSRELEASE:
		p->release = take_perf_text(&at);
		break;
	case FEATURE_VERSION:
		p->version = take_perf_text(&at);
		break;
	case FEATURE_ARCH:
		p->machine = take_perf_text(&at);
		break;
	case FEATURE_NRCPUS: /* u32 available, u32 online */
		take_u32(&at);
		p->nr_cpus = take_u32(&at);
		break;
	case FEATURE_CMDLINE:
		p->nr_words = take_u32(&at);
		p->words = (struct perf_data_text){ (const char *)at.at, at.left < WORDS_BYTES_MAX ? at.left : WORDS_BYTES_MAX };
		break;
	case FEATURE_EVENT_DESC:
		read_event_descriptions(p, at);
		break;
	case FEATURE_CLOCK_DATA: /* u32 version, u32 clock, u64 wall, u64 that clock */
		if (at.left < 24 || take_u32(&at) != 1)
			break;
		p->has_clock = true;
		p->clock_id = take_u32(&at);
		p->wall_ns = take_u64(&at);
		p->clock_ns = take_u64(&at);
		break;
	}
	return 0;
}

/* Reads the header's features.  A list of sections follows the records, one for each bit that is set. */
static int read_header_features(struct perf_data *p, const struct file_header *h)
{
	struct place list = { p->bytes + p->data_end, (size_t)(p->size - p->data_end) }, at;
	int ret = 0;

	for (unsigned i = 0; i < NR_FEATURES && ret == 0; i++)
		if (h->features[i / 64] >> i % 64 & 1) {
			struct section s = { 0 };

			s.offset = take_u64(&list);
			s.size = take_u64(&list);
			if (s.size && find_file_section(p, &s, &at))
				ret = read_header_feature(p, i, at);
		}
	return ret;
}

bool perf_data_next_command_word(const struct perf_data *p, size_t *at, struct perf_data_text *word)
{
	struct place place = { (const unsigned char *)p->words.p + *at, p->words.bytes - *at };

	if (!p->words.p || place.left < 4)
		return false;
	*word = take_perf_text(&place);
	*at = p->words.bytes - place.left;
	return word->p;
}

static int compare_build_ids_by_path(const void *a, const void *b)
{
	const struct perf_data_text *x = &((const struct perf_data_build_id *)a)->path, *y = &((const struct perf_data_build_id *)b)->path;
	int order = memcmp(x->p, y->p, x->bytes < y->bytes ? x->bytes : y->bytes);

	return order ? order : x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

const struct perf_data_build_id *perf_data_find_build_id(const struct perf_data *p, const char *path, size_t bytes)
{
	struct perf_data_build_id key = { .path = { path, bytes } };

	return p->build_ids.nr ? bsearch(&key, p->build_ids.at, p->build_ids.nr, sizeof(key), compare_build_ids_by_path) : NULL;
}

/* ------------------------------------------------------------------------------------------------------- records */

/* Returns the end of the record at this offset, with the data that perf writes after some records, or 0 if the record is invalid. */
static uint64_t end_of_record(const struct perf_data *p, uint64_t at, struct perf_event_header *h)
{
	uint64_t left = p->data_end - at, behind = 0;

	if (left < sizeof(*h))
		return 0;
	memcpy(h, p->bytes + at, sizeof(*h));
	if (h->size < sizeof(*h) || h->size > left)
		return 0;
	if (h->type == AUXTRACE && h->size >= sizeof(*h) + 8)
		memcpy(&behind, p->bytes + at + sizeof(*h), 8);
	else if (h->type == HEADER_TRACING_DATA && h->size >= sizeof(*h) + 4)
		memcpy(&behind, p->bytes + at + sizeof(*h), 4);
	return behind > left - h->size ? 0 : at + h->size + behind;
}

/* Finds the content of a compressed record, which is all of it or, depending on the type, has its size in front.  Returns false if the
 * record is not compressed, or is invalid. */
static bool find_compressed_payload(const struct perf_event_header *h, const unsigned char *record, struct place *out)
{
	*out = (struct place){ record + sizeof(*h), h->size - sizeof(*h) };
	if (h->type == COMPRESSED2) {
		uint64_t bytes = take_u64(out);

		if (bytes > out->left)
			return false;
		out->left = (size_t)bytes;
	}
	return h->type == COMPRESSED || h->type == COMPRESSED2;
}

int perf_data_next_record(const struct perf_data *p, struct perf_data_cursor *c, struct perf_event_header *room)
{
	struct perf_event_header h;
	struct place packed;
	uint64_t end;
	int ret;

	if (!c->at)
		c->at = p->data_start;
	while (!c->damaged) {
		ret = c->packed ? perf_compressed_next_record(c->packed, room) : 0;
		c->inside = ret > 0;
		c->damaged = ret < 0;
		if (ret)
			return ret > 0;
		end = c->at < p->data_end ? end_of_record(p, c->at, &h) : 0;
		if (!end)
			return 0;
		c->start = c->at;
		c->at = end;
		if (!find_compressed_payload(&h, p->bytes + c->start, &packed)) {
			memcpy(room, p->bytes + c->start, h.size);
			return 1;
		}
		if (!c->packed)
			c->packed = perf_compressed_create();
		if (!c->packed)
			return -ENOMEM;
		perf_compressed_feed(c->packed, packed.at, packed.left);
	}
	return 0;
}

void perf_data_close_cursor(struct perf_data_cursor *c)
{
	perf_compressed_destroy(c->packed);
	c->packed = NULL;
}

bool perf_data_find_event(const struct perf_data *p, const struct perf_event_header *h, uint32_t *event)
{
	const struct record_layout *l = &p->event[0].layout;
	struct record_sample s;
	struct record_id r;
	uint64_t id = 0;

	*event = 0;
	if (p->nr_events <= 1)
		return p->nr_events;
	if (h->type == PERF_RECORD_SAMPLE) {
		/* Either the id stands first in all layouts, or all events have one layout (layouts_can_be_told_apart()). */
		if (l->sample_type & PERF_SAMPLE_IDENTIFIER) {
			if (h->size >= sizeof(*h) + sizeof(id))
				memcpy(&id, h + 1, sizeof(id));
		} else if (record_sample(l, h, &s) == 0) {
			id = s.id;
		}
		return event_ids_find(&p->ids, id, event);
	}
	/* In a record that is no sample, the id stands last. */
	if (record_id(l, h, 0, &r) == 0)
		event_ids_find(&p->ids, r.id, event);
	return true;
}

/* Returns 0 if all events have times or none has, and all are of one clock, because records of several clocks have no order.  Otherwise
 * returns -ENOTSUP with a sentence.  Sets p->has_times. */
static int check_times(struct perf_data *p, const char *path, struct diag *d)
{
	const struct perf_event_attr *a = &p->event[0].attr, *b;

	p->has_times = a->sample_type & PERF_SAMPLE_TIME;
	for (uint32_t i = 1; i < p->nr_events; i++) {
		b = &p->event[i].attr;
		if ((a->sample_type ^ b->sample_type) & PERF_SAMPLE_TIME)
			return diag_fail(d, ENOTSUP, "%s: samples of some events have no time; record with `perf record -T`", path);
		if (a->use_clockid != b->use_clockid || a->clockid != b->clockid)
			return diag_fail(d, ENOTSUP, "%s: events have different clocks; record with `perf record -k mono`", path);
	}
	return 0;
}


static bool layouts_can_be_told_apart(const struct perf_data *p)
{
	bool with_id = true, same = true;

	for (uint32_t i = 0; i < p->nr_events; i++) {
		with_id &= p->event[i].layout.sample_type >> 16 & 1; /* PERF_SAMPLE_IDENTIFIER */
		/* record_layout() clears the padding.  NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
		same &= memcmp(&p->event[i].layout, &p->event[0].layout, sizeof(p->event[0].layout)) == 0;
	}
	return with_id || (same && p->event[0].layout.sample_type & PERF_SAMPLE_ID);
}

/* Reads a record that has a part of the header, because perf writes the header to a pipe as records. */
static int read_pipe_header_record(struct perf_data *p, uint64_t start, const struct perf_event_header *h, const char *path, struct diag *d)
{
	struct place at = { p->bytes + start + sizeof(*h), h->size - sizeof(*h) };
	uint64_t kind, id;
	uint32_t bytes, event = 0;
	const void *attr;
	int ret;

	switch (h->type) {
	case HEADER_ATTR:
		if (at.left < PERF_ATTR_SIZE_VER0)
			return diag_fail(d, EBADMSG, "%s: invalid event at byte %llu", path, (unsigned long long)start);
		memcpy(&bytes, at.at + 4, 4); /* attr.size */
		bytes = bytes ? bytes : PERF_ATTR_SIZE_VER0;
		attr = bytes < PERF_ATTR_SIZE_VER0 ? NULL : take_file_bytes(&at, bytes);
		if (!attr)
			return diag_fail(d, EBADMSG, "%s: invalid event at byte %llu", path, (unsigned long long)start);
		ret = add_perf_data_event(p, attr, bytes, path, d);
		if (ret == 0 && add_event_ids(p, at, p->nr_events - 1))
			ret = diag_fail(d, ENOMEM, "out of memory for the events of %s", path);
		return ret;
	case HEADER_FEATURE:
		kind = take_u64(&at);
		return read_header_feature(p, kind, at) ? diag_fail(d, ENOMEM, "out of memory for the header of %s", path) : 0;
	case HEADER_BUILD_ID:
		ret = add_build_id(p, (struct place){ p->bytes + start, h->size });
		return ret ? diag_fail(d, ENOMEM, "out of memory for the header of %s", path) : 0;
	case EVENT_UPDATE:
		kind = take_u64(&at);
		id = take_u64(&at);
		if (kind == EVENT_UPDATE_NAME && event_ids_find(&p->ids, id, &event))
			p->event[event].name = (struct perf_data_text){ (const char *)at.at, strnlen((const char *)at.at, at.left) };
		return 0;
	}
	return 0;
}

static void note_record_time(struct perf_data *p, const struct perf_event_header *h)
{
	struct record_sample s;
	struct record_id r;
	uint64_t time_ns = 0;
	uint32_t event;

	if (h->type >= HEADER_ATTR || !perf_data_find_event(p, h, &event))
		return;
	if (h->type == PERF_RECORD_SAMPLE) {
		p->nr_samples++;
		if (record_sample(&p->event[event].layout, h, &s) == 0)
			time_ns = s.time_ns;
	} else if (record_id(&p->event[event].layout, h, 0, &r) == 0) {
		time_ns = r.time_ns;
	}
	if (!time_ns) /* perf synthesized the record for a process or mapping that existed before the recording */
		return;
	if (!p->first_ns || time_ns < p->first_ns)
		p->first_ns = time_ns;
	if (time_ns > p->last_ns)
		p->last_ns = time_ns;
}

/* Reads all records once, for a pipe's header, the first and last time, and to find where valid records end. */
static int scan_all_records(struct perf_data *p, const char *path, struct diag *d)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	struct perf_event_header *h = (struct perf_event_header *)room;
	struct perf_data_cursor c = { 0 };
	int ret = 0, more;

	while ((more = perf_data_next_record(p, &c, h)) == 1 && ret == 0) {
		p->nr_records++;
		if (h->type == AUXTRACE && !c.inside)
			p->aux_bytes += c.at - c.start - h->size;
		if (p->pipe && !c.inside)
			ret = read_pipe_header_record(p, c.start, h, path, d);
		note_record_time(p, h);
	}
	perf_data_close_cursor(&c);
	if (more < 0 && ret == 0)
		ret = diag_fail(d, ENOMEM, "out of memory for the records of %s", path);
	p->cut |= c.damaged || c.at < p->data_end;
	p->data_end = c.at;
	return ret;
}

static int read_file_header(struct perf_data *p, const char *path, struct diag *d)
{
	struct file_header h = { .size = 0 };
	int ret;

	if (p->size < 2 * MAGIC_BYTES ||
	    (memcmp(p->bytes, MAGIC, MAGIC_BYTES) && memcmp(p->bytes, MAGIC_SWAPPED, MAGIC_BYTES) &&
	     memcmp(p->bytes, MAGIC_OLD, MAGIC_BYTES)))
		return import_refuse_other_format(p->bytes, p->size, path, d);
	if (memcmp(p->bytes, MAGIC_SWAPPED, MAGIC_BYTES) == 0)
		return diag_fail(d, ENOTSUP, "%s was recorded on a big-endian machine, which is not supported", path);
	memcpy(&h, p->bytes, p->size < sizeof(h) ? (size_t)p->size : sizeof(h));
	if (h.size == 2 * MAGIC_BYTES) {
		p->pipe = true;
		p->data_start = h.size;
		p->data_end = p->size;
		return 0;
	}
	if (p->size < sizeof(h) || h.size < sizeof(h) || h.size > p->size)
		return diag_fail(d, EBADMSG, "%s: invalid header", path);
	ret = read_event_attrs(p, &h, path, d);
	if (ret)
		return ret;
	if (h.features[0] >> FEATURE_DIR_FORMAT & 1)
		return diag_fail(d, ENOTSUP, "%s is of a directory of perf record --threads, whose samples are in files beside it, which "
				 "is not supported; record without --threads", path);
	if (h.data.offset > p->size)
		return diag_fail(d, EBADMSG, "%s: its records lie beyond its end", path);
	p->data_start = h.data.offset;
	p->cut = h.data.size == 0 || h.data.size > p->size - h.data.offset;
	p->data_end = p->cut ? p->size : h.data.offset + h.data.size;
	/* If the recording was killed, features were never written. */
	if (!p->cut && read_header_features(p, &h))
		return diag_fail(d, ENOMEM, "out of memory for the header of %s", path);
	return 0;
}

int perf_data_init(const void *bytes, uint64_t size, const char *path, struct perf_data *p, struct diag *d)
{
	int ret;

	memset(p, 0, sizeof(*p));
	p->bytes = bytes;
	p->size = size;
	ret = read_file_header(p, path, d);
	if (ret == 0)
		ret = scan_all_records(p, path, d);
	if (ret == 0 && p->nr_events == 0)
		ret = diag_fail(d, EBADMSG, "%s has no events", path);
	if (ret == 0 && p->nr_events > 1 && !layouts_can_be_told_apart(p))
		ret = diag_fail(d, ENOTSUP, "%s: samples of its %u events cannot be distinguished", path, p->nr_events);
	if (ret == 0)
		ret = check_times(p, path, d);
	if (ret)
		perf_data_fini(p);
	p->foreign = ret == 0 && p->machine.p && !perf_data_text_is(p->machine, "x86_64");
	if (ret == 0 && p->build_ids.nr)
		qsort(p->build_ids.at, p->build_ids.nr, sizeof(*p->build_ids.at), compare_build_ids_by_path);
	return ret;
}

void perf_data_fini(struct perf_data *p)
{
	hash_map_fini(&p->ids);
	ARRAY_FREE(p->build_ids);
}
