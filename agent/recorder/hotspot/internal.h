/* SPDX-License-Identifier: MIT */
/* What the files of this room share. */
#ifndef TAILOR_HOTSPOT_INTERNAL_H
#define TAILOR_HOTSPOT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a JVM's own table of its variables says. */
struct hotspot_variables {
	int32_t major;	      /* version; 0: older than 12 */
	bool attach_disabled; /* -XX:+DisableAttachMechanism: SIGQUIT prints a thread dump on the host's output */
	bool frame_pointers;  /* -XX:+PreserveFramePointer: compiled code keeps them */
	bool signals_reduced; /* -Xrs: SIGQUIT ends the process */
};

/* From the memory of pid, whose libjvm.so is mapped at library.  0, or -errno: not known. */
int hotspot_read_variables(pid_t pid, uint64_t library, struct hotspot_variables *v);

#endif
