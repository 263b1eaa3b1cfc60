/* SPDX-License-Identifier: MIT */
/*
 * Hooks for unmodified JITs: one file for each interface that JITs use.  Each converts its events to jitreg records.
 * Context: as given; all run under the guest's guard.
 */
#ifndef TAILOR_SHIM_H
#define TAILOR_SHIM_H

#include "agent/guest/guest.h"

/* ---- images.c */
/* Registers loaded objects, and hooks the loader's notifications.  Context: init. */
void images_start(void);
/* The set of loaded objects may have changed: registers what was loaded or unloaded.  Context: any; with or without the loader's
 * lock. */
void images_register_changes(void);
/* All of them again, for a new recorder. */
void images_register_all(void);
/* After fork: resets a scan that another thread had begun. */
void images_reset_in_child(void);

/* ---- exec_memory.c */
void exec_memory_find_next_functions(void);
void exec_memory_reset_in_child(void);

/* ---- gdb_jit.c: called for each object once, before its code runs where possible. */
void gdb_jit_hook_object(const struct object *o);
/* Called when an object was unloaded. */
void gdb_jit_forget_object(uintptr_t bias);

#endif
