/* SPDX-License-Identifier: MIT */
/*
 * A function of the recorder or the analyzer that fails returns -errno, and stores one sentence about the failure in a struct diag,
 * which only commands print. Comments say "Returns -errno with a sentence". Context: thread.
 */
#ifndef TAILOR_DIAG_H
#define TAILOR_DIAG_H

struct diag {
	char text[1024]; /* one sentence, without a newline, cut if it is too long */
};

/* Store a sentence in *d, unless d is NULL, and return -error.  error: a positive errno value. */
int diag_fail(struct diag *d, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
