/* SPDX-License-Identifier: MIT */
/*
 * The lookup cache holds answers of attribute_sample() and its parts, by what they depend on and for as long as they hold (CACHES.md).  A
 * look-up compares once or twice and decides nothing.  If it finds nothing, the caller decides (attribute_uncached_sample()) and remembers
 * the answer.  Context: thread.
 */
#ifndef TAILOR_LOOKUP_CACHE_H
#define TAILOR_LOOKUP_CACHE_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/symbols/insn.h"

#define LOOKUP_CACHE_PLACES 32768 /* powers of two */
#define LOOKUP_CACHE_THREADS 256
#define LOOKUP_CACHE_TAGS 256
#define LOOKUP_CACHE_PHASES 64

/* A place is an instruction of a process while the same code is there, with the facts that decide about samples at it. Nearly every sample
 * looks up one of these, and that misses the processor's cache, so the size is only 32 bytes. */
struct lookup_cache_place {
	uint64_t address, from_ns, until_ns;
	uint32_t process; /* 1 + number; 0: free */
	uint32_t code_facts : 4;  /* facts about the location: enum lookup_cache_code_facts */
	uint32_t by_tag : 1; /* ANSWER_OF_TAG: nothing but the value of the tag in force decides */
	uint32_t reason : 5; /* ANSWER_OF_PLACE_ALONE: why nothing decides; 0: another answer, or unknown */
	uint32_t paths : 22; /* ANSWER_OF_PLACE: the caller's parent paths (rows.h); 0: another answer, or unknown */
};
_Static_assert(NR_REASONS <= 32, "a place has 5 bits for the reason");
_Static_assert(sizeof(struct lookup_cache_place) == 32, "two places are to fill a line of the cache");
#define LOOKUP_CACHE_PATHS_MAX ((1u << 22) - 1)

enum lookup_cache_code_facts {
	LOOKUP_CACHE_JIT = 1,
	LOOKUP_CACHE_NAMED = 2,
	LOOKUP_CACHE_LINE = 4,
	LOOKUP_CACHE_LINE0 = 8,
	NR_LOOKUP_CACHE_CODE_FACTS = 16,
};

/* Few samples need these data of a place. They are kept apart, so that places stay small. */
struct lookup_cache_about {
	const struct code *code;
	uint32_t location; /* index in the locator */
	enum { LOOKUP_CACHE_NOT_ASKED, LOOKUP_CACHE_NO_MEMORY, LOOKUP_CACHE_MEMORY } touches;
	struct insn_operand operand;
};

struct lookup_cache_thread {
	uint64_t from_ns, until_ns;
	const struct process *process; /* NULL: free */
	uint32_t pid, tid, thread;
	enum reason work; /* host_work_of_thread() of its name */
};

/* An ANSWER_OF_TAG has the parent paths of a tag's value. */
struct lookup_cache_tag {
	const struct process *process; /* NULL: free */
	const struct tag *tag;
	uint64_t value;
	uint32_t paths; /* the caller's parent paths (rows.h), not 0 */
	struct time_range holds;
};

struct lookup_cache {
	struct lookup_cache_place place[LOOKUP_CACHE_PLACES];
	struct lookup_cache_about about[LOOKUP_CACHE_PLACES];
	struct lookup_cache_thread thread[LOOKUP_CACHE_THREADS];
	struct lookup_cache_tag tag[LOOKUP_CACHE_TAGS];
	const struct sample_world *world;
	const struct process *phase_process;
	uint64_t phase_from_ns, phase_until_ns;
	uint32_t phase;
	struct lookup_cache_phase { /* used if some marks have pieces by thread (model.marks.pieces), in place of the members above */
		const struct process *process;
		uint64_t from_ns, until_ns;
		uint32_t tid, phase;
	} thread_phase[LOOKUP_CACHE_PHASES];
	const struct process *tag_process;
	const struct tag *tag_in_force;
	uint64_t tag_from_ns, tag_until_ns;
};

/* Makes an empty cache.  Returns NULL if memory ran out. */
struct lookup_cache *lookup_cache_create(const struct sample_world *w);
void lookup_cache_destroy(struct lookup_cache *r);

/* Finds or makes the place of an instruction.  The result is never NULL, and is valid until the next call, which may drop it. */
struct lookup_cache_place *lookup_cache_get_place(struct lookup_cache *r, const struct process *p, uint64_t address, uint64_t time_ns);
/* Keeps what other samples can use of an answer at the place, by its scope.  paths: number of the parent paths of what decided (rows.h);
 * 0: nothing decided.  They are the same in *holds. */
