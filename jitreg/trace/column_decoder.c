/* SPDX-License-Identifier: MIT */
/*
 * Most of the time of reading samples is spent here. Columns of differences, except those by ip, are decoded in parts, which stay in the
 * processor's cache. For each part, a first pass decodes LEB128, and a second one adds the numbers that the differences refer to.
 */
#include "jitreg/trace/column_decoder.h"

#include "jitreg/base/leb128.h"

#include <immintrin.h>
#include <errno.h>
#include <string.h>

#define STRIP 512u /* numbers */
#define STRIP_OF_DELTAS 128u

/* Does the processor have BMI2, with a fast PEXT? AMD's Zen 1 and Zen 2 (znver1, znver2) take up to hundreds of cycles for it. */
static bool processor_has_fast_pext(void)
{
	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") &&
	       !__builtin_cpu_is("znver2");
}

/* Returns the number whose LEB128 encoding is the lowest 1 to 8 bytes of word.  Without PEXT, pairs of 7 bits are joined to 14 bits, pairs
 * of these to 28, and these to 56. */
static inline __attribute__((always_inline)) uint64_t compact_leb128_groups(uint64_t word, unsigned bytes, bool pext)
{
	uint64_t number;

	if (pext) {
		__asm__("bzhi %2, %1, %0" : "=r"(word) : "r"(word), "r"((uint64_t)(8 * bytes)) : "cc");
		__asm__("pext %2, %1, %0" : "=r"(number) : "r"(word), "r"(0x7f7f7f7f7f7f7f7full));
		return number;
	}
	word &= ~0ull >> (64 - 8 * bytes);
	word = (word & 0x007f007f007f007full) | (word & 0x7f007f007f007f00ull) >> 1;
	word = (word & 0x00003fff00003fffull) | (word & 0x3fff00003fff0000ull) >> 2;
	return (word & 0x000000000fffffffull) | (word & 0x0fffffff00000000ull) >> 4;
}

/* Returns a mask of the 64 bytes at `at`, in which the bits of bytes that end a number are set. */
static uint64_t mask_of_number_ends(const unsigned char *at)
{
	uint64_t more = 0;

	for (int i = 0; i < 4; i++)
		more |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i))) << (16 * i);
	return ~more;
}

/* Store 64 bytes, which are 64 numbers below 128, as 64-bit numbers. */
static void widen_64_bytes(const unsigned char *at, uint64_t *to)
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

/* Returns the lowest nr of the set bits, or all if there are fewer.  nr is below 64. */
static inline __attribute__((always_inline)) uint64_t keep_lowest_set_bits(uint64_t bits, unsigned nr, bool pext)
{
	uint64_t first = 0;

	if (pext) {
		__asm__("pdep %2, %1, %0" : "=r"(first) : "r"((1ull << nr) - 1), "r"(bits));
		return first;
	}
	for (; bits && nr; nr--, bits &= bits - 1)
		first |= bits & -bits;
	return first;
}

#define LONG_BYTES 5 /* numbers of at least this length are not decoded 16 at a time */

static bool has_long_numbers(uint64_t ends)
{
	/* The set bits are the bytes before the last end that do not end their number. */
	uint64_t in = ~ends & ~0ull >> __builtin_clzll(ends);

	for (int i = 1; i < LONG_BYTES - 1; i++)
		in &= in >> 1;
	return in != 0;
}

/* Decode the numbers that end within 64 bytes.  ends: a mask of their last bytes, not 0.  No number has LONG_BYTES or more bytes.  For each
 * of 16 bytes at a time, the number that would begin there is computed, and those that do begin there are moved together.  If all is set,
 * up to to[63] may be written, which is faster, and otherwise only the numbers.  Returns how many there are. */
