/* SPDX-License-Identifier: MIT */
#include "jitreg/base/weight_unit.h"

#include <stddef.h>
#include <string.h>

#define TEXT_(NAME, text) text,
const char *const weight_units[NR_WEIGHT_UNITS + 1] = { WEIGHT_UNITS(TEXT_) "" };
#undef TEXT_

enum weight_unit weight_unit_parse(const char *text)
{
	for (int i = 0; text && i < NR_WEIGHT_UNITS; i++)
		if (strcmp(weight_units[i], text) == 0)
			return (enum weight_unit)i;
	return NR_WEIGHT_UNITS;
}
