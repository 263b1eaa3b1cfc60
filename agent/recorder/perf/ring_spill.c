/* SPDX-License-Identifier: MIT */
/*
 * Two threads read a ring, never at the same time. The spill thread reads while it holds the lock. The recorder's own thread reads after it
 * has set in_use under the lock. If that thread drains in time, nothing is copied. The spill thread looks every LOOK_NS, or more rarely if
 * there are many rings or while none fills fast, and copies only records that have waited for LATE_NS or fill half of their ring.
 */
#include "agent/recorder/perf/ring_spill.h"

#include "agent/recorder/perf/record.h"
#include "jitreg/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 5000000ull
#define RINGS_A_LOOK 64u /* with more rings, looks are rarer; so many are rings of threads, which themselves wake the recorder */
/* If no ring will be full soon, the next look is so many times later.  Each look takes a processor from a program for some 30 µs, including
 * what it displaces in caches.  Beside a process that waits, looks would otherwise be most of what the recorder costs. */
#define AT_REST 12u
#define SOON 4u /* a ring will be full soon if it fills within so many intervals of looks at rest */
/* Records that have waited for longer are taken out, since the recorder, which drains every 20 ms and when a ring is half full, is late
 * then. */
#define LATE_NS 25000000ull
#define STACK_BYTES (256u << 10)

struct kept_ring {
	struct ring_spill *spill;
	struct kept_ring *next;
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	uint64_t bytes, tail, drained_ns, seen_head;
	struct kept_chunk *first, **last;
	uint64_t nr_chunks;
	struct record_layout samples; /* layout of all of its samples; clock is NULL, as the recorder's thread changes those pairs */
	bool has_layout;
	bool in_use; /* the recorder's thread reads the ring, without holding the lock */
};

struct ring_spill {
	pthread_t thread;
	pthread_mutex_t lock; /* lock of all members below, and of the elements of the list of rings */
	pthread_cond_t ended;
	bool end;
	struct kept_ring *ring;
	uint64_t nr_rings, bytes, bytes_max;
};

static void copy_from_ring(const struct kept_ring *r, uint64_t position, void *to, uint64_t bytes)
{
	uint64_t at = position & (r->bytes - 1), first = r->bytes - at;

	memcpy(to, r->data + at, bytes < first ? bytes : first);
	if (bytes > first)
		memcpy((char *)to + first, r->data, bytes - first);
}

/*
 * Copies so many bytes of records from the ring's tail on, samples without the unused part of their stacks.  Returns the number of bytes
 * that were written to `to`.  If the layout is unknown, or from a record of invalid size on, the bytes are copied as they are.
 */
static uint64_t copy_records(const struct kept_ring *r, unsigned char *to, uint64_t bytes)
{
	uint64_t from = 0, at = 0;

	while (r->has_layout && bytes - from >= sizeof(struct perf_event_header)) {
		struct perf_event_header *h = (void *)(to + at);
		uint64_t size;

		copy_from_ring(r, r->tail + from, h, sizeof(*h));
		size = h->size;
		if (size < sizeof(*h) || size % 8 || size > bytes - from)
			break;
		copy_from_ring(r, r->tail + from + sizeof(*h), h + 1, size - sizeof(*h));
		record_drop_unused_stack(&r->samples, h);
		from += size;
		at += h->size;
	}
	copy_from_ring(r, r->tail + from, to + at, bytes - from);
	return at + bytes - from;
}

/* Takes all records out of the ring, if they have waited for LATE_NS or fill half of it. If memory, the limit (bytes_max) or an invalid
 * head does not allow that, they stay. Whether they are valid is checked by ring_drain(). */
static void keep_ring_records(struct ring_spill *k, struct kept_ring *r, uint64_t now_ns)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), nr = head - r->tail;
	struct kept_chunk *c, *shorter;

	if (nr == 0 || nr > r->bytes || nr % 8 || nr > k->bytes_max - k->bytes || (nr < r->bytes / 2 && now_ns - r->drained_ns < LATE_NS))
		return;
	c = malloc(sizeof(*c) + nr);
	if (!c)
		return;
	c->next = NULL;
	c->bytes = copy_records(r, c->data, nr);
	shorter = c->bytes < nr ? realloc(c, sizeof(*c) + c->bytes) : NULL;
	c = shorter ? shorter : c;
	*r->last = c;
	r->last = &c->next;
	r->nr_chunks++;
	k->bytes += c->bytes;
	r->tail = head;
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

/* Will the ring be full within SOON looks at rest, if records come as fast as since the last look? ns: time since that look. The ring's
 * head is noted for the next look. */
