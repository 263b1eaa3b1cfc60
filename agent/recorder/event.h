/* SPDX-License-Identifier: MIT */
/*
 * Which event is sampled, and how: names (libpfm4's door), and the ladder from hardware cycles down to task-clock.
 * Context: thread.
 */
#ifndef TAILOR_EVENT_H
#define TAILOR_EVENT_H

#include "diag.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_options {
	const char *name; /* "auto", or an event's name as libpfm4 or perf spell it */
	uint64_t rate;	  /* samples per second and CPU; 0: use period */
	uint64_t period;  /* fixed period in the event's unit; 0: use rate */
	uint32_t stack_bytes; /* 0 or a multiple of 8 up to 65528 */
	uint64_t registers;   /* perf's mask; 0: EVENT_REGISTERS_DEFAULT */
	bool frame_pointers;  /* also the return addresses that the kernel finds by frame pointers */
};

/* bx bp sp ip r12-r15: where tags live, and what unwinding starts from */
#define EVENT_REGISTERS_DEFAULT 0xf001c2ull
#define EVENT_REGISTERS_NONE (1ull << 63) /* no register has this number */

struct event {
	char name[128]; /* as libpfm4 or we call it */
	char unit[16];	/* what a weight counts */
	struct perf_event_attr attr; /* sampling, not inherited, disabled */
};

/* Notices that the ladder has to say: told(context, sentence) for each rung that was not had. */
typedef void (*event_told)(void *context, const char *sentence);

/*
 * Find the best event that this machine allows and that counts.  Returns 0, -EINVAL with a sentence for a name that does
 * not exist, or -errno with a sentence when nothing can be opened.
 */
int event_choose(const struct event_options *o, struct event *out, event_told told, void *context, struct diag *d);

/* What a name means: type, config and privilege bits of *attr.  0, or -EINVAL with a sentence. */
int event_encode(const char *name, struct perf_event_attr *attr, struct diag *d);

/* perf_event_open(2). */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags);

#endif
