/* SPDX-License-Identifier: MIT */
/*
 * Adapts PostgreSQL with its LLVM provider. The provider's ORC layer registers code with debuggers only if jit_debugging_support is on,
 * which is a superuser's setting. A backend reads it when it compiles for the first time, after llvmjit.so was loaded, so it is set in
 * memory when llvmjit.so is loaded.
 */
#include "shim/hosts/hosts.h"

#include "shim/engines/engines.h"

struct program {
	bool *debugging_support;
};

static int find_debugging_setting(void *context, const struct object *o)
{
	struct program *p = context;

	p->debugging_support = object_find_symbol(o, "jit_debugging_support");
	return 1; /* the program is the first object */
}

void postgres_hook_object(const struct object *o)
{
	struct program p = { NULL };

	postgres_plans_hook_object(o);
	if (!object_find_symbol(o, "_PG_jit_provider_init"))
		return;
	postgres_note_llvm_object(o);
	objects_each(find_debugging_setting, &p);
	if (!p.debugging_support || *p.debugging_support)
		return;
	*p.debugging_support = true;
	ANNOUNCE_ONCE("PostgreSQL: jit_debugging_support enabled in memory; code registered through the GDB JIT interface");
}
