/* SPDX-License-Identifier: MIT */
/*
 * Sample columns back into arrays: the hot path of reading.  First the differences, by a pass that does nothing but LEB128,
 * then what they are differences to.  Arrays are kept from block to block.
 */
#include "jitreg/trace/reader.h"

#include "jitreg/trace/numbers.h"
#include "jitreg/trace/sample_stacks.h"

#include <emmintrin.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEB128_BYTES_MAX 10u
#define STRIP 512u /* numbers */

/* BMI2's instruction for it, which is worth it on all processors but AMD's first that had it. */
static bool has_pext(void)
{
	return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
}

/* The number that the lowest 1 to 8 bytes of word are: their groups of 7 bits pushed together, two, four and eight at a time. */
static inline __attribute__((always_inline)) uint64_t push_together(uint64_t word, unsigned bytes, bool pext)
{
	uint64_t number;

	word &= ~0ull >> (64 - 8 * bytes);
	if (pext) {
		__asm__("pext %2, %1, %0" : "=r"(number) : "r"(word), "r"(0x7f7f7f7f7f7f7f7full));
		return number;
	}
	word = (word & 0x007f007f007f007full) | (word & 0x7f007f007f007f00ull) >> 1;
	word = (word & 0x00003fff00003fffull) | (word & 0x3fff00003fff0000ull) >> 2;
	return (word & 0x000000000fffffffull) | (word & 0x0fffffff00000000ull) >> 4;
}

/* A bit for each of the next 64 bytes: it ends a number. */
static uint64_t ends_of_numbers(const unsigned char *at)
{
	uint64_t more = 0;

	for (int i = 0; i < 4; i++)
		more |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i))) << (16 * i);
	return ~more;
}

/* 64 bytes as numbers. */
static void widen(const unsigned char *at, uint64_t *to)
{
	const __m128i zero = _mm_setzero_si128();
	__m128i *out = (__m128i *)(void *)to;

	for (int i = 0; i < 64; i += 16) {
		const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
		const __m128i half[2] = { _mm_unpacklo_epi8(bytes, zero), _mm_unpackhi_epi8(bytes, zero) };

		for (int n = 0; n < 2; n++) {
			const __m128i low = _mm_unpacklo_epi16(half[n], zero), high = _mm_unpackhi_epi16(half[n], zero);

			_mm_storeu_si128(out++, _mm_unpacklo_epi32(low, zero));
			_mm_storeu_si128(out++, _mm_unpackhi_epi32(low, zero));
			_mm_storeu_si128(out++, _mm_unpacklo_epi32(high, zero));
			_mm_storeu_si128(out++, _mm_unpackhi_epi32(high, zero));
		}
	}
}

static inline __attribute__((always_inline)) const unsigned char *get_numbers_by(const unsigned char *at, const unsigned char *end,
										uint64_t *to, uint64_t nr, bool pext)
{
	uint64_t i = 0;

	/* where numbers end is known of 64 bytes at once, so none has to wait for the one before it */
	while (nr - i >= 64 && end - at >= 64 + 8) {
		uint64_t ends = ends_of_numbers(at);
		unsigned begin = 0;

		if (!~ends) { /* 64 of one byte each */
			widen(at, to + i);
			i += 64;
			at += 64;
			continue;
		}
		for (; ends; ends &= ends - 1) {
			unsigned bytes = (unsigned)__builtin_ctzll(ends) + 1 - begin;
			uint64_t word;

			memcpy(&word, at + begin, 8);
			if (bytes > LEB128_BYTES_MAX)
				return NULL;
			if (bytes <= 8)
				to[i++] = push_together(word, bytes, pext);
			else
				to[i++] = push_together(word, 8, pext) | (uint64_t)(at[begin + 8] & 0x7f) << 56 |
					  (bytes == 10 ? (uint64_t)at[begin + 9] << 63 : 0);
			begin += bytes;
		}
		if (!begin)
			return NULL; /* 64 bytes and no end */
		at += begin;
	}
	for (; i < nr; i++) {
		at = number_get(at, end, &to[i]);
		if (!at)
			return NULL;
	}
	return at;
}

