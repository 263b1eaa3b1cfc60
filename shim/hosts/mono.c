/* SPDX-License-Identifier: MIT */
/*
 * Mono's profiler interface calls back for each method that was compiled (mono/metadata/profiler.h). The callback is set when the object
 * with Mono is first seen, or relocated if that is later, and needs no option. With --debug a method's lines are known, too.
 *
 * Mono's methods keep a frame pointer only where they need one, and no unwind information describes the other frames. So Mono is made to
 * keep it always, as MONO_DEBUG=disable_omit_fp does, if it exports the function that reads this option.
 */
#include "shim/hosts/hosts.h"

#include <stdio.h>
#include <string.h>

#define LINES_BYTES 16384
#define OFFSET_STEP 4 /* bytes of native code between two lookups of a line */

/* These are the members of mono/metadata/mono-debug.h's structure that are read here. */
struct location {
	char *source_file;
	uint32_t row, column, il_offset;
};

static struct {
	void *(*profiler_create)(void *);
	void (*set_jit_done_callback)(void *profiler, void *callback);
	char *(*method_full_name)(void *method, int signature);
	void *(*code_start)(void *jit_info);
	int (*code_size)(void *jit_info);
	struct location *(*lookup_location)(void *method, uint32_t native_offset, void *domain);
	void (*free_location)(struct location *l);
	void *(*domain_get)(void);
	int (*debug_enabled)(void);
	int (*parse_debug_option)(const char *option);
	void (*free)(void *);
} mono;

static void register_method_lines(void *method, uint64_t start, uint64_t bytes)
{
	unsigned char buffer[LINES_BYTES];
	struct line_table t = { .buffer = buffer, .capacity = sizeof(buffer) };
	void *domain = mono.domain_get();

	for (uint64_t at = 0; at < bytes; at += OFFSET_STEP) {
		struct location *l = mono.lookup_location(method, (uint32_t)at, domain);
		bool room = true;

		if (!l)
			continue;
		if (l->source_file && l->row)
			room = line_table_add(&t, t.nr ? start + at : start, l->row, l->source_file, strlen(l->source_file));
		mono.free_location(l);
		if (!room)
			break;
	}
	line_table_send(&t, start);
}

/* Mono calls this. Context: a host's thread that has compiled, with the host's locks held. */
static void on_method_compiled(void *profiler, void *method, void *jit_info)
{
	void *start = mono.code_start(jit_info);
	int bytes = mono.code_size(jit_info);
	char *name;

	(void)profiler;
	if (!start || bytes <= 0)
		return;
	name = mono.method_full_name(method, 1);
	if (mono.debug_enabled && mono.debug_enabled() && mono.lookup_location && mono.free_location && mono.domain_get)
		register_method_lines(method, (uint64_t)(uintptr_t)start, (uint64_t)bytes);
	jitreg_code_load((uint64_t)(uintptr_t)start, (uint64_t)bytes, 0, name ? name : "(no name)", start);
	if (name)
		mono.free(name);
}

void mono_hook_object(const struct object *o)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
		{ "mono_profiler_create", offsetof(__typeof__(mono), profiler_create) },
		{ "mono_profiler_set_jit_done_callback", offsetof(__typeof__(mono), set_jit_done_callback) },
		{ "mono_method_full_name", offsetof(__typeof__(mono), method_full_name) },
		{ "mono_jit_info_get_code_start", offsetof(__typeof__(mono), code_start) },
		{ "mono_jit_info_get_code_size", offsetof(__typeof__(mono), code_size) },
		{ "mono_free", offsetof(__typeof__(mono), free) },
		{ "mono_debug_lookup_source_location", offsetof(__typeof__(mono), lookup_location) },
		{ "mono_debug_free_source_location", offsetof(__typeof__(mono), free_location) },
		{ "mono_domain_get", offsetof(__typeof__(mono), domain_get) },
		{ "mono_debug_enabled", offsetof(__typeof__(mono), debug_enabled) },
		{ "mini_parse_debug_option", offsetof(__typeof__(mono), parse_debug_option) },
	};
	void *profiler;

	if (mono.profiler_create || !object_find_symbol(o, wanted[0].name) || object_hook_when_relocated(o, mono_hook_object))
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *symbol = object_find_symbol(o, wanted[i].name);

		if (!symbol && i < 6) {
			mono.profiler_create = NULL;
			return;
		}
		memcpy((char *)&mono + wanted[i].at, &symbol, sizeof(symbol));
	}
	profiler = mono.profiler_create(NULL);
	if (!profiler)
		return;
	mono.set_jit_done_callback(profiler, (void *)on_method_compiled);
	if (mono.parse_debug_option && mono.parse_debug_option("disable_omit_fp"))
		ANNOUNCE_ONCE(
			"Mono: compiled methods registered through its profiler interface; frame pointers enabled (disable_omit_fp)");
	else
		ANNOUNCE_ONCE("Mono: compiled methods registered through its profiler interface");
}
