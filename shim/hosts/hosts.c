/* SPDX-License-Identifier: MIT */
#include "shim/hosts/hosts.h"

#include "agent/guest/environ.h"
#include "shim/engines/engines.h"
#include "shim/libraries/libraries.h"

int hosts_waiting;

void hosts_retry(void)
{
	luajit_retry();
}

void hosts_object(const struct object *o)
{
	if (environ_get(ENVIRON_NO_ADAPT))
		return;
	deno_object(o);
	duckdb_object(o);
	erlang_object(o);
	java_object(o);
	javascriptcore_object(o);
	llvm_jitlink_object(o);
	llvm_orc_object(o);
	luajit_object(o);
	mono_object(o);
	fixed_frame_object(o);
	pcre2_object(o);
	perf_map_object(o);
	php_object(o);
	postgres_object(o);
	pypy_object(o);
	ruby_object(o);
	sqlite_object(o);
	v8_object(o);
	yjit_object(o);
}

void hosts_injected(void)
{
	v8_injected();
}

void hosts_in_child(void)
{
	postgres_in_child();
}

void hosts_mapped(const void *address, size_t bytes, int fd)
{
	javascriptcore_mapped(fd);
	pypy_mapped(address, bytes);
}

void hosts_executable(const void *address, size_t bytes)
{
	llvm_orc_executable();
	ruby_executable(address, bytes);
}

void hosts_region(const struct object *mapper, uint64_t address, uint64_t bytes)
{
	fixed_frame_region(mapper, address, bytes);
	ruby_region(mapper, address, bytes);
	yjit_region(mapper, address, bytes);
}

void hosts_writable(void)
{
	yjit_writable();
}
