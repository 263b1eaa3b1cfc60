/* SPDX-License-Identifier: MIT */
/*
 * Demangles symbols of C++ (the Itanium ABI), Rust (v0 and the older scheme) and D. Only demangle.c uses libiberty.
 *
 * Symbols are untrusted, and a symbol of a few bytes can stand for a name of terabytes. Input, output and work are bounded, and
 * libiberty's limits of recursion are on. A symbol that exceeds a bound is not demangled, and after GIVEN_UP_MAX such symbols of Rust or D
 * in a thread, none is. Context: thread.
 */
#ifndef TAILOR_DEMANGLE_H
#define TAILOR_DEMANGLE_H

#define DEMANGLE_SYMBOL_MAX 8192u /* maximum length of a symbol */
#define DEMANGLE_NAME_MAX 16384u  /* maximum length of a demangled name */

/*
 * Returns the name that a symbol stands for, with parameters and without a return type.  A suffix that begins with '@' (a version, "plt")
 * stays at its end.  The caller frees it.  Returns NULL if the symbol is not mangled, is damaged or exceeds a bound, or if memory ran out.
 */
char *demangle(const char *symbol);

#endif
