/* SPDX-License-Identifier: MIT */
/*
 * What the sampling signal's two files share: overflow.c takes samples, signals.c keeps the host's hands off the signal.
 */
#ifndef TAILOR_OVERFLOW_H
#define TAILOR_OVERFLOW_H

#include <signal.h>

#define OVERFLOW_SIGNAL SIGSTKFLT

/* libc's sigaction(), past our own.  0 or -1.  Context: any, also signal. */
int overflow_install_action(const struct sigaction *action);
int overflow_read_action(struct sigaction *action);
/* Look up libc's functions that ours stand before.  Context: init. */
void signals_find_next_functions(void);
/* What the host asked for, which is carried out for signals that are not ours. */
struct sigaction *overflow_hosts_action(void);

#endif
