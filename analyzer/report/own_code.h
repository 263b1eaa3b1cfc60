/* SPDX-License-Identifier: MIT */
/*
 * The functions that the program's authors wrote, as far as names and paths tell. Functions of the language's own library, of packages that
 * were installed beside it, of the C library and of the kernel are not among them. A report lists the authors' functions first, because a
 * reader asks "which of my functions?". Context: thread.
 */
#ifndef TAILOR_OWN_CODE_H
#define TAILOR_OWN_CODE_H

#include "analyzer/query/report.h"

/* Return a value for each value of TABLE_FUNCTION: 1 for functions in the files of recorded programs, without the standard libraries that
 * are compiled into them. The caller frees it. NULL without memory. */
unsigned char *own_functions_find(const struct report *r);
/* Return a value for each component of HOST_LEVEL_FUNCTION: 1 for functions whose paths and packages are not a library's. language: as in
 * composition.h. The caller frees it. NULL without memory. */
unsigned char *own_components_find(const struct report *r, const char *language);

/* Is the file an executable of a recorded process, or the library of an interpreter (libpython, libruby, ...)? */
bool own_code_is_program(const struct model *m, const char *path);

/* For tests: find the beginning that names of the program's own functions have, from a Java command line. "": classes without a package.
 * NULL: the command line does not tell. text has room for it. */
#define OWN_PACKAGE_BYTES 128
const char *own_java_package(const char *command, char text[OWN_PACKAGE_BYTES]);
bool own_code_is_library_path(const char *path);
bool own_code_is_go_library(const char *function);

#endif
