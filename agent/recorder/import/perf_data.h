/* SPDX-License-Identifier: MIT */
/*
 * Parses events, header features and records of perf.data files (linux tools/perf/Documentation/perf.data-file-format.txt). File and pipe
 * form (`perf record -o -`) and compressed records (-z) are supported, but not the other byte order and directories (--threads). Every byte
 * is untrusted, so sections and records are checked against the size of the file before they are used. A truncated file is read up to its
 * end. The bytes belong to the caller, and texts point into them. Context: thread.
 */
#ifndef TAILOR_PERF_DATA_H
#define TAILOR_PERF_DATA_H

#include "agent/recorder/perf/event_ids.h"
#include "agent/recorder/perf/record.h"
#include "jitreg/base/diag.h"
#include "jitreg/base/grow.h"

#include <stddef.h>

#define PERF_DATA_EVENTS_MAX 64u
#define PERF_DATA_RECORD_BYTES 65536u
/* This is the type of a record of perf's own. Records after it are later than all records before the previous one of this type. */
#define PERF_DATA_FINISHED_ROUND 68u

struct perf_data_text {
	const char *p; /* not NUL-terminated; NULL: not in the file */
	size_t bytes;
};

/* Is the text in the file, and equal to this one? */
bool perf_data_text_is(struct perf_data_text t, const char *text);

struct perf_data_event {
	struct perf_event_attr attr;
	struct record_layout layout;
	struct perf_data_text name;
};

struct perf_data_build_id {
	struct perf_data_text path;
	unsigned char id[20];
	uint32_t bytes;
};

struct perf_data {
	const unsigned char *bytes;
	uint64_t size, data_start, data_end;
	bool pipe, cut; /* pipe: the form that perf writes to pipes; cut: perf was killed, the file ends early, or a record is invalid */
	uint32_t nr_events;
	struct perf_data_event event[PERF_DATA_EVENTS_MAX];
	struct hash_map ids; /* kernel's id of a counter -> its event */
	/* Features of the header, if the file has them. */
	struct perf_data_text host_name, release, version, machine;
	bool foreign; /* machine is another architecture than ours, whose registers and code mean other things */
	uint32_t nr_cpus, nr_words;
	struct perf_data_text words; /* words of the command line, nr_words times {u32 room, text} */
	ARRAY(struct perf_data_build_id) build_ids; /* sorted by path */
	bool has_clock; /* clock_ns of clock clock_id was wall_ns since 1970 */
	uint32_t clock_id;
	uint64_t wall_ns, clock_ns;
	uint64_t first_ns, last_ns; /* first and last time of all records that have one; 0: none has */
	bool has_times; /* samples and records have times */
	uint64_t nr_samples, nr_records;
	uint64_t aux_bytes; /* bytes of AUX areas (Intel PT and the like), which are skipped */
};

/* Reads the header of a file, and all of its records once.  path: for sentences.  Returns 0, or -errno with a sentence, after which
 * perf_data_fini() need not be called. */
int perf_data_init(const void *bytes, uint64_t size, const char *path, struct perf_data *p, struct diag *d);
void perf_data_fini(struct perf_data *p);

/* A cursor is the position of a reader of records. A new one is all zeros. */
struct perf_data_cursor {
	uint64_t at, start; /* offsets in the file: of the next record, and of the record that was read last */
	struct perf_compressed *packed; /* content of compressed records */
	bool inside; /* the last record was in a compressed one, whose offset start then is */
	bool damaged; /* a compressed record was invalid, so no more records are read */
};

/* Copies the next record to room (aligned, PERF_DATA_RECORD_BYTES).  Returns 1, 0 if there are no more records or the next one is invalid,
 * or -ENOMEM.  The caller ends with perf_data_close_cursor(). */
int perf_data_next_record(const struct perf_data *p, struct perf_data_cursor *c, struct perf_event_header *room);
void perf_data_close_cursor(struct perf_data_cursor *c);
/* Finds the event of a sample or another record. If the file has one event, all records are of that event. Returns false for a sample whose
 * event is not in the file, and if the file has no events. Another record without an event counts as one of the first event. */
bool perf_data_find_event(const struct perf_data *p, const struct perf_event_header *h, uint32_t *event);
/* Takes the next word of the command line.  *at: 0 before the first word.  Returns false if there are no more. */
bool perf_data_next_command_word(const struct perf_data *p, size_t *at, struct perf_data_text *word);
/* Returns the build id that the header has for the file that was mapped as path, or NULL. */
const struct perf_data_build_id *perf_data_find_build_id(const struct perf_data *p, const char *path, size_t bytes);

#endif
