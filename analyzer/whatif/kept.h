/* SPDX-License-Identifier: MIT */
/*
 * Keeps predictions in a file (`tailor whatif --keep`), which is written before the predicted runs are measured, so that `--verify` can
 * compare both. It is text, with a prediction a line, the measured time, and the checksum and size of the trace. Context: thread.
 */
#ifndef TAILOR_KEPT_H
#define TAILOR_KEPT_H

#include "jitreg/base/diag.h"
#include "jitreg/base/grow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_prediction {
	char change[256];
	double completion_ns, low_ns, high_ns;
};

struct kept {
	uint32_t crc32c; /* checksum of the file of the trace from which the predictions were made; bytes: its size */
	uint64_t bytes;
	double measured_ns;
	ARRAY_OF(struct kept_prediction);
};

/* Sets k->crc32c and k->bytes from the file at path. Returns 0, or -errno with the reason in d. */
int kept_checksum(const char *path, struct kept *k, struct diag *d);
/*
 * Adds a prediction. change is copied, cut to 255 bytes, with blanks for control characters. Returns false if there are 10,000 predictions
 * already, or if memory runs out.
 */
bool kept_add(struct kept *k, const char *change, double completion_ns, double low_ns, double high_ns);
/* Writes the file. Returns 0, or -errno with the reason in d. */
int kept_write(const struct kept *k, const char *path, struct diag *d);
/* Returns whether the file at path begins with the first line that kept_write() writes. */
bool kept_is(const char *path);
/*
 * Sets *k to the content of the file at path. Returns 0, or -errno with the reason in d. -EINVAL: kept_is() is false. -EBADMSG: the rest is
 * not as kept_write() writes it. -ENOMEM: kept_add() failed. Call kept_fini() in any case.
 */
int kept_read(struct kept *k, const char *path, struct diag *d);
void kept_fini(struct kept *k);

#endif
