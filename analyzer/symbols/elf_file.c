/* SPDX-License-Identifier: MIT */
/* ELF files of the machine that reads a trace: only those that a build id tells to be the trace's. */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/regular_file.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool has_build_id(Elf *elf, const char *build_id)
{
	const void *bytes;
	ssize_t nr = dwelf_elf_gnu_build_id(elf, &bytes);
	size_t length = strlen(build_id);
	char hex[3];

	for (ssize_t i = 0; i < nr; i++) {
		snprintf(hex, sizeof(hex), "%02x", ((const unsigned char *)bytes)[i]);
		if ((size_t)i >= length / 2 || memcmp(hex, build_id + 2 * i, 2) != 0)
			return false;
	}
	return nr > 0 && (size_t)nr == length / 2;
}

int elf_file_open(const char *path, const char *build_id, Elf **elf)
{
	int fd = regular_file_open(path);

	*elf = NULL;
	if (fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	*elf = elf_begin(fd, ELF_C_READ, NULL); /* not mapped: a file that becomes shorter meanwhile is no SIGBUS */
	if (*elf && elf_kind(*elf) == ELF_K_ELF && has_build_id(*elf, build_id))
		return fd;
	elf_end(*elf);
	*elf = NULL;
	close(fd);
	return -1;
}

bool elf_file_is(const char *path, const char *build_id)
{
	Elf *elf;
	int fd = elf_file_open(path, build_id, &elf);

	if (fd < 0)
		return false;
	elf_end(elf);
	close(fd);
	return true;
}
