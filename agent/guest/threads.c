/* SPDX-License-Identifier: MIT */
/*
 * The wrappers of pthread_create and thrd_create let each thread open its own counters, if the recorder asks for that.  A new thread opens
 * them and passes them to the recorder (or starts its timer) before the host's function runs.  If the recorder does not ask for it, the
 * wrappers only call the real functions.
 *
 * The function and its argument travel in a slot of a fixed pool, which the new thread empties at once.  Without a free slot the thread is
 * not counted, and log_count_full() reports it.  Threads made by clone(2) alone are not seen.
 */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <threads.h>

#define POOL 4096 /* maximum number of threads that were created and have not run their first instruction */

struct start {
	int taken;
	union {
		void *(*function)(void *); /* started by pthread_create */
		int (*function_c11)(void *);
	};
	void *argument;
};

static struct start pool[POOL];
static unsigned next_slot;

static struct {
	bool on;
	enum wire_sampler sampler;
	int nr_events;
	char socket[64];
	struct perf_event_attr attr[WIRE_EVENTS_MAX];
} counting;

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int (*create_c11_function)(thrd_t *, thrd_start_t, void *);

/*
 * Returns the event on a descriptor above 2, because 0 to 2 belong to the host, even when it has closed them. A negative fd is a -errno,
 * and is returned. If the duplication fails, its -errno is returned, and fd is closed.
 */
static int move_descriptor_above_2(int fd)
{
	int higher;

	if (fd < 0 || fd > 2)
		return fd;
	higher = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
	sys_close(fd);
	return higher;
}

void threads_count_me(void)
{
	int fds[WIRE_EVENTS_MAX] = { 0 }, nr = 0, error = 0;

	if (!counting.on)
		return;
	if (counting.sampler == WIRE_SAMPLER_TIMER) {
		error = -overflow_start_thread_timer();
		if (error)
			channel_send_counters(counting.socket, NULL, 0, error);
		return;
	}
	for (int i = 0; i < counting.nr_events; i++) {
		int fd = move_descriptor_above_2(sys_perf_event_open(&counting.attr[i], 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
		int ret = fd >= 0 && counting.sampler == WIRE_SAMPLER_SIGNAL ? overflow_send_signal_to_me(fd) : 0;

		if (fd >= 0 && ret == 0) {
			fds[nr++] = fd;
			continue;
		}
		error = fd < 0 ? -fd : -ret;
		if (fd >= 0)
			sys_close(fd);
	}
	/* The recorder gets all descriptors or none, because it knows the events by their order. */
	channel_send_counters(counting.socket, fds, error ? 0 : nr, error);
	for (int i = 0; i < nr; i++)
		sys_close(fds[i]);
}

void threads_start(const struct wire_answer *a, const char *socket)
{
	size_t bytes = a->attr_bytes < sizeof(counting.attr[0]) ? a->attr_bytes : sizeof(counting.attr[0]);
	int ret = a->sampler == WIRE_SAMPLER_RING ? 0 : overflow_start(a);

	if (ret) { /* the recorder prints one warning, and there are no samples */
		channel_send_counters(socket, NULL, 0, -ret);
		return;
	}
	counting.sampler = (enum wire_sampler)a->sampler;
	counting.nr_events = a->nr_events < WIRE_EVENTS_MAX ? (int)a->nr_events : WIRE_EVENTS_MAX;
	for (int i = 0; i < counting.nr_events; i++)
		memcpy(&counting.attr[i], a->attr[i], bytes);
	strncpy(counting.socket, socket, sizeof(counting.socket) - 1);
	counting.on = true;
}

static struct start *take_start_slot(void)
{
	unsigned from = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < POOL; i++) {
		struct start *s = &pool[(from + i) % POOL];

		if (!__atomic_exchange_n(&s->taken, 1, __ATOMIC_ACQUIRE))
			return s;
	}
	return NULL;
}

static struct start begin_counted_thread(struct start *slot)
{
	struct start s = *slot;

	__atomic_store_n(&slot->taken, 0, __ATOMIC_RELEASE);
	if (guard_enter()) {
		threads_count_me();
		guard_leave();
	}
	return s;
}

static void *run_counted_thread(void *slot)
{
	struct start s = begin_counted_thread(slot);

	return s.function(s.argument);
}

static int run_counted_c11_thread(void *slot)
{
	struct start s = begin_counted_thread(slot);

	return s.function_c11(s.argument);
}

/* Returns a slot for the new thread, or NULL if the thread is not to be counted or no slot is free. */
static struct start *take_slot_if_counted(void *argument)
{
	struct start *s = NULL;

	if (counting.on && guest_is_on()) {
		s = take_start_slot();
		if (!s)
			log_count_full();
		else
			s->argument = argument;
	}
	return s;
}

API int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
	static void *cache;
	create_function create = (create_function)objects_find_next_cached("pthread_create", &cache);
	struct start *s;
	int ret;

	if (!create)
		return EAGAIN; /* this cannot happen, because the caller is linked with libc */
	s = take_slot_if_counted(argument);
	if (!s)
		return create(thread, attr, function, argument);
	s->function = function;
	ret = create(thread, attr, run_counted_thread, s);
	if (ret)
		__atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
	return ret;
}

/* libc's own thrd_create does not call pthread_create, so it has a hook as well. */
API int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	static void *cache;
	create_c11_function create = (create_c11_function)objects_find_next_cached("thrd_create", &cache);
	struct start *s;
	int ret;

	if (!create)
		return thrd_error;
	s = take_slot_if_counted(argument);
	if (!s)
		return create(thread, function, argument);
	s->function_c11 = function;
	ret = create(thread, run_counted_c11_thread, s);
	if (ret != thrd_success)
		__atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
	return ret;
}
