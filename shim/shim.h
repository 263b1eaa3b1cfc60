/* SPDX-License-Identifier: MIT */
/*
 * Hooks for unmodified JITs, with one file for each interface that JITs use.  Each converts its events to jitreg records.  All run under
 * the guest's guard.  Context: as given.
 */
#ifndef TAILOR_SHIM_H
#define TAILOR_SHIM_H

#include "agent/guest/guest.h"

/* ---- images.c */
/* Registers loaded objects, and hooks the loader's notifications.  Context: init. */
void images_start(void);
/* Registers objects that were loaded or unloaded since the last call.  Context: any, with or without the loader's lock. */
void images_register_changes(void);
/* Registers all loaded objects again, for a new recorder. */
void images_register_all(void);
/* Resets a scan that another thread had begun, after fork. */
void images_reset_in_child(void);

/* ---- exec_memory.c */
void exec_memory_find_next_functions(void);
void exec_memory_reset_in_child(void);

/* ---- gdb_jit.c: called once for each object, before its code runs where possible. */
void gdb_jit_hook_object(const struct object *o);
/* Called when an object was unloaded. */
void gdb_jit_forget_object(uintptr_t bias);

#endif
