/* SPDX-License-Identifier: MIT */
/*
 * Predictions in a file, written before what they are of is measured: text, one a line, with the trace's checksum.  Context: thread.
 */
#ifndef TAILOR_KEPT_H
#define TAILOR_KEPT_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_prediction {
	char change[256];
	double completion_ns, low_ns, high_ns;
};

struct kept {
	uint32_t crc32c; /* of the trace that they were made from */
	uint64_t bytes;
	double measured_ns;
	struct kept_prediction *of;
	uint32_t nr, capacity;
};

/* Checksum and size of a file.  0 or -errno with a sentence. */
int kept_checksum(const char *path, struct kept *k, struct diag *d);
bool kept_add(struct kept *k, const char *change, double completion_ns, double low_ns, double high_ns);
int kept_write(const struct kept *k, const char *path, struct diag *d);
/* Does the file hold predictions? */
bool kept_is(const char *path);
int kept_read(struct kept *k, const char *path, struct diag *d);
void kept_fini(struct kept *k);

#endif
