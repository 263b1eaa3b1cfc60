/* SPDX-License-Identifier: MIT */
/* The option --overwrite, which each command that writes files has.  Context: thread. */
#ifndef TAILOR_OUTPUT_OPTION_H
#define TAILOR_OUTPUT_OPTION_H

#include <argp.h>

/* An entry for the argp options of a command that handles the option itself. */
#define OUTPUT_OVERWRITE_OPTION(key) { "overwrite", key, NULL, 0, "write over any existing file", 0 }

/* The argp child for the other commands: --overwrite calls output_file_allow_overwriting(). */
extern const struct argp output_argp;

#endif
