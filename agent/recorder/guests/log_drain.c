/* SPDX-License-Identifier: MIT */
#include "agent/recorder/guests/log_drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A writer that was killed is not told from one that has no processor.  On a busy machine that may be so for long, and what is passed
 * over is lost: only where others need the room is it passed over soon.
 */
#define STUCK_NS 10000000000ull
#define STUCK_FULL_NS 100000000ull /* in a log that is half full */
#define RECORD_MIN 16u

int log_drain_create(struct log_drain *l, uint32_t pid, uint64_t ring_bytes, int *fd)
{
	int error = 0;

	*l = (struct log_drain){ 0 };
	ring_bytes &= ~(uint64_t)4095;
	*fd = memfd_create("tailor-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	while (ftruncate(*fd, (off_t)(LOG_HEAD_BYTES + ring_bytes))) {
		error = errno;
		ring_bytes /= 2;
		if (ring_bytes < LOG_RING_BYTES_MIN)
			goto fail;
	}
	if (fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		error = errno;
		goto fail;
	}
	l->head = mmap(NULL, LOG_HEAD_BYTES + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (l->head == MAP_FAILED) {
		error = errno;
		l->head = NULL;
		goto fail;
	}
	l->ring = (const unsigned char *)l->head + LOG_HEAD_BYTES;
	l->ring_bytes = ring_bytes;
	l->head->magic = LOG_MAGIC;
	l->head->version = LOG_VERSION;
	l->head->ring_bytes = ring_bytes;
	l->head->pid = pid;
	/* position 0 is never used: a ring of zeros holds no frame of any position */
	l->consumed = l->head->reserved = l->head->consumed = ring_bytes;
	return 0;
fail:
	close(*fd);
	return -error;
}

void log_drain_close(struct log_drain *l)
{
	if (!l->head)
		return;
	__atomic_store_n(&l->head->recorder_gone, 1, __ATOMIC_RELEASE);
	munmap(l->head, LOG_HEAD_BYTES + l->ring_bytes);
	free(l->copy);
	*l = (struct log_drain){ 0 };
}

static void copy_out(const struct log_drain *l, uint64_t position, void *to, size_t bytes)
{
	uint64_t at = position % l->ring_bytes, left = l->ring_bytes - at;

	if (bytes > left) {
		memcpy(to, l->ring + at, left);
		memcpy((char *)to + left, l->ring, bytes - left);
	} else {
		memcpy(to, l->ring + at, bytes);
	}
}

/* Is there a published frame at position, all of it before end? */
static bool frame_at(const struct log_drain *l, uint64_t position, uint64_t end, struct log_frame *f)
{
	uint64_t at = position % l->ring_bytes;

	if (end - position < sizeof(*f) + RECORD_MIN)
		return false;
	/* positions are multiples of 8, so this word never straddles */
	if (__atomic_load_n((const uint64_t *)(const void *)(l->ring + at), __ATOMIC_ACQUIRE) != position)
		return false;
	copy_out(l, position, f, sizeof(*f));
	return f->record_bytes >= RECORD_MIN && f->record_bytes <= end - position - sizeof(*f);
}

void log_drain(struct log_drain *l, bool finished, uint64_t now_ns,
	       void (*record)(void *context, uint32_t tid, const void *bytes, size_t size), void *context)
{
	uint64_t end;

	if (!l->head)
		return;
	end = __atomic_load_n(&l->head->reserved, __ATOMIC_ACQUIRE) & ~(uint64_t)7;
	if (end < l->consumed || end - l->consumed > l->ring_bytes)
		return; /* the guest wrote nonsense: nothing of it can be trusted */
	while (l->consumed != end) {
		struct log_frame f;
		uint64_t next;

		if (frame_at(l, l->consumed, end, &f)) {
			l->stuck_since_ns = 0;
			if (f.record_bytes > l->copy_capacity) {
				unsigned char *bigger = realloc(l->copy, f.record_bytes);

				if (!bigger)
					return;
				l->copy = bigger;
				l->copy_capacity = f.record_bytes;
			}
			copy_out(l, l->consumed + sizeof(f), l->copy, f.record_bytes);
			next = l->consumed + ((sizeof(f) + f.record_bytes + 7) & ~(uint64_t)7);
			l->consumed = next < end ? next : end;
			__atomic_store_n(&l->head->consumed, l->consumed, __ATOMIC_RELEASE);
			record(context, f.tid, l->copy, f.record_bytes);
			continue;
		}
		if (!finished) {
			if (!l->stuck_since_ns)
				l->stuck_since_ns = now_ns;
			if (now_ns - l->stuck_since_ns < (end - l->consumed > l->ring_bytes / 2 ? STUCK_FULL_NS : STUCK_NS))
				return;
		}
		for (next = l->consumed + 8; next != end && !frame_at(l, next, end, &f); next += 8)
			;
		l->gap_bytes += next - l->consumed;
		l->consumed = next;
		l->stuck_since_ns = 0;
		__atomic_store_n(&l->head->consumed, l->consumed, __ATOMIC_RELEASE);
	}
	l->stuck_since_ns = 0;
}