static bool is_full_soon(struct kept_ring *r, uint64_t ns)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), nr = head - r->seen_head;

	r->seen_head = head;
	return nr > r->bytes || (double)nr * (LOOK_NS * AT_REST * SOON) > (double)r->bytes * (double)ns;
}

static void *run_spill_thread(void *spill)
{
	struct ring_spill *k = spill;
	uint64_t looked_ns = clock_now_ns();
	bool is_at_rest = false;

	pthread_mutex_lock(&k->lock);
	while (!k->end) {
		uint64_t now_ns, wait_ns = LOOK_NS * (1 + k->nr_rings / RINGS_A_LOOK) * (is_at_rest ? AT_REST : 1);
		uint64_t until_ns = clock_now_ns() + (uint64_t)clock_ahead_ns() + wait_ns; /* this process's clock */
		struct timespec until = { (time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u) };

		if (pthread_cond_timedwait(&k->ended, &k->lock, &until) != ETIMEDOUT)
			continue;
		is_at_rest = true;
		now_ns = clock_now_ns();
		for (struct kept_ring *r = k->ring; r; r = r->next) {
			is_at_rest &= !is_full_soon(r, now_ns - looked_ns);
			if (!r->in_use)
				keep_ring_records(k, r, clock_now_ns());
		}
		looked_ns = now_ns;
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

int ring_spill_create(uint64_t bytes_max, struct ring_spill **out)
{
	struct ring_spill *k = calloc(1, sizeof(*k));
	pthread_condattr_t clock;
	pthread_attr_t small;
	sigset_t all, before;
	int error;

	if (!k)
		return -ENOMEM;
	k->bytes_max = bytes_max;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&k->ended, &clock);
	pthread_condattr_destroy(&clock);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	sigfillset(&all); /* the thread inherits that all signals are blocked, so that the recorder's own thread gets them */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&k->thread, &small, run_spill_thread, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&small);
	if (error) {
		pthread_cond_destroy(&k->ended);
		pthread_mutex_destroy(&k->lock);
		free(k);
		return -error;
	}
	*out = k;
	return 0;
}

void ring_spill_destroy(struct ring_spill *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->end = true;
	pthread_cond_signal(&k->ended);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	while (k->ring)
		ring_spill_remove_ring(k->ring);
	pthread_cond_destroy(&k->ended);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

void ring_spill_add_ring(struct ring_spill *k, struct ring *r, const struct record_layout *samples)
{
	struct kept_ring *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return;
	*kept = (struct kept_ring){ .spill = k, .page = r->page, .data = r->data, .bytes = r->bytes, .tail = r->tail,
				    .drained_ns = clock_now_ns() };
	if (samples) {
		kept->has_layout = true;
		kept->samples = *samples;
		kept->samples.clock = NULL;
	}
	kept->last = &kept->first;
	pthread_mutex_lock(&k->lock);
	kept->next = k->ring;
	k->ring = kept;
	k->nr_rings++;
	pthread_mutex_unlock(&k->lock);
	r->kept = kept;
}

uint64_t ring_spill_nr_chunks(struct kept_ring *kept)
{
	uint64_t nr;

	pthread_mutex_lock(&kept->spill->lock);
	nr = kept->nr_chunks;
	pthread_mutex_unlock(&kept->spill->lock);
	return nr;
}

struct kept_chunk *ring_spill_take_chunk(struct kept_ring *kept, uint64_t *tail)
{
	struct ring_spill *k = kept->spill;
	struct kept_chunk *c;

	pthread_mutex_lock(&k->lock);
	c = kept->first;
	if (c) {
		kept->first = c->next;
		if (!kept->first)
			kept->last = &kept->first;
		kept->nr_chunks--;
		k->bytes -= c->bytes;
	} else {
		kept->in_use = true;
		*tail = kept->tail;
	}
	pthread_mutex_unlock(&k->lock);
	return c;
}

void ring_spill_release_ring(struct kept_ring *kept, uint64_t tail)
{
	pthread_mutex_lock(&kept->spill->lock);
	kept->in_use = false;
	kept->tail = tail;
	kept->drained_ns = clock_now_ns();
	pthread_mutex_unlock(&kept->spill->lock);
}

void ring_spill_remove_ring(struct kept_ring *kept)
{
	struct ring_spill *k = kept->spill;
	struct kept_ring **slot = &k->ring;

	pthread_mutex_lock(&k->lock);
	while (*slot != kept)
		slot = &(*slot)->next;
	*slot = kept->next;
	k->nr_rings--;
	for (struct kept_chunk *next, *c = kept->first; c; c = next) {
		next = c->next;
		k->bytes -= c->bytes;
		free(c);
	}
	pthread_mutex_unlock(&k->lock);
	free(kept);
}
