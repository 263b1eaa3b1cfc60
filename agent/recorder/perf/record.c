/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/record.h"

#include <errno.h>
#include <string.h>

#define KNOWN_TYPES ((uint64_t)(PERF_SAMPLE_WEIGHT_STRUCT | (PERF_SAMPLE_WEIGHT_STRUCT - 1)))
#define KNOWN_FORMATS 0x1full /* up to PERF_FORMAT_LOST */
#define FORMAT_LOST 0x10u     /* Linux 6.0 */
#define BRANCH_HW_INDEX (1ull << 17) /* Linux 5.7 */
#define BRANCH_COUNTERS (1ull << 19) /* Linux 6.8 */
#define BRANCH_WORDS 3

#define ID_TYPES                                                                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

int record_layout(const struct perf_event_attr *attr, struct record_layout *out)
{
	if (attr->sample_type & ~KNOWN_TYPES || attr->read_format & ~KNOWN_FORMATS)
		return -EINVAL;
	memset(out, 0, sizeof(*out)); /* this clears the padding as well, since layouts are compared by memcmp() */
	out->sample_type = attr->sample_type;
	out->read_format = attr->read_format;
	out->branch_sample_type = attr->branch_sample_type;
	out->nr_user = (unsigned)__builtin_popcountll(attr->sample_regs_user);
	out->nr_interrupted = (unsigned)__builtin_popcountll(attr->sample_regs_intr);
	out->id_bytes = attr->sample_id_all ? 8 * (unsigned)__builtin_popcountll(attr->sample_type & ID_TYPES) : 0;
	return 0;
}

uint64_t record_time(const struct record_layout *l, uint64_t time_ns)
{
	return l->clock ? clock_pairs_convert(l->clock, time_ns) : time_ns;
}

/* A position in a record. bad: a part is missing or has an invalid size, so the whole record is refused. */
struct place {
	const uint64_t *at, *end;
	bool bad;
};

static const uint64_t *take_record_words(struct place *p, uint64_t words)
{
	const uint64_t *here = p->at;

	if (words > (uint64_t)(p->end - p->at)) {
		p->bad = true;
		p->at = p->end;
		return NULL;
	}
	p->at += words;
	return here;
}

static uint64_t take_record_word(struct place *p)
{
	const uint64_t *here = take_record_words(p, 1);

	return here ? *here : 0;
}

/* Reads the part of PERF_SAMPLE_READ.  It is value [enabled] [running] [id] [lost].  With PERF_FORMAT_GROUP, it is nr [enabled] [running],
 * and then value [id] [lost] for each counter. */
static void take_read_values(struct place *p, uint64_t format, struct record_sample *s)
{
	unsigned times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t nr = 1, each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	const uint64_t *first;

	if (group) {
		nr = take_record_word(p);
		take_record_words(p, times);
		if (nr > (uint64_t)(p->end - p->at)) {
			p->bad = true;
			return;
		}
		first = take_record_words(p, nr * each);
		if (first && nr) {
			s->read = first;
			s->nr_read = nr;
			s->read_words = (uint32_t)each;
			s->read_id = 1;
			s->count = first[0];
			s->lost = format & FORMAT_LOST ? first[each - 1] : 0;
		}
		return;
	}
	first = take_record_words(p, times + each);
	if (!first)
		return;
	s->read = first;
	s->nr_read = 1;
	s->read_words = (uint32_t)(times + each);
	s->read_id = 1 + times;
	s->count = first[0];
	s->lost = format & FORMAT_LOST ? first[times + each - 1] : 0;
}

static void skip_branch_stack(struct place *p, uint64_t type)
{
	uint64_t nr = take_record_word(p);

	if (type & BRANCH_HW_INDEX)
		take_record_word(p);
	if (nr > (uint64_t)(p->end - p->at))
		p->bad = true;
	else
		take_record_words(p, nr * (BRANCH_WORDS + !!(type & BRANCH_COUNTERS)));
}

static const uint64_t *take_registers(struct place *p, unsigned nr, uint64_t *abi)
{
	*abi = take_record_word(p);
	return *abi ? take_record_words(p, nr) : NULL;
}

/* Reads the room for the stack, its bytes, and the number of bytes that are used.  If the room is 0, nothing follows it. */
static void take_user_stack(struct place *p, struct record_sample *s)
{
	uint64_t room = take_record_word(p), used;
	const uint64_t *bytes;

	if (room == 0)
		return;
	if (room % 8 != 0) {
		p->bad = true;
		return;
	}
	bytes = take_record_words(p, room / 8);
	used = take_record_word(p);
	if (used > room)
		p->bad = true;
	if (p->bad)
		return;
	s->stack = (const unsigned char *)bytes;
	s->stack_bytes = (uint32_t)used;
}

