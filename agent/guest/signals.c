/* SPDX-License-Identifier: MIT */
/*
 * Hosts that set every signal's action, or block all signals, would disable the sampling signal, or be killed by it (its default action).
 * While it is in use, their changes to it are stored and reported back, but not made.  Every other signal goes to libc unchanged.  System
 * calls made past libc are not seen.  Context: any, also signal (as libc's own).
 */
#include "agent/guest/guest.h"

#include "agent/guest/overflow.h"

#include <stddef.h>

typedef int (*action_function)(int, const struct sigaction *, struct sigaction *);
typedef int (*mask_function)(int, const sigset_t *, sigset_t *);
typedef void (*handler_function)(int);
typedef handler_function (*signal_function)(int, handler_function);

static __thread bool host_blocks __attribute__((tls_model("initial-exec")));

static struct {
	void *sigaction, *signal, *sigprocmask, *pthread_sigmask;
} next;

/* Looks up libc's functions when the agent starts, and not at the first call, which may come from a signal handler of the host, because the
 * lookup takes the loader's lock. */
void signals_find_next_functions(void)
{
	objects_find_next_cached("sigaction", &next.sigaction);
	objects_find_next_cached("signal", &next.signal);
	objects_find_next_cached("sigprocmask", &next.sigprocmask);
	objects_find_next_cached("pthread_sigmask", &next.pthread_sigmask);
}

static action_function next_sigaction(void)
{
	return (action_function)objects_find_next_cached("sigaction", &next.sigaction);
}

int overflow_install_action(const struct sigaction *action)
{
	return next_sigaction()(OVERFLOW_SIGNAL, action, NULL);
}

int overflow_read_action(struct sigaction *action)
{
	return next_sigaction()(OVERFLOW_SIGNAL, NULL, action);
}

API int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
	if (signo == OVERFLOW_SIGNAL && overflow_is_on()) {
		struct sigaction *hosts = overflow_hosts_action(), wanted;

		if (action)
			wanted = *action; /* action and old may point to the same structure */
		if (old)
			*old = *hosts;
		if (action)
			*hosts = wanted;
		return 0;
	}
	return next_sigaction()(signo, action, old);
}

API handler_function signal(int signo, handler_function handler)
{
	if (signo == OVERFLOW_SIGNAL && overflow_is_on()) {
		struct sigaction wanted = { .sa_handler = handler, .sa_flags = SA_RESTART }, before;

		sigaction(signo, &wanted, &before);
		return before.sa_handler;
	}
	return ((signal_function)objects_find_next_cached("signal", &next.signal))(signo, handler);
}

static int change_mask_without_overflow(mask_function libc, int how, const sigset_t *set, sigset_t *old)
{
	bool named, before = host_blocks;
	sigset_t ours;
	int ret;

	if (!overflow_is_on())
		return libc(how, set, old);
	named = set && sigismember(set, OVERFLOW_SIGNAL) == 1;
	if (named && how != SIG_UNBLOCK) {
		ours = *set;
		sigdelset(&ours, OVERFLOW_SIGNAL);
		ret = libc(how, &ours, old);
	} else {
		ret = libc(how, set, old);
	}
	if (ret)
		return ret;
	if (old && before)
		sigaddset(old, OVERFLOW_SIGNAL);
	if (set && how == SIG_SETMASK)
		host_blocks = named;
	else if (named)
		host_blocks = how == SIG_BLOCK;
	return 0;
}

API int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask_without_overflow((mask_function)objects_find_next_cached("sigprocmask", &next.sigprocmask), how, set, old);
}

API int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask_without_overflow(
		(mask_function)objects_find_next_cached("pthread_sigmask", &next.pthread_sigmask), how, set, old);
}
