/* SPDX-License-Identifier: MIT */
#include "jitreg/base/mapping_kind.h"

#include <string.h>
#include <sys/mman.h>

static const struct {
	const char *begin;
	enum mapping_kind kind;
} beginnings[] = { /* a path is of the kind of the first entry that it begins with */
	{ "//anon", MAPPING_ANONYMOUS },
	{ "/memfd:", MAPPING_MEMORY },
	{ "/dev/zero", MAPPING_MEMORY },
	{ "/SYSV", MAPPING_MEMORY },
	{ "/anon_hugepage", MAPPING_MEMORY },
	{ "/dev/shm/", MAPPING_FILE },
	{ "/dev/hugepages/", MAPPING_FILE },
	{ "/dev/", MAPPING_DEVICE },
	{ "/", MAPPING_FILE },
	{ "[vdso]", MAPPING_KERNEL },
	{ "[vsyscall]", MAPPING_KERNEL },
	{ "[vvar", MAPPING_KERNEL },
	{ "[uprobes]", MAPPING_KERNEL },
};

enum mapping_kind mapping_kind(const char *path, size_t bytes)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t n = strlen(beginnings[i].begin);

		if (bytes >= n && memcmp(path, beginnings[i].begin, n) == 0)
			return beginnings[i].kind;
	}
	return MAPPING_ANONYMOUS; /* the path is "", or one such as [heap], [stack] or [anon:NAME] */
}

bool mapping_may_hold_generated_code(const char *path, size_t bytes, uint32_t prot, bool shared)
{
	enum mapping_kind kind = mapping_kind(path, bytes);

	if (kind == MAPPING_ANONYMOUS || kind == MAPPING_MEMORY)
		return true;
	return kind == MAPPING_FILE && (shared || prot & PROT_WRITE);
}
