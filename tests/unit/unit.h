/* SPDX-License-Identifier: MIT */
/* cmocka, with what it needs in front. */
#ifndef TAILOR_UNIT_H
#define TAILOR_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
