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
	php_object(o);
	postgres_object(o);
	pypy_object(o);
	v8_object(o);
}

void hosts_mapped(const void *address, size_t bytes, int fd)
{
	javascriptcore_mapped(fd);
	pypy_mapped(address, bytes);
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

bool line_table_add(struct line_table *t, uint64_t address, uint32_t line, const char *file, size_t file_bytes)
{
	uint32_t discriminator = 0;
	unsigned char *p = t->buffer + t->bytes;

	if (t->nr && line == t->last_line && strlen(t->last_file) == file_bytes && memcmp(t->last_file, file, file_bytes) == 0)
		return true;
	if (16 + file_bytes + 1 > t->capacity - t->bytes)
		return false;
	memcpy(p, &address, 8);
	memcpy(p + 8, &line, 4);
	memcpy(p + 12, &discriminator, 4);
	memcpy(p + 16, file, file_bytes);
	p[16 + file_bytes] = 0;
	t->bytes += 16 + file_bytes + 1;
	t->nr++;
	t->last_line = line;
	t->last_file = (const char *)p + 16;
	return true;
}

void line_table_send(const struct line_table *t, uint64_t address)
{
	if (t->nr)
		jitreg_debug_info(address, t->nr, t->buffer, t->bytes);
}

bool inline_table_add(struct line_table *t, uint64_t address, uint32_t line, uint32_t depth, const char *function, const char *file)
{
	size_t function_bytes = strlen(function), file_bytes = strlen(file), bytes = 16 + function_bytes + 1 + file_bytes + 1;
	unsigned char *p = t->buffer + t->bytes;

	if (bytes > t->capacity - t->bytes)
		return false;
	memcpy(p, &address, 8);
	memcpy(p + 8, &line, 4);
	memcpy(p + 12, &depth, 4);
	memcpy(p + 16, function, function_bytes);
	p[16 + function_bytes] = '\n';
	memcpy(p + 16 + function_bytes + 1, file, file_bytes + 1);
	t->bytes += bytes;
	t->nr++;
	return true;
}

void inline_table_send(const struct line_table *t, uint64_t address)
{
	if (t->nr)
		jitreg_inlines(address, t->nr, t->buffer, t->bytes);
}
