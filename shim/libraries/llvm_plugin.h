/* SPDX-License-Identifier: MIT */
/*
 * Adds LLVM's plugin that registers JITLink's objects for debuggers, in LLVM 17, which has no function that does so. Context: any, under
 * the guard, but for llvm_plugin_add() the thread that creates the LLJIT.
 */
#ifndef TAILOR_LLVM_PLUGIN_H
#define TAILOR_LLVM_PLUGIN_H

#include "agent/guest/guest.h"

#include <stdbool.h>
#include <stdint.h>

/* This is the value of llvm::Expected<std::unique_ptr<T>>, which is returned through a pointer. */
struct llvm_expected {
	void *value; /* the pointer, or the error */
	unsigned char has_error; /* in bit 0 */
};

struct llvm_plugin {
	void *(*session)(void *jit);
	void *(*layer)(void *jit);
	/* std::optional<ExecutorAddr> is passed in two registers */
	void *(*registrar)(struct llvm_expected *out, void *session, uint64_t address, uint64_t has_address);
	void (*construct)(void *plugin, void *session, void **registrar, bool only_with_debug_info, bool registers_code);
	void **allocate, **release; /* the library's slots of operator new and delete */
	const void *layer_table, *frames_table, *debug_table; /* tables of virtual functions */
};

/* Finds in o, which is LLVM's library, what is needed to add a plugin.  Returns false if o lacks one of the functions. */
bool llvm_plugin_find_functions(const struct object *o, struct llvm_plugin *p);
/* Does o create such plugins itself?  Then it decides whether to add them. */
bool llvm_plugin_is_added_by_user(const struct object *o);
/* Adds the plugin to an LLJIT that was just created, in the thread that creates it.  Returns true if it was added.  consume: LLVM's
 * function that consumes an error. */
bool llvm_plugin_add(const struct llvm_plugin *p, void *jit, void (*consume)(void *error));

#endif
