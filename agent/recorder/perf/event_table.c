/* SPDX-License-Identifier: MIT */
/*
 * This file has the encodings of the events that tailor needs on processors that libpfm4 4.13 does not know. The names are libpfm4's for
 * the predecessors of these processors, so that a command line works on both. The tables also have the events that libpfm4 encodes
 * differently from their vendor. For Skylake to Sapphire Rapids, these are some of the 1,282 events that both Intel's files and libpfm4
 * 4.13 name.
 *
 * Codes: event select in bits 0 to 7, unit mask 8 to 15, edge 18, invert 23, counter mask 24 to 31.  Sources: Intel's event files,
 * github.com/intel/perfmon (SKL 59, SKX 1.37, ICL 1.24, ICX 1.30, SPR 1.39, ADL 1.40, MTL 1.22, EMR 1.24, GNR 1.20: the P cores); AMD,
 * Processor Programming Reference for Family 1Ah Model 02h, "Core Performance Monitor Counters"; Arm, Neoverse N1 Technical Reference
 * Manual, "PMU events".
 */
#include "agent/recorder/perf/event_internal.h"

#include <string.h>
#include <strings.h>

struct entry {
	const char *name;
	uint64_t config;
};

/* This table has the events of the P cores Golden Cove, Raptor Cove and Redwood Cove. */
static const struct entry golden_cove[] = {
	{ "CPU_CLK_UNHALTED:THREAD_P", 0x003c },
	{ "INST_RETIRED:ANY_P", 0x00c0 },
	{ "INST_RETIRED:PREC_DIST", 0x0100 },
	{ "BR_INST_RETIRED:ALL_BRANCHES", 0x00c4 },
	{ "BR_MISP_RETIRED:ALL_BRANCHES", 0x00c5 },
	{ "BR_MISP_RETIRED:COND", 0x11c5 },
	{ "DTLB_LOAD_MISSES:WALK_COMPLETED", 0x0e12 },
	{ "MEM_INST_RETIRED:ALL_LOADS", 0x81d0 },
	{ "MEM_INST_RETIRED:ALL_STORES", 0x82d0 },
	{ "MEM_LOAD_RETIRED:L1_MISS", 0x08d1 },
	{ "MEM_LOAD_RETIRED:L2_MISS", 0x10d1 },
	{ "MEM_LOAD_RETIRED:L3_MISS", 0x20d1 },
	{ NULL, 0 },
};

static const struct entry skylake[] = {
	{ "UOPS_RETIRED:STALL_CYCLES", 0x018002c2 },
	{ "UOPS_RETIRED:TOTAL_CYCLES", 0x108002c2 },
	{ NULL, 0 },
};

static const struct entry ice_lake[] = {
	{ "TOPDOWN:BACKEND_BOUND_SLOTS", 0x02a4 },
	{ "MEM_LOAD_MISC_RETIRED:UC", 0x04d4 },
	{ NULL, 0 },
};

static const struct entry sapphire_rapids[] = {
	{ "INST_RETIRED:ANY", 0x0100 },
	{ "TOPDOWN:BACKEND_BOUND_SLOTS", 0x02a4 },
	{ "TOPDOWN:BAD_SPEC_SLOTS", 0x04a4 },
	{ "TOPDOWN:BR_MISPREDICT_SLOTS", 0x08a4 },
	{ "TOPDOWN:MEMORY_BOUND_SLOTS", 0x10a4 },
	{ "INT_MISC:UNKNOWN_BRANCH_CYCLES", 0x40ad },
	{ "ARITH:IDIV_ACTIVE", 0x010008b0 },
	{ "ARITH:INT_DIVIDER_ACTIVE", 0x010008b0 },
	{ "UOPS_RETIRED:MS", 0x04c2 },
	{ "MEM_TRANS_RETIRED:STORE_SAMPLE", 0x02cd },
	{ NULL, 0 },
};

