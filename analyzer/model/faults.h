/* SPDX-License-Identifier: MIT */
/*
 * Faults are records of the host that contradict others, or that the model cannot use.  They are counted while records are read, and the
 * first of each kind is kept as an example.  analyzer/check makes sentences of them for `tailor check`.  Context: thread.
 */
#ifndef TAILOR_FAULTS_H
#define TAILOR_FAULTS_H

#include <stdint.h>

/* A fault has one of these kinds. The comments say what value[] and text of the example contain. */
enum model_fault {
	FAULT_LEVELS_FULL,	 /* id: beyond LEVELS_MAX levels */
	FAULT_LEVEL_RENAMED,	 /* id; text: the earlier name */
	FAULT_LEVEL_SELF,	 /* id: its own upper level */
	FAULT_NUMBER_ZERO,	 /* record id, level: it names a level or component 0 */
	FAULT_LINK_SAME_LEVEL,	 /* level, lower, upper */
	FAULT_COMPONENT_RENAMED, /* level, id; text: the earlier name */
	FAULT_TAG_FIELD,	 /* level, shift, bits: 0 or outside of 64 bits, or the level is beyond LEVELS_MAX */
	FAULT_LOAD_EMPTY,	 /* address, bytes, which are 0 or reach beyond 2^64; text: name */
	FAULT_MOVE_UNKNOWN,	 /* old address, new address */
	FAULT_CODE_MAP_UNKNOWN,	 /* address */
	FAULT_CODE_MAP_UNSORTED, /* address */
	FAULT_LINES_UNKNOWN,	 /* address */
	FAULT_MARK_END_UNKNOWN,	 /* instance, tid, handle; text: name */
	FAULT_TIME_OTHER_CLOCK,	 /* time stamp, record id */
	NR_FAULTS
};

struct fault {
	uint64_t count;
	uint32_t process; /* process of the example */
	uint64_t value[3];
	char *text; /* text of the example, or NULL */
};

#endif
