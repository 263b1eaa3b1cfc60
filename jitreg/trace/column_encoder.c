/* SPDX-License-Identifier: MIT */
/*
 * The value of a register is close to that of the last sample with the same instruction (as the counter of a loop), of the sample before,
 * or of another register (as a pointer into the same object).  Which of these is best is not known beforehand, so once in a while all are
 * tried on a whole block, and the bits of the differences are counted.
 */
#include "jitreg/trace/column_encoder.h"

#include "jitreg/base/leb128.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * COLUMNS_NR_MAX) /* a power of 2 */
#define CHOOSE_EVERY 16u /* number of blocks after which the encoding of a column is chosen anew */
#define WRITTEN_MAX 65 /* maximum number of columns of a block to which others may be encoded: column IP, and 64 written with predict */
#define NR_COLUMNS 128
#define RECENT 1024u /* places for recent differences in the estimate of an encoding's size */
#define REPEATED_BITS 8u /* approximate size of a repeated difference after compression */

struct ip {
	uint64_t address;
	uint32_t appearance;
};

struct written {
	uint32_t column;
	const uint64_t *v;
};

struct choice {
	uint32_t encoding;
	uint32_t against;
	uint32_t blocks;  /* number of blocks since the choice */
	uint64_t density; /* size at that time, in 64ths of a byte per number */
};

struct column_encoder {
	uint32_t nr, nr_ips, nr_written;
	struct ip ip[COLUMNS_NR_MAX]; /* different instruction pointers of the block, sorted by address */
	uint16_t index[COLUMNS_NR_MAX]; /* index of each sample's ip */
	uint16_t slot[SLOTS]; /* hash table: 1 + the number of the ip in the order of first appearance, or 0 */
	uint16_t rank[COLUMNS_NR_MAX]; /* indexed by that number: index of the ip in the sorted array */
	bool seen[COLUMNS_NR_MAX];
	struct written written[WRITTEN_MAX];
	struct choice choice[NR_COLUMNS];
	uint64_t difference[COLUMNS_NR_MAX], last[COLUMNS_NR_MAX], recent[RECENT];
	unsigned char out[(2 * COLUMNS_NR_MAX + 1) * LEB128_MAX];
};

int column_encoder_create(struct column_encoder **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void column_encoder_destroy(struct column_encoder *c)
{
	free(c);
}

static uint32_t hash_to_slot(uint64_t v, uint32_t size)
{
	return (uint32_t)((v * 0x9e3779b97f4a7c15u) >> 40) & (size - 1);
}

static int compare_ips_by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct ip *)a)->address, y = ((const struct ip *)b)->address;

	return x < y ? -1 : x > y;
}

void column_encoder_begin(struct column_encoder *c, const uint64_t *ip, uint32_t nr)
{
	c->nr = nr;
	c->nr_ips = 0;
	memset(c->slot, 0, sizeof(c->slot));
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t at = hash_to_slot(ip[i], SLOTS);

		while (c->slot[at] && c->ip[c->slot[at] - 1].address != ip[i])
			at = (at + 1) & (SLOTS - 1);
		if (!c->slot[at]) {
			c->ip[c->nr_ips] = (struct ip){ ip[i], c->nr_ips };
			c->slot[at] = (uint16_t)++c->nr_ips;
		}
		c->index[i] = (uint16_t)(c->slot[at] - 1);
	}
	qsort(c->ip, c->nr_ips, sizeof(c->ip[0]), compare_ips_by_address);
	for (uint32_t i = 0; i < c->nr_ips; i++)
		c->rank[c->ip[i].appearance] = (uint16_t)i;
	for (uint32_t i = 0; i < nr; i++)
		c->index[i] = c->rank[c->index[i]];
	c->written[0] = (struct written){ SAMPLE_COLUMN_IP, ip };
	c->nr_written = 1;
}

static unsigned char *put_zigzag_deltas(unsigned char *at, const uint64_t *v, uint32_t nr)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < nr; i++) {
		at = leb128_put(at, zigzag(v[i] - before));
		before = v[i];
	}
	return at;
}

static void compute_deltas(struct column_encoder *c, const uint64_t *v)
{
	c->difference[0] = zigzag(v[0]);
	for (uint32_t i = 1; i < c->nr; i++)
		c->difference[i] = zigzag(v[i] - v[i - 1]);
}

static void compute_differences_by_ip(struct column_encoder *c, const uint64_t *v)
{
	uint64_t before = 0;

	memset(c->seen, 0, c->nr_ips * sizeof(c->seen[0]));
	for (uint32_t i = 0; i < c->nr; i++) {
		uint32_t ip = c->index[i];

		if (c->seen[ip])
			before = c->last[ip];
		c->seen[ip] = true;
		c->difference[i] = zigzag(v[i] - before);
		before = c->last[ip] = v[i];
	}
}

static void compute_differences_to(struct column_encoder *c, const uint64_t *v, const uint64_t *other)
{
	for (uint32_t i = 0; i < c->nr; i++)
		c->difference[i] = zigzag(v[i] - other[i]);
}

/* Estimate the size of the differences in bits after compression by zstd, to which repeated differences are cheap.  Returns at least most
 * if the size is not below it. */
