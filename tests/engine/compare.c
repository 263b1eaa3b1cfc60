/* SPDX-License-Identifier: MIT */
#include "compare.h"

static __thread uint64_t word;

uint64_t *compare_thread_word(void)
{
	return &word;
}

void compare_declare_word(const struct jitreg_tag_field *fields, uint32_t nr_fields)
{
	uint64_t offset = (uint64_t)((char *)&word - (char *)__builtin_thread_pointer());

	jitreg_tag(JITREG_TAG_MEMORY, offset, 0xfff00000, 0x7A600000, fields, nr_fields, NULL, 0);
}