__attribute__((target("avx512f,popcnt"))) static inline unsigned decode_64_bytes_by_lanes(const unsigned char *at, uint64_t ends,
												    uint64_t *to, bool all)
{
	const unsigned bytes = 64 - (unsigned)__builtin_clzll(ends);
	const uint64_t more = ~ends, begins = (ends << 1 | 1) & ~0ull >> (64 - bytes);
	const __m512i low = _mm512_set1_epi32(0x7f);
	unsigned nr = 0;

	for (unsigned i = 0; i < 64; i += 16) {
		const __mmask16 begin = (__mmask16)(begins >> i), second = (__mmask16)(more >> i);
		const __mmask16 third = second & (__mmask16)(more >> i >> 1), fourth = third & (__mmask16)(more >> i >> 2);
		const unsigned some = (unsigned)__builtin_popcount(begin);
		__m512i v, part;

#define BYTES_FROM(n) _mm512_and_si512(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(at + i + (n)))), low)
		v = BYTES_FROM(0);
		part = _mm512_maskz_slli_epi32(second, BYTES_FROM(1), 7);
		v = _mm512_or_si512(v, part);
		part = _mm512_maskz_slli_epi32(third, BYTES_FROM(2), 14);
		v = _mm512_or_si512(v, part);
		part = _mm512_maskz_slli_epi32(fourth, BYTES_FROM(3), 21);
		v = _mm512_maskz_compress_epi32(begin, _mm512_or_si512(v, part));
#undef BYTES_FROM
		if (all) {
			_mm512_storeu_si512(to + nr, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(v)));
			_mm512_storeu_si512(to + nr + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(v, 1)));
		} else {
			const __mmask16 these = (__mmask16)((1u << some) - 1);

			_mm512_mask_storeu_epi64(to + nr, (__mmask8)these, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(v)));
			_mm512_mask_storeu_epi64(to + nr + 8, (__mmask8)(these >> 8),
						 _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(v, 1)));
		}
		nr += some;
	}
	return nr;
}

static inline __attribute__((always_inline)) const unsigned char *
decode_leb128_by(const unsigned char *at, const unsigned char *end, uint64_t *to, uint64_t nr, enum column_decoder_way way)
{
	const bool pext = way != COLUMN_DECODER_SHIFTS;
	uint64_t i = 0;

	/* The ends of numbers are found for 64 bytes at once, so that the processor can begin to decode a number before it knows the one
	 * before. 8 more bytes must be there, because words are read beyond them. */
	while (i < nr && end - at >= 64 + 8) {
		uint64_t ends = mask_of_number_ends(at);
		unsigned begin = 0;

		if (nr - i < 64) {
			ends = keep_lowest_set_bits(ends, (unsigned)(nr - i), pext);
		} else if (!~ends) { /* these are 64 numbers of one byte each */
			widen_64_bytes(at, to + i);
			i += 64;
			at += 64;
			continue;
		}
		if (way == COLUMN_DECODER_LANES && ends && !has_long_numbers(ends)) {
			i += nr - i < 64 ? decode_64_bytes_by_lanes(at, ends, to + i, false) :
					   decode_64_bytes_by_lanes(at, ends, to + i, true);
			at += 64 - __builtin_clzll(ends);
			continue;
		}
		for (; ends; ends &= ends - 1) {
			const unsigned next = (unsigned)__builtin_ctzll(ends) + 1, bytes = next - begin;
			uint64_t word;

			memcpy(&word, at + begin, 8);
			if (bytes <= 8)
				to[i++] = compact_leb128_groups(word, bytes, pext);
			else if (bytes <= LEB128_MAX)
				to[i++] = compact_leb128_groups(word, 8, pext) | (uint64_t)(at[begin + 8] & 0x7f) << 56 |
					  (bytes == 10 ? (uint64_t)at[begin + 9] << 63 : 0);
			else
				return NULL;
			begin = next;
		}
		if (!begin)
			return NULL; /* no number ends within 64 bytes */
		at += begin;
	}
	for (; i < nr; i++) {
		at = leb128_get(at, end, &to[i]);
		if (!at)
			return NULL;
	}
	return at;
}

__attribute__((target("bmi,bmi2"))) static const unsigned char *decode_leb128_by_pext(const unsigned char *at, const unsigned char *end,
										    uint64_t *to, uint64_t nr)
{
	return decode_leb128_by(at, end, to, nr, COLUMN_DECODER_PEXT);
}

__attribute__((target("avx512f,bmi,bmi2,popcnt"))) static const unsigned char *decode_leb128_by_lanes(const unsigned char *at,
												  const unsigned char *end, uint64_t *to,
												  uint64_t nr)
{
	return decode_leb128_by(at, end, to, nr, COLUMN_DECODER_LANES);
}

static enum column_decoder_way most_allowed = COLUMN_DECODER_LANES;

static enum column_decoder_way decoder_way_of_processor(void)
{
	enum column_decoder_way way = COLUMN_DECODER_SHIFTS;

