/* SPDX-License-Identifier: MIT */
/* Constructor, state, guard, and jitreg_emit(). */
#include "guest.h"

#include "environ.h"
#include "jitreg.h"
#include "shim.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RECORDER_WAIT_MS 10000
#define SOCKET_BYTES 64

static struct {
	bool on;
	bool debug;
	bool count_yourself;
	char socket[SOCKET_BYTES];
	/* 1 in the process that said hello; the kernel makes it 0 in a child (MADV_WIPEONFORK) */
	volatile int *mine;
} state;

static __thread int inside __attribute__((tls_model("initial-exec")));
static __thread int saved_errno __attribute__((tls_model("initial-exec")));

bool guest_is_on(void)
{
	return __atomic_load_n(&state.on, __ATOMIC_RELAXED);
}

void guest_switch_off(int error)
{
	if (!__atomic_exchange_n(&state.on, false, __ATOMIC_RELAXED))
		return;
	guest_debug("switched off: %s", strerror(error));
	if (error)
		channel_stop(state.socket, error);
}

bool guard_enter(void)
{
	if (inside || !guest_is_on())
		return false;
	inside = 1;
	saved_errno = errno;
	return true;
}

void guard_leave(void)
{
	errno = saved_errno;
	inside = 0;
}

bool guest_debugging(void)
{
	return state.debug;
}

void guest_debug(const char *format, ...)
{
	char text[512];
	va_list list;
	int n, m;

	if (!state.debug)
		return;
	n = snprintf(text, sizeof(text), "tailor[%d]: ", (int)getpid());
	va_start(list, format);
	m = vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, list);
	va_end(list);
	n = n + m < (int)sizeof(text) - 1 ? n + m : (int)sizeof(text) - 2;
	text[n++] = '\n';
	if (write(2, text, (size_t)n) < 0)
		state.debug = false;
}

/* ------------------------------------------------------------------------------------------------------- fork */

static int say_hello(bool child)
{
	struct wire_answer answer;
	struct log_head *log;
	uint64_t bytes;
	int ret = channel_hello(state.socket, child, &answer, &log, &bytes);

	if (ret)
		return ret;
	log_attach(log, bytes);
	*state.mine = 1;
	if (answer.count_yourself) {
		state.count_yourself = true;
		threads_start(&answer, state.socket);
		threads_count_me();
	}
	return 0;
}

/* In a child the log is the parent's: get our own.  Only the first to come does it; others' records are dropped. */
static void adopt(void)
{
	static int adopting; /* pid that does it */
	int me = (int)getpid(), before = __atomic_exchange_n(&adopting, me, __ATOMIC_ACQ_REL), ret;

	if (before == me)
		return;
	log_detach();
	ret = say_hello(true);
	if (ret)
		guest_switch_off(0); /* the recorder has gone, or has no room: nobody to tell */
	else
		images_announce_all();
}

/* Counters of one's own do not come with fork; everything else waits until the child has something to say. */
static void in_child(void)
{
	if (!guest_is_on() || !state.count_yourself || *state.mine)
		return;
	if (guard_enter()) {
		adopt();
		guard_leave();
	}
}

static int map_mine(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	if (madvise(p, 4096, MADV_WIPEONFORK)) { /* Linux 4.14 */
		munmap(p, 4096);
		return -errno;
	}
	state.mine = p;
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- emit */

API int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	int saved = errno, ret;

	if (!guest_is_on())
		return -ENOSYS;
	if (!*state.mine && guard_enter()) {
		adopt();
		guard_leave();
	}
	ret = log_append(parts, nr_parts);
	errno = saved;
	return ret;
}

/* --------------------------------------------------------------------------------------------------------- start */

static void sleep_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

/* Preloaded alone: a recorder is started, and listens when its counters run. */
static int start_alone(void)
{
	pid_t recorder = 0;
	int ret = spawn_recorder(state.socket, sizeof(state.socket), &recorder);

	for (int ms = 0; ret == 0 && ms < RECORDER_WAIT_MS; ms++) {
		ret = say_hello(false);
		if (ret != -ECONNREFUSED)
			return ret;
		if (kill(recorder, 0) && errno == ESRCH)
			return -ECHILD;
		sleep_ms(1);
		ret = 0;
	}
	return ret ? ret : -ETIMEDOUT;
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern void *__dso_handle;

__attribute__((constructor)) static void guest_init(void)
{
	int saved = errno, ret;

	environ_read();
	if (environ_get(ENVIRON_OFF))
		return;
	state.debug = environ_get(ENVIRON_DEBUG) != NULL;
	ret = map_mine();
	inside = 1; /* hooks see nothing until all is up */
	if (ret == 0) {
		const char *socket = environ_get(ENVIRON_SOCKET);

		if (socket && strlen(socket) < sizeof(state.socket)) {
			strcpy(state.socket, socket);
			ret = say_hello(false);
		} else {
			ret = start_alone();
			if (ret == 0)
				setenv(TAILOR_ENV_SOCKET, state.socket, 1); /* for what this process starts */
		}
	}
	inside = 0;
	if (ret) {
		guest_debug("off: %s", strerror(-ret));
	} else {
		state.on = true;
		__register_atfork(NULL, NULL, in_child, &__dso_handle);
		if (guard_enter()) {
			shim_start();
			guard_leave();
		}
		guest_debug("on: recorder %s", state.socket);
	}
	errno = saved;
}
