/* SPDX-License-Identifier: MIT */
/*
 * Which functions the program's authors wrote, as far as names and paths tell: not those of the language's own library, of packages that
 * were installed beside it, of the C library or the kernel.  They lead a report: "which of my functions".  Context: thread.
 */
#ifndef TAILOR_OWN_CODE_H
#define TAILOR_OWN_CODE_H

#include "analyzer/query/report.h"

/* By values of TABLE_FUNCTION: 1 for functions in the files of recorded programs, without the standard libraries that are compiled into
 * them.  The caller frees it; NULL without memory. */
unsigned char *own_functions_find(const struct report *r);
/* By components of HOST_LEVEL_FUNCTION: 1 for functions of files and classes that are not of a library, as paths and packages tell.
 * language: composition.h's.  The caller frees it; NULL without memory. */
unsigned char *own_components_find(const struct report *r, const char *language);

/* Is that file an executable of a recorded process, or the library that an interpreter's program is in? */
bool own_code_is_program(const struct model *m, const char *path);

/* For tests: of a Java command line, what names of the program's own functions begin with, "" for the package without a name; NULL: none
 * told.  text: room for it. */
#define OWN_PACKAGE_BYTES 128
const char *own_java_package(const char *command, char text[OWN_PACKAGE_BYTES]);
bool own_code_is_library_path(const char *path);
bool own_code_is_go_library(const char *function);

#endif
