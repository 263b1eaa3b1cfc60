/* SPDX-License-Identifier: MIT */
/* Evaluates the expressions that cfi_is_safe() lets pass, which have no jumps and no divisions, and need a bounded stack. */
#include "analyzer/unwind/cfi.h"

#include "jitreg/base/leb128.h"

#include <string.h>

#define DEPTH_MAX 64

struct stack {
	uint64_t value[DEPTH_MAX];
	int nr;
};

static bool take_constant(unsigned char op, const unsigned char **at, const unsigned char *end, uint64_t *out)
{
	static const unsigned char bytes[] = { [0x03] = 8, [0x08] = 1, [0x09] = 1, [0x0a] = 2, [0x0b] = 2,
					       [0x0c] = 4, [0x0d] = 4, [0x0e] = 8, [0x0f] = 8 };
	uint64_t u = 0;
	int64_t s;

	if (op >= 0x30 && op <= 0x4f) { /* lit0 to 31 */
		*out = op - 0x30u;
		return true;
	}
	if (op == 0x10)
		return leb128_take(at, end, out);
	if (op == 0x11) {
		if (!leb128_take_signed(at, end, &s))
			return false;
		*out = (uint64_t)s;
		return true;
	}
	if (op >= sizeof(bytes) || !bytes[op] || (size_t)(end - *at) < bytes[op])
		return false;
	memcpy(&u, *at, bytes[op]);
	*at += bytes[op];
	switch (op) {
	case 0x09:
		u = (uint64_t)(int64_t)(int8_t)u;
		break;
	case 0x0b:
		u = (uint64_t)(int64_t)(int16_t)u;
		break;
	case 0x0d:
		u = (uint64_t)(int64_t)(int32_t)u;
		break;
	}
	*out = u;
	return true;
}

static bool apply_unary_op(unsigned char op, const unsigned char **at, const unsigned char *end, const struct cfi_machine *m, uint64_t *top)
{
	uint64_t u;

	switch (op) {
	case 0x06: /* deref */
		return m->read(m->context, *top, top);
	case 0x94: /* deref_size */
		if (*at == end || **at > 8 || **at == 0)
			return false;
		u = *(*at)++;
		if (!m->read(m->context, *top, top))
			return false;
		*top &= u == 8 ? ~0ull : (1ull << 8 * u) - 1;
		return true;
	case 0x1f: /* neg, not */
		*top = -*top;
		return true;
	case 0x20:
		*top = ~*top;
		return true;
	case 0x23: /* plus_uconst */
		if (!leb128_take(at, end, &u))
			return false;
		*top += u;
		return true;
	default:
		return false;
	}
}

static bool apply_binary_op(unsigned char op, uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case 0x1a:
		*out = a & b;
		return true;
	case 0x1c:
		*out = a - b;
		return true;
	case 0x1e:
		*out = a * b;
		return true;
	case 0x21:
		*out = a | b;
		return true;
	case 0x22:
		*out = a + b;
		return true;
	case 0x24: /* shl, shr, shra */
		*out = b < 64 ? a << b : 0;
		return true;
	case 0x25:
		*out = b < 64 ? a >> b : 0;
		return true;
	case 0x26:
		*out = (uint64_t)(x >> (b < 64 ? b : 63));
		return true;
	case 0x27:
		*out = a ^ b;
		return true;
	case 0x29: /* eq, ge, gt, le, lt, ne */
		*out = x == y;
		return true;
	case 0x2a:
		*out = x >= y;
		return true;
	case 0x2b:
		*out = x > y;
		return true;
	case 0x2c:
		*out = x <= y;
		return true;
	case 0x2d:
		*out = x < y;
		return true;
	case 0x2e:
		*out = x != y;
		return true;
	default:
		return false;
	}
}

bool cfi_evaluate(const unsigned char *at, const unsigned char *end, const uint64_t *push, const struct cfi_machine *m,
		  uint64_t *out)
{
	struct stack s = { .nr = 0 };

	if (push)
		s.value[s.nr++] = *push;
	while (at < end) {
		unsigned char op = *at++;
		uint64_t value;
		int64_t offset;

		if (s.nr >= 1 && apply_unary_op(op, &at, end, m, &s.value[s.nr - 1]))
			continue;
		if (s.nr >= 2 && apply_binary_op(op, s.value[s.nr - 2], s.value[s.nr - 1], &value)) {
			s.value[--s.nr - 1] = value;
			continue;
		}
		if (op >= 0x70 && op < 0x70 + CFI_REGISTERS) { /* breg0 to 16 */
			if (!(m->known & 1u << (op - 0x70)) || !leb128_take_signed(&at, end, &offset))
				return false;
			value = m->reg[op - 0x70] + (uint64_t)offset;
		} else if (!take_constant(op, &at, end, &value)) {
			return false;
		}
		if (s.nr == DEPTH_MAX)
			return false;
		s.value[s.nr++] = value;
	}
	if (s.nr == 0)
		return false;
	*out = s.value[s.nr - 1];
	return true;
}
