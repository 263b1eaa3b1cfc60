/* SPDX-License-Identifier: MIT */
/*
 * Adapts LLVM's LLJIT with JITLink, its default since LLVM 17.  Objects are registered for debuggers only where the program asks for it.
 * LLVM 18 and later have a C function for that, LLVMOrcLLJITEnableDebugSupport().  It is called for each LLJIT that a program creates, as
 * soon as it is created.  LLVM 17 has only the parts for it (llvm_plugin.h).
 *
 * An LLJIT is created by LLVMOrcCreateLLJIT() or, in C++, by its constructor.  Calls to both are redirected in the objects that need the
 * library, and not by an exported symbol, because one process may hold several LLVMs, and each call has to arrive in its own. An object
 * that imports a function that enables registration decides itself and is left alone. A layer of RuntimeDyld refuses, and is handled by
 * llvm_orc.c.
 */
#include "shim/libraries/libraries.h"
#include "shim/libraries/llvm_plugin.h"

#include "agent/guest/sys.h"

#include <elf.h>
#include <string.h>

#define LIBRARIES 4 /* LLVMs in one process */
#define CREATE "LLVMOrcCreateLLJIT"
#define CONSTRUCT "_ZN4llvm3orc5LLJITC1ERNS0_17LLJITBuilderStateERNS_5ErrorE"
#define ENABLE "LLVMOrcLLJITEnableDebugSupport"
#define ENABLE_CXX "_ZN4llvm3orc21enableDebuggerSupportERNS0_5LLJITE"

/* Success is NULL in llvm-c, and an error has to be consumed by the caller. */
typedef void *create_function(void **jit, void *builder);
typedef void construct_function(void *jit, void *builder, uintptr_t *error);

static struct library {
	create_function *create; /* NULL: free */
	construct_function *construct;
	void *(*enable)(void *jit); /* NULL: the plugin is added instead */
	struct llvm_plugin plugin;
	void (*consume)(void *error);
	char name[64]; /* DT_SONAME, by which other objects need it */
} libraries[LIBRARIES];

static void enable_debug_support(const struct library *l, void *jit)
{
	void *error;

	if (!jit || !guest_is_on())
		return;
	if (!l->enable && !llvm_plugin_add(&l->plugin, jit, l->consume))
		return;
	error = l->enable ? l->enable(jit) : NULL;
	if (error) /* the LLJIT has another layer */
		l->consume(error);
	else
		ANNOUNCE_ONCE("LLVM: LLJIT's objects are registered through the GDB JIT interface");
}

static void *create_lljit(const struct library *l, void **jit, void *builder)
{
	void *error = l->create(jit, builder);

	if (!error && jit)
		enable_debug_support(l, *jit);
	return error;
}

static void construct_lljit(const struct library *l, void *jit, void *builder, uintptr_t *error)
{
	l->construct(jit, builder, error);
	if (error && (*error & ~(uintptr_t)1) == 0) /* the lowest bit means that the error was not checked yet */
		enable_debug_support(l, jit);
}

/* Each library has a pair of functions of its own, so that they know the library in which to go on. */
#define LIBRARY_FUNCTIONS(n) \
	static void *create_##n(void **jit, void *builder) \
	{ \
		return create_lljit(&libraries[n], jit, builder); \
	} \
	static void construct_##n(void *jit, void *builder, uintptr_t *error) \
	{ \
		construct_lljit(&libraries[n], jit, builder, error); \
	}
LIBRARY_FUNCTIONS(0)
LIBRARY_FUNCTIONS(1)
LIBRARY_FUNCTIONS(2)
LIBRARY_FUNCTIONS(3)
static create_function *const create_functions[LIBRARIES] = { create_0, create_1, create_2, create_3 };
static construct_function *const construct_functions[LIBRARIES] = { construct_0, construct_1, construct_2, construct_3 };

/* Finds the library that a slot leads to. A slot that is bound lazily leads back into its own object, and then that object has to name the
 * library as needed. Returns its index, or -1. */
static int find_library_of_slot(const struct object *o, void *const *slot, bool is_create)
{
	for (int i = 0; i < LIBRARIES && libraries[i].create; i++)
		if (*slot == (is_create ? (void *)libraries[i].create : (void *)libraries[i].construct))
			return i;
	for (int i = 0; i < LIBRARIES && libraries[i].create; i++)
		if (object_is_relocated(o, slot) && object_needs_library(o, libraries[i].name))
			return i;
	return -1;
}

static void redirect_calls(const struct object *o, const char *name, bool is_create)
{
	void **slot = object_find_slot(o, name), *before;
	int i = slot ? find_library_of_slot(o, slot, is_create) : -1;

	if (i < 0)
		return;
	if (slot_replace(o, name, is_create ? (void *)create_functions[i] : (void *)construct_functions[i], &before))
		guest_debug("LLVM: adapter unavailable (calls of %s cannot be redirected)", o->name);
}

static int redirect_user_calls(void *context, const struct object *o)
{
	(void)context;
	if (object_find_symbol(o, CREATE) || object_find_slot(o, ENABLE) || object_find_slot(o, ENABLE_CXX) ||
	    llvm_plugin_is_added_by_user(o))
		return 0;
	redirect_calls(o, CREATE, true);
	redirect_calls(o, CONSTRUCT, false);
	return 0;
}

void llvm_jitlink_hook_object(const struct object *o)
{
	struct library l;
	int i = 0;

	*(void **)&l.create = object_find_symbol(o, CREATE);
	if (!l.create) {
		if (libraries[0].create)
			redirect_user_calls(NULL, o);
		return;
	}
	*(void **)&l.construct = object_find_symbol(o, CONSTRUCT);
	*(void **)&l.enable = object_find_symbol(o, ENABLE);
	*(void **)&l.consume = object_find_symbol(o, "LLVMConsumeError");
	if (!l.construct || (!l.enable && !llvm_plugin_find_functions(o, &l.plugin)) || !l.consume ||
	    !object_read_soname(o, l.name, sizeof(l.name)))
		return;
	while (i < LIBRARIES && libraries[i].create && libraries[i].create != l.create)
		i++;
	if (i == LIBRARIES) {
		log_count_full();
		return;
	}
	libraries[i] = l; /* the slot is reused if the library was unloaded and is back */
	objects_each(redirect_user_calls, NULL); /* objects before it in the loader's list call it, too */
}
