/* SPDX-License-Identifier: MIT */
#include "agent/recorder/guests/log_drain.h"

#include "agent/recorder/process/time_namespace.h"
#include "jitreg/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * A writer that was killed cannot be distinguished from one that has no processor.  The space that it reserved is skipped soon, so that
 * other records are not delayed, and given up late, because a busy machine may give a writer no processor for seconds.
 */
#define PAST_NS 100000000ull
#define GIVEN_UP_NS 10000000000ull
#define RECORD_MIN 16u
#define ANEW_BYTES (512u << 10)
#define LATE_MAX 10000u /* attempts to give up frames at the end, limited because a guest can publish a record during each of them */

/* Sets a file's size as ftruncate(2) does.  The recorder may have inherited a limit of file sizes (ulimit -f), which is meant for the files
 * of the host and for the trace.  The log is memory, so the limit is lifted for it where that is permitted. */
static int set_file_size(int fd, uint64_t bytes)
{
	struct rlimit before, none = { RLIM_INFINITY, RLIM_INFINITY };
	int ret = ftruncate(fd, (off_t)bytes), error = errno;

	if (ret == 0 || error != EFBIG || getrlimit(RLIMIT_FSIZE, &before) || setrlimit(RLIMIT_FSIZE, &none)) {
		errno = error;
		return ret;
	}
	ret = ftruncate(fd, (off_t)bytes);
	error = errno;
	setrlimit(RLIMIT_FSIZE, &before);
	errno = error;
	return ret;
}

