/* SPDX-License-Identifier: MIT */
/*
 * Included before everything else in what runs inside hosts (Makefile): it must load with their C library, from glibc 2.28 on, whichever
 * one it was built with.  Newer headers redirect calls to functions that older libraries lack; here they do not.  What another version
 * adds is found by tests/lint/exports.sh.
 */
#ifndef TAILOR_OLD_LIBC_H
#define TAILOR_OLD_LIBC_H

#include <features.h>

/* strtoul and its like accept 0b… as C23 wants it, under names of 2.38 (__isoc23_strtoul): called C2X until 2.40. */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

/* Moved from libdl into libc by 2.34; the old version is in both. */
#ifdef TAILOR_OLD_DLSYM
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5\n"
	".symver dlerror, dlerror@GLIBC_2.2.5");
#endif

#endif
