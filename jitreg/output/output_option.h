/* SPDX-License-Identifier: MIT */
/* Each command that writes files has the option --overwrite. Context: thread. */
#ifndef TAILOR_OUTPUT_OPTION_H
#define TAILOR_OUTPUT_OPTION_H

#include <argp.h>

/* This is an entry for the argp options of a command that handles the option itself. */
#define OUTPUT_OVERWRITE_OPTION(key) { "overwrite", key, NULL, 0, "write over any existing file", 0 }

/* This argp child is for the other commands. Its --overwrite calls output_file_allow_overwriting(). */
extern const struct argp output_argp;

#endif
