/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace, record by record, in constant memory beside the largest chunk and what trace_keep_bodies() keeps.  Every byte of it is
 * hostile: lengths are compared before use, bad chunks are skipped to the next magic and counted, and nothing is trusted twice.
 *
 * Context: thread; one reader belongs to one thread.
 */
#ifndef TAILOR_READER_H
#define TAILOR_READER_H

#include "jitreg/base/diag.h"
#include "jitreg/trace/schema.h"

#include <stdbool.h>

struct budget;
struct trace_reader;

/* A field's value.  Text and bytes point into the reader's chunk and live until the next trace_next(). */
struct trace_value {
	enum { TRACE_UINT, TRACE_INT, TRACE_TEXT, TRACE_BYTES, TRACE_LIST, TRACE_OTHER } kind;
	uint64_t u;	   /* UINT; INT as two's complement; LIST: number of elements */
	const char *p;	   /* TEXT (not NUL-terminated), BYTES */
	size_t bytes;	   /* of p */
	const void *list_; /* the reader's own */
};

#define TRACE_VALUES_MAX 24

struct trace_record {
	uint32_t id; /* enum jitreg_id or trace_id, or one that this version does not know */
	uint64_t time_ns;
	uint32_t pid, tid;
	int nr_values;
	struct trace_value values[TRACE_VALUES_MAX];
	const char *packed; /* all of it as it stands in the chunk's body, also what this version does not know */
	size_t packed_bytes;
};

/* Where a record stands: its chunk's first byte in the file, and its own in the chunk's body. */
struct trace_place {
	uint64_t chunk;
	uint32_t record;
};

/* The work that was done.  A chunk that was read once counts once, however many passes over its records there were. */
struct trace_stats {
	uint64_t chunks[TRACE_CHUNK_END + 1]; /* by type: whose bytes were checked and decompressed */
	uint64_t records;		      /* taken apart */
};

/* What was wrong with the file, for the sentence and the exit status. */
struct trace_damage {
	uint64_t bad_chunks;   /* magic, size, checksum, compression or msgpack did not fit */
	uint64_t skipped_bytes;
	uint64_t first_byte;   /* of the file: where the first bad chunk begins */
	bool truncated;	       /* no END chunk: the recorder was killed, or the file was cut */
	uint64_t cut_byte;     /* where the chunk begins that the file ends in; 0: in none */
};

/*
 * Open path.  Returns 0 and *out, or -errno with a sentence: it cannot be read, is empty, is no trace, is of a newer
 * format.
 */
int trace_open(const char *path, struct trace_reader **out, struct diag *d);
/* Where the recorder of the trace at path still lives, wait until it has ended, at most ten seconds. */
void trace_wait_for_recorder(const char *path);
void trace_close(struct trace_reader *t);
/* Did its recorder still write when it was opened, on this machine? */
bool trace_is_being_written(const struct trace_reader *t);

/* Only deliver records of chunks whose type's bit (1u << enum trace_chunk_type) is set; takes effect at the next chunk. */
void trace_select_chunks(struct trace_reader *t, unsigned chunk_types);
/* Only deliver records with one of these ids (nr of them, which outlive their use); nr 0: all.  Others are stepped over at less cost. */
void trace_select_ids(struct trace_reader *t, const uint32_t *ids, uint32_t nr);
/* From now on keep the bodies of RECORDS chunks that are read, TRACE_KEPT_BYTES of them: another pass, or trace_read_record_at(), does not
 * decompress them again. */
#define TRACE_KEPT_BYTES ((size_t)256 << 20)
void trace_keep_bodies(struct trace_reader *t);
/* From now on give each kept body back when its last record has been read, unless trace_hold_current_body() was called for one of
 * its records. */
void trace_release_left_bodies(struct trace_reader *t);
void trace_hold_current_body(struct trace_reader *t);
/* Back to the first record; damage is counted anew. */
void trace_rewind(struct trace_reader *t);

/* 1: *r is the next record; 0: end of file.  Never fails: damage is skipped and counted. */
int trace_next(struct trace_reader *t, struct trace_record *r);

/* Of the last record that trace_next() returned. */
struct trace_place trace_get_place(const struct trace_reader *t);
/* The record at a place, until the next call; trace_next() goes on where it was.  false: none can be read there. */
bool trace_read_record_at(struct trace_reader *t, struct trace_place place, struct trace_record *r);

const struct trace_stats *trace_get_stats(const struct trace_reader *t);
const struct trace_damage *trace_get_damage(const struct trace_reader *t);
/* One sentence about the damage for a person; false when there is none. */
bool trace_describe_damage(const struct trace_reader *t, char *text, size_t bytes);
/*
 * The budget of reading this trace (budget.h).  trace_next() spends from it for what it reads, and returns 0 when it is exceeded; readers
 * spend for what they do many times with one record.  false: it is exceeded.
 */
