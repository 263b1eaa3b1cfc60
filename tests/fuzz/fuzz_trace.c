/* SPDX-License-Identifier: MIT */
/*
 * A whole trace through reader, model and attribution.  A chunk's checksum is put right first, so that mutations of bodies
 * get behind it.
 */
#include "fuzz.h"

#include "attribute.h"
#include "crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void repair(uint8_t *data, size_t size)
{
	for (size_t at = 0; size - at >= sizeof(struct trace_chunk) && at < size;) {
		struct trace_chunk c;
		size_t left = size - at - sizeof(c);

		memcpy(&c, data + at, sizeof(c));
		if (c.magic != TRACE_MAGIC) {
			at++;
			continue;
		}
		if (c.stored_bytes > left)
			c.stored_bytes = (uint32_t)left;
		if (!(c.flags & TRACE_CHUNK_ZSTD))
			c.body_bytes = c.stored_bytes;
		c.crc32c = crc32c(crc32c(0, &c, sizeof(c) - 4), data + at + sizeof(c), c.stored_bytes);
		memcpy(data + at, &c, sizeof(c));
		at += sizeof(c) + c.stored_bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct attribute_options o = { .run_mark = "run" };
	struct trace_reader *t;
	struct attribution *a;
	struct model *m;
	uint8_t *copy = malloc(size + 1);
	char path[32];
	int fd = memfd_create("fuzz", 0);

	if (!copy || fd < 0)
		abort();
	memcpy(copy, data, size);
	repair(copy, size);
	if (write(fd, copy, size) != (ssize_t)size)
		abort();
	free(copy);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trace_open(path, &t, NULL) == 0) {
		if (model_create(t, &m, NULL) == 0) {
			if (attribute(t, m, &o, &a, NULL) == 0)
				attribution_destroy(a);
			model_destroy(m);
		}
		trace_close(t);
	}
	close(fd);
	return 0;
}
