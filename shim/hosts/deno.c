/* SPDX-License-Identifier: MIT */
/*
 * Deno's V8 is not exported, but writes a jitdump file with --perf-prof. Deno reads options of V8 from the environment (DENO_V8_FLAGS) when
 * it starts. Unless the user has set the variable, Deno gets that option as the answer, once. Scripts that read the variable later get the
 * user's value. V8 removes the file as soon as it is mapped, and the recorder reads on through the host's mapping. V8 opens a log of its
 * own, too, which is a temporary file without a name.
 */
#include "shim/hosts/hosts.h"

#include <string.h>

static const char variable[] = "DENO_V8_FLAGS";
static char options[] = "--perf-prof,--perf-prof-path=/tmp,--perf-prof-delete-file,"
			"--logfile=+,--no-logfile-per-isolate";

static char *(*real_getenv)(const char *);

static char *on_v8_flags_getenv(const char *name)
{
	static int answered;
	char *theirs = real_getenv(name);

	if (strcmp(name, variable) != 0 || __atomic_exchange_n(&answered, 1, __ATOMIC_RELAXED) || theirs || !guest_is_on())
		return theirs;
	ANNOUNCE_ONCE("Deno: DENO_V8_FLAGS answered with --perf-prof, once; its jitdump file is removed");
	return options;
}

/* Deno is recognised as a program that has Node's interface for extensions and does not export V8's. */
void deno_hook_object(const struct object *o)
{
	if (real_getenv || *o->name || !object_find_symbol(o, "napi_create_object") ||
	    object_find_symbol(o, "_ZN2v87Isolate10GetCurrentEv"))
		return;
	if (slot_replace(o, "getenv", (void *)on_v8_flags_getenv, &real_getenv))
		guest_debug("Deno: adapter unavailable (the call that reads its environment was not found)");
}