void lookup_cache_remember(struct lookup_cache *r, struct lookup_cache_place *place, const struct process *p,
			   const struct sample_answer *a, uint32_t paths, const struct time_range *holds);
/* Returns the address of the memory that the instruction touches, with the registers as they are before it. Returns 0 if it touches
 * none, if a register is unknown, or if the instruction's bytes are, because only code of ELF objects (CODE_ELF) has them here. */
uint64_t lookup_cache_operand_address(struct lookup_cache *r, const struct lookup_cache_place *place,
				      const struct unwind_registers *registers);
/* Finds or makes the entry of a thread. Returns NULL if memory ran out. The entry is valid until the next call, which may replace it. */
const struct lookup_cache_thread *lookup_cache_get_thread(struct lookup_cache *r, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Returns the tag that is in force in the process at the time, or NULL, and keeps it for later calls. */
const struct tag *lookup_cache_ask_tag(struct lookup_cache *r, const struct process *p, uint64_t time_ns);
/* Returns the phase (sample_find_phase()), and keeps it for later calls. */
uint32_t lookup_cache_ask_phase(struct lookup_cache *r, const struct process *p, uint32_t tid, uint64_t time_ns);

/* -------------------------------------------------------------------- look-ups that are inlined, because every sample makes them */

/* Returns a number below places, which is a power of two.  Neighbouring keys get numbers far from each other: the highest bits of a
 * product with the golden ratio (Knuth, The Art of Computer Programming, 6.4). */
static inline uint32_t lookup_cache_hash(uint64_t key, uint32_t places)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - __builtin_ctz(places)));
}

static inline uint64_t lookup_cache_mix(uint64_t a, uint64_t b)
{
	return a ^ (b << 47 | b >> 17);
}

static inline struct lookup_cache_about *lookup_cache_about(struct lookup_cache *r, const struct lookup_cache_place *place)
{
	return &r->about[place - r->place];
}

static inline struct sample_place lookup_cache_at(struct lookup_cache *r, const struct lookup_cache_place *place)
{
	const struct lookup_cache_about *about = lookup_cache_about(r, place);

	return (struct sample_place){ about->code, about->location, place->from_ns, place->until_ns };
}

/* Returns the first of the two entries that the place of an address can be in. */
static inline struct lookup_cache_place *lookup_cache_places_of(struct lookup_cache *r, const struct process *p, uint64_t address)
{
	return &r->place[lookup_cache_hash(lookup_cache_mix(address, p->number), LOOKUP_CACHE_PLACES / 2) * 2];
}

/* Returns the place of an address, or NULL if it is not in the cache for that time. */
static inline struct lookup_cache_place *lookup_cache_find_place(struct lookup_cache *r, const struct process *p,
								 uint64_t address, uint64_t time_ns)
{
	struct lookup_cache_place *place = lookup_cache_places_of(r, p, address);

	place += place->address != address;
	if (place->process != p->number + 1 || place->address != address || time_ns < place->from_ns || time_ns >= place->until_ns)
		return NULL;
	return place;
}

static inline struct lookup_cache_thread *lookup_cache_find_thread(struct lookup_cache *r, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct lookup_cache_thread *t = &r->thread[(tid ^ pid << 3) % LOOKUP_CACHE_THREADS];

	return t->process && t->pid == pid && t->tid == tid && time_ns >= t->from_ns && time_ns < t->until_ns ? t : NULL;
}

/* Returns the slot of a tag's value.  The caller compares and fills it. */
static inline struct lookup_cache_tag *lookup_cache_tag(struct lookup_cache *r, const struct process *p, uint64_t value)
{
	return &r->tag[lookup_cache_hash(lookup_cache_mix(value, p->number), LOOKUP_CACHE_TAGS)];
}

static inline const struct tag *lookup_cache_tag_in_force(struct lookup_cache *r, const struct process *p, uint64_t time_ns)
{
	if (r->tag_process == p && time_ns >= r->tag_from_ns && time_ns < r->tag_until_ns)
		return r->tag_in_force;
	return lookup_cache_ask_tag(r, p, time_ns);
}

static inline uint32_t lookup_cache_phase(struct lookup_cache *r, const struct process *p, uint32_t tid, uint64_t time_ns)
{
	if (r->phase_process == p && time_ns >= r->phase_from_ns && time_ns < r->phase_until_ns)
		return r->phase;
	return lookup_cache_ask_phase(r, p, tid, time_ns);
}

#endif
