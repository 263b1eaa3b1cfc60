/* SPDX-License-Identifier: MIT */
#include "shim/hosts/hosts.h"

#include "agent/guest/environ.h"
#include "shim/engines/engines.h"
#include "shim/libraries/libraries.h"

int hosts_waiting;

void hosts_retry_waiting_hooks(void)
{
	luajit_retry_callers();
}

void hosts_hook_object(const struct object *o)
{
	if (environ_get(ENVIRON_NO_ADAPT))
		return;
	deno_hook_object(o);
	duckdb_hook_object(o);
	erlang_hook_object(o);
	java_hook_object(o);
	javascriptcore_hook_object(o);
	llvm_jitlink_hook_object(o);
	llvm_orc_hook_object(o);
	luajit_hook_object(o);
	mono_hook_object(o);
	fixed_frame_note_object(o);
	pcre2_hook_object(o);
	perf_map_hook_object(o);
	php_hook_object(o);
	postgres_hook_object(o);
	pypy_hook_object(o);
	python_hook_object(o);
	ruby_hook_object(o);
	sqlite_hook_object(o);
	v8_hook_object(o);
	yjit_hook_object(o);
}

void hosts_adapt_injected(unsigned may_call)
{
	if (may_call & INJECTED_MAY_CALL_V8)
		v8_adapt_injected();
	if (may_call & INJECTED_MAY_CALL_PYTHON)
		python_adapt_injected();
}

void hosts_reset_in_child(void)
{
	postgres_reset_in_child();
}

void hosts_note_mapping(const void *address, size_t bytes, int fd)
{
	javascriptcore_note_mapping(fd);
	pypy_note_mapping(address, bytes);
}

void hosts_note_executable(const void *address, size_t bytes)
{
	llvm_orc_retry_hook();
	ruby_note_executable(address, bytes);
}

void hosts_note_region(const struct object *mapper, uint64_t address, uint64_t bytes)
{
	fixed_frame_note_region(mapper, address, bytes);
	ruby_note_region(mapper, address, bytes);
	yjit_note_region(mapper, address, bytes);
}

void hosts_note_writable(void)
{
	yjit_switch_on_perf_map();
}
