/* SPDX-License-Identifier: MIT */
/*
 * What the kernel reports about all processes of the machine: that one executes a program, or takes another name.  Nothing is
 * sampled or counted.  It tells it by perf's records, for which CAP_PERFMON or a kernel.perf_event_paranoid below 1 is needed, or by the
 * proc connector, for which a process of the first namespaces needs CAP_NET_ADMIN, and nothing since Linux 6.6.  Context: thread.
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
	pid_t pid; /* in our namespace */
	bool exec; /* a program is executed; false: only the name is another one */
	const char *comm; /* the name since then; NULL: not told; valid during the call */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

/* 0, or -errno: the kernel tells this process of no others (both sources failed; of the first). */
int process_events_open(struct process_events **out);
void process_events_close(struct process_events *e); /* NULL is fine */
enum process_events_source process_events_source(const struct process_events *e);

/* For poll(2): as many descriptors as process_events_nr() says. */
size_t process_events_nr(const struct process_events *e);
void process_events_fill_poll(const struct process_events *e, struct pollfd *to);
/* Calls each() for what has come.  true: some were lost, so that all processes should be looked at. */
bool process_events_drain(struct process_events *e, void (*each)(void *context, const struct process_event *p), void *context);

#endif
