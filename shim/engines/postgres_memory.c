/* SPDX-License-Identifier: MIT */
#include "shim/engines/postgres.h"

#include "agent/guest/sys.h"

#include <string.h>
#include <unistd.h>

/*
 * Pages are not unmapped while a hook runs, because only its own thread would do so.  The addresses between the first program break that
 * was seen and the current one are the heap, which has nearly all that is read here.  The heap and the program's own pages need no system
 * call.
 */
static bool is_page_readable(uintptr_t address)
{
	uintptr_t page = address / SYS_PAGE_BYTES, *known = &pg.page[page % POSTGRES_PAGES];

	if (page == 0) /* a cleared entry of the cache equals this page, which has no memory */
		return false;
	if (*known == page || (address >= pg.heap_begin && address < pg.heap_end) ||
	    (address >= pg.image_begin && address < pg.image_end))
		return true;
	if (!sys_readable((const void *)address))
		return false;
	*known = page;
	return true;
}

static int read_own_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	uint64_t end;

	(void)context;
	/* nearly all reads are of one word in the heap */
	if (address >= pg.heap_begin && address < pg.heap_end && bytes <= pg.heap_end - address) {
		if (bytes == 8)
			memcpy(to, (const void *)(uintptr_t)address, 8);
		else if (bytes == 4)
			memcpy(to, (const void *)(uintptr_t)address, 4);
		else
			memcpy(to, (const void *)(uintptr_t)address, bytes);
		return 0;
	}
	if (__builtin_add_overflow(address, bytes, &end))
		return -1;
	for (uint64_t at = address; at < end; at = (at | (SYS_PAGE_BYTES - 1)) + 1)
		if (!is_page_readable((uintptr_t)at))
			return -1;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 0;
}

void postgres_memory_reset_cache(void)
{
	memset(pg.page, 0, sizeof(pg.page));
	pg.heap_end = (uintptr_t)sbrk(0); /* sbrk(0) makes no system call */
}

struct postgres_reader postgres_memory_reader(void)
{
	return (struct postgres_reader){ .read = read_own_memory, .layout = pg.layout, .code = &pg.code,
					 .catalog = &pg.catalog };
}
