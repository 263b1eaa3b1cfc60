/* SPDX-License-Identifier: MIT */
/*
 * Allocates memory for execution counts (jitreg_counter_block()). It lies in arenas that the recorder creates and maps as well, so the
 * counts survive this process. Each block follows a head of 64 bytes. A freed block waits in a list for a request that fits. The recorder
 * reads none of the heads, because the record of a block has its place and size.
 */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <string.h>

#define ARENAS_MAX 64
#define ARENA_BYTES_MIN (64u << 10)
#define ARENA_DOUBLINGS 7 /* arenas grow up to 8 MiB, and beyond that only where a block does not fit */
#define LOCK_NAPS 400 /* waits of 1 ms; many, because the holder of the lock may be waiting for the recorder */
#define ASK_NAPS 50

struct head {
	uint64_t block;	  /* the block's number; 0: free */
	uint64_t nr;	  /* counters in the block, a multiple of 8 */
	struct head *next_free;
	uint64_t reserved[5];
};
_Static_assert(sizeof(struct head) == 64, "counters begin with a cache line");

static struct {
	struct {
		unsigned char *base;
		uint64_t bytes, used;
		uint32_t number; /* the recorder's number for this arena */
	} arena[ARENAS_MAX];
	uint32_t nr_arenas;
	struct head *free;
	uint64_t generation;
	uint64_t stopped_at; /* heartbeats of the recorder when the last wait for it timed out; 0: it did not */
	int locked;
} memory;

/* Returns false if the lock was not free within LOCK_NAPS naps. Its holder makes system calls, and may wait for the recorder. */
static bool lock_counter_memory(void)
{
	for (int i = 0; i < LOCK_NAPS; i++) {
		if (!__atomic_exchange_n(&memory.locked, 1, __ATOMIC_ACQUIRE))
			return true;
		sys_nap();
	}
	return false;
}

static void unlock_counter_memory(void)
{
	__atomic_store_n(&memory.locked, 0, __ATOMIC_RELEASE);
}

/*
 * The place of a block is the recorder's number of the arena and the offset of the block's first counter, so that host and recorder mean
 * the same by it. The number of a block is its place and, in the 24 bits above that, a generation, so that a block that reuses a place has
 * another number.
 */
#define PLACE_BITS 40
#define PLACE(number, offset) ((uint64_t)(number) << 32 | (uint64_t)(offset))

static struct head *find_counter_block(uint64_t block)
{
	uint64_t place = block & ((1ull << PLACE_BITS) - 1), offset = place & UINT32_MAX;

	for (uint32_t i = 0; i < memory.nr_arenas; i++)
		if (memory.arena[i].number == place >> 32 && offset >= sizeof(struct head) && offset <= memory.arena[i].used) {
			struct head *h = (struct head *)(void *)(memory.arena[i].base + offset) - 1;

			return h->block == block ? h : NULL;
		}
	return NULL;
}

static struct head *take_free_block(uint64_t nr)
{
	for (struct head **at = &memory.free; *at; at = &(*at)->next_free)
		if ((*at)->nr >= nr && (*at)->nr / 4 <= nr) {
			struct head *h = *at;

			*at = h->next_free;
			return h;
		}
	return NULL;
}

/*
 * Asks the recorder for an arena. A dormant recorder wakes up now and then, so it is asked up to ASK_NAPS times more. A recorder that did
 * not answer before is asked only once until its heartbeats go on. So is one without heartbeats, and one that another process found
 * stopped.
 */
static int request_arena(uint64_t bytes, unsigned char **base, uint32_t *number)
{
	int ret = channel_request_counter_memory(guest_socket_name(), bytes, base, number);

	if (ret == -EHOSTDOWN || log_heartbeats() == memory.stopped_at)
		return ret;
	for (int i = 0; i < ASK_NAPS && (ret == -EAGAIN || ret == -EHOSTDOWN); i++) {
		sys_nap();
		ret = channel_request_counter_memory(guest_socket_name(), bytes, base, number);
	}
	memory.stopped_at = ret == -EAGAIN || ret == -EHOSTDOWN ? log_heartbeats() : 0;
	return ret;
}

