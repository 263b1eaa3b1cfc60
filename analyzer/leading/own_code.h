/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions that the program's authors wrote, as far as names and paths tell. Functions of the language's own library, of
 * packages that were installed beside it, of the C library and of the kernel are not among them. A report lists the authors' functions
 * first, because a reader asks "which of my functions?". Context: thread.
 */
#ifndef TAILOR_OWN_CODE_H
#define TAILOR_OWN_CODE_H

#include "analyzer/query/report.h"

/* Return a flag for each number of TABLE_FUNCTION. It is 1 for generated code and for functions in files for which own_code_is_program() is
 * true, except for those of standard libraries that are compiled into them, and for entries of the PLT. The caller frees it. Return NULL if
 * memory runs out. */
unsigned char *own_functions_find(const struct report *r);
/* Return a flag for each component. It is 1 for those of HOST_LEVEL_FUNCTION whose path or package is not a library's. language: as in
 * composition.h. The caller frees it. Return NULL if memory runs out. */
unsigned char *own_components_find(const struct report *r, const char *language);

/* These are ranks of lines in a table. The program's own lines come first, by their own samples, and the agent's come last. */
enum own_line { OWN_LINE, OWN_LINE_OTHER, OWN_LINE_AGENT };
/* Return an enum own_line for each number of TABLE_LINE. Lines of generated code, and of files for which own_code_is_program() is true, are
 * the program's own, except for those whose path is a library's. of_language: functions of a language lead, so that lines of its
 * interpreter or virtual machine are others. The caller frees it. Return NULL if memory runs out. */
unsigned char *own_lines_rank(const struct report *r, bool of_language);

/* Is the path of a source file of a language that of its library, or of a package that was installed? */
bool own_code_is_library_path(const char *path);
/* Is the file an executable of a recorded process, or the library of an interpreter (libpython, libruby, ...)? */
bool own_code_is_program(const struct model *m, const char *path);

/* The functions below are declared for tests. own_java_package() finds how the names of the program's own classes begin, from a Java
 * command line. It returns text with the first two parts of the package of the main class, or "" for a class without a package. It returns
 * NULL if the command line does not show the class. */
#define OWN_PACKAGE_BYTES 128
const char *own_java_package(const char *command, char text[OWN_PACKAGE_BYTES]);
bool own_code_is_library_source(const char *path);
bool own_code_is_go_library(const char *function);
bool own_code_is_standard_library(const char *function);

#endif
