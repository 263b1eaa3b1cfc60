/* SPDX-License-Identifier: MIT */
#include "environ.h"

#include <stdlib.h>

static const char *values[ENVIRON_NR];

void environ_read(void)
{
#define READ_(NAME, text, help) values[ENVIRON_##NAME] = getenv(text);
	TAILOR_ENVIRONMENT(READ_)
#undef READ_
}

const char *environ_get(enum environ_variable v)
{
	return values[v] && *values[v] ? values[v] : NULL;
}
