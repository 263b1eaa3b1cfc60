/* SPDX-License-Identifier: MIT */
/* The processes that a command is about: those with given numbers, and those with a name.  Context: thread. */
#ifndef TAILOR_ATTACH_LIST_H
#define TAILOR_ATTACH_LIST_H

#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/service.h"

#include <stdint.h>

/* Zeros: empty.  Each process is there once. */
struct attach_list {
	struct attach_target *target;
	uint32_t nr, capacity;
	uint32_t nr_left_out; /* processes that are meant and cannot be attached to */
	struct diag left_out; /* why the first of them cannot */
};

/* Adds a process.  0, or -errno with the reason why it cannot be attached to. */
int attach_list_add(struct attach_list *l, pid_t pid, struct diag *d);
/* Adds all processes that are wanted and can be attached to.  -ESRCH: there is none; another -errno; with a sentence. */
struct names_wanted;
int attach_list_add_named(struct attach_list *l, const struct names_wanted *w, struct diag *d);
/* Adds all processes of the service that can be attached to, with the same results. */
int attach_list_add_service(struct attach_list *l, const struct service_wanted *w, struct diag *d);
/* Returns NULL if the process is not in the list. */
const struct attach_target *attach_list_find(const struct attach_list *l, pid_t pid);
void attach_list_fini(struct attach_list *l);

#endif
