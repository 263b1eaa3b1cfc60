/* SPDX-License-Identifier: MIT */
/* Constructor, state, guard, and jitreg_emit(). */
#include "agent/guest/guest.h"

#include "agent/guest/environ.h"
#include "agent/guest/overflow.h"
#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#define FETCH_NAPS 200
#define SOCKET_BYTES 64

enum started { NOT_STARTED = 0, STARTING, STARTED };

static struct {
	bool on;
	int started; /* enum started */
	uint64_t nr_ids;
	bool debug;
	bool threads_count;
	char socket[SOCKET_BYTES];
	int *log_is; /* enum owner; the kernel makes it 0 in a child (MADV_WIPEONFORK) */
	uint32_t memory_pid; /* the process that owns this memory; a child of vfork, which sees it too, has another number */
	uint32_t late_pid; /* of the process that began while the recorder did not answer; 0: it did */
} state;

enum owner { NOT_OURS = 0, OURS, BEING_MADE }; /* it is a parent's, or the recorder has not made it yet */
#define ADOPT_NAPS 200
#define START_NAPS 1000
#define NAP_NS 50000

/* Loaded into a process that runs: nothing happens until we are told.  Read from outside, before we are called. */
API int tailor_is_late;
/* Hosts look at it, and replay when it has changed.  Not 0 before we have started: a library's constructor that runs before ours is heard,
 * because its first record starts us. */
API uint32_t jitreg_recorders = 1;

static __thread int inside __attribute__((tls_model("initial-exec")));
static __thread int saved_errno __attribute__((tls_model("initial-exec")));

bool guest_is_on(void)
{
	return __atomic_load_n(&state.on, __ATOMIC_RELAXED);
}

bool guest_was_loaded_late(void)
{
	return tailor_is_late;
}

void guest_switch_off(int error)
{
	if (!__atomic_exchange_n(&state.on, false, __ATOMIC_RELAXED))
		return;
	guest_debug("disabled: error %d", error); /* strerror() takes locks and allocates, for translations */
	if (error)
		channel_report_stop(state.socket, error);
}

bool guard_enter(void)
{
	if (inside || !guest_is_on() || guest_is_confined())
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
	n = snprintf(text, sizeof(text), "tailor[%d]: ", (int)sys_getpid());
	va_start(list, format);
	m = vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, list);
	va_end(list);
	n = n + m < (int)sizeof(text) - 1 ? n + m : (int)sizeof(text) - 2;
	text[n++] = '\n';
	if (sys_write(2, text, (size_t)n) < 0)
		state.debug = false;
}

/* ------------------------------------------------------------------------------------------------------- fork */

static int send_hello_and_attach_log(bool child)
{
	struct wire_answer answer;
	struct log_head *log;
	uint64_t bytes;
	int ret = channel_send_hello(state.socket, child, &answer, &log, &bytes);

	if (ret)
		return ret;
	log_attach(log, bytes);
	__atomic_store_n(state.log_is, OURS, __ATOMIC_RELEASE);
	if (answer.sampler != WIRE_SAMPLER_NONE) {
		state.threads_count = true;
		threads_start(&answer, state.socket);
		threads_count_me();
	}
	return 0;
}

bool guest_owns_memory(void)
{
	return state.memory_pid == sys_getpid();
}

static enum owner log_owner(void)
{
	return (enum owner)__atomic_load_n(state.log_is, __ATOMIC_ACQUIRE);
}

bool guest_owns_log(void)
{
	return log_owner() == OURS;
}

static bool is_stopped_recorder(int error)
{
	return error == -EAGAIN || error == -EHOSTDOWN;
}

/*
 * In a child the log is the parent's, and where the recorder did not answer there is none: get our own.  The first to come does it, inside
 * the guard or not (what a child says first is mostly said by a hook: the LLVM that it loads); the others wait for a moment.
 */
