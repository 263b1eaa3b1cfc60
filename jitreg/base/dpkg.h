/* SPDX-License-Identifier: MIT */
/*
 * Which package of Debian, or of a distribution made from it, brings a file, and which one what was taken out of that file.  dpkg's lists
 * are read, nothing is run.  Context: thread; of a few thousand packages tens of milliseconds.
 */
#ifndef TAILOR_DPKG_H
#define TAILOR_DPKG_H

#include <stddef.h>

#define DPKG_NAME_BYTES 64
#define DPKG_LISTS "/var/lib/dpkg/info"

struct dpkg_file {
	const char *path;
	char package[DPKG_NAME_BYTES]; /* "": none that is known */
};

/* In one pass over the lists in a folder.  A path with /usr in front and one without it are one (merged /usr). */
void dpkg_find_packages(const char *lists, struct dpkg_file *file, size_t nr);
/* "libc6-dbg": from the distribution itself, of the few packages that have one; "git-dbgsym": from its archive of debug symbols. */
void dpkg_debug_package(const char *package, char name[DPKG_NAME_BYTES]);

#endif
