/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/ring.h"

#include "agent/recorder/perf/ring_spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAY_BYTES (256u << 10)

int ring_open(struct ring *r, int fd, size_t bytes, size_t min_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (; bytes >= min_bytes && bytes >= page; bytes /= 2) {
		void *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (p != MAP_FAILED) {
			*r = (struct ring){ .fd = fd, .on_cpu_fd = -1, .page = p, .data = (unsigned char *)p + page, .bytes = bytes };
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM && errno != EAGAIN)
			break;
	}
	return errno ? -errno : -EPERM;
}

void ring_unmap(struct ring *r)
{
	if (r->kept)
		ring_spill_remove_ring(r->kept);
	r->kept = NULL;
	munmap(r->page, (size_t)(r->data - (const unsigned char *)r->page) + r->bytes);
	r->page = NULL;
}

void ring_set_enabled(struct ring *r, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	ioctl(r->fd, request, 0);
	for (int i = 0; i < r->nr_more; i++)
		ioctl(r->more[i], request, 0);
	if (r->on_cpu_fd >= 0)
		ioctl(r->on_cpu_fd, request, 0);
}

void ring_close(struct ring *r)
{
	if (r->page) {
		ring_unmap(r);
		close(r->fd);
		for (int i = 0; i < r->nr_more; i++)
			close(r->more[i]);
		if (r->on_cpu_fd >= 0)
			close(r->on_cpu_fd);
	}
	r->nr_more = 0;
	r->on_cpu_fd = -1;
	r->page = NULL;
	r->fd = -1;
}

void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t bytes)
{
	*r = (struct ring){ .fd = -1, .on_cpu_fd = -1, .page = page, .data = data, .bytes = bytes };
}

static void copy_ring_bytes(const struct ring *r, uint64_t position, void *to, size_t bytes)
{
	uint64_t at = position & (r->bytes - 1), left = r->bytes - at;

	if (bytes > left) {
		memcpy(to, r->data + at, left);
		memcpy((char *)to + left, r->data, bytes - left);
	} else {
		memcpy(to, r->data + at, bytes);
	}
}

/*
 * Returns the record at the tail in one piece, valid until the next call.  h: a copy of its header, whose size was checked.  A record of a
 * ring that only the recorder has mapped stays where it is, unless it wraps around, since the kernel does not overwrite it before data_tail
 * is advanced.  A record of a foreign ring is copied, with that header, since the host could change it after it was checked.
 */
static const void *get_contiguous_record(const struct ring *r, const struct perf_event_header *h)
{
	static _Alignas(8) unsigned char copy[1 << 16]; /* room for any record, whose size has 16 bits */
	uint64_t at = r->tail & (r->bytes - 1);

	if (!r->foreign && h->size <= r->bytes - at)
		return r->data + at;
	copy_ring_bytes(r, r->tail, copy, h->size);
	memcpy(copy, h, sizeof(*h));
	return copy;
}

static bool is_bad_record_size(const struct perf_event_header *h, uint64_t left)
{
	return h->size < sizeof(*h) || h->size % 8 != 0 || h->size > left;
}

static int drain_mapped_ring(struct ring *r, void (*record)(void *context, const struct perf_event_header *h), void *context)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), said;
	int bad = 0;

	if (head - r->tail > r->bytes || head % 8 != 0) {
		bad = 1;
		r->tail = head & ~(uint64_t)7;
	}
	said = r->tail;
	while (!bad && r->tail != head) {
		struct perf_event_header h;

		copy_ring_bytes(r, r->tail, &h, sizeof(h)); /* records and headers are 8 bytes aligned, so a header never wraps around */
		if (is_bad_record_size(&h, head - r->tail)) {
			bad = 1;
			r->tail = head;
			break;
		}
		record(context, get_contiguous_record(r, &h));
		r->tail += h.size;
		if (r->tail - said >= SAY_BYTES) { /* the kernel gets the room back while the drain goes on */
			said = r->tail;
			__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
		}
	}
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	return bad;
}

static int drain_kept_chunk(struct kept_chunk *c, void (*record)(void *context, const struct perf_event_header *h), void *context)
{
	int bad = 0;

	for (uint64_t at = 0; at < c->bytes && !bad;) {
		const struct perf_event_header *h = (const void *)(c->data + at);

		bad = is_bad_record_size(h, c->bytes - at);
		if (!bad) {
			record(context, h);
			at += h->size;
		}
	}
	free(c);
	return bad;
}

/*
 * Drains the chunks that the spill thread (ring_spill.h) has taken out, and then the ring.  That thread goes on adding chunks while these
 * are drained, so the ring does not fill up.  At most three more chunks than there were at the beginning are drained.  If nothing is
 * written into the ring any more, the thread adds fewer, so all is drained.  Otherwise the rest is left to the next call.
 */
int ring_drain(struct ring *r, void (*record)(void *context, const struct perf_event_header *h), void *context)
{
	struct kept_chunk *c;
	int bad = 0;

	if (!r->page)
		return 0;
	if (!r->kept)
		return drain_mapped_ring(r, record, context);
	for (uint64_t left = ring_spill_nr_chunks(r->kept) + 2; (c = ring_spill_take_chunk(r->kept, &r->tail)); left--) {
		bad |= drain_kept_chunk(c, record, context);
		if (left == 0)
			return bad;
	}
	bad |= drain_mapped_ring(r, record, context);
	ring_spill_release_ring(r->kept, r->tail);
	return bad;
}
