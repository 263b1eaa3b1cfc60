/* SPDX-License-Identifier: MIT */
#include "analyzer/unwind/go_frames.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/leb128.h"

#include <stdlib.h>
#include <string.h>

/* The values are from DWARF 5, table 7.29. */
enum { CFA_NOP = 0, CFA_ADVANCE = 4, CFA_UNDEFINED = 7, CFA_DEF_CFA = 12, CFA_DEF_CFA_OFFSET = 14, CFA_OFFSET = 0x80 };
#define PCREL_SDATA8 0x1c
#define FRAME_BYTES_MAX (1 << 30)
#define STEP_BYTES 16u	/* bytes of a step, at most */
#define HEAD_BYTES 32u	/* bytes of an entry without steps, at most */
#define BYTES_EACH 8u	/* bytes of all entries per byte of the table, at most (tables that linkers write need one) */

/*
 * The augmentation is "zR": addresses of FDEs have 8 bytes and are relative to their own place. The CFA is rsp + 8, and the return address
 * lies at CFA - 8.
 */
static const unsigned char cie[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, PCREL_SDATA8,
	CFA_DEF_CFA, 7, 8, CFA_OFFSET | 16, 1, CFA_NOP, CFA_NOP,
};

struct frames {
	ARRAY_OF(unsigned char);
	uint64_t cie, address;
};

static void put(struct frames *to, const void *bytes, uint64_t nr)
{
	memcpy(to->at + to->nr, bytes, nr);
	to->nr += (uint32_t)nr;
}

static void put_step(struct frames *to, uint32_t code_bytes, uint32_t cfa)
{
	unsigned char *at = to->at + to->nr;

	if (code_bytes) {
		*at++ = CFA_ADVANCE;
		memcpy(at, &code_bytes, 4);
		at += 4;
	}
	*at++ = CFA_DEF_CFA_OFFSET;
	to->nr = (uint32_t)(leb128_put(at, cfa) - to->at);
}

static bool put_function(struct frames *to, const struct go_table *go, uint64_t text, const struct go_function *f)
{
	static const unsigned char without_caller[] = { CFA_UNDEFINED, 16 };
	struct go_values v = go_values_of(go, f, GO_FRAME_BYTES);
	uint64_t begin, bytes = f->end - f->start, start;
	uint32_t length, back, at = 0;

	if (!ARRAY_RESERVE(*to, HEAD_BYTES + STEP_BYTES))
		return false;
	begin = to->nr;
	back = (uint32_t)(begin + 4 - to->cie);
	start = text + f->start - (to->address + begin + 8);
	put(to, "\0\0\0", 4);
	put(to, &back, 4);
	put(to, &start, 8);
	put(to, &bytes, 8);
	put(to, "", 1);
	if (f->flags & (GO_OUTERMOST | GO_OTHER_STACK))
		put(to, without_caller, sizeof(without_caller));
	while (go_values_next(&v) && v.value >= 0 && v.value < FRAME_BYTES_MAX) {
		if (!ARRAY_RESERVE(*to, HEAD_BYTES + STEP_BYTES))
			return false;
		put_step(to, v.from - at, (uint32_t)v.value + 8);
		at = v.from;
	}
	while ((to->nr - begin) % 8)
		to->at[to->nr++] = CFA_NOP;
	length = (uint32_t)(to->nr - begin - 4);
	memcpy(to->at + begin, &length, 4);
	return true;
}

unsigned char *go_frames_append(const unsigned char *frames, uint64_t *bytes, uint64_t address, const struct go_table *go, uint64_t text)
{
	const uint64_t most = (frames ? *bytes : 0) + BYTES_EACH * go->nr;
	struct frames to = { .address = address };
	struct go_function f;

	if (!ARRAY_RESERVE(to, (frames ? *bytes : 0) + 4096))
		return NULL;
	if (frames)
		put(&to, frames, *bytes);
	to.cie = to.nr;
	put(&to, cie, sizeof(cie));
	for (uint32_t i = 0; i < go->nr_functions && to.nr < most && most < INT32_MAX; i++)
		if (go_table_function(go, i, &f) && f.values[GO_FRAME_BYTES] && !put_function(&to, go, text, &f))
			break;
	*bytes = to.nr;
	return to.at;
}