/* Reads the parts of a sample that stand before the registers. */
static void take_parts_before_registers(const struct record_layout *l, struct place *p, struct record_sample *s)
{
	uint64_t type = l->sample_type, w;

	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = take_record_word(p);
	if (type & PERF_SAMPLE_IP)
		s->ip = take_record_word(p);
	if (type & PERF_SAMPLE_TID) {
		w = take_record_word(p);
		s->pid = (uint32_t)w;
		s->tid = (uint32_t)(w >> 32);
	}
	if (type & PERF_SAMPLE_TIME)
		s->time_ns = record_time(l, take_record_word(p));
	if (type & PERF_SAMPLE_ADDR)
		s->address = take_record_word(p);
	if (type & PERF_SAMPLE_ID)
		s->id = take_record_word(p);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = take_record_word(p);
	if (type & PERF_SAMPLE_CPU)
		s->cpu = (uint32_t)take_record_word(p);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = take_record_word(p);
	if (type & PERF_SAMPLE_READ)
		take_read_values(p, l->read_format, s);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->nr_chain = take_record_word(p);
		s->chain = take_record_words(p, s->nr_chain);
	}
	if (type & PERF_SAMPLE_RAW) /* this skips a 32-bit length and so many bytes, with padding to 8 bytes */
		take_record_words(p, p->at < p->end ? ((uint32_t)*p->at + 4ull + 7) / 8 : 1);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branch_stack(p, l->branch_sample_type);
}

static struct place place_of_sample(const struct perf_event_header *h)
{
	return (struct place){ (const uint64_t *)(h + 1), (const uint64_t *)h + h->size / 8, h->size < sizeof(*h) || h->size % 8 != 0 };
}

int record_sample(const struct record_layout *l, const struct perf_event_header *h, struct record_sample *s)
{
	struct place p = place_of_sample(h);
	uint64_t type = l->sample_type, abi;

	if (p.bad)
		return -EBADMSG;
	memset(s, 0, sizeof(*s));
	s->mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	take_parts_before_registers(l, &p, s);
	if (type & PERF_SAMPLE_REGS_USER)
		s->registers = take_registers(&p, l->nr_user, &s->registers_abi);
	if (type & PERF_SAMPLE_STACK_USER)
		take_user_stack(&p, s);
	if (type & PERF_SAMPLE_WEIGHT)
		s->latency = take_record_word(&p);
	else if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		s->latency = (uint32_t)take_record_word(&p); /* the latency is var1_dw, the lower half; var2_w and var3_w are other times */
	if (type & PERF_SAMPLE_DATA_SRC)
		s->data_source = take_record_word(&p);
	if (type & PERF_SAMPLE_TRANSACTION)
		s->transaction = take_record_word(&p);
	if (type & PERF_SAMPLE_REGS_INTR)
		s->interrupted = take_registers(&p, l->nr_interrupted, &abi);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		s->physical_address = take_record_word(&p);
	if (type & PERF_SAMPLE_CGROUP)
		s->cgroup = take_record_word(&p);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_bytes = take_record_word(&p);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_bytes = take_record_word(&p);
	return p.bad ? -EBADMSG : 0; /* AUX data may follow, which is not used */
}

void record_drop_registers(const struct record_layout *l, struct perf_event_header *h)
{
	struct place p = place_of_sample(h);
	struct record_sample s = { 0 };

	if (h->type != PERF_RECORD_SAMPLE || p.bad)
		return;
	take_parts_before_registers(l, &p, &s);
	if (!p.bad)
		h->size = (uint16_t)((const char *)p.at - (const char *)h);
}

void record_drop_unused_stack(const struct record_layout *l, struct perf_event_header *h)
{
	struct record_sample s;
	uint64_t room, used;
	size_t at;

	if (h->type != PERF_RECORD_SAMPLE || record_sample(l, h, &s) || !s.stack)
		return;
	at = (size_t)(s.stack - (const unsigned char *)h);
	memcpy(&room, (char *)h + at - sizeof(room), sizeof(room));
	used = s.stack_bytes ? ((uint64_t)s.stack_bytes + 7) & ~7ull : 8; /* behind a stack of 0 bytes there is no word for the used size */
	memcpy((char *)h + at - sizeof(used), &used, sizeof(used));
	memmove((char *)h + at + used, (char *)h + at + room, h->size - at - room);
	h->size = (uint16_t)(h->size - (room - used));
}

int record_id(const struct record_layout *l, const struct perf_event_header *h, uint32_t body, struct record_id *out)
{
	const uint64_t *at;
	uint64_t w;

	memset(out, 0, sizeof(*out));
	if (h->size < sizeof(*h) || h->size % 8 != 0 || body > h->size - sizeof(*h) || l->id_bytes > h->size - sizeof(*h) - body)
		return -EBADMSG;
	if (!l->id_bytes)
		return 0;
	at = (const uint64_t *)h + (h->size - l->id_bytes) / 8;
	if (l->sample_type & PERF_SAMPLE_TID) {
		w = *at++;
		out->pid = (uint32_t)w;
		out->tid = (uint32_t)(w >> 32);
	}
	if (l->sample_type & PERF_SAMPLE_TIME)
		out->time_ns = record_time(l, *at++);
	if (l->sample_type & PERF_SAMPLE_ID)
		out->id = *at++;
	if (l->sample_type & PERF_SAMPLE_STREAM_ID)
		out->stream_id = *at++;
	if (l->sample_type & PERF_SAMPLE_CPU)
		out->cpu = (uint32_t)*at++;
	if (l->sample_type & PERF_SAMPLE_IDENTIFIER)
		out->id = *at;
	return 0;
}
