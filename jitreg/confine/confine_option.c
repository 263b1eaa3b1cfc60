/* SPDX-License-Identifier: MIT */
/* With the option --no-sandbox, users can help themselves if the confinement refuses something that a command needs. */
#include "jitreg/confine/confine.h"

static bool is_off;

enum { KEY_NO_SANDBOX = 0x900 };
static const struct argp_option options[] = {
	{ "no-sandbox", KEY_NO_SANDBOX, NULL, 0, "keep all rights of the user while others' bytes are parsed", 90 },
	{ 0 },
};

static error_t parse_confine_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	(void)state;
	if (key != KEY_NO_SANDBOX)
		return ARGP_ERR_UNKNOWN;
	is_off = true;
	return 0;
}

const struct argp confine_argp = { options, parse_confine_option, NULL, NULL, NULL, NULL, NULL };

bool confine_is_off(void)
{
	return is_off;
}
