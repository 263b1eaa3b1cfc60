/* SPDX-License-Identifier: MIT */
/*
 * Finds host data that cannot be right. These are records that a host gave through jitreg and that contradict each other, or the samples.
 *
 * A check reports only what is wrong for sure. Something may have been announced before the recording, in a record that was lost, or after
 * the trace's end. So missing announcements are only reported in a complete trace, and unregistered code, and unloads and moves of code
 * that is unknown, only in a process that was recorded from its start. Most checks are made only for processes with a dictionary (levels,
 * components, tags), because the data of other JITs come from tailor's own shim. Context: thread.
 */
#ifndef TAILOR_CHECK_H
#define TAILOR_CHECK_H

#include "analyzer/model/model.h"
#include "analyzer/query/report.h"
#include "analyzer/view/view.h"

/*
 * The kinds of findings, in the order of reports. Each has an id, a sentence that follows the number of cases and says what is wrong, and a
 * remedy for the host's author.
 */
#define FINDINGS(X) \
	X(RECORD_REFUSED, "record-refused", "records were malformed and left out", \
	  "look at what calls return: -EINVAL is a count without elements, an unknown action, a tag's word that is not static") \
	X(RECORD_DROPPED, "record-dropped", "records were dropped because the log was full", \
	  "announce less at a time, or wait and repeat what returned -ENOBUFS") \
	X(TIME_CLOCK, "time-other-clock", "records have a time stamp of another clock than CLOCK_MONOTONIC in ns", \
	  "leave the time stamp 0: the agent stamps the record") \
	X(LEVELS_FULL, "levels-full", "levels are beyond the 16 that a trace can have", "announce at most 16 levels") \
	X(NUMBER_ZERO, "number-zero", "records name a level or a component by the number 0, which is none", \
	  "number levels and components from 1") \
	X(LEVEL_RENAMED, "level-renamed", "levels have the number of another one", "give each level of a process a number of its own") \
	X(LEVEL_UPPER, "level-upper", "levels have themselves as their upper level, or one that was never announced", \
	  "announce the upper level, or give 0 where there is none") \
	X(LEVEL_PLANS, "level-plans", "levels are declared as the plan, beside another one", "set JITREG_LEVEL_PLAN on one level only") \
	X(LEVEL_UNKNOWN, "level-unknown", "levels have components and were never announced", "announce each level: jitreg_level()") \
	X(LEVEL_NAME, "level-name", "levels have a name that is empty or not UTF-8", "give each level a name in UTF-8") \
	X(COMPONENT_NAME, "component-name", "components have a name that is empty or not UTF-8", "give each component a name in UTF-8") \
	X(COMPONENT_RENAMED, "component-renamed", "components have the id of another one that is in use", \
	  "an id is unique in its level and process: count on, or end the earlier one first") \
	X(COMPONENT_UNLINKED, "component-unlinked", "components are never linked to a level above", \
	  "link each component when it is created: jitreg_link()") \
	X(LINES_UNLINKED, "source-unlinked", "texts whose lines are components have no line that is linked", \
	  "link each line to what it was generated from: jitreg_link(), jitreg_tracker_link()") \
	X(LINK_UNKNOWN, "link-unknown", "links name a component that was never announced", \
	  "check level and id of the link; announce the component: jitreg_component()") \
	X(LINK_REVERSED, "link-reversed", "links lead downwards: lower and upper are swapped", \
	  "jitreg_link() takes the lower component first, then the upper one") \
	X(LINK_SAME_LEVEL, "link-same-level", "links lead to the level that they come from", \
	  "link to a level above; what is beside a component is joined by jitreg_edge()") \
	X(LINK_CYCLE, "link-cycle", "components are linked to themselves by way of others", \
	  "links lead upwards only: check the levels in jitreg_link()") \
	X(LINK_MANY, "link-many", "components are linked to more than 16 others of one level", \
	  "a sample is shared by 16 at most: link to those that it is really of, or unlink first") \
	X(LINK_LATE, "link-late", "components are linked only after samples of them", \
	  "a link holds from its call on: link components before their code runs") \
	X(EDGE_UNKNOWN, "edge-unknown", "edges name a component that was never announced", \
	  "check level and ids of the edge; announce the component: jitreg_component()") \
	X(EDGE_SELF, "edge-self", "edges lead from a component to itself", "an edge leads from a producer to its consumer") \
	X(PLAN_CYCLE, "plan-cycle", "operators of a plan consume themselves by way of others", \
	  "jitreg_edge() takes the producer first, then the consumer") \
	X(PLAN_ROOTS, "plan-roots", "plans have more than one root", \
	  "give each operator but the root an edge to its consumer: jitreg_edge(level, producer, consumer, ...)") \
	X(ROWS_NEGATIVE, "rows-negative", "counters of rows are negative", \
	  "a floating-point estimate that is NaN or too large becomes the least integer: limit it before it is converted") \
	X(USE_UNKNOWN, "use-unknown", "components have counters, marks or memory and were never announced", \
	  "check level and id; announce the component: jitreg_component()") \
	X(LOAD_EMPTY, "load-empty", "LOADs are of no bytes, or reach beyond the address space", "give each LOAD the code's size") \
	X(LOAD_UNWRITTEN, "load-unwritten", "LOADs came before their code was written", \
	  "register code when its bytes are final, or with code NULL: the recorder then reads them") \
	X(LOAD_OVERLAP, "load-overlap", "LOADs lie on a part of other code that was not unloaded", \
	  "announce CODE_UNLOAD before memory is used again; check address and size") \
	X(CODE_NAME, "code-name", "code objects have a name that is not UTF-8", "give code a name in UTF-8") \
	X(CODE_MAP_UNKNOWN, "code-map-unknown", "code maps are of an address without registered code", \
	  "the address is that of the LOAD: jitreg_code_map(address, ...), then jitreg_code_load(address, ...)") \
	X(CODE_MAP_UNSORTED, "code-map-unsorted", "code maps are not sorted by offset", "sort the entries before jitreg_code_map()") \
	X(CODE_MAP_OUTSIDE, "code-map-outside", "entries of code maps lie behind the end of their code", \
	  "offsets count from the code's first byte, in bytes") \
	X(CODE_MAP_COMPONENT, "code-map-component", "entries of code maps name a component that was never announced", \
	  "check level and id; announce the component: jitreg_component()") \
	X(LINES_UNKNOWN, "lines-unknown", "line tables are of an address without registered code", \
	  "announce a line table before its LOAD, with the same address") \
	X(LINES_OUTSIDE, "lines-outside", "rows of line tables lie outside of their code", "addresses of rows are absolute, not offsets") \
	X(LINE_BEYOND, "line-beyond-text", "sampled lines lie behind the end of their text", \
	  "lines count from 1; announce the text that the line table was made of") \
	X(SOURCE_UNKNOWN, "source-unknown", "files of sampled lines have no text, and texts no sampled line", \
	  "the name in jitreg_source() is the file name in the line table") \
	X(UNLOAD_UNKNOWN, "unload-unknown", "CODE_UNLOADs are of addresses without registered code", \
	  "unload what was loaded: the LOAD's address") \
	X(MOVE_UNKNOWN, "move-unknown", "MOVEs are of addresses without registered code", \
	  "move what was loaded: from the LOAD's address") \
	X(CODE_UNREGISTERED, "code-unregistered", "samples are in anonymous executable regions, in unregistered code", \
	  "register all code that is generated: jitreg_code_load()") \
	X(CODE_UNLOADED, "code-unloaded", "samples are in code after its CODE_UNLOAD", "unload code when it can no longer run") \
	X(TAG_REGISTER, "tag-register", "tags are in a register that cannot be one", \
	  "rbx (3) or r12 to r15 (12 to 15), by DWARF's numbers, or JITREG_TAG_MEMORY") \
	X(TAG_UNSAMPLED, "tag-unsampled", "tags are in a register that was not sampled", \
	  "record with --registers all, or keep the tag in rbx or r12 to r15") \
	X(TAG_FIELDS, "tag-fields", "tags have no field, or fields that overlap or lie outside of 64 bits", \
	  "fields are (level, shift, bits): give each level bits of its own") \
	X(TAG_CHECK, "tag-check", "tags have a check that cannot be right", \
	  "check_value lies within check_mask, and the mask outside of the fields") \
	X(TAG_LEVEL, "tag-level", "fields of tags are of a level that was never announced", "announce the level: jitreg_level()") \
	X(TAG_CODE, "tag-code", "tags in a register name no code that keeps it, or an empty range", \
	  "name all code compiled to leave the register alone: the ranges of jitreg_tag(), [start, end)") \
	X(TAG_ID, "tag-id", "samples have a tag with right check bits and an unknown id", \
	  "announce the component, or check shift and bits of the tag's fields") \
	X(TAG_MISSING, "tag-missing", "calls into shared code are made without a tag", \
	  "set the tag around the call: JITREG_WITH_TAG_R13(v)") \
	X(TAG_OTHER, "tag-other", "calls into shared code are made with the tag of another component", \
	  "set the tag around this call, too: the one before it still stands there") \
	X(TAG_TASK, "tag-task", "marked tasks run with the tag of another component", \
	  "a task takes its tag along: set it where the task goes on, also on another thread") \
	X(MARK_NAME, "mark-name", "marks have a name that is empty or not UTF-8", "give each mark a name in UTF-8") \
	X(MARK_OPEN, "mark-open", "marks begin and never end", "end a mark on every way out: jitreg_mark_end()") \
	X(MARK_UNBEGUN, "mark-unbegun", "marks end that were not begun, or ended before", \
	  "end each mark once: by its handle, or by name, component and instance as they were") \
	X(MARK_REVERSED, "mark-reversed", "marks end before they begin", "leave time stamps 0, or take both of CLOCK_MONOTONIC") \
	X(COST, "cost", "processes spend 5 % of their time or more in registering", \
	  "announce what holds in the end, once; leave out what no report shows")

