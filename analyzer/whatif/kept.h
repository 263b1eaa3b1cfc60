/* SPDX-License-Identifier: MIT */
/*
 * Keeps predictions in a file (`tailor whatif --keep`), which is written before the predicted runs are measured, so that `--verify` can
 * compare both. It is text, with a prediction a line and the checksum of the trace. Context: thread.
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
	uint32_t crc32c; /* checksum of the trace from which the predictions were made */
	uint64_t bytes;
	double measured_ns;
	struct kept_prediction *of;
	uint32_t nr, capacity;
};

/* Sets k->crc32c and k->bytes from the file at path. Returns 0, or -errno with the reason in d. */
int kept_checksum(const char *path, struct kept *k, struct diag *d);
bool kept_add(struct kept *k, const char *change, double completion_ns, double low_ns, double high_ns);
int kept_write(const struct kept *k, const char *path, struct diag *d);
/* Does the file at path begin as kept_write() begins it? */
bool kept_is(const char *path);
int kept_read(struct kept *k, const char *path, struct diag *d);
void kept_fini(struct kept *k);

#endif