int log_drain_create(struct log_drain *l, uint32_t pid, uint64_t ring_bytes, int *fd)
{
	int error = 0;

	*l = (struct log_drain){ 0 };
	ring_bytes &= ~(uint64_t)4095;
	*fd = memfd_create("tailor-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	while (set_file_size(*fd, LOG_HEAD_BYTES + ring_bytes)) {
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
	/* position 0 is never used, so a ring of zeros has no frame of any position */
	l->consumed = l->read = l->head->reserved = l->head->consumed = ring_bytes;
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

void log_drain_refuse_writers(struct log_drain *l)
{
	if (!l->head || l->end)
		return;
	__atomic_store_n(&l->head->recorder_gone, 1, __ATOMIC_RELEASE);
	l->end = __atomic_exchange_n(&l->head->reserved, LOG_CLOSED, __ATOMIC_ACQ_REL);
}

/* The reader is the function that gets the records, with its context. */
struct log_reader {
	void (*record)(void *context, uint32_t tid, const void *bytes, size_t size);
	void *context;
};

static void copy_log_bytes(const struct log_drain *l, uint64_t position, void *to, size_t bytes)
{
	uint64_t at = position % l->ring_bytes, left = l->ring_bytes - at;

	if (bytes > left) {
		memcpy(to, l->ring + at, left);
		memcpy((char *)to + left, l->ring, bytes - left);
	} else {
		memcpy(to, l->ring + at, bytes);
	}
}

/* Is there a published frame at position that ends at `end` or before?  *f is its head. */
static bool read_published_frame(const struct log_drain *l, uint64_t position, uint64_t end, struct log_frame *f)
{
	uint64_t at = position % l->ring_bytes;

	if (end - position < sizeof(*f) + RECORD_MIN)
		return false;
	/* positions are multiples of 8, so this word never wraps around */
	if (__atomic_load_n((const uint64_t *)(const void *)(l->ring + at), __ATOMIC_ACQUIRE) != position)
		return false;
	copy_log_bytes(l, position, f, sizeof(*f));
	return f->record_bytes >= RECORD_MIN && f->record_bytes <= end - position - sizeof(*f);
}

/* All records have their time where a log_sample has it, and the caller has checked that the record is that long. */
static void convert_time_of_record(unsigned char *record, int64_t ahead_ns)
{
	unsigned char *at = record + offsetof(struct log_sample, timestamp);
	uint64_t time_ns;

	memcpy(&time_ns, at, sizeof(time_ns));
	time_ns = time_namespace_convert(time_ns, ahead_ns);
	memcpy(at, &time_ns, sizeof(time_ns));
}
_Static_assert(offsetof(struct log_sample, timestamp) + sizeof(uint64_t) <= RECORD_MIN, "each record has a time");

/* Passes on the record of a published frame.  Returns the position behind it, which is at most end, or 0 if there is no memory. */
static uint64_t hand_over_record(struct log_drain *l, uint64_t position, uint64_t end, const struct log_frame *f,
				 const struct log_reader *to)
{
	uint64_t next = position + ((sizeof(*f) + f->record_bytes + 7) & ~(uint64_t)7);

	if (f->record_bytes > l->copy_capacity) {
		unsigned char *bigger = realloc(l->copy, f->record_bytes);

		if (!bigger)
			return 0;
		l->copy = bigger;
		l->copy_capacity = f->record_bytes;
	}
	copy_log_bytes(l, position + sizeof(*f), l->copy, f->record_bytes);
	if (l->ahead_ns)
		convert_time_of_record(l->copy, l->ahead_ns);
	to->record(to->context, f->tid, l->copy, f->record_bytes);
	l->nr_bytes += f->record_bytes;
	return next < end ? next : end;
}

/* Finds the first published frame from position on.  Returns its position, or end. */
static uint64_t find_published_frame(const struct log_drain *l, uint64_t position, uint64_t end, struct log_frame *f)
{
	while (position != end && !read_published_frame(l, position, end, f))
		position += 8;
	return position;
}

static void free_consumed_log(struct log_drain *l)
{
	uint64_t until = l->nr_holes ? l->hole[0].start : l->read;

	if (until == l->consumed)
		return;
	l->consumed = until;
	__atomic_store_n(&l->head->consumed, until, __ATOMIC_RELEASE);
}

static bool add_log_hole(struct log_drain *l, int at, const struct log_hole *h)
{
	if (l->nr_holes == LOG_HOLES_MAX)
		return false;
	memmove(&l->hole[at + 1], &l->hole[at], (size_t)(l->nr_holes++ - at) * sizeof(*h));
	l->hole[at] = *h;
	return true;
}

static void remove_log_hole(struct log_drain *l, int at)
{
	memmove(&l->hole[at], &l->hole[at + 1], (size_t)(--l->nr_holes - at) * sizeof(l->hole[0]));
}

/*
 * Reads a record of a slow writer that was published in a hole meanwhile. This may split the hole, and its second part is then stored
 * behind the first.
 */
static void read_published_in_hole(struct log_drain *l, int at, const struct log_reader *to)
{
	struct log_hole *h = &l->hole[at];
	struct log_frame f;
	uint64_t position = find_published_frame(l, h->start, h->end, &f), next;

	if (position == h->end)
		return;
	if (position != h->start && l->nr_holes == LOG_HOLES_MAX)
		return; /* no room to store both parts, so the record is read later */
	next = hand_over_record(l, position, h->end, &f, to);
	if (!next)
		return;
	if (position == h->start) {
		h->start = next;
		return;
	}
	if (next != h->end)
		add_log_hole(l, at + 1, &(struct log_hole){ next, h->end, h->since_ns });
	h->end = position;
}

/* Makes sure that no writer can publish in the hole any more.  Returns false if one just has, and its record is to be read. */
static bool invalidate_hole(struct log_drain *l, const struct log_hole *h)
{
	for (uint64_t position = h->start; position != h->end; position += 8) {
		uint64_t *word = (uint64_t *)(void *)((unsigned char *)l->head + LOG_HEAD_BYTES + position % l->ring_bytes);
		struct log_frame f;

		if (__atomic_exchange_n(word, LOG_PASSED(position), __ATOMIC_ACQ_REL) != position)
			continue;
		__atomic_store_n(word, position, __ATOMIC_RELEASE);
		if (read_published_frame(l, position, h->end, &f))
			return false;
	}
	return true;
}

static void read_and_expire_holes(struct log_drain *l, bool finished, uint64_t now_ns, const struct log_reader *to)
{
	for (int i = 0; i < l->nr_holes;) {
		struct log_hole *h = &l->hole[i], before;

		do {
			before = *h;
			read_published_in_hole(l, i, to);
		} while (h->start != h->end && (h->start != before.start || h->end != before.end));
		if (h->start != h->end && !finished && (now_ns - h->since_ns < GIVEN_UP_NS || !invalidate_hole(l, h))) {
			i++;
			continue;
		}
		if (h->start != h->end && finished && l->nr_late++ < LATE_MAX && !invalidate_hole(l, h))
			continue;
		l->gap_bytes += h->end - h->start;
		remove_log_hole(l, i);
	}
}

/*
 * An empty log of which ANEW_BYTES were used is reset to the beginning of the ring, so that a host that is drained in time uses the same
 * few pages again.  The first access to a page costs the host 2 us, which is more than the records in the page.  The log is not reset after
 * a writer was given up, because that one may still write.
 */
static void rewind_empty_log(struct log_drain *l)
{
	uint64_t read = l->read, start = (read / l->ring_bytes + 1) * l->ring_bytes;

	if (l->end || l->nr_holes || l->gap_bytes || l->consumed != read || read % l->ring_bytes < ANEW_BYTES)
		return;
	if (!__atomic_compare_exchange_n(&l->head->reserved, &read, start, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return; /* the log is not empty any more */
	l->unused_bytes += start - l->read;
	l->read = l->consumed = start;
	__atomic_store_n(&l->head->consumed, start, __ATOMIC_RELEASE);
}

/* Skips a frame that is not published.  Returns false if it is still waited for. */
static bool skip_unpublished_frame(struct log_drain *l, uint64_t end, bool finished, uint64_t now_ns)
{
	struct log_hole hole;
	struct log_frame f;
	uint64_t next;

	if (!l->stuck_since_ns)
		l->stuck_since_ns = now_ns;
	if (!finished && (now_ns - l->stuck_since_ns < PAST_NS || l->nr_holes == LOG_HOLES_MAX))
		return false;
	next = find_published_frame(l, l->read + 8, end, &f);
	hole = (struct log_hole){ l->read, next, l->stuck_since_ns };
	if (!finished)
		add_log_hole(l, l->nr_holes, &hole);
	else if (l->nr_late++ < LATE_MAX && !invalidate_hole(l, &hole))
		return true; /* a writer has just published, so the caller reads its record */
	else
		l->gap_bytes += next - l->read;
	l->read = next;
	l->stuck_since_ns = 0;
	return true;
}

#define LOOK_RECORDS 32u /* number of records between two checks of the clock */

static bool is_drain_time_up(const struct log_drain *l, unsigned nr_read)
{
	return l->until_ns && nr_read % LOOK_RECORDS == 0 && clock_now_ns() >= l->until_ns;
}

void log_drain(struct log_drain *l, bool finished, uint64_t now_ns,
	       void (*record)(void *context, uint32_t tid, const void *bytes, size_t size), void *context)
{
	const struct log_reader to = { record, context };
	uint64_t end, next;
	struct log_frame f;
	unsigned nr_read = 0;

	l->has_more = false;
	if (!l->head)
		return;
	end = (l->end ? l->end : __atomic_load_n(&l->head->reserved, __ATOMIC_ACQUIRE)) & ~(uint64_t)7;
	if (end < l->read || end - l->consumed > l->ring_bytes)
		return; /* the guest wrote invalid positions, so nothing in the log can be trusted */
	read_and_expire_holes(l, finished, now_ns, &to);
	while (l->read != end) {
		if (nr_read++ && is_drain_time_up(l, nr_read)) {
			l->has_more = true;
			finished = false;
			break;
		}
		if (read_published_frame(l, l->read, end, &f)) {
			next = hand_over_record(l, l->read, end, &f, &to);
			if (!next)
				break;
			l->stuck_since_ns = 0;
			l->read = next;
		} else if (!skip_unpublished_frame(l, end, finished, now_ns)) {
			break;
		}
		free_consumed_log(l);
	}
	if (l->read == end)
		l->stuck_since_ns = 0;
	if (finished)
		read_and_expire_holes(l, true, now_ns, &to);
	free_consumed_log(l);
	if (!finished)
		rewind_empty_log(l);
}
