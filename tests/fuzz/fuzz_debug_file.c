/* SPDX-License-Identifier: MIT */
/* An ELF file as a recorder reads it: its parts, what is packed in it (.gnu_debugdata), and both pruned; also as what was packed. */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/images/debug_file.h"
#include "agent/recorder/images/elf_prune.h"
#include "agent/recorder/images/go_module.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void prune(struct elf_parts *parts, struct elf_parts *segments)
{
	static const uint64_t pages[] = { 0x5555, 0x3333 };

	elf_prune(parts, segments, &(struct elf_seen){ pages, 128 });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_parts parts, symbols;
	char where[DEBUG_FILE_TEXT];
	uint64_t left = DEBUG_FILE_BYTES_ALL;

	fd = fd < 0 ? memfd_create("fuzz", MFD_CLOEXEC) : fd;
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	if (elf_parts_read(fd, true, &parts))
		return 0;
	go_module_add(fd, &parts);
	parts.debug_link[0] = 0; /* nothing of this machine's */
	parts.build_id_bytes = 0;
	if (debug_file_find(&parts, fd, "", 0, NULL, &left, &symbols, where)) {
		prune(&symbols, &parts);
		elf_parts_free(&symbols);
	}
	prune(&parts, &parts);
	elf_parts_free(&parts);
	if (elf_parts_read_symbols(fd, &symbols) == 0) {
		prune(&symbols, &symbols);
		elf_parts_free(&symbols);
	}
	return 0;
}
