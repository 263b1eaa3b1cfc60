/* SPDX-License-Identifier: MIT */
/* The option --overwrite of each command that writes files.  Context: thread. */
#ifndef TAILOR_OUTPUT_OPTION_H
#define TAILOR_OUTPUT_OPTION_H

#include <argp.h>

/* A line of argp options, for a command that handles the option itself. */
#define OUTPUT_OVERWRITE_OPTION(key) { "overwrite", key, NULL, 0, "write over any existing file", 0 }

/* A child of a command's argp, in which --overwrite calls output_file_allow_overwriting(). */
extern const struct argp output_argp;

#endif
