/* SPDX-License-Identifier: MIT */
/* Finds what an event counts by its name. */
#include "analyzer/listing/culprits.h"

#include <stddef.h>
#include <string.h>

/* The first part that an event's name contains decides, so where a name can contain two parts of different events, the more special one
 * stands first. */
static const struct {
	const char *part;
	enum stall_event event;
} names[] = {
	{ "l1-icache", STALL_CODE },	      { "icache", STALL_CODE },
	{ "instruction_cache", STALL_CODE },  { "itlb", STALL_CODE },
	{ "l1-dcache-load-misses", STALL_FIRST_CACHE },
	{ "l1_miss", STALL_FIRST_CACHE },     { "l1d:replacement", STALL_FIRST_CACHE },
	{ "llc-load-misses", STALL_LAST_CACHE }, { "l3_miss", STALL_LAST_CACHE },
	{ "longest_lat_cache", STALL_LAST_CACHE },
	{ "dtlb-load-misses", STALL_WALK },   { "dtlb_load_misses", STALL_WALK },
	{ "dtlb_miss", STALL_WALK },	      { "branch-misses", STALL_BRANCH },
	{ "branch_misses", STALL_BRANCH },    { "br_misp", STALL_BRANCH },
	{ "branch_instructions_mispredicted", STALL_BRANCH },
	{ "store_forward", STALL_STORE_FORWARD },
	{ "divider_active", STALL_DIVISION_CYCLES }, { "div_active", STALL_DIVISION_CYCLES },
	{ "fpu_div_active", STALL_DIVISION_CYCLES },
	{ "page-faults", STALL_FAULT },	      { "minor-faults", STALL_FAULT },
	{ "cache-misses", STALL_LAST_CACHE },
};

enum stall_event stall_event_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasestr(name, names[i].part))
			return names[i].event;
	return NR_STALL_EVENTS;
}