static uint64_t estimate_difference_bits(struct column_encoder *c, uint64_t most)
{
	uint64_t sum = 0;

	memset(c->recent, 0, sizeof(c->recent));
	for (uint32_t i = 0; i < c->nr && sum < most; i++) {
		uint64_t d = c->difference[i], *recent = &c->recent[hash_to_slot(d, RECENT)];
		unsigned bits = d ? 64 - (unsigned)__builtin_clzll(d) : 0;

		sum += *recent == d && bits > REPEATED_BITS ? REPEATED_BITS : bits;
		*recent = d;
	}
	return sum;
}

static void choose_column_encoding(struct column_encoder *c, struct choice *choice, const uint64_t *v)
{
	uint64_t best, bits;

	compute_deltas(c, v);
	best = estimate_difference_bits(c, UINT64_MAX);
	*choice = (struct choice){ .encoding = SAMPLE_ENCODING_DELTA };
	compute_differences_by_ip(c, v);
	bits = estimate_difference_bits(c, best);
	if (bits < best) {
		best = bits;
		choice->encoding = SAMPLE_ENCODING_BY_IP;
	}
	for (uint32_t n = 0; n < c->nr_written; n++) {
		compute_differences_to(c, v, c->written[n].v);
		bits = estimate_difference_bits(c, best);
		if (bits < best) {
			best = bits;
			choice->encoding = SAMPLE_ENCODING_AGAINST;
			choice->against = c->written[n].column;
		}
	}
}

static const uint64_t *find_written_column(const struct column_encoder *c, uint32_t column)
{
	for (uint32_t n = 0; n < c->nr_written; n++)
		if (c->written[n].column == column)
			return c->written[n].v;
	return NULL;
}

static void write_encoded_column(struct trace_writer *w, uint32_t column, enum sample_encoding encoding, const unsigned char *from,
				 const unsigned char *to)
{
	trace_samples_column(w, column, encoding, from, (size_t)(to - from));
}

void column_encoder_write_ip(struct column_encoder *c, struct trace_writer *w)
{
	unsigned char *at = leb128_put(c->out, c->nr_ips);

	for (uint32_t i = 0; i < c->nr_ips; i++)
		at = leb128_put(at, zigzag(c->ip[i].address - (i ? c->ip[i - 1].address : 0)));
	for (uint32_t i = 0; i < c->nr; i++)
		at = leb128_put(at, c->index[i]);
	write_encoded_column(w, SAMPLE_COLUMN_IP, SAMPLE_ENCODING_TABLE, c->out, at);
}

/* Encode a column to c->out.  Returns the end of the written bytes. */
static unsigned char *encode_column(struct column_encoder *c, struct choice *choice, const uint64_t *v)
{
	const uint64_t *other = choice->encoding == SAMPLE_ENCODING_AGAINST ? find_written_column(c, choice->against) : NULL;
	unsigned char *at = c->out;

	if (other) {
		at = leb128_put(at, choice->against);
		compute_differences_to(c, v, other);
	} else if (choice->encoding == SAMPLE_ENCODING_BY_IP) {
		compute_differences_by_ip(c, v);
	} else {
		choice->encoding = SAMPLE_ENCODING_DELTA; /* the other column may not be in this block, and at first there is no choice */
		compute_deltas(c, v);
	}
	for (uint32_t i = 0; i < c->nr; i++)
		at = leb128_put(at, c->difference[i]);
	return at;
}

/* Is the choice of an encoding recent, and the column's size now, bytes, within an eighth of that when it was chosen?  If the size has
 * changed more, the program behaves differently, and another encoding may be better. */
static bool is_choice_still_good(const struct column_encoder *c, const struct choice *choice, size_t bytes)
{
	uint64_t density = c->nr ? bytes * 64 / c->nr : 0;

	return choice->encoding && choice->blocks < CHOOSE_EVERY && density <= choice->density + choice->density / 8 &&
	       density >= choice->density - choice->density / 8;
}

void column_encoder_write(struct column_encoder *c, struct trace_writer *w, uint32_t column, const uint64_t *v, bool predict)
{
	struct choice delta = { .encoding = SAMPLE_ENCODING_DELTA }, *choice = predict ? &c->choice[column % NR_COLUMNS] : &delta;
	uint32_t encoding = SAMPLE_ENCODING_CONSTANT;
	unsigned char *end;

	if (c->nr < 2 || memcmp(v, v + 1, (c->nr - 1) * sizeof(*v)) == 0) {
		end = leb128_put(c->out, v[0]);
	} else {
		end = encode_column(c, choice, v);
		choice->blocks++;
		if (predict && !is_choice_still_good(c, choice, (size_t)(end - c->out))) {
			choose_column_encoding(c, choice, v);
			end = encode_column(c, choice, v);
			choice->density = (uint64_t)(end - c->out) * 64 / c->nr;
		}
		encoding = choice->encoding;
	}
	write_encoded_column(w, column, encoding, c->out, end);
	if (predict && c->nr_written < WRITTEN_MAX)
		c->written[c->nr_written++] = (struct written){ column, v };
}

void column_encoder_write_list(struct trace_writer *w, uint32_t column, const uint64_t *v, uint32_t nr, unsigned char *room)
{
	write_encoded_column(w, column, SAMPLE_ENCODING_DELTA, room, put_zigzag_deltas(room, v, nr));
}
