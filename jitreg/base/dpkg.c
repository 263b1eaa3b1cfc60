/* SPDX-License-Identifier: MIT */
#include "jitreg/base/dpkg.h"
#include "jitreg/base/regular_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_BYTES_MAX (8u << 20)
#define LISTS_BYTES_MAX (256u << 20)
#define USR "/usr"

/* Is one of the lines of text equal to path? */
static bool has_line(const char *text, size_t bytes, const char *path)
{
	size_t length = strlen(path);

	for (const char *at = text; (at = memmem(at, bytes - (size_t)(at - text), path, length)); at++)
		if ((at == text || at[-1] == '\n') && (at + length == text + bytes || at[length] == '\n'))
			return true;
	return false;
}

static bool lists_file(const char *text, size_t bytes, const char *path)
{
	char in_usr[PATH_MAX];
	size_t usr = sizeof(USR) - 1;

	if (has_line(text, bytes, path))
		return true;
	if (strncmp(path, USR "/", usr + 1) == 0)
		return has_line(text, bytes, path + usr);
	return snprintf(in_usr, sizeof(in_usr), USR "%s", path) < (int)sizeof(in_usr) && has_line(text, bytes, in_usr);
}

/* Write the package to which a list belongs, "libc6" for libc6:amd64.list. Returns false if the file is not a list, or if the name is empty
 * or too long. */
static bool package_of(const char *file, char name[DPKG_NAME_BYTES])
{
	size_t bytes = strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789+.-"), length = strlen(file);

	if (length < 5 || strcmp(file + length - 5, ".list") != 0)
		return false;
	if (file[bytes] != ':')
		bytes -= bytes >= 5 ? 5 : bytes;
	if (!bytes || bytes >= DPKG_NAME_BYTES)
		return false;
	memcpy(name, file, bytes);
	name[bytes] = 0;
	return true;
}

/* Read a list.  The caller frees the text, which is not NUL-terminated.  Returns NULL if the list is empty, too large or unreadable, or if
 * memory runs out. */
static char *read_list(int folder, const char *name, size_t *bytes)
{
	struct stat st;
	int fd = regular_file_open_at(folder, name, false, &st);
	char *text = NULL;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (st.st_size > 0 && st.st_size <= (off_t)LIST_BYTES_MAX)
		text = malloc((size_t)st.st_size);
	n = text ? read(fd, text, (size_t)st.st_size) : -1;
	close(fd);
	if (n <= 0) {
		free(text);
		return NULL;
	}
	*bytes = (size_t)n;
	return text;
}

void dpkg_find_packages(const char *lists, struct dpkg_file *file, size_t nr)
{
	size_t bytes, left = nr, sum = 0;
	DIR *folder = opendir(lists);
	char name[DPKG_NAME_BYTES];
	struct dirent *e;

	for (size_t i = 0; i < nr; i++)
		file[i].package[0] = 0;
	while (folder && left && sum < LISTS_BYTES_MAX && (e = readdir(folder))) {
		char *text = package_of(e->d_name, name) ? read_list(dirfd(folder), e->d_name, &bytes) : NULL;

		for (size_t i = 0; text && i < nr; i++)
			if (!file[i].package[0] && file[i].path[0] == '/' && lists_file(text, bytes, file[i].path)) {
				memcpy(file[i].package, name, sizeof(name));
				left--;
			}
		sum += text ? bytes : 0;
		free(text);
	}
	if (folder)
		closedir(folder);
}

void dpkg_debug_package(const char *package, char name[DPKG_NAME_BYTES])
{
	/* Packages of Debian 12 and Ubuntu 24.04 for which a package with debug information is in the main archive.  %u stands for the
	 * version in the name. */
	static const char *const packages[][2] = {
		{ "libc6", "libc6-dbg" },
		{ "openjdk-%u-jre", "openjdk-%u-dbg" },
		{ "openjdk-%u-jre-headless", "openjdk-%u-dbg" },
		{ "openjdk-%u-jdk-headless", "openjdk-%u-dbg" },
		{ "python3.%u", "python3.%u-dbg" },
		{ "python3.%u-minimal", "python3.%u-dbg" },
		{ "libpython3.%u", "python3.%u-dbg" },
		{ "libpython3.%u-minimal", "python3.%u-dbg" },
		{ "libpython3.%u-stdlib", "python3.%u-dbg" },
	};
	const char *number = strpbrk(package, "-.");
	unsigned version = number ? (unsigned)strtoul(number + 1, NULL, 10) : 0;
	char whole[DPKG_NAME_BYTES];

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		snprintf(whole, sizeof(whole), packages[i][0], version);
		if (strcmp(whole, package) == 0) {
			snprintf(name, DPKG_NAME_BYTES, packages[i][1], version);
			return;
		}
	}
	snprintf(name, DPKG_NAME_BYTES, "%.*s-dbgsym", DPKG_NAME_BYTES - 8, package);
}
