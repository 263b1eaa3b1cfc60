/* SPDX-License-Identifier: MIT */
/*
 * Finds the package of Debian, or of a derived distribution, that contains a file, and the package with the debug information that was
 * stripped from the file.  Reads dpkg's lists of files, and runs no program.  This takes tens of milliseconds with a few thousand packages.
 * Context: thread.
 */
#ifndef TAILOR_DPKG_H
#define TAILOR_DPKG_H

#include <stddef.h>

#define DPKG_NAME_BYTES 64
#define DPKG_LISTS "/var/lib/dpkg/info"

struct dpkg_file {
	const char *path;
	char package[DPKG_NAME_BYTES]; /* out: name of the package; "": no list has the file */
};

/* Set the packages of nr files, in one pass over the folder with lists.  paths must be absolute.  /usr/lib/X and /lib/X count as the same
 * file, because on systems with a merged /usr lists may have either. */
void dpkg_find_packages(const char *lists, struct dpkg_file *file, size_t nr);
/* Write the name of the package that has the debug information of a package.  For a few packages it is in the main archive ("libc6-dbg"),
 * and for the others it should be in the archive of debug symbols ("git-dbgsym").  It may not exist. */
void dpkg_debug_package(const char *package, char name[DPKG_NAME_BYTES]);

#endif
