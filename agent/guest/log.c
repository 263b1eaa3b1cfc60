/* SPDX-License-Identifier: MIT */
/*
 * Appends to the registration log.  Its layout and the protocol are described in jitreg/protocol/log.h.  There is no lock, so a thread that
 * is killed, or a fork between two stores, leaves at most one gap.
 */
#include "agent/guest/guest.h"

#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define WAIT_NS 1000000
#define NAP_NS 50000
#define PARTS_MAX 16

#define LOGS 4 /* slots; several, because a thread may still append to an old log when another one is attached */

struct log {
	struct log_head *head; /* NULL: the slot is free */
	unsigned char *ring;
	uint64_t bytes;
	uint32_t users; /* calls that read or write it now; counted only in an injected agent, and by log_attach() */
};

static struct {
	struct log logs[LOGS];
	unsigned nr_logs;  /* logs attached while no slot was free */
	struct log *log; /* the current log, or NULL */
	uint64_t missed; /* records lost while there was no log; the next log's count gets them */
	struct log *last; /* the current or previous log, whose heartbeats are read */
	int is_giving_back; /* set while a thread unmaps old logs, so that only one does */
	uint64_t stuck; /* `consumed` of the recorder when a wait for it timed out; at this position no thread waits again */
} the_log;

static __thread uint32_t tid __attribute__((tls_model("initial-exec")));
static __thread uint32_t entered __attribute__((tls_model("initial-exec"))); /* number of logs that this thread reads or writes now */

/* Returns the log in *which, which stays mapped until leave_log(), or NULL.  Uses are counted in an injected agent only, because other
 * agents unmap a log only in a process of one thread (log_unmap()). */
static struct log *enter_log(struct log **which)
{
	struct log *l;

	entered++;
	while ((l = __atomic_load_n(which, __ATOMIC_SEQ_CST)) && guest_was_loaded_late()) {
		__atomic_add_fetch(&l->users, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(which, __ATOMIC_SEQ_CST) == l)
			break;
		__atomic_sub_fetch(&l->users, 1, __ATOMIC_RELEASE);
	}
	if (!l)
		entered--;
	return l;
}

static void leave_log(struct log *l)
{
	if (guest_was_loaded_late())
		__atomic_sub_fetch(&l->users, 1, __ATOMIC_RELEASE);
	entered--;
}

static struct log *get_log_slot(void)
{
	for (int i = 0; i < LOGS; i++)
		if (!the_log.logs[i].head && !__atomic_load_n(&the_log.logs[i].users, __ATOMIC_SEQ_CST))
			return &the_log.logs[i];
	return &the_log.logs[the_log.nr_logs++ % LOGS];
}

