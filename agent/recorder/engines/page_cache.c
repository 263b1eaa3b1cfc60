/* SPDX-License-Identifier: MIT */
#include "agent/recorder/engines/page_cache.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <string.h>

#define PAGE 4096u

void page_cache_reset(struct page_cache *c, pid_t pid)
{
	c->pid = pid;
	memset(c->page, 0, sizeof(c->page));
}

static const unsigned char *read_cached_page(struct page_cache *c, uint64_t page)
{
	size_t slot = (page / PAGE) & (PAGE_CACHE_PAGES - 1);

	if (c->page[slot] == page)
		return c->bytes[slot];
	c->page[slot] = 0;
	c->nr_reads++;
	if (proc_mem_read(c->pid, page, c->bytes[slot], PAGE))
		return NULL;
	c->page[slot] = page;
	return c->bytes[slot];
}

int page_cache_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct page_cache *c = context;
	unsigned char *at = to;

	if (address < PAGE || address + bytes < address)
		return -EFAULT;
	while (bytes) {
		size_t offset = address % PAGE, part = PAGE - offset < bytes ? PAGE - offset : bytes;
		const unsigned char *page = read_cached_page(c, address - offset);

		if (!page)
			return -EFAULT;
		memcpy(at, page + offset, part);
		at += part;
		address += part;
		bytes -= part;
	}
	return 0;
}
