/* SPDX-License-Identifier: MIT */
/*
 * The error reporting of recorder and analyzer.  A function returns -errno to its caller, and stores one sentence in a struct diag.  Only
 * commands print it.  Context: thread.
 */
#ifndef TAILOR_DIAG_H
#define TAILOR_DIAG_H

struct diag {
	char text[512]; /* one sentence, without a newline; cut when longer */
};

/* Store the sentence (d may be NULL) and return -error. */
int diag_fail(struct diag *d, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
