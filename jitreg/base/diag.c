/* SPDX-License-Identifier: MIT */
#include "jitreg/base/diag.h"

#include <stdarg.h>
#include <stdio.h>

int diag_fail(struct diag *d, int error, const char *format, ...)
{
	va_list arguments;

	if (d) {
		va_start(arguments, format);
		vsnprintf(d->text, sizeof(d->text), format, arguments);
		va_end(arguments);
	}
	return -error;
}
