/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_open(struct ring *r, int fd, size_t bytes, size_t min_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (; bytes >= min_bytes && bytes >= page; bytes /= 2) {
		void *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (p != MAP_FAILED) {
			*r = (struct ring){ .fd = fd, .page = p, .data = (unsigned char *)p + page, .bytes = bytes };
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM && errno != EAGAIN)
			break;
	}
	return errno ? -errno : -EPERM;
}

void ring_close(struct ring *r)
{
	if (r->page) {
		munmap(r->page, (size_t)(r->data - (unsigned char *)r->page) + r->bytes);
		close(r->fd);
	}
	r->page = NULL;
	r->fd = -1;
}

int ring_drain(struct ring *r, void (*record)(void *context, const struct perf_event_header *r), void *context)
{
	/* A record that runs across the end of the ring is copied here: records are at most 64 KiB. */
	static _Alignas(8) unsigned char whole[1 << 16];
	uint64_t head, tail;
	int bad = 0;

	if (!r->page)
		return 0;
	head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	tail = r->page->data_tail;
	if (head - tail > r->bytes) {
		bad = 1;
		tail = head;
	}
	while (tail != head) {
		uint64_t at = tail & (r->bytes - 1), left = r->bytes - at;
		const struct perf_event_header *h = (const void *)(r->data + at); /* records are 8-byte aligned */
		size_t size = h->size;

		if (size < sizeof(*h) || size % 8 != 0 || size > head - tail) {
			bad = 1;
			tail = head;
			break;
		}
		if (size > left) {
			memcpy(whole, h, left);
			memcpy(whole + left, r->data, size - left);
			h = (const void *)whole;
		}
		record(context, h);
		tail += size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
	return bad;
}
