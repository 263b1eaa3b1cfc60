/* SPDX-License-Identifier: MIT */
#include "jitreg/output/output_option.h"

#include "jitreg/output/output_file.h"

enum { KEY_OVERWRITE = 0x780 };

static const struct argp_option options[] = { OUTPUT_OVERWRITE_OPTION(KEY_OVERWRITE), { 0 } };

static error_t parse_output_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	(void)state;
	if (key != KEY_OVERWRITE)
		return ARGP_ERR_UNKNOWN;
	output_file_allow_overwriting();
	return 0;
}

const struct argp output_argp = { options, parse_output_option, NULL, NULL, NULL, NULL, NULL };