void log_attach(struct log_head *head, uint64_t bytes)
{
	struct log *l = get_log_slot();

	/* The slot counts as used first, because give_back_old_logs() unmaps a log that has a head and is neither `log` nor `last`.  The
	 * count is incremented and not set, because a thread that took the slot's previous log for the current one may be about to
	 * decrement it. */
	__atomic_add_fetch(&l->users, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&l->head, head, __ATOMIC_SEQ_CST);
	l->ring = (unsigned char *)head + LOG_HEAD_BYTES;
	l->bytes = bytes;
	the_log.stuck = ~0ull;
	__atomic_fetch_add(&head->dropped_records, __atomic_exchange_n(&the_log.missed, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&the_log.log, l, __ATOMIC_SEQ_CST); /* set before `last`, because a log that is neither may be unmapped */
	__atomic_store_n(&the_log.last, l, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&l->users, 1, __ATOMIC_RELEASE);
}

/* Returns the thread's number, which is cached so that a registration costs no system call. */
static uint32_t get_cached_tid(void)
{
	if (!tid)
		tid = sys_gettid();
	return tid;
}

void log_detach(void)
{
	tid = 0; /* the cached number is that of the parent's thread */
	/* the log stays mapped, because another thread may be in the middle of an append */
	__atomic_store_n(&the_log.log, NULL, __ATOMIC_RELEASE);
}

/* Unmaps each log that is neither the current nor the last one, and that no call reads or writes. The recorder's own mapping of it stays.
 * Does nothing while another thread does so. */
static void give_back_old_logs(void)
{
	if (__atomic_exchange_n(&the_log.is_giving_back, 1, __ATOMIC_SEQ_CST))
		return;
	for (int i = 0; i < LOGS; i++) {
		struct log *l = &the_log.logs[i];
		struct log_head *head = __atomic_load_n(&l->head, __ATOMIC_SEQ_CST);
		uint64_t bytes = __atomic_load_n(&l->bytes, __ATOMIC_RELAXED);

		if (!head || l == __atomic_load_n(&the_log.log, __ATOMIC_SEQ_CST) ||
		    l == __atomic_load_n(&the_log.last, __ATOMIC_SEQ_CST) || __atomic_load_n(&l->users, __ATOMIC_SEQ_CST))
			continue;
		/* from here on the slot is free for another log */
		if (__atomic_compare_exchange_n(&l->head, &head, NULL, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			sys_call(SYS_munmap, (long)head, (long)(LOG_HEAD_BYTES + bytes), 0, 0, 0, 0);
	}
	__atomic_store_n(&the_log.is_giving_back, 0, __ATOMIC_SEQ_CST);
}

void log_abandon(void)
{
	__atomic_store_n(&the_log.log, NULL, __ATOMIC_SEQ_CST);
	__atomic_store_n(&the_log.last, NULL, __ATOMIC_SEQ_CST); /* heartbeats are read from the next log */
	give_back_old_logs();
}

bool log_unmap(void)
{
	if (entered)
		return false;
	__atomic_store_n(&the_log.log, NULL, __ATOMIC_SEQ_CST);
	__atomic_store_n(&the_log.last, NULL, __ATOMIC_SEQ_CST);
	give_back_old_logs();
	return true;
}

/* Detaches a log whose recorder is gone.  Returns false if another thread has done so.  The caller has entered the log, so its slot is not
 * reused yet. */
static bool close_log(struct log *l)
{
	struct log *before = l;

	if (!__atomic_compare_exchange_n(&the_log.log, &before, NULL, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	before = l;
	__atomic_compare_exchange_n(&the_log.last, &before, NULL, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return true;
}

void log_forget_missed(void)
{
	__atomic_store_n(&the_log.missed, 0, __ATOMIC_RELAXED);
}

/* In a child without its own log this reads the parent's, which stays mapped and has the same recorder. */
uint64_t log_heartbeats(void)
{
	struct log *l = enter_log(&the_log.last);
	uint64_t beats = l ? __atomic_load_n(&l->head->heartbeats, __ATOMIC_RELAXED) : 0;

	if (l)
		leave_log(l);
	return beats;
}

bool log_is_ended(void)
{
	struct log *l = enter_log(&the_log.last);
	bool is_ended = !l || __atomic_load_n(&l->head->recorder_gone, __ATOMIC_ACQUIRE);

	if (l)
		leave_log(l);
	return is_ended;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void copy_into_log(const struct log *l, uint64_t position, const void *from, size_t bytes)
{
	uint64_t at = position % l->bytes, left = l->bytes - at;

	if (bytes > left) {
		memcpy(l->ring + at, from, left);
		memcpy(l->ring, (const char *)from + left, bytes - left);
	} else if (bytes) {
		memcpy(l->ring + at, from, bytes);
	}
}

/* Reserves bytes.  Returns 0, -ENOBUFS if the log is full, or -ENOSYS if the recorder has closed it.  A fetch-and-add could not be taken
 * back if the log is full, so a compare-and-swap is used. */
static int reserve_log_space(const struct log *l, uint64_t bytes, uint64_t *position)
{
	struct log_head *head = l->head;
	uint64_t at = __atomic_load_n(&head->reserved, __ATOMIC_RELAXED), before;

	for (;;) {
		if (at + bytes - __atomic_load_n(&head->consumed, __ATOMIC_ACQUIRE) <= l->bytes) {
			if (__atomic_compare_exchange_n(&head->reserved, &at, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				break;
			continue;
		}
		before = at;
		at = __atomic_load_n(&head->reserved, __ATOMIC_RELAXED);
		if (at == before) /* if it differs, the recorder has reset the log or another thread has reserved space */
			return at >= LOG_CLOSED ? -ENOSYS : -ENOBUFS;
	}
	*position = at;
	return 0;
}

/* Reserves bytes as reserve_log_space() does, and waits up to WAIT_NS for the recorder if the log is full.  A recorder that was killed
 * holds up its host once, not at each record. */
static int reserve_log_space_waiting(const struct log *l, uint64_t bytes, uint64_t *position)
{
	struct log_head *head = l->head;
	uint64_t consumed = __atomic_load_n(&head->consumed, __ATOMIC_RELAXED);
	int ret = reserve_log_space(l, bytes, position);
	int64_t until;

	if (ret != -ENOBUFS || __atomic_load_n(&the_log.stuck, __ATOMIC_RELAXED) == consumed)
		return ret;
	until = now_ns() + WAIT_NS;
	do {
		sys_sleep_ns(NAP_NS);
		ret = reserve_log_space(l, bytes, position);
	} while (ret == -ENOBUFS && now_ns() < until);
	if (ret == -ENOBUFS && __atomic_load_n(&head->consumed, __ATOMIC_RELAXED) == consumed)
		__atomic_store_n(&the_log.stuck, consumed, __ATOMIC_RELAXED);
	return ret;
}

static int count_dropped_record(struct log_head *head, size_t bytes, int error)
{
	__atomic_fetch_add(&head->dropped_records, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->dropped_bytes, bytes, __ATOMIC_RELAXED);
	return -error;
}

static int count_refused_record(struct log_head *head)
{
	__atomic_fetch_add(&head->refused_records, 1, __ATOMIC_RELAXED);
	return -EINVAL;
}

static uint64_t bytes_of_log_frame(size_t record_bytes)
{
	return (sizeof(struct log_frame) + record_bytes + LOG_FRAME_ALIGN - 1) & ~(uint64_t)(LOG_FRAME_ALIGN - 1);
}

static uint64_t *first_word_of_frame(const struct log *l, uint64_t position)
{
	return (uint64_t *)(void *)(l->ring + position % l->bytes);
}

/* Has the recorder given up on the reservation at this position?  Then other threads may write there. */
static bool is_position_passed(const struct log *l, uint64_t position)
{
	return __atomic_load_n(&l->head->consumed, __ATOMIC_ACQUIRE) > position;
}

/* Writes the record, with prefix in place of the first bytes of parts[0].  Returns 0, or -ENOBUFS if the recorder has given up on the
 * reservation. */
static int publish_record(const struct log *l, uint64_t position, struct jitreg_prefix *prefix, const struct iovec *parts, int nr_parts,
			  size_t bytes)
{
	struct log_frame frame = { .record_bytes = (uint32_t)bytes, .tid = get_cached_tid() };
	uint64_t at = position + sizeof(frame), *word = first_word_of_frame(l, position), before = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	if (before == LOG_PASSED(position) || is_position_passed(l, position))
		return -ENOBUFS;
	prefix->total_size = (uint32_t)bytes;
	copy_into_log(l, position + offsetof(struct log_frame, record_bytes), &frame.record_bytes, 8);
	copy_into_log(l, at, prefix, sizeof(*prefix));
	copy_into_log(l, at + sizeof(*prefix), (const char *)parts[0].iov_base + sizeof(*prefix), parts[0].iov_len - sizeof(*prefix));
	at += parts[0].iov_len;
	for (int i = 1; i < nr_parts; i++) {
		copy_into_log(l, at, parts[i].iov_base, parts[i].iov_len);
		at += parts[i].iov_len;
	}
	if (is_position_passed(l, position) ||
	    !__atomic_compare_exchange_n(word, &before, position, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return -ENOBUFS;
	return 0;
}

static int append_to_log(const struct log *l, const struct iovec *parts, int nr_parts)
{
	struct log_head *head = l->head;
	struct jitreg_prefix prefix;
	uint64_t position;
	size_t bytes = 0;
	int ret;

	if (nr_parts < 1 || nr_parts > PARTS_MAX || !parts[0].iov_base || parts[0].iov_len < sizeof(prefix))
		return count_refused_record(head);
	for (int i = 0; i < nr_parts; i++) {
		if (parts[i].iov_len > UINT32_MAX - bytes || (parts[i].iov_len && !parts[i].iov_base))
			return count_refused_record(head);
		bytes += parts[i].iov_len;
	}
	if (bytes > l->bytes - sizeof(struct log_frame) - LOG_FRAME_ALIGN)
		return count_dropped_record(head, bytes, ENOBUFS);
	ret = reserve_log_space_waiting(l, bytes_of_log_frame(bytes), &position);
	if (ret)
		return ret == -ENOSYS ? ret : count_dropped_record(head, bytes, ENOBUFS);

	memcpy(&prefix, parts[0].iov_base, sizeof(prefix));
	if (!prefix.timestamp)
		prefix.timestamp = (uint64_t)now_ns();
	return publish_record(l, position, &prefix, parts, nr_parts, bytes) ? count_dropped_record(head, bytes, ENOBUFS) : 0;
}

int log_append(const struct iovec *parts, int nr_parts)
{
	struct log *l = enter_log(&the_log.log);
	bool is_gone, is_closed = false;
	int ret;

	if (!l) {
		__atomic_fetch_add(&the_log.missed, 1, __ATOMIC_RELAXED);
		return -ENOSYS;
	}
	is_gone = __atomic_load_n(&l->head->recorder_gone, __ATOMIC_ACQUIRE);
	ret = is_gone ? -ENOSYS : append_to_log(l, parts, nr_parts);
	if (is_gone && guest_was_loaded_late())
		is_closed = close_log(l);
	leave_log(l);
	if (is_closed)
		give_back_old_logs();
	if (is_closed || (is_gone && !guest_was_loaded_late()))
		guest_switch_off(0);
	return ret;
}

static int append_sample_to_log(const struct log *l, const struct log_sample *s, const void *stack)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)s, sizeof(*s) }, { (void *)(uintptr_t)stack, s->stack_bytes } };
	size_t bytes = sizeof(*s) + s->stack_bytes;
	struct jitreg_prefix prefix;
	uint64_t position;

	if (__atomic_load_n(&l->head->recorder_gone, __ATOMIC_ACQUIRE))
		return -ENOSYS;
	memcpy(&prefix, s, sizeof(prefix));
	if (reserve_log_space(l, bytes_of_log_frame(bytes), &position) || publish_record(l, position, &prefix, parts, 2, bytes)) {
		__atomic_fetch_add(&l->head->dropped_samples, 1, __ATOMIC_RELAXED);
		return -ENOBUFS;
	}
	return 0;
}

/* Does not wait for the recorder and does not disable the agent, because a signal handler calls it. */
int log_append_sample(const struct log_sample *s, const void *stack)
{
	struct log *l = enter_log(&the_log.log);
	int ret = l ? append_sample_to_log(l, s, stack) : -ENOSYS;

	if (l)
		leave_log(l);
	return ret;
}

void log_count_full(void)
{
	struct log *l = enter_log(&the_log.log);

	if (!l)
		return;
	__atomic_fetch_add(&l->head->guest_full, 1, __ATOMIC_RELAXED);
	leave_log(l);
}