static struct head *take_new_block(uint64_t nr)
{
	uint64_t bytes = sizeof(struct head) + nr * sizeof(uint64_t), wanted;
	uint32_t last = memory.nr_arenas;
	struct head *h;
	int ret;

	if (!last || memory.arena[last - 1].bytes - memory.arena[last - 1].used < bytes) {
		if (last == ARENAS_MAX)
			return NULL;
		wanted = (uint64_t)ARENA_BYTES_MIN << (last < ARENA_DOUBLINGS ? last : ARENA_DOUBLINGS);
		while (wanted < bytes)
			wanted *= 2;
		ret = request_arena(wanted, &memory.arena[last].base, &memory.arena[last].number);
		if (ret) {
			guest_debug("no memory for execution counts: error %d", ret);
			return NULL;
		}
		memory.arena[last].bytes = wanted;
		memory.arena[last].used = 0;
		memory.nr_arenas = ++last;
	}
	h = (struct head *)(void *)(memory.arena[last - 1].base + memory.arena[last - 1].used);
	memory.arena[last - 1].used += bytes;
	h->nr = nr;
	return h;
}

static uint64_t place_of_block(const struct head *h)
{
	for (uint32_t i = 0; i < memory.nr_arenas; i++) {
		uint64_t offset = (uint64_t)((const unsigned char *)h - memory.arena[i].base);

		if (offset < memory.arena[i].bytes)
			return PLACE(memory.arena[i].number, offset + sizeof(*h));
	}
	return 0;
}

static int allocate_counter_block(struct jitreg_counter_memory *m)
{
	uint64_t nr = ((uint64_t)m->nr_entries + 7) / 8 * 8;
	struct head *h;

	if (!nr || !m->nr_copies || nr > JITREG_COUNTERS_MAX / m->nr_copies)
		return -EINVAL;
	nr *= m->nr_copies;
	h = take_free_block(nr);
	if (!h)
		h = take_new_block(nr);
	if (!h) {
		log_count_full();
		return -ENOBUFS;
	}
	memset(h + 1, 0, nr * sizeof(uint64_t));
	m->place = place_of_block(h);
	h->block = m->block = ++memory.generation << PLACE_BITS | m->place;
	m->counters = (uint64_t *)(void *)(h + 1);
	return 0;
}

/* A block whose last values were not recorded is not freed, because the counts of its next use would be attributed to it. */
static int free_counter_block(uint64_t block)
{
	struct head *h = find_counter_block(block);
	struct jitreg_counter_values_record r = { .prefix.id = JITREG_COUNTER_VALUES, .block = block, .flags = JITREG_VALUES_LAST };
	struct iovec parts[2];
	int ret;

	if (!h)
		return -EINVAL;
	r.nr_values = (uint32_t)h->nr;
	parts[0] = (struct iovec){ &r, sizeof(r) };
	parts[1] = (struct iovec){ h + 1, h->nr * sizeof(uint64_t) };
	ret = jitreg_emit(parts, 2);
	if (ret)
		return ret;
	h->block = 0;
	h->next_free = memory.free;
	memory.free = h;
	return 0;
}

API int jitreg_counters(struct jitreg_counter_memory *m)
{
	int saved = errno, ret = -ENOSYS;

	if (m->bytes < sizeof(*m))
		return -EINVAL;
	if (guest_is_ready() && lock_counter_memory()) {
		ret = m->block ? free_counter_block(m->block) : allocate_counter_block(m);
		unlock_counter_memory();
	}
	errno = saved;
	return ret;
}

/* Replaces the arenas by private memory, into which the child's code goes on counting, because the shared counts are the parent's. */
void counter_memory_reset_in_child(void)
{
	for (uint32_t i = 0; i < memory.nr_arenas; i++)
		sys_mmap(memory.arena[i].base, memory.arena[i].bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
	memory.nr_arenas = 0;
	memory.free = NULL;
	unlock_counter_memory();
}
