/* SPDX-License-Identifier: MIT */
/*
 * This header is included before everything else in code that runs inside hosts (Makefile).  That code must load with the host's C library,
 * from glibc 2.28 on, whichever glibc it was built with.  Newer headers redirect calls to functions that older libraries lack, and this
 * header prevents that.  tests/lint/exports.sh finds redirections that another version adds.
 */
#ifndef TAILOR_OLD_LIBC_H
#define TAILOR_OLD_LIBC_H

#include <features.h>

/* strtoul and similar functions accept 0b… under C23, as symbols of glibc 2.38 (__isoc23_strtoul).  The macro has C2X in its name until
 * 2.40. */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

/* glibc 2.34 moved these functions from libdl into libc.  The old version is in both. */
#ifdef TAILOR_OLD_DLSYM
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5\n"
	".symver dlerror, dlerror@GLIBC_2.2.5");
#endif

#endif