	if (processor_has_fast_pext())
		way = __builtin_cpu_supports("avx512f") ? COLUMN_DECODER_LANES : COLUMN_DECODER_PEXT;
	return way < most_allowed ? way : most_allowed;
}

enum column_decoder_way column_decoder_limit(enum column_decoder_way most)
{
	most_allowed = most;
	return decoder_way_of_processor();
}

/* Decode nr numbers.  Returns the address behind them, or NULL if the bytes do not hold nr valid numbers. */
static const unsigned char *decode_leb128_numbers(const unsigned char *at, const unsigned char *end, uint64_t *to, uint64_t nr)
{
	switch (decoder_way_of_processor()) {
	case COLUMN_DECODER_LANES:
		return decode_leb128_by_lanes(at, end, to, nr);
	case COLUMN_DECODER_PEXT:
		return decode_leb128_by_pext(at, end, to, nr);
	default:
		return decode_leb128_by(at, end, to, nr, COLUMN_DECODER_SHIFTS);
	}
}

/* Undo the zigzag encoding of two numbers. */
static __m128i unzigzag_pair(__m128i z)
{
	return _mm_xor_si128(_mm_srli_epi64(z, 1), _mm_sub_epi64(_mm_setzero_si128(), _mm_and_si128(z, _mm_set1_epi64x(1))));
}

/* Replace each of the zigzag differences by the sum of before and all differences up to it.  Returns the last sum. */
static uint64_t sum_deltas(uint64_t *v, uint64_t nr, uint64_t before)
{
	__m128i twice = _mm_set1_epi64x((long long)before);
	uint64_t i = 0;

	for (; nr - i >= 2; i += 2) {
		__m128i *at = (__m128i *)(void *)(v + i), d = unzigzag_pair(_mm_loadu_si128(at));

		d = _mm_add_epi64(d, _mm_slli_si128(d, 8));
		_mm_storeu_si128(at, _mm_add_epi64(d, twice));
		twice = _mm_add_epi64(twice, _mm_unpackhi_epi64(d, d)); /* the only value that a pair needs of the one before */
	}
	before = (uint64_t)_mm_cvtsi128_si64(twice);
	return i < nr ? v[i] = unzigzag(v[i]) + before : before;
}

static void add_differences(uint64_t *v, const uint64_t *other, uint64_t nr)
{
	uint64_t i = 0;

	for (; nr - i >= 2; i += 2) {
		__m128i *at = (__m128i *)(void *)(v + i);

		_mm_storeu_si128(
			at, _mm_add_epi64(unzigzag_pair(_mm_loadu_si128(at)), _mm_loadu_si128((const __m128i *)(const void *)(other + i))));
	}
	if (i < nr)
		v[i] = unzigzag(v[i]) + other[i];
}

/* Returns how many of the next nr numbers, from the first on, are 0, as a multiple of 64.  A number that is 0 is one byte. */
static uint64_t count_zero_numbers(const unsigned char *at, const unsigned char *end, uint64_t nr)
{
	uint64_t n = 0;

	for (; nr - n >= 64 && end - at >= 64; n += 64, at += 64) {
		__m128i any = _mm_setzero_si128();

		for (int i = 0; i < 64; i += 16)
			any = _mm_or_si128(any, _mm_loadu_si128((const __m128i *)(const void *)(at + i)));
		if (_mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) != 0xffff)
			break;
	}
	return n;
}

/* Decode nr numbers that are differences to those of other.  This is done STRIP numbers at a time, which stay in the processor's cache
 * until the other numbers are added. */
static int decode_differences(const unsigned char *at, const unsigned char *end, uint64_t *to, const uint64_t *other, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i += STRIP) {
		uint64_t strip = nr - i < STRIP ? nr - i : STRIP;

		at = decode_leb128_numbers(at, end, to + i, strip);
		if (!at)
			return -EBADMSG;
		add_differences(to + i, other + i, strip);
	}
	return 0;
}

/* Decode nr numbers that are differences to the one before.  In columns such as threads or weights most differences are 0, so runs of these
 * are decoded without adding. */
static int decode_deltas(const unsigned char *at, const unsigned char *end, uint64_t *to, uint64_t nr)
{
	uint64_t before = 0, some;

	for (uint64_t i = 0; i < nr; i += some) {
		some = count_zero_numbers(at, end, nr - i);
		at += some;
		for (uint64_t n = 0; n < some; n++)
			to[i + n] = before;
		if (some)
			continue;
		some = nr - i < STRIP_OF_DELTAS ? nr - i : STRIP_OF_DELTAS;
		at = decode_leb128_numbers(at, end, to + i, some);
		if (!at)
			return -EBADMSG;
		before = sum_deltas(to + i, some, before);
	}
	return 0;
}

