/* SPDX-License-Identifier: MIT */
/* Tells what a file is that is no perf.data file, and the command that opens it. Context: thread. */
#ifndef TAILOR_IMPORT_OTHER_FORMATS_H
#define TAILOR_IMPORT_OTHER_FORMATS_H

#include "jitreg/base/diag.h"

#include <stdint.h>

/* Returns -EBADMSG with a sentence in d.  path: name of the file for the sentence, or "-" for standard input. */
int import_refuse_other_format(const unsigned char *bytes, uint64_t size, const char *path, struct diag *d);

#endif