/* nr numbers; returns what follows them, NULL when the bytes do not hold them. */
static const unsigned char *get_numbers(const unsigned char *at, const unsigned char *end, uint64_t *to, uint64_t nr)
{
	return has_pext() ? get_numbers_by(at, end, to, nr, true) : get_numbers_by(at, end, to, nr, false);
}

/* Two numbers. */
static __m128i unzigzag_both(__m128i z)
{
	return _mm_xor_si128(_mm_srli_epi64(z, 1), _mm_sub_epi64(_mm_setzero_si128(), _mm_and_si128(z, _mm_set1_epi64x(1))));
}

/* Sums of the differences so far, from the number before them on; returns the last. */
static uint64_t from_deltas(uint64_t *v, uint64_t nr, uint64_t before)
{
	__m128i twice = _mm_set1_epi64x((long long)before);
	uint64_t i = 0;

	for (; nr - i >= 2; i += 2) {
		__m128i *at = (__m128i *)(void *)(v + i), d = unzigzag_both(_mm_loadu_si128(at));

		d = _mm_add_epi64(d, _mm_slli_si128(d, 8));
		_mm_storeu_si128(at, _mm_add_epi64(d, twice));
		twice = _mm_add_epi64(twice, _mm_unpackhi_epi64(d, d)); /* all that one pair has to wait for the other for */
	}
	before = (uint64_t)_mm_cvtsi128_si64(twice);
	return i < nr ? v[i] = unzigzag(v[i]) + before : before;
}

static void from_differences(uint64_t *v, const uint64_t *other, uint64_t nr)
{
	uint64_t i = 0;

	for (; nr - i >= 2; i += 2) {
		__m128i *at = (__m128i *)(void *)(v + i);

		_mm_storeu_si128(at, _mm_add_epi64(unzigzag_both(_mm_loadu_si128(at)),
						   _mm_loadu_si128((const __m128i *)(const void *)(other + i))));
	}
	if (i < nr)
		v[i] = unzigzag(v[i]) + other[i];
}

/* nr numbers that are differences to those of other, or, with NULL, to the one before each.  A strip at a time, which stays where the
 * processor has it at hand. */
static int get_differences(const unsigned char *at, const unsigned char *end, uint64_t *to, const uint64_t *other, uint64_t nr)
{
	uint64_t before = 0;

	for (uint64_t i = 0; i < nr; i += STRIP) {
		uint64_t strip = nr - i < STRIP ? nr - i : STRIP;

		at = get_numbers(at, end, to + i, strip);
		if (!at)
			return -EBADMSG;
		if (other)
			from_differences(to + i, other + i, strip);
		else
			before = from_deltas(to + i, strip, before);
	}
	return 0;
}

/* b->ips and b->ip_index, which other columns may refer to. */
static int decode_table(struct sample_block *b, const unsigned char *p, const unsigned char *end, uint64_t *to)
{
	uint64_t nr;

	p = number_get(p, end, &nr);
	if (!p || nr == 0 || nr > b->nr || b->nr_ips)
		return -EBADMSG;
	p = get_numbers(p, end, b->ips, nr);
	if (!p)
		return -EBADMSG;
	from_deltas(b->ips, nr, 0);
	for (uint32_t first = 0; first < b->nr; first += STRIP) {
		uint32_t next = b->nr - first < STRIP ? b->nr : first + STRIP;

		p = get_numbers(p, end, to + first, next - first);
		if (!p)
			return -EBADMSG;
		for (uint32_t i = first; i < next; i++) {
			if (to[i] >= nr)
				return -EBADMSG;
			b->ip_index[i] = (uint16_t)to[i];
			to[i] = b->ips[to[i]];
		}
	}
	b->nr_ips = (uint32_t)nr;
	return 0;
}

