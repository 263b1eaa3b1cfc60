/* SPDX-License-Identifier: MIT */
/*
 * This module reports when a process of the machine executes a program or takes another name. Nothing is sampled or counted. The source is
 * perf's records, which need CAP_PERFMON or a kernel.perf_event_paranoid below 1, or the proc connector, which works in the first
 * namespaces only, with CAP_NET_ADMIN before Linux 6.6 and without privileges since. Context: thread.
 */
#ifndef TAILOR_PROCESS_EVENTS_H
#define TAILOR_PROCESS_EVENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_events;

enum process_events_source { PROCESS_EVENTS_PERF, PROCESS_EVENTS_CONNECTOR };

struct process_event {
	pid_t pid; /* in the recorder's PID namespace */
	bool exec; /* a program is executed; false: only the name has changed */
	const char *comm; /* the process's name from then on, valid during the call; NULL: unknown */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

/* Opens perf's records, or the proc connector if they are unavailable.  Returns 0, -ENOMEM, or the -errno of perf's records if neither
 * source is available, and then *out is not set. */
int process_events_open(struct process_events **out);
void process_events_close(struct process_events *e); /* e may be NULL */
enum process_events_source process_events_source(const struct process_events *e);

/* process_events_fill_poll() fills in process_events_nr() descriptors for poll(2). */
size_t process_events_nr(const struct process_events *e);
void process_events_fill_poll(const struct process_events *e, struct pollfd *to);
/* Calls each() for every event that has come.  Returns true if some events were lost, so that the caller should look at all processes. */
bool process_events_drain(struct process_events *e, void (*each)(void *context, const struct process_event *p), void *context);

#endif
