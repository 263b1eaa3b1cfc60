/* SPDX-License-Identifier: MIT */
/* These functions read members of the server's structs, and return 0 if they cannot be read. Context: any. */
#ifndef JITREG_POSTGRES_READ_H
#define JITREG_POSTGRES_READ_H

#include "jitreg/engines/postgres_code.h"

#define POSTGRES_LIST_MAX 10000u /* maximum number of a list's elements */

static inline bool postgres_read_member(const struct postgres_reader *r, uint64_t address, uint16_t offset, void *to, size_t bytes)
{
	return address && offset != POSTGRES_ABSENT && address + offset >= address && r->read(r->context, address + offset, to, bytes) == 0;
}

static inline uint64_t postgres_read_u64(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint64_t value;

	return postgres_read_member(r, address, offset, &value, sizeof(value)) ? value : 0;
}

static inline uint32_t postgres_read_u32(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint32_t value;

	return postgres_read_member(r, address, offset, &value, sizeof(value)) ? value : 0;
}

static inline uint16_t postgres_read_u16(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint16_t value;

	return postgres_read_member(r, address, offset, &value, sizeof(value)) ? value : 0;
}

static inline uint8_t postgres_read_u8(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint8_t value;

	return postgres_read_member(r, address, offset, &value, sizeof(value)) ? value : 0;
}

/* Returns the number of elements of a list with this tag (List or IntList), or 0 if it is empty, has more than POSTGRES_LIST_MAX, or is not
 * such a list. */
static inline uint32_t postgres_list_nr(const struct postgres_reader *r, uint64_t list, uint16_t tag)
{
	uint32_t nr = postgres_read_u32(r, list, 0) == tag ? postgres_read_u32(r, list, r->layout->list_nr) : 0;

	return nr <= POSTGRES_LIST_MAX ? nr : 0;
}

static inline uint64_t postgres_list_element(const struct postgres_reader *r, uint64_t list, uint32_t n)
{
	uint64_t elements = postgres_read_u64(r, list, r->layout->list_elements), value;

	return postgres_read_member(r, elements + 8 * (uint64_t)n, 0, &value, sizeof(value)) ? value : 0;
}

/* Returns the address of the struct RangeTblEntry with this index, from 1 on, in the range table of a PlannedStmt, or 0 if there is
 * none. */
static inline uint64_t postgres_range_table_entry(const struct postgres_reader *r, uint64_t statement, uint32_t index)
{
	uint64_t list = postgres_read_u64(r, statement, r->layout->statement_range_table), entry;

	if (!index || index > postgres_list_nr(r, list, r->layout->tag_list))
		return 0;
	entry = postgres_list_element(r, list, index - 1);
	return postgres_read_u32(r, entry, 0) == r->layout->tag_range ? entry : 0;
}

#endif
