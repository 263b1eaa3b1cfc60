/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include <string.h>

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

bool inline_table_add(struct line_table *t, uint64_t address, uint32_t line, uint32_t depth, const char *function, const char *file,
		      size_t file_bytes)
{
	size_t function_bytes = strlen(function), bytes = 16 + function_bytes + 1 + file_bytes + 1;
	unsigned char *p = t->buffer + t->bytes;

	if (bytes > t->capacity - t->bytes)
		return false;
	memcpy(p, &address, 8);
	memcpy(p + 8, &line, 4);
	memcpy(p + 12, &depth, 4);
	memcpy(p + 16, function, function_bytes);
	p[16 + function_bytes] = '\n';
	memcpy(p + 16 + function_bytes + 1, file, file_bytes);
	p[bytes - 1] = 0;
	t->bytes += bytes;
	t->nr++;
	return true;
}

void inline_table_send(const struct line_table *t, uint64_t address)
{
	if (t->nr)
		jitreg_inlines(address, t->nr, t->buffer, t->bytes);
}
