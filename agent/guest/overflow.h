/* SPDX-License-Identifier: MIT */
/*
 * The interface between overflow.c, which takes samples, and signals.c, which keeps the host from changing the sampling signal.
 */
#ifndef TAILOR_OVERFLOW_H
#define TAILOR_OVERFLOW_H

#include <signal.h>

#define OVERFLOW_SIGNAL SIGSTKFLT

/* The sigaction() of libc, not the agent's hook.  0 or -1.  Context: any, also signal. */
int overflow_install_action(const struct sigaction *action);
int overflow_read_action(struct sigaction *action);
/* Look up libc's functions that the hooks replace.  Context: init. */
void signals_find_next_functions(void);
/* The action that the host asked for.  It is carried out for signals that the agent did not cause. */
struct sigaction *overflow_hosts_action(void);

#endif