static void get_own_log(void)
{
	int before = NOT_OURS, was_inside = inside, ret;

	if (!__atomic_compare_exchange_n(state.log_is, &before, BEING_MADE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < ADOPT_NAPS && log_owner() == BEING_MADE; i++)
			sys_sleep_ns(NAP_NS);
		return;
	}
	inside = 1;
	log_detach();
	ret = channel_recorder_is_stopped() ? -EAGAIN : send_hello_and_attach_log(state.late_pid != sys_getpid());
	if (ret == 0) {
		guest_listeners.announce_all();
		if (state.late_pid) /* hosts that can are to say again what was lost */
			__atomic_add_fetch(&jitreg_recorders, 1, __ATOMIC_RELEASE);
		state.late_pid = 0;
	} else if (is_stopped_recorder(ret) || channel_recorder_is_stopped()) /* another time: it may go on, or does so since */
		__atomic_store_n(state.log_is, NOT_OURS, __ATOMIC_RELEASE);
	else
		guest_switch_off(0); /* the recorder has gone, or has no room: nobody to tell */
	inside = was_inside;
}

/* Counters of one's own do not come with fork; everything else waits until the child has something to say. */
static void handle_fork_in_child(void)
{
	int saved = errno;

	counter_memory_reset_in_child();
	state.memory_pid = sys_getpid();
	if (!guest_is_on())
		return;
	guest_listeners.in_child();
	if (state.threads_count && log_owner() == NOT_OURS) {
		objects_set_single_thread(true);
		get_own_log();
		objects_set_single_thread(false);
	}
	errno = saved;
}

static int map_log_owner_page(void)
{
	long p = sys_mmap(NULL, SYS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p < 0 && p > -4096)
		return (int)p;
	state.log_is = (int *)p;
	return sys_madvise((void *)p, SYS_PAGE_BYTES, MADV_WIPEONFORK); /* Linux 4.14 */
}

/* -------------------------------------------------------------------------------------------------------- emit */

static bool start_agent_once(void);

bool guest_is_ready(void)
{
	if (guest_is_confined() || (!guest_is_on() && !start_agent_once()))
		return false;
	if (log_owner() != OURS && __atomic_load_n(&state.started, __ATOMIC_ACQUIRE) == STARTED)
		get_own_log();
	return true;
}

const char *guest_socket_name(void)
{
	return state.socket;
}

API int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	int saved = errno, ret;

	if (!guest_is_ready())
		return -ENOSYS;
	if (overflow_is_on())
		overflow_note_tag(parts, nr_parts);
	ret = log_append(parts, nr_parts);
	errno = saved;
	return ret;
}

/* --------------------------------------------------------------------------------------------------------- start */