bool trace_spend_budget(struct trace_reader *t, uint64_t steps);
/* Has the budget room for memory that is taken at once?  false: it is exceeded. */
bool trace_budget_has_room(struct trace_reader *t, uint64_t bytes);
/* It, for who reads what a trace holds; as long as the reader. */
struct budget *trace_budget(struct trace_reader *t);
/* 0, or -E2BIG with the sentence. */
int trace_check_budget(const struct trace_reader *t, struct diag *d);

/* The chunk that the last record came from, and where it stands in the file. */
const struct trace_chunk *trace_get_chunk(const struct trace_reader *t, uint64_t *file_offset);
/* Bytes read so far and in all, for progress. */
void trace_get_progress(const struct trace_reader *t, uint64_t *at, uint64_t *total);

/* Accessors that cope with absent fields and other kinds: 0, "" and empty. index: F(record, field). */
uint64_t trace_u64(const struct trace_record *r, int index);
int64_t trace_s64(const struct trace_record *r, int index);
const char *trace_bytes(const struct trace_record *r, int index, size_t *bytes);
/* Is it this text?  false where it is absent. */
bool trace_text_is(const struct trace_record *r, int index, const char *text);
/* A NUL-terminated copy (malloc), "" when absent; caller frees. */
char *trace_text(const struct trace_record *r, int index);
/* Of a LOSS record; NR_LOSSES: a reason that this version does not know. */
enum notice_kind trace_notice_kind(const struct trace_record *r);
enum loss_reason trace_loss_reason(const struct trace_record *r);
/* Element e of a LIST, and member m of such an element; a value of kind OTHER when there is none. */
struct trace_value trace_item(const struct trace_value *list, uint64_t e);
struct trace_value trace_element(const struct trace_value *list, uint64_t e, int m);

/*
 * A SAMPLES record, decoded.  column[c][i]: NULL when the column is absent (all 0).  Registers: perf's numbers.
 * chain_offset[i]: where sample i's return addresses begin in chain (chain_offset[nr] is their end).
 */
#define SAMPLE_REGISTERS_MAX 64
#define SAMPLE_NR_COLUMNS (SAMPLE_COLUMN_REGISTER_0 + SAMPLE_REGISTERS_MAX)

/* A set of columns: bit n % 64 of mask[n / 64] for column n, so that mask[1] is perf's mask of registers. */
struct sample_columns {
	uint64_t mask[SAMPLE_NR_COLUMNS / 64];
};

static inline bool sample_columns_have(const struct sample_columns *c, uint64_t column)
{
	return c->mask[column / 64] >> column % 64 & 1;
}

struct sample_block {
	uint32_t event;
	uint32_t nr;
	uint64_t *column[SAMPLE_COLUMN_REGISTER_0]; /* indexed by enum sample_column; not REGISTER_0, STACK, CHAIN */
	uint64_t *registers[SAMPLE_REGISTERS_MAX];
	uint32_t nr_ips; /* 0: not known; else ips[ip_index[i]] is sample i's */
	uint64_t *ips;
	uint16_t *ip_index;
	uint64_t *chain;	/* all samples' return addresses */
	uint64_t *chain_offset; /* NULL without chains */
	bool has_stacks, has_kernel_chains;
	struct sample_columns constant; /* those of which all numbers are the same */
	struct sample_columns unwanted; /* set by the caller: need not be decoded where there are no stacks or chains */
	struct stack_decoder *stacks_;	  /* the rest is the decoder's own */
	struct trace_value kernel_chains_;
	uint64_t *kernel_chain_, *kernel_offset_; /* decoded on demand */
	uint64_t *room_[SAMPLE_NR_COLUMNS]; /* arrays, kept from block to block */
	uint32_t same_[SAMPLE_NR_COLUMNS]; /* so many numbers at the beginning of an array are its first */
	uint32_t room_nr_;
	unsigned char *ip_seen_;
};

/* Fills b from a TRACE_SAMPLES record; b is reused from call to call (zeroed before the first; unwanted is kept).  0, -EBADMSG or
 * -ENOMEM: then b is empty.  Its stacks live as long as the record. */
int sample_block_decode(const struct trace_record *r, struct sample_block *b);
/*
 * Sample i's stack, from the stack pointer upwards, and *bytes, 0 when it has none.  Valid until the next call, and not
 * aligned.  Stacks are stored as changes: ask in order, for going back means to start anew.
 */
const unsigned char *sample_block_stack(struct sample_block *b, uint32_t i, size_t *bytes);
/* Sample i's return addresses in the kernel, innermost first, and how many; valid until the next block, like stacks. */
const uint64_t *sample_block_kernel_chain(struct sample_block *b, uint32_t i, uint64_t *nr);
void sample_block_fini(struct sample_block *b);

#endif
