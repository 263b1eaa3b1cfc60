/* SPDX-License-Identifier: MIT */
/*
 * The few events that matter to us, for processors that libpfm4 4.13 does not know: by libpfm4's names for their predecessors, so
 * that a command line works on both.  Codes: event select in bits 0 to 7, unit mask in bits 8 to 15.
 *
 * Sources: Intel's event files (github.com/intel/perfmon: ADL, GNR; the P cores of both); AMD, Processor Programming Reference for
 * Family 1Ah Model 02h, section 2.1.15 "Performance Monitor Counters"; Arm Neoverse N1 Technical Reference Manual, table C2-1.
 */
#include "event_internal.h"

#include <string.h>
#include <strings.h>

struct entry {
	const char *name;
	uint64_t config;
};

/* Golden Cove, Raptor Cove, Redwood Cove */
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
	const char *pmu; /* what may stand before :: */
	enum event_vendor vendor;
	uint32_t family, model; /* model ~0: all of the family */
	const struct entry *entry;
} processors[] = {
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

static bool same(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (strncasecmp(a, b, 1) != 0 && !(*a == '.' && *b == ':')) /* Intel writes a dot */
			return false;
	return *a == *b;
}

static const struct entry *entries(const struct event_pmu *pmu, const char **name)
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
	const struct entry *e = entries(pmu, &name);

	for (; e && e->name; e++)
		if (same(name, e->name)) {
			a->type = PERF_TYPE_RAW;
			a->config = e->config;
			return true;
		}
	return false;
}

const char *event_table_name(const struct event_pmu *pmu, size_t i)
{
	const char *name = "";
	const struct entry *e = entries(pmu, &name);

	for (; e && e->name; e++, i--)
		if (i == 0)
			return e->name;
	return NULL;
}
