/* SPDX-License-Identifier: MIT */
/*
 * Demangles symbols of C++ (the Itanium ABI), Rust (v0 and the older scheme) and D.  Only this file uses libiberty.
 *
 * Symbols are hostile: names of a few bytes can stand for terabytes.  Input, output and work are bounded, and libiberty's limits of
 * recursion are on; a symbol that exceeds a bound stays as it is.
 * Context: thread.
 */
#ifndef TAILOR_DEMANGLE_H
#define TAILOR_DEMANGLE_H

#define DEMANGLE_SYMBOL_MAX 8192u /* bytes of a symbol */
#define DEMANGLE_NAME_MAX 16384u  /* bytes of a demangled name */

/* The name that a symbol stands for, with parameters and without a return type.  A suffix after '@' (a version, "plt") stays at its end.
 * NULL: the symbol is not mangled, is damaged, or exceeds a bound.  The caller frees it. */
char *demangle(const char *symbol);

#endif
