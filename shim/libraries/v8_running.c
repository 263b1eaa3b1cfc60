/* SPDX-License-Identifier: MIT */
/*
 * A frame of a JavaScript function, of whichever tier, has its context at fp - 8 and its JSFunction at fp - 16.  A function called from it
 * has the return address on the stack, and that fp below it.  So the stack is searched for pairs (fp, return address).  Most of these are
 * something else.  A pair counts if the object at fp - 16 holds a pointer to a SharedFunctionInfo that V8 itself reports, which has the
 * function's name, too.
 *
 * V8's objects of machine code begin with a pointer to one and the same map.  The distance between that pointer and the first instruction
 * is learnt from reported code nearby.  Searched backwards from the return address, the first such pointer is the beginning of the object,
 * and searched forwards, the next one is its end.  No layout of a V8 version is assumed, and code that does not agree has no name.
 */
#include "shim/libraries/v8_running.h"

#include "agent/guest/sys.h"

#include <string.h>

#define STACK_BYTES (256u << 10) /* bytes of the stack that are searched */
#define FRAME_BYTES (64u << 10)	 /* a frame of a function is smaller than this */
#define FRAMES_MAX 32
#define OBJECT_WORDS 10	     /* words of a JSFunction that are read */
#define REPORTED_MAX 65536u
#define NAME_BYTES 512
#define NEAR_BYTES (1u << 20)
#define NEAR_FEWEST 3
#define HEADER_BYTES 128u    /* greatest distance of the map's pointer in front of the first instruction */
#define CODE_ALIGNMENT 32u
#define CODE_BYTES_MAX (256u << 10)
#define PAGE 4096u

struct frame {
	const uintptr_t *function; /* address of the word that has the JSFunction */
	uintptr_t object, word[OBJECT_WORDS]; /* the JSFunction and its words, when they were read */
	uint64_t ip;
	bool is_reported;
	size_t name_bytes; /* 0: no function was recognised */
	char name[NAME_BYTES];
};

struct code {
	uint64_t start, bytes;
};

static struct memory {
	struct frame frame[FRAMES_MAX];
	struct code code[REPORTED_MAX];
} *memory;
static int nr_frames;
static uint32_t nr_codes;
static int taken;

static bool is_tagged_pointer(uintptr_t word)
{
	return (word & 3) == 1 && word > PAGE;
}

/* Returns the number of bytes from `from` on that can be read, at most `bytes`. */
static size_t count_readable_bytes(uintptr_t from, size_t bytes)
{
	uintptr_t at = from;

	while (at - from < bytes && sys_readable((const void *)at))
		at = (at | (PAGE - 1)) + 1;
	return at - from < bytes ? at - from : bytes;
}

static void read_function_object(struct frame *f)
{
	uintptr_t address = (f->object = *f->function) - 1; /* without its tag */

	if (is_tagged_pointer(f->object) && sys_readable_range((const void *)address, sizeof(f->word)))
		memcpy(f->word, (const void *)address, sizeof(f->word));
	else
		memset(f->word, 0, sizeof(f->word));
}

static void add_javascript_frame(const uintptr_t *fp, uintptr_t ip)
{
	struct frame *f = &memory->frame[nr_frames];

	for (int i = 0; i < nr_frames; i++)
		if (memory->frame[i].ip == ip)
			return;
	*f = (struct frame){ .function = fp - 2, .ip = ip };
	read_function_object(f);
	nr_frames += f->word[0] != 0;
}

bool v8_running_find_frames(void)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	size_t bytes;
	long p;

	if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE))
		return false;
	if (!memory) {
		p = sys_mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
		memory = p < 0 && p > -4096 ? NULL : (struct memory *)p;
	}
	if (!memory) {
		__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
		return false;
	}
	nr_frames = 0;
	nr_codes = 0;
	bytes = count_readable_bytes(sp, STACK_BYTES) / sizeof(uintptr_t) * sizeof(uintptr_t);
	for (uintptr_t at = sp; at + 2 * sizeof(uintptr_t) <= sp + bytes && nr_frames < FRAMES_MAX; at += sizeof(uintptr_t)) {
		const uintptr_t *pair = (const uintptr_t *)at, *fp = (const uintptr_t *)pair[0];

		if (pair[0] % sizeof(uintptr_t) == 0 && pair[0] > at + 2 * sizeof(uintptr_t) && pair[0] < sp + bytes &&
		    pair[0] - at < FRAME_BYTES && pair[1] > PAGE && is_tagged_pointer(fp[-1]) && is_tagged_pointer(fp[-2]))
			add_javascript_frame(fp, pair[1]);
	}
	return true;
}

