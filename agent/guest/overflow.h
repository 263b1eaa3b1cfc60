/* SPDX-License-Identifier: MIT */
/* This is the interface between overflow.c, which takes samples, and signals.c, which keeps the host from changing the sampling signal. */
#ifndef TAILOR_OVERFLOW_H
#define TAILOR_OVERFLOW_H

#include <signal.h>

#define OVERFLOW_SIGNAL SIGSTKFLT

/* Set and read the action of OVERFLOW_SIGNAL by libc's sigaction(), not by the agent's hook of it.  Return 0 or -1.  Context: any, also
 * signal. */
int overflow_install_action(const struct sigaction *action);
int overflow_read_action(struct sigaction *action);
/* Look up libc's functions that the hooks replace.  Context: init. */
void signals_find_next_functions(void);
/* Returns the action that the host has set for the signal, which is not installed.  It is carried out for signals that the agent did not
 * cause. */
struct sigaction *overflow_hosts_action(void);

#endif
