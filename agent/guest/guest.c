/* SPDX-License-Identifier: MIT */
/*
 * Starts the agent, also in a running process, gives forked children a log of their own, holds the agent's state, and implements the guard,
 * jitreg_emit() and jitreg_connect().
 */
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
	int *log_is; /* enum owner; on a page that the kernel clears in a child (MADV_WIPEONFORK) */
	uint32_t memory_pid; /* the process that owns this memory; a child of vfork sees it too, and has another number */
	uint32_t late_pid; /* the process that began while the recorder did not answer; 0: none */
} state;

enum owner { NOT_OURS = 0, OURS, BEING_MADE }; /* NOT_OURS: the log is a parent's, or does not exist yet */
#define ADOPT_NAPS 200
#define START_NAPS 1000
#define NAP_NS 50000

/*
 * This is nonzero if the agent was loaded into a running process. The agent then does nothing until tailor_injected() is called. A later
 * injector reads it from outside, and refuses a process whose agent was preloaded.
 */
API int tailor_is_late;
/*
 * This is the number of the recorder. Hosts compare it, and register all code again when it has changed. It is 0 if the agent was disabled
 * when it started, and in an injected agent until tailor_injected() has reached a recorder. It is not 0 before the agent starts, so that a
 * library whose constructor runs earlier sends its records. The first record starts the agent.
 */
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
	guest_debug("disabled: error %d", error); /* strerror() takes locks, and allocates for translations */
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
 * In a child the log is the parent's, and where the recorder did not answer there is none, so the process asks for its own. The first
 * thread that needs a log does so, also inside the guard, because a hook makes most first registrations of a child (of a library that it
 * loads, for example). Other threads wait up to 10 ms.
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
		if (state.late_pid) /* hosts that see the new number register their code again, because records were lost */
			__atomic_add_fetch(&jitreg_recorders, 1, __ATOMIC_RELEASE);
		state.late_pid = 0;
	} else if (is_stopped_recorder(ret) || channel_recorder_is_stopped()) /* the next registration asks again */
		__atomic_store_n(state.log_is, NOT_OURS, __ATOMIC_RELEASE);
	else
		guest_switch_off(0); /* the recorder has gone, has refused, or was told the error before, so none is sent */
	inside = was_inside;
}

/*
 * If each thread opens its own counters or starts its own timer, the child asks for a log and does so at once, because neither is
 * inherited. Otherwise the child asks for a log when it registers something.
 */
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
	return sys_madvise((void *)p, SYS_PAGE_BYTES, MADV_WIPEONFORK); /* needs Linux 4.14 */
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

/* Starts a recorder. The agent does so if TAILOR_SOCKET names none, because it was preloaded without `tailor run`. */
static int start_own_recorder(void)
{
	int ret = spawn_recorder(state.socket, sizeof(state.socket));

	return ret ? ret : send_hello_and_attach_log(false);
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern void *__dso_handle;

/* Allocates nr consecutive numbers for components and counter blocks, and returns the first. Programs and libraries call it by way of
 * jitreg_new_ids(). The numbers are larger than those that jitreg.h allocates by itself in a process without an agent. */
static uint64_t allocate_component_ids(uint64_t nr)
{
	return JITREG_IDS_OF_AGENT_ + 1 + __atomic_fetch_add(&state.nr_ids, nr, __ATOMIC_RELAXED);
}

/* Fills as many bytes of the caller's structure as both sides know. Returns 0, or -EINVAL if the structure is too small. */
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

/* This function is not inlined, because tests/lint/signals.sh, which checks what signal handlers may call, makes an exception for its name.
 * The agent's handler and hooks work only while the agent is on, so they do not reach it. */
static __attribute__((noinline)) void guest_start(void)
{
	int saved = errno, ret;

	tailor_is_late = objects_agent_loaded_late();
	exec_find_next_functions(); /* the hooks need them even where the agent is off */
	if (tailor_is_late) { /* other threads may be changing environ, and tailor_injected() gets the recorder's name */
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
	inside = 1; /* hooks do nothing until the agent has started */
	if (ret == 0) {
		const char *socket = environ_get(ENVIRON_SOCKET);

		if (socket && strlen(socket) < sizeof(state.socket)) {
			strcpy(state.socket, socket);
			ret = send_hello_and_attach_log(false);
		} else {
			ret = start_own_recorder();
			/* processes that this one starts get the socket's name even if the recorder failed to start, so that they do not
			 * each start a recorder */
			environ_add_socket(state.socket);
		}
	}
	inside = 0;
	if (is_stopped_recorder(ret)) { /* the recorder is asked again when a record is registered */
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
 * Starts the agent once, from its constructor or from the first record of a library whose constructor runs earlier. Another thread that
 * comes meanwhile waits up to 50 ms. Records that the starting thread itself makes before the agent is on are refused.
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
	state.on = false; /* the previous recorder is gone, whether it has said so or not */
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
	if (ret == 0) /* the number is never 1, because a host may have seen that before the agent knew that it was injected */
		__atomic_store_n(&jitreg_recorders, ++nr_recorders, __ATOMIC_RELEASE);
	inside = 0;
	errno = saved;
	return ret;
}

/*
 * `tailor attach --inject` calls this in a borrowed thread, once for each recorder. No code is patched, because another thread may be
 * executing it. The recorder reads from outside what hooks would have reported.
 *
 * may_call: INJECTED_MAY_CALL_* of the hosts whose locks the thread does not hold, because it sleeps or runs code of the program.
 *
 * The injector waits for the result and then takes the thread back, while this function naps for up to 200 ms. If the injector is killed or
 * comes too late, the thread goes on by itself and its stack is reused, so the result is not stored there.
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

