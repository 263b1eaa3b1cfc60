/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include <string.h>
#include <time.h>

int announce_load(uint64_t address, uint64_t bytes, const char *name, const void *code, uint64_t ago_ns)
{
	struct iovec parts[2];
	struct timespec now;
	JITREG_BEGIN_(load, r);

	clock_gettime(CLOCK_MONOTONIC, &now);
	r.prefix.timestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - ago_ns;
	r.vma = r.code_addr = address;
	r.code_size = bytes;
	parts[0] = jitreg_part_(name, strlen(name) + 1);
	parts[1] = jitreg_part_(code, code ? bytes : 0);
	return JITREG_SEND_(JITREG_LOAD, r, parts);
}