#define FINDING_(NAME, id, sentence, remedy) FINDING_##NAME,
enum finding_kind { FINDINGS(FINDING_) NR_FINDINGS };
#undef FINDING_

struct finding {
	uint64_t count;
	double samples; /* number of samples that the finding concerns; 0: not known, or none */
	char example[160]; /* an example in words, or ""; may contain any text of the host */
};

struct findings {
	struct finding of[NR_FINDINGS];
	uint32_t nr; /* number of kinds that were found */
};

extern const char *const finding_ids[], *const finding_sentences[], *const finding_remedies[];

/* The samples of one event are summed up by component, in a group for each level. Pointers to this struct may be NULL, if sums are not
 * known. */
struct check_sums {
	const struct report_group *const *level;
};

/* Run the checks that need only the model and the sums, and add what they find to f. Return 0 or -ENOMEM. */
int check_model(struct findings *f, const struct model *m, const struct check_sums *sums);
/* Run the checks that take longer (overlaps of code, bytes of code, and single samples), and add what they find to f. Return 0, -ENOMEM, or
 * -errno of reading the trace. */
int check_code_and_samples(struct findings *f, const struct report *r);
/* Write the kinds that were found to `order`, those with the most samples first, and those with equally many in the order of FINDINGS.
 * Return how many there are. */
uint32_t check_sort_findings(const struct findings *f, enum finding_kind order[NR_FINDINGS]);

/* Show the findings of check_model() in a few lines of the report without --view, or nothing if there are none or memory runs out.
 * by_level: samples by component, a group for each level. */
void check_show_brief(struct report *r, const struct report_group *const *by_level, struct page *p);
/* Return how many kinds of findings view_check has shown, which is 0 if the checks failed. */
uint32_t check_view_nr_kinds(const struct view_instance *v);

#endif
