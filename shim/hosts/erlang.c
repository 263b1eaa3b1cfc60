/* SPDX-License-Identifier: MIT */
/*
 * Adapts Erlang (OTP 25 and later).  Its JIT registers code with debuggers by itself, and keeps frame pointers if +JPperf asks for a perf
 * map.  So the variable that +JPperf sets is set before the machine reads its options.  When the machine opens the perf map, it gets a
 * stream that discards the text, and the variable is reset.  The kind of frames is decided by then, and all else stays as it is without the
 * option.  The user's own +JPperf comes in between and has precedence.
 */
#include "shim/hosts/hosts.h"

#include <stdio.h>
#include <string.h>

#define PERF_MAP 2 /* beam_asm.h: BEAMASM_PERF_MAP; PERF_FP is BEAMASM_PERF_FP of later versions */
#define PERF_FP 4

static int *perf_support;
static bool is_erlang;
static FILE *(*real_fopen)(const char *, const char *);

static ssize_t discard_perf_map_text(void *cookie, const char *text, size_t bytes)
{
	(void)cookie;
	(void)text;
	return (ssize_t)bytes;
}

static FILE *on_perf_map_fopen(const char *path, const char *mode)
{
	cookie_io_functions_t none = { .write = discard_perf_map_text };

	if (*perf_support != (PERF_MAP | PERF_FP) || !path || !strstr(path, "/perf-"))
		return real_fopen(path, mode);
	*perf_support = 0;
	ANNOUNCE_ONCE("Erlang: frame pointers in generated code enabled, as with +JPperf map; no perf map is written");
	return fopencookie(NULL, "w", none);
}

bool erlang_is_host(void)
{
	return is_erlang;
}

void erlang_hook_object(const struct object *o)
{
	int *support;

	if (perf_support || !object_find_symbol(o, "erts_frame_layout"))
		return;
	is_erlang = true;
	if (!guest_is_on())
		return;
	support = object_find_symbol(o, "erts_jit_perf_support");
	if (!support || !object_contains(o, support, sizeof(*support)) || *support)
		return;
	perf_support = support;
	if (slot_replace(o, "fopen", (void *)on_perf_map_fopen, &real_fopen))
		guest_debug("Erlang: adapter unavailable (the call that opens a perf map was not found)");
	else
		*support = PERF_MAP | PERF_FP;
}
