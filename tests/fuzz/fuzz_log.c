/* SPDX-License-Identifier: MIT */
/* A registration log that a hostile guest filled: the bytes are ring and head; and each as a record by itself. */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/guests/log_drain.h"
#include "jitreg/trace/schema.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_record(void *context, uint32_t tid, const void *bytes, size_t size)
{
	struct schema_value values[SCHEMA_FIELDS_MAX];
	int nr;

	(void)context;
	(void)tid;
	schema_parse(bytes, size, values, &nr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_drain l;
	size_t bytes = size < LOG_RING_BYTES_MIN ? size : LOG_RING_BYTES_MIN;
	int fd;

	on_record(NULL, 0, data, size);
	if (log_drain_create(&l, 1, LOG_RING_BYTES_MIN, &fd))
		abort();
	memcpy((unsigned char *)(uintptr_t)l.ring, data, bytes);
	l.head->reserved = l.consumed + (bytes & ~(size_t)7);
	log_drain(&l, true, 0, on_record, NULL);
	if (size >= 8)
		memcpy(&l.head->reserved, data, 8);
	log_drain(&l, true, 0, on_record, NULL);
	log_drain_close(&l);
	close(fd);
	return 0;
}
