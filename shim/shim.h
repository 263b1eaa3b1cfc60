/* SPDX-License-Identifier: MIT */
/*
 * These files hook the interfaces that unmodified JITs and the loader use, with one file for each. Each file converts the events of its
 * interface to jitreg records. The hooks of these files register under the guest's guard. Context: as given.
 */
#ifndef TAILOR_SHIM_H
#define TAILOR_SHIM_H

#include "agent/guest/guest.h"

/* ---- images.c */
/* Registers loaded objects as images_register_changes() does, and hooks the loader's notifications. Context: init. */
void images_start(void);
/*
 * Registers objects that were loaded or unloaded since the last call, and passes new ones to gdb_jit_hook_object() and the adapters. A
 * thread that is doing so already takes over the work of others, which return at once. Does nothing in an agent that was injected, because
 * the recorder gets the mappings from the kernel. Context: any, with or without the loader's lock.
 */
void images_register_changes(void);
/* Registers all loaded objects again, because this process has got a log of its own. Context: any. */
void images_register_all(void);
/* Resets a scan that another thread of the parent had begun. Context: in a child, before fork returns. */
void images_reset_in_child(void);

/* ---- exec_memory.c: looks up libc's functions that the hooks replace. Context: init. */
void exec_memory_find_next_functions(void);
/* Releases the lock, which another thread of the parent may have held. Context: in a child, before fork returns. */
void exec_memory_reset_in_child(void);

/*
 * ---- gdb_jit.c: hooks the GDB JIT interface of an object that has one, and registers the code that is in its list. The caller passes each
 * object once, before its code runs where possible.
 */
void gdb_jit_hook_object(const struct object *o);
/* Forgets the object with this load bias, which was unloaded. */
void gdb_jit_forget_object(uintptr_t bias);

#endif
