/* SPDX-License-Identifier: MIT */
/* This module lists the processes that a command attaches to. These are processes with given PIDs, with a name or program, or of a service.
 * Context: thread. */
#ifndef TAILOR_ATTACH_LIST_H
#define TAILOR_ATTACH_LIST_H

#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/service.h"
#include "jitreg/base/grow.h"

#include <stdint.h>

/* A list of all zeros is empty. Each process is in it once. */
struct attach_list {
	ARRAY_OF(struct attach_target);
	uint32_t nr_left_out; /* processes with the name or program, or of the service, that cannot be attached to */
	struct diag left_out; /* why the first of them cannot */
};

/* Adds a process unless it is in the list.  Returns 0, or -errno with the reason why it cannot be attached to. */
int attach_list_add(struct attach_list *l, pid_t pid, struct diag *d);
/* Adds all processes with the wanted names that can be attached to, and counts the others in nr_left_out.  Returns 0, -ESRCH with a
 * sentence if the list is still empty, or another -errno with a sentence. */
struct names_wanted;
int attach_list_add_named(struct attach_list *l, const struct names_wanted *w, struct diag *d);
/* Does the same for all processes of the service. */
int attach_list_add_service(struct attach_list *l, const struct service_wanted *w, struct diag *d);
/* Returns the process's element, or NULL if the list does not have it.  The element is valid until a function above is called. */
const struct attach_target *attach_list_find(const struct attach_list *l, pid_t pid);
void attach_list_fini(struct attach_list *l);

#endif