/* Decode column IP, stored as TABLE, to `to`.  Also sets b->ips and b->ip_index, which columns with encoding BY_IP refer to.  Returns 0 or
 * -EBADMSG. */
static int decode_ip_table(struct sample_block *b, const unsigned char *p, const unsigned char *end, uint64_t *to)
{
	uint64_t nr;

	p = leb128_get(p, end, &nr);
	if (!p || nr == 0 || nr > b->nr || b->nr_ips)
		return -EBADMSG;
	p = decode_leb128_numbers(p, end, b->ips, nr);
	if (!p)
		return -EBADMSG;
	sum_deltas(b->ips, nr, 0);
	for (uint32_t first = 0; first < b->nr; first += STRIP) {
		uint32_t next = b->nr - first < STRIP ? b->nr : first + STRIP;

		p = decode_leb128_numbers(p, end, to + first, next - first);
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

/* Replace differences to the number of the last sample with the same ip (encoding BY_IP) by the numbers.  The last number of each ip is
 * kept in b->room_[0], which is free because no column has the number 0. */
static int add_differences_by_ip(struct sample_block *b, uint64_t *v)
{
	uint64_t before = 0, *last = b->room_[0];
	const uint16_t *index = b->ip_index; /* local copies, since the compiler must assume that writes to seen change members of b */
	unsigned char *seen = b->ip_seen_;
	const uint32_t nr = b->nr;

	if (!b->nr_ips)
		return -EBADMSG;
	memset(seen, 0, b->nr_ips);
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t ip = index[i];

		const uint64_t there = last[ip];

		/* this makes the compiler use a conditional move, because the branch could not be predicted */
		before = __builtin_expect_with_probability(seen[ip], 1, 0.5) ? there : before;
		seen[ip] = 1;
		v[i] = before = last[ip] = before + unzigzag(v[i]);
	}
	return 0;
}

static int decode_column_numbers(struct sample_block *b, uint64_t encoding, const unsigned char *p, size_t bytes, uint64_t *to)
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
		return decode_ip_table(b, p, end, to);
	case SAMPLE_ENCODING_DELTA:
		return decode_deltas(p, end, to, b->nr);
	case SAMPLE_ENCODING_BY_IP:
		return decode_leb128_numbers(p, end, to, b->nr) ? add_differences_by_ip(b, to) : -EBADMSG;
	case SAMPLE_ENCODING_AGAINST:
		p = leb128_get(p, end, &n);
		if (!p || n >= SAMPLE_NR_COLUMNS)
			return -EBADMSG;
		other = n < SAMPLE_COLUMN_REGISTER_0 ? b->column[n] : b->registers[n - SAMPLE_COLUMN_REGISTER_0];
		return other ? decode_differences(p, end, to, other, b->nr) : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

/* Decode a column whose numbers are all equal.  Mostly the array has the same numbers since the block before, and is not written again. */
static int decode_constant_column(struct sample_block *b, uint64_t column, const struct trace_value *v, uint64_t *to)
{
	const unsigned char *p = (const unsigned char *)v->p;
	uint32_t *same = &b->same_[column];
	uint64_t n;

	if (!leb128_get(p, p + v->bytes, &n))
		return -EBADMSG;
	if (*same && to[0] != n)
		*same = 0;
	for (; *same < b->nr; ++*same)
		to[*same] = n;
	b->constant.mask[column / 64] |= 1ull << column % 64;
	return 0;
}

int column_decode(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v, uint64_t *to)
{
	if (encoding == SAMPLE_ENCODING_CONSTANT)
		return decode_constant_column(b, column, v, to);
	b->same_[column] = 0;
	return decode_column_numbers(b, encoding, (const unsigned char *)v->p, v->bytes, to);
}

int column_decode_list(uint64_t encoding, const struct trace_value *v, uint64_t *to, uint64_t nr)
{
	const unsigned char *p = (const unsigned char *)v->p;

	return encoding == SAMPLE_ENCODING_DELTA ? decode_deltas(p, p + v->bytes, to, nr) : -EBADMSG;
}