/* What each ip's sample had last stands in last, which is column 0's array: there is no such column. */
static int add_by_ip(struct sample_block *b, uint64_t *v)
{
	uint64_t before = 0, *last = b->room_[0];

	if (!b->nr_ips)
		return -EBADMSG;
	memset(b->ip_seen_, 0, b->nr_ips);
	for (uint32_t i = 0; i < b->nr; i++) {
		uint32_t ip = b->ip_index[i];

		before ^= (before ^ last[ip]) & -(uint64_t)b->ip_seen_[ip]; /* no jump that nobody could foresee */
		b->ip_seen_[ip] = 1;
		v[i] = before = last[ip] = before + unzigzag(v[i]);
	}
	return 0;
}

static int decode_numbers(struct sample_block *b, uint64_t encoding, const unsigned char *p, size_t bytes, uint64_t *to)
{
	const unsigned char *end = p + bytes;
	const uint64_t *other;
	uint64_t n;

	switch (encoding) {
	case SAMPLE_ENCODING_U64:
		if (bytes / 8 < b->nr)
			return -EBADMSG;
		memcpy(to, p, (size_t)b->nr * 8);
		return 0;
	case SAMPLE_ENCODING_TABLE:
		return decode_table(b, p, end, to);
	case SAMPLE_ENCODING_DELTA:
		return get_differences(p, end, to, NULL, b->nr);
	case SAMPLE_ENCODING_BY_IP:
		return get_numbers(p, end, to, b->nr) ? add_by_ip(b, to) : -EBADMSG;
	case SAMPLE_ENCODING_AGAINST:
		p = number_get(p, end, &n);
		if (!p || n >= SAMPLE_NR_COLUMNS)
			return -EBADMSG;
		other = n < SAMPLE_COLUMN_REGISTER_0 ? b->column[n] : b->registers[n - SAMPLE_COLUMN_REGISTER_0];
		return other ? get_differences(p, end, to, other, b->nr) : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

/* Mostly what stands there of the block before. */
static int decode_constant(struct sample_block *b, uint64_t column, const struct trace_value *v, uint64_t *to)
{
	const unsigned char *p = (const unsigned char *)v->p;
	uint32_t *same = &b->same_[column];
	uint64_t n;

	if (!number_get(p, p + v->bytes, &n))
		return -EBADMSG;
	if (*same && to[0] != n)
		*same = 0;
	for (; *same < b->nr; ++*same)
		to[*same] = n;
	b->constant.mask[column / 64] |= 1ull << column % 64;
	return 0;
}

static uint64_t *get_room(struct sample_block *b, uint64_t n)
{
	if (!b->room_[n])
		b->room_[n] = malloc((size_t)b->room_nr_ * 8);
	return b->room_[n];
}

static int decode_column(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v)
{
	uint64_t **to, *room;
	int ret;

	to = column < SAMPLE_COLUMN_REGISTER_0 ? &b->column[column] : &b->registers[column - SAMPLE_COLUMN_REGISTER_0];
	if (column == 0 || *to || (encoding == SAMPLE_ENCODING_TABLE && column != SAMPLE_COLUMN_IP))
		return -EBADMSG;
	room = get_room(b, column);
	if (!room)
		return -ENOMEM;
	if (encoding == SAMPLE_ENCODING_CONSTANT) {
		ret = decode_constant(b, column, v, room);
	} else {
		b->same_[column] = 0;
		ret = decode_numbers(b, encoding, (const unsigned char *)v->p, v->bytes, room);
	}
	if (ret == 0)
		*to = room;
	return ret;
}

/* Return addresses, as many as CHAIN_LENGTH says, each of at least one byte. */
static int decode_chains(struct sample_block *b, const struct trace_value *v, uint64_t encoding)
{
	const uint64_t *length = b->column[SAMPLE_COLUMN_CHAIN_LENGTH];
	const unsigned char *p = (const unsigned char *)v->p;
	uint64_t at = 0;

	if (encoding != SAMPLE_ENCODING_DELTA)
		return -EBADMSG;
	b->chain_offset = malloc(((size_t)b->nr + 1) * 8);
	if (!b->chain_offset)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr; i++) {
		b->chain_offset[i] = at;
		if (length && length[i] > v->bytes - at)
			return -EBADMSG;
		at += length ? length[i] : 0;
	}
	b->chain_offset[b->nr] = at;
	b->chain = malloc(at * 8 + 8);
	if (!b->chain)
		return -ENOMEM;
	return get_differences(p, p + v->bytes, b->chain, NULL, at);
}

static void clear(struct sample_block *b)
{
	memset(b->column, 0, sizeof(b->column));
	memset(b->registers, 0, sizeof(b->registers));
	memset(&b->constant, 0, sizeof(b->constant));
	free(b->chain);
	free(b->chain_offset);
	b->chain = b->chain_offset = NULL;
	free(b->kernel_chain_);
	free(b->kernel_offset_);
	b->kernel_chain_ = b->kernel_offset_ = NULL;
	b->nr = b->nr_ips = 0;
	b->has_stacks = b->has_kernel_chains = false;
}

/* Arrays for nr samples each; those for columns that come are made with them. */
static int make_room(struct sample_block *b, uint32_t nr)
{
	struct sample_columns unwanted = b->unwanted;

	if (nr > b->room_nr_) {
		sample_block_fini(b);
		b->unwanted = unwanted;
		b->room_nr_ = nr;
	}
	if (!b->ips)
		b->ips = malloc((size_t)b->room_nr_ * sizeof(*b->ips));
	if (!b->ip_index)
		b->ip_index = malloc((size_t)b->room_nr_ * sizeof(*b->ip_index));
	if (!b->ip_seen_)
		b->ip_seen_ = malloc(b->room_nr_);
	return b->ips && b->ip_index && b->ip_seen_ && get_room(b, 0) ? 0 : -ENOMEM;
}

struct stored_column {
	uint64_t column, encoding;
	struct trace_value bytes;
};

/* Columns that need not be decoded: nobody wants them, nor any column that is stored as a difference to them. */
static struct sample_columns columns_to_skip(const struct sample_block *b, const struct stored_column *stored, uint64_t nr)
{
	struct sample_columns skip = b->unwanted;
	uint64_t other;

	for (uint64_t i = 0; i < nr; i++)
		if (stored[i].column == SAMPLE_COLUMN_STACK || stored[i].column == SAMPLE_COLUMN_CHAIN)
			return (struct sample_columns){ { 0 } };
	while (nr-- > 0) { /* a difference is to a column that stands before it */
		const struct stored_column *c = &stored[nr];
		const unsigned char *p = (const unsigned char *)c->bytes.p;

		if (!sample_columns_have(&skip, c->column) && c->encoding == SAMPLE_ENCODING_AGAINST &&
		    number_get(p, p + c->bytes.bytes, &other) && other < SAMPLE_NR_COLUMNS)
			skip.mask[other / 64] &= ~(1ull << other % 64);
	}
	return skip;
}

int sample_block_decode(const struct trace_record *r, struct sample_block *b)
{
	struct stored_column stored[SAMPLE_NR_COLUMNS];
	const struct trace_value *columns;
	uint64_t nr = trace_u64(r, F(samples, nr)), encoding_of_stacks = 0, encoding_of_chains = 0, nr_stored = 0;
	struct sample_columns skip;
	struct trace_value stacks = { .kind = TRACE_OTHER }, chains = { .kind = TRACE_OTHER };
	int ret;

	clear(b);
	if (r->id != TRACE_SAMPLES || r->nr_values < F_COUNT(samples) || nr == 0 || nr > SAMPLE_NR_MAX)
		return -EBADMSG;
	ret = make_room(b, (uint32_t)nr);
	b->event = (uint32_t)trace_u64(r, F(samples, event));
	b->nr = (uint32_t)nr;
	columns = &r->values[F(samples, columns)];
	for (uint64_t i = 0; ret == 0 && columns->kind == TRACE_LIST && i < columns->u; i++) {
		struct trace_value column = trace_element(columns, i, 0), encoding = trace_element(columns, i, 1);
		struct trace_value bytes = trace_element(columns, i, 2);

		if (column.kind != TRACE_UINT || encoding.kind != TRACE_UINT || bytes.kind != TRACE_BYTES) {
			ret = -EBADMSG;
			continue;
		}
		if (column.u == SAMPLE_COLUMN_KERNEL_CHAIN && encoding.u == SAMPLE_ENCODING_LISTS) {
			b->kernel_chains_ = bytes;
			b->has_kernel_chains = true;
		}
		if (column.u >= SAMPLE_NR_COLUMNS)
			continue; /* that, or of a later version */
		if (nr_stored == SAMPLE_NR_COLUMNS)
			ret = -EBADMSG; /* one of them twice */
		else
			stored[nr_stored++] = (struct stored_column){ column.u, encoding.u, bytes };
	}
	skip = columns_to_skip(b, stored, nr_stored);
	for (uint64_t i = 0; ret == 0 && i < nr_stored; i++) {
		const struct stored_column *c = &stored[i];

		if (c->column == SAMPLE_COLUMN_STACK) { /* when their lengths are known */
			stacks = c->bytes;
			encoding_of_stacks = c->encoding;
		} else if (c->column == SAMPLE_COLUMN_CHAIN) {
			chains = c->bytes;
			encoding_of_chains = c->encoding;
		} else if (!sample_columns_have(&skip, c->column)) {
			ret = decode_column(b, c->column, c->encoding, &c->bytes);
		}
	}
	if (ret == 0 && chains.kind == TRACE_BYTES)
		ret = decode_chains(b, &chains, encoding_of_chains);
	if (ret == 0 && stacks.kind == TRACE_BYTES) {
		ret = sample_stacks_begin(&b->stacks_, encoding_of_stacks, (const unsigned char *)stacks.p, stacks.bytes, b->nr,
					  b->column[SAMPLE_COLUMN_STACK_BYTES], b->registers[SAMPLE_STACK_POINTER],
					  b->column[SAMPLE_COLUMN_TID]);
		b->has_stacks = ret == 0;
	}
	if (ret)
		clear(b);
	return ret;
}

const unsigned char *sample_block_stack(struct sample_block *b, uint32_t i, size_t *bytes)
{
	*bytes = 0;
	return b->has_stacks && i < b->nr ? sample_stacks_get(b->stacks_, i, bytes) : (const unsigned char *)"";
}

/* Both arrays, of which each number takes a byte at least; what makes no sense ends them. */
static bool decode_kernel_chains(struct sample_block *b)
{
	const unsigned char *p = (const unsigned char *)b->kernel_chains_.p, *end = p + b->kernel_chains_.bytes;
	uint64_t at = 0, before = 0;

	b->kernel_offset_ = calloc((size_t)b->nr + 1, 8);
	b->kernel_chain_ = malloc(b->kernel_chains_.bytes * 8 + 8);
	if (!b->kernel_offset_ || !b->kernel_chain_)
		return false;
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t length = 0;

		if (p)
			p = number_get(p, end, &length);
		for (uint64_t n = 0; p && n < length; n++) {
			uint64_t z;

			p = number_get(p, end, &z);
			if (p)
				b->kernel_chain_[at++] = before += unzigzag(z);
		}
		b->kernel_offset_[i + 1] = at;
	}
	return true;
}

const uint64_t *sample_block_kernel_chain(struct sample_block *b, uint32_t i, uint64_t *nr)
{
	*nr = 0;
	if (!b->has_kernel_chains || i >= b->nr)
		return NULL;
	if (!b->kernel_chain_ && !decode_kernel_chains(b)) {
		b->has_kernel_chains = false;
		return NULL;
	}
	*nr = b->kernel_offset_[i + 1] - b->kernel_offset_[i];
	return b->kernel_chain_ + b->kernel_offset_[i];
}

void sample_block_fini(struct sample_block *b)
{
	clear(b);
	for (int i = 0; i < SAMPLE_NR_COLUMNS; i++)
		free(b->room_[i]);
	free(b->ips);
	free(b->ip_index);
	free(b->ip_seen_);
	sample_stacks_destroy(b->stacks_);
	memset(b, 0, sizeof(*b));
}