void v8_running_note_code(uint64_t start, uint64_t bytes, void *const *script, const char *name, size_t name_bytes)
{
	uintptr_t info = script ? (uintptr_t)*script : 0;

	if (bytes && nr_codes < REPORTED_MAX)
		memory->code[nr_codes++] = (struct code){ start, bytes };
	for (int i = 0; i < nr_frames; i++) {
		struct frame *f = &memory->frame[i];

		f->is_reported |= f->ip - start < bytes;
		if (!is_tagged_pointer(info) || f->name_bytes)
			continue;
		if (*f->function != f->object)
			read_function_object(f);
		for (int w = 1; w < OBJECT_WORDS && !f->name_bytes; w++)
			if (f->word[w] == info && name_bytes < sizeof(f->name)) {
				memcpy(f->name, name, name_bytes);
				f->name_bytes = name_bytes;
			}
	}
}

/* -------------------------------------------------------------------------------------------------------- code object */

static uintptr_t load_word_at(uint64_t address)
{
	return *(const uintptr_t *)address;
}

/* Finds the map's pointer, and its distance in front of the first instruction, from most of the code nearby.  Returns 0 if it is not
 * found. */
static uintptr_t find_code_map(uint64_t ip, uint32_t *header_bytes)
{
	uint64_t near[64];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < nr_codes && nr < sizeof(near) / sizeof(near[0]); i++) {
		uint64_t start = memory->code[i].start, away = start > ip ? start - ip : ip - start;
		bool is_new = away < NEAR_BYTES && start % 8 == 0 &&
			      sys_readable_range((const void *)(start - HEADER_BYTES), HEADER_BYTES);

		for (uint32_t n = 0; n < nr && is_new; n++)
			is_new = near[n] != start;
		if (is_new)
			near[nr++] = start;
	}
	for (uint32_t d = HEADER_BYTES; nr >= NEAR_FEWEST && d > 0; d -= 8)
		for (uint32_t first = 0; first < 2; first++) { /* both are tried, because one may be an exception */
			uintptr_t map = load_word_at(near[first] - d);
			uint32_t same = 0;

			for (uint32_t i = 0; i < nr; i++)
				same += load_word_at(near[i] - d) == map;
			if (is_tagged_pointer(map) && 4 * same >= 3 * nr && same >= NEAR_FEWEST) {
				*header_bytes = d;
				return map;
			}
		}
	return 0;
}

/* Finds the object of machine code that contains ip. */
static bool find_code_object(uint64_t ip, struct code *out)
{
	uint64_t lowest = ip > CODE_BYTES_MAX ? ip - CODE_BYTES_MAX : 0, highest = ip + CODE_BYTES_MAX, at;
	uint32_t header;
	uintptr_t map = find_code_map(ip, &header);

	if (!map)
		return false;
	for (uint32_t i = 0; i < nr_codes; i++) { /* the object lies between reported ones */
		const struct code *c = &memory->code[i];

		if (c->start <= ip && c->start + c->bytes > lowest)
			lowest = c->start + c->bytes;
		if (c->start > ip && c->start - header < highest)
			highest = c->start - header;
	}
	for (at = ip - ip % CODE_ALIGNMENT;; at -= CODE_ALIGNMENT) {
		if (at < lowest || at < CODE_ALIGNMENT || !sys_readable_range((const void *)(at - header), header))
			return false;
		if (load_word_at(at - header) == map)
			break;
	}
	out->start = at;
	highest = ip + count_readable_bytes(ip, highest - ip);
	for (at = (ip | 7) + 1; at + 8 <= highest && load_word_at(at) != map; at += 8)
		;
	out->bytes = (at + 8 <= highest ? at : highest) - out->start;
	return true;
}

void v8_running_register_frames(void (*load)(uint64_t start, uint64_t bytes, const char *name, size_t name_bytes))
{
	for (int i = 0; i < nr_frames; i++) {
		struct frame *f = &memory->frame[i];
		struct code c;
		char *tier;

		if (f->is_reported || !f->name_bytes || !find_code_object(f->ip, &c))
			continue;
		tier = memchr(f->name, ':', f->name_bytes);
		if (tier && tier + 1 < f->name + f->name_bytes && (tier[1] == '~' || tier[1] == '^'))
			tier[1] = '*';
		load(c.start, c.bytes, f->name, f->name_bytes);
		for (int n = i + 1; n < nr_frames; n++) /* other frames of this code do not register it again */
			memory->frame[n].is_reported |= memory->frame[n].ip - c.start < c.bytes;
	}
	sys_madvise(memory, sizeof(*memory), MADV_DONTNEED);
	__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}
