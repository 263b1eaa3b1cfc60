/* SPDX-License-Identifier: MIT */
/*
 * Finds the package of Debian, or of a derived distribution, that contains a file, and the package with the debug information that was
 * stripped from the file.  Reads dpkg's lists and runs no program.  Takes tens of milliseconds with a few thousand packages.
 * Context: thread.
 */
#ifndef TAILOR_DPKG_H
#define TAILOR_DPKG_H

#include <stddef.h>

#define DPKG_NAME_BYTES 64
#define DPKG_LISTS "/var/lib/dpkg/info"

struct dpkg_file {
	const char *path;
	char package[DPKG_NAME_BYTES]; /* "": unknown */
};

/* Find the packages of files in one pass over a folder of lists.  Paths with and without /usr in front are equal (merged /usr). */
void dpkg_find_packages(const char *lists, struct dpkg_file *file, size_t nr);
/* The package with the debug information of a package.  A few packages have one in the main archive ("libc6-dbg"), and the others one in
 * the archive of debug symbols ("git-dbgsym"). */
void dpkg_debug_package(const char *package, char name[DPKG_NAME_BYTES]);

#endif
