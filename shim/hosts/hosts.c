/* SPDX-License-Identifier: MIT */
#include "hosts.h"

#include "environ.h"

#include <string.h>

void hosts_object(const struct object *o)
{
	if (environ_get(ENVIRON_NO_ADAPT))
		return;
	erlang_object(o);
	java_object(o);
	javascriptcore_object(o);
	luajit_object(o);
	mono_object(o);
	one_frame_object(o);
	php_object(o);
	postgres_object(o);
	pypy_object(o);
	ruby_object(o);
	v8_object(o);
}

void hosts_mapped(const void *address, size_t bytes, int fd)
{
	javascriptcore_mapped(fd);
	pypy_mapped(address, bytes);
}

void hosts_executable(const void *address, size_t bytes)
{
	ruby_executable(address, bytes);
}

void hosts_region(const struct object *mapper, uint64_t address, uint64_t bytes)
{
	one_frame_region(mapper, address, bytes);
	ruby_region(mapper, address, bytes);
}

int hosts_load(uint64_t address, uint64_t bytes, const char *name, const void *code, uint64_t ago_ns)
{
	struct jitreg_load r;
	struct iovec parts[2];
	struct timespec now;

	memset(&r, 0, sizeof(r));
	clock_gettime(CLOCK_MONOTONIC, &now);
	r.prefix.timestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - ago_ns;
	r.vma = r.code_addr = address;
	r.code_size = bytes;
	parts[0] = jitreg_part_(name, strlen(name) + 1);
	parts[1] = jitreg_part_(code, bytes);
	return JITREG_SEND_(JITREG_LOAD, r, parts);
}