static const struct entry zen5[] = {
	{ "CYCLES_NOT_IN_HALT", 0x0076 },
	{ "RETIRED_INSTRUCTIONS", 0x00c0 },
	{ "RETIRED_OPS", 0x00c1 },
	{ "RETIRED_BRANCH_INSTRUCTIONS", 0x00c2 },
	{ "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", 0x00c3 },
	{ "LS_DISPATCH:LD_DISPATCH", 0x0129 },
	{ "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x0143 },
	{ NULL, 0 },
};

static const struct entry neoverse_n1[] = {
	{ "L1D_CACHE_REFILL", 0x03 },
	{ "L1D_CACHE", 0x04 },
	{ "INST_RETIRED", 0x08 },
	{ "BR_MIS_PRED", 0x10 },
	{ "CPU_CYCLES", 0x11 },
	{ "MEM_ACCESS", 0x13 },
	{ "L2D_CACHE_REFILL", 0x17 },
	{ "BR_RETIRED", 0x21 },
	{ "BR_MIS_PRED_RETIRED", 0x22 },
	{ "LL_CACHE_MISS_RD", 0x37 },
	{ "MEM_ACCESS_RD", 0x66 },
	{ NULL, 0 },
};

static const struct {
	const char *pmu; /* libpfm4's name of the PMU, which may precede the event's name with "::" */
	enum event_vendor vendor;
	uint32_t family, model; /* model ~0: all of the family */
	const struct entry *entry;
} processors[] = {
	{ "skl", EVENT_VENDOR_INTEL, 6, 0x4e, skylake },
	{ "skl", EVENT_VENDOR_INTEL, 6, 0x5e, skylake },
	{ "skl", EVENT_VENDOR_INTEL, 6, 0x8e, skylake }, /* Kaby Lake, Coffee Lake */
	{ "skl", EVENT_VENDOR_INTEL, 6, 0x9e, skylake },
	{ "skx", EVENT_VENDOR_INTEL, 6, 0x55, skylake },
	{ "icl", EVENT_VENDOR_INTEL, 6, 0x7d, ice_lake },
	{ "icl", EVENT_VENDOR_INTEL, 6, 0x7e, ice_lake },
	{ "icx", EVENT_VENDOR_INTEL, 6, 0x6a, ice_lake },
	{ "icx", EVENT_VENDOR_INTEL, 6, 0x6c, ice_lake },
	{ "spr", EVENT_VENDOR_INTEL, 6, 0x8f, sapphire_rapids },
	{ "adl", EVENT_VENDOR_INTEL, 6, 0x97, golden_cove }, /* Alder Lake */
	{ "adl", EVENT_VENDOR_INTEL, 6, 0x9a, golden_cove },
	{ "rpl", EVENT_VENDOR_INTEL, 6, 0xb7, golden_cove }, /* Raptor Lake */
	{ "rpl", EVENT_VENDOR_INTEL, 6, 0xba, golden_cove },
	{ "rpl", EVENT_VENDOR_INTEL, 6, 0xbf, golden_cove },
	{ "mtl", EVENT_VENDOR_INTEL, 6, 0xaa, golden_cove }, /* Meteor Lake */
	{ "mtl", EVENT_VENDOR_INTEL, 6, 0xac, golden_cove },
	{ "emr", EVENT_VENDOR_INTEL, 6, 0xcf, golden_cove }, /* Emerald Rapids */
	{ "gnr", EVENT_VENDOR_INTEL, 6, 0xad, golden_cove }, /* Granite Rapids */
	{ "gnr", EVENT_VENDOR_INTEL, 6, 0xae, golden_cove },
	{ "amd64_fam1ah_zen5", EVENT_VENDOR_AMD, 0x1a, ~0u, zen5 },
	{ "arm_n1", EVENT_VENDOR_ARM, 0x41, 0xd0c, neoverse_n1 },
};

static bool same_event_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (strncasecmp(a, b, 1) != 0 && !(*a == '.' && *b == ':')) /* Intel's names have a dot */
			return false;
	return *a == *b;
}

static const struct entry *find_processor_entries(const struct event_pmu *pmu, const char **name)
{
	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
		if (processors[i].vendor == pmu->vendor && processors[i].family == pmu->family &&
		    (processors[i].model == pmu->model || processors[i].model == ~0u)) {
			size_t prefix = strlen(processors[i].pmu);

			if (strncmp(*name, processors[i].pmu, prefix) == 0 && strncmp(*name + prefix, "::", 2) == 0)
				*name += prefix + 2;
			return processors[i].entry;
		}
	return NULL;
}

bool event_table_find(const char *name, const struct event_pmu *pmu, struct perf_event_attr *a)
{
	const struct entry *e = find_processor_entries(pmu, &name);

	for (; e && e->name; e++)
		if (same_event_name(name, e->name)) {
			a->type = PERF_TYPE_RAW;
			a->config = e->config;
			return true;
		}
	return false;
}

const char *event_table_name(const struct event_pmu *pmu, size_t i)
{
	const char *name = "";
	const struct entry *e = find_processor_entries(pmu, &name);

	for (; e && e->name; e++, i--)
		if (i == 0)
			return e->name;
	return NULL;
}