/* Preloaded alone: a recorder is started, and listens when its counters run. */
static int start_own_recorder(void)
{
	int ret = spawn_recorder(state.socket, sizeof(state.socket));

	return ret ? ret : send_hello_and_attach_log(false);
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern void *__dso_handle;

/* Numbers for components, from above those that objects give themselves where there is no agent. */
static uint64_t allocate_component_ids(uint64_t nr)
{
	return JITREG_IDS_OF_AGENT_ + 1 + __atomic_fetch_add(&state.nr_ids, nr, __ATOMIC_RELAXED);
}

/* What each side does not know of the other is not there: bytes says where its structure ends. */
API int jitreg_connect(struct jitreg_agent *agent)
{
	const struct jitreg_agent ours = { sizeof(ours), JITREG_VERSION, allocate_component_ids };
	uint32_t bytes = agent->bytes < sizeof(ours) ? agent->bytes : (uint32_t)sizeof(ours);

	if (bytes < offsetof(struct jitreg_agent, new_ids))
		return -EINVAL;
	memcpy(agent, &ours, bytes);
	agent->bytes = bytes;
	return 0;
}

/* Not inlined: tests/lint/signals.sh knows that it is not reached from hooks and handlers, which come when the agent is on. */
static __attribute__((noinline)) void guest_start(void)
{
	int saved = errno, ret;

	tailor_is_late = objects_agent_loaded_late();
	exec_find_next_functions(); /* also where the agent is off: what the host calls are its hooks */
	if (tailor_is_late) { /* whoever has done it says by tailor_injected() where the recorder is; others may change environ now */
		__atomic_store_n(&jitreg_recorders, 0, __ATOMIC_RELEASE);
		errno = saved;
		return;
	}
	signals_find_next_functions();
	confine_find_next_functions();
	memory_limit_find_next_functions();
	environ_read();
	if (environ_get(ENVIRON_OFF) || getauxval(AT_SECURE)) {
		__atomic_store_n(&jitreg_recorders, 0, __ATOMIC_RELEASE);
		return;
	}
	state.debug = environ_get(ENVIRON_DEBUG) != NULL;
	state.memory_pid = sys_getpid();
	ret = map_log_owner_page();
	inside = 1; /* hooks see nothing until all is up */
	if (ret == 0) {
		const char *socket = environ_get(ENVIRON_SOCKET);

		if (socket && strlen(socket) < sizeof(state.socket)) {
			strcpy(state.socket, socket);
			ret = send_hello_and_attach_log(false);
		} else {
			ret = start_own_recorder();
			/* for what this process starts: where the recorder is, or was to be, so that each does not try for itself */
			environ_add_socket(state.socket);
		}
	}
	inside = 0;
	if (is_stopped_recorder(ret)) { /* it is asked again when there is something to say */
		state.late_pid = sys_getpid();
		ret = 0;
	}
	if (ret) {
		__atomic_store_n(&jitreg_recorders, 0, __ATOMIC_RELEASE);
		guest_debug("disabled: %s%s", strerror(-ret), environ_get(ENVIRON_SOCKET) ? " (the recorder in TAILOR_SOCKET has exited, "
			    "belongs to another user or is of another version; unset TAILOR_SOCKET to start a new one)" : "");
	} else {
		__atomic_store_n(&state.on, true, __ATOMIC_RELEASE);
		__register_atfork(NULL, NULL, handle_fork_in_child, &__dso_handle);
		if (guard_enter()) {
			guest_listeners.start();
			guard_leave();
		}
		if (state.late_pid)
			log_forget_missed();
		guest_debug("enabled: recorder %s", state.socket);
	}
	errno = saved;
}

/*
 * Once: from our constructor, or from the first record of a library whose constructor runs before ours.  A thread that comes
 * meanwhile waits for a moment; records of our own thread while we start are ignored.
 */
static bool start_agent_once(void)
{
	int before = NOT_STARTED;

	if (__atomic_load_n(&state.started, __ATOMIC_ACQUIRE) == STARTED || inside)
		return guest_is_on();
	if (__atomic_compare_exchange_n(&state.started, &before, STARTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		guest_start();
		__atomic_store_n(&state.started, STARTED, __ATOMIC_RELEASE);
	}
	for (int i = 0; i < START_NAPS && __atomic_load_n(&state.started, __ATOMIC_ACQUIRE) != STARTED; i++)
		sys_sleep_ns(NAP_NS);
	return guest_is_on();
}

__attribute__((constructor)) static void guest_init(void)
{
	start_agent_once();
}

static int start_in_running_process(const char *socket)
{
	static uint32_t nr_recorders = 1;
	int saved = errno, ret = 0;

	if (!tailor_is_late)
		return -EALREADY;
	if (strlen(socket) >= sizeof(state.socket))
		return -ENAMETOOLONG;
	inside = 1;
	state.on = false; /* the recorder before is gone, whether it has said so or not */
	strcpy(state.socket, socket);
	if (!state.log_is) {
		ret = map_log_owner_page();
		if (ret == 0)
			__register_atfork(NULL, NULL, handle_fork_in_child, &__dso_handle);
	}
	log_abandon();
	if (ret == 0)
		ret = send_hello_and_attach_log(false);
	__atomic_store_n(&state.on, ret == 0, __ATOMIC_RELEASE);
	if (ret == 0) /* never 1: a host that came before we knew that we are late may have seen that */
		__atomic_store_n(&jitreg_recorders, ++nr_recorders, __ATOMIC_RELEASE);
	inside = 0;
	errno = saved;
	return ret;
}

/*
 * `tailor attach --inject` has loaded us, and has borrowed this thread for the call.  Nothing is patched: another thread may be in
 * the middle of what would be; the recorder reads from outside what we would hear by that.  Called again for each recorder.
 *
 * may_call: INJECTED_MAY_CALL_* of the hosts of which the thread holds no lock either, because it sleeps or runs code of the program.
 *
 * Whoever waits for the result then fetches the thread.  Should it have been killed, or not come in time, the thread goes on by itself; so
 * the result is not on its stack, which is other things then.
 */
API int tailor_injected_result;
API void tailor_injected(const char *socket, unsigned may_call);
API void tailor_injected(const char *socket, unsigned may_call)
{
	int ret = start_in_running_process(socket);

	if (ret == 0 && may_call)
		guest_listeners.injected(may_call);
	guest_debug("injected: %s", ret ? strerror(-ret) : state.socket);
	__atomic_store_n(&tailor_injected_result, ret, __ATOMIC_RELEASE);
	for (int i = 0; i < FETCH_NAPS; i++)
		sys_nap();
}

