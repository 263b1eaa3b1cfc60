/* SPDX-License-Identifier: MIT */
/*
 * How an unmodified JIT is heard: one file for each thing that JITs already do.  All of it ends in jitreg records.
 * Context: as given; all run under the guest's guard.
 */
#ifndef TAILOR_SHIM_H
#define TAILOR_SHIM_H

#include "agent/guest/guest.h"

/* ---- images.c */
/* Announce what is loaded, and have the loader say what comes and goes.  Context: init. */
void images_start(void);
/* The set of loaded objects may have changed: announce what is new or gone.  Context: any; with or without the loader's
 * lock. */
void images_look(void);
/* All of them again, to a recorder that knows nothing yet. */
void images_announce_all(void);
/* After fork: a look that another thread was at will not be ended here. */
void images_in_child(void);

/* ---- exec_memory.c */
void exec_memory_start(void);
void exec_memory_in_child(void);

/* ---- gdb_jit.c: called for each object once, before its code runs where possible. */
void gdb_jit_object(const struct object *o);
/* ... and when it was unloaded. */
void gdb_jit_object_gone(uintptr_t bias);

#endif
