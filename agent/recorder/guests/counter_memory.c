/* SPDX-License-Identifier: MIT */
#include "agent/recorder/guests/counter_memory.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENAS_MAX 64
#define ARENA_BYTES_MAX (16u << 20)
#define BYTES_MAX (128u << 20) /* bytes of all arenas of a process */

struct block {
	uint64_t number;
	const uint64_t *counters;
	uint64_t *values; /* values at the last read; NULL: the block has ended */
	uint32_t nr_entries, nr_copies;
	bool was_read;
};

struct counter_memory {
	struct {
		uint64_t *counters;
		uint64_t nr;
	} arena[ARENAS_MAX];
	uint32_t nr_arenas;
	uint64_t nr_counters; /* counters in all arenas */
	uint64_t nr_announced; /* counters of all blocks, at most nr_counters, so that blocks that overlap cannot make reads unbounded */
	ARRAY(struct block) blocks;
	uint32_t nr_ended;
	struct hash_map block_of; /* maps (number, 0) to 1 + index */
};

int counter_memory_add_arena(struct counter_memory **out, uint64_t bytes, uint32_t *number, int *fd)
{
	struct counter_memory *m = *out ? *out : calloc(1, sizeof(*m));
	void *p = MAP_FAILED;
	int error = 0;

	if (!m)
		return -ENOMEM;
	*out = m;
	if (!bytes || bytes % 4096 || bytes > ARENA_BYTES_MAX)
		return -EINVAL;
	if (m->nr_arenas == ARENAS_MAX || m->nr_counters * sizeof(uint64_t) > BYTES_MAX - bytes)
		return -ENOSPC;
	*fd = memfd_create("tailor-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, (off_t)bytes) || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		error = errno;
	else
		p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, *fd, 0);
	if (error || p == MAP_FAILED) {
		error = error ? error : errno;
		close(*fd);
		return -error;
	}
	*number = m->nr_arenas;
	m->arena[m->nr_arenas].counters = p;
	m->arena[m->nr_arenas++].nr = bytes / sizeof(uint64_t);
	m->nr_counters += bytes / sizeof(uint64_t);
	return 0;
}

void counter_memory_destroy(struct counter_memory *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->nr_arenas; i++)
		munmap(m->arena[i].counters, m->arena[i].nr * sizeof(uint64_t));
	for (uint32_t i = 0; i < m->blocks.nr; i++)
		free(m->blocks.at[i].values);
	free(m->blocks.at);
	hash_map_fini(&m->block_of);
	free(m);
}

static uint64_t counters_per_copy(uint64_t nr_entries)
{
	return (nr_entries + 7) / 8 * 8;
}

int counter_memory_add_block(struct counter_memory *m, const struct schema_value *v)
{
	uint64_t place = v[F(counter_block, place)].u, first = (place & UINT32_MAX) / sizeof(uint64_t);
	uint64_t number = v[F(counter_block, block)].u;
	uint64_t nr_entries = v[F(counter_block, entries)].u, nr_copies = v[F(counter_block, nr_copies)].u, nr;
	struct block *b;

	if (!nr_copies)
		return 0;
	if (!m || place % sizeof(uint64_t) || place >> 32 >= m->nr_arenas || !nr_entries || nr_entries > JITREG_COUNTERS_MAX ||
	    nr_copies > JITREG_COUNTERS_MAX)
		return -EBADMSG;
	nr = counters_per_copy(nr_entries) * nr_copies;
	if (first > m->arena[place >> 32].nr || nr > m->arena[place >> 32].nr - first)
		return -EBADMSG;
	counter_memory_end_block(m, number);
	if (nr > m->nr_counters - m->nr_announced)
		return -EBADMSG;
	if (!ARRAY_GROW(m->blocks))
		return -ENOMEM;
	b = &m->blocks.at[m->blocks.nr];
	*b = (struct block){ number, m->arena[place >> 32].counters + first, calloc(nr_entries, sizeof(uint64_t)), (uint32_t)nr_entries,
			     (uint32_t)nr_copies, false };
	if (!b->values || !hash_map_set(&m->block_of, number, 0, m->blocks.nr + 1)) {
		free(b->values);
		return -ENOMEM;
	}
	m->blocks.nr++;
	m->nr_announced += nr;
	return 0;
}

/* Removes the blocks that have ended. The caller does so when they are more than half of all. */
static void remove_ended_blocks(struct counter_memory *m)
{
	uint32_t kept = 0;

	hash_map_fini(&m->block_of);
	for (uint32_t i = 0; i < m->blocks.nr; i++)
		if (m->blocks.at[i].values) {
			m->blocks.at[kept++] = m->blocks.at[i];
			/* without memory the block is not read any more */
			if (!hash_map_set(&m->block_of, m->blocks.at[i].number, 0, kept))
				free(m->blocks.at[--kept].values);
		}
	m->blocks.nr = kept;
	m->nr_ended = 0;
}

void counter_memory_end_block(struct counter_memory *m, uint64_t number)
{
	uint32_t found = m ? hash_map_find(&m->block_of, number, 0) : 0;
	struct block *b = found ? &m->blocks.at[found - 1] : NULL;

	if (!b || !b->values)
		return;
	m->nr_announced -= counters_per_copy(b->nr_entries) * b->nr_copies;
	free(b->values);
	b->values = NULL;
	if (++m->nr_ended > m->blocks.nr / 2)
		remove_ended_blocks(m);
}

/* Reads a block's counters, with copies added up.  Returns true if any has changed, or if this is the first time. */
static bool sum_block_counters(struct block *b)
{
	bool changed = !b->was_read;

	for (uint32_t i = 0; i < b->nr_entries; i++) {
		uint64_t sum = 0;

		for (uint64_t c = 0; c < b->nr_copies; c++)
			sum += __atomic_load_n(&b->counters[c * counters_per_copy(b->nr_entries) + i], __ATOMIC_RELAXED);
		changed |= sum != b->values[i];
		b->values[i] = sum;
	}
	b->was_read = true;
	return changed;
}

void counter_memory_read(struct counter_memory *m, bool all,
			 void (*each)(void *context, uint64_t block, const uint64_t *values, uint32_t nr), void *context)
{
	for (uint32_t i = 0; m && i < m->blocks.nr; i++)
		if (m->blocks.at[i].values && (sum_block_counters(&m->blocks.at[i]) || all))
			each(context, m->blocks.at[i].number, m->blocks.at[i].values, m->blocks.at[i].nr_entries);
}
