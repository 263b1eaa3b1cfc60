/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace, record by record, in constant memory beside the largest chunk and the bodies that trace_keep_bodies() keeps.  Every byte
 * of it is untrusted: lengths are checked before use, and bad chunks are skipped up to the next magic number and counted.
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

/* The value of a field.  Text and bytes point into the reader's chunk and are valid until the next trace_next(). */
struct trace_value {
	enum { TRACE_UINT, TRACE_INT, TRACE_TEXT, TRACE_BYTES, TRACE_LIST, TRACE_OTHER } kind;
	uint64_t u;	   /* UINT; INT as two's complement; LIST: number of elements */
	const char *p;	   /* TEXT (not NUL-terminated), BYTES */
	size_t bytes;	   /* size of p */
	const void *list_; /* private to the reader */
};

#define TRACE_VALUES_MAX 24

struct trace_record {
	uint32_t id; /* enum jitreg_id or trace_id, or one that this version does not know */
	uint64_t time_ns;
	uint32_t pid, tid;
	int nr_values;
	struct trace_value values[TRACE_VALUES_MAX];
	const char *packed; /* encoded record in the chunk's body, with fields that this version does not know */
	size_t packed_bytes;
};

/* The place of a record: offset of its chunk in the file, and its offset in the chunk's body. */
struct trace_place {
	uint64_t chunk;
	uint32_t record;
};

/* Counts of the work done.  A chunk that was read once counts once, however often its records are read. */
struct trace_stats {
	uint64_t chunks[TRACE_CHUNK_END + 1]; /* checked and decompressed chunks, by type */
	uint64_t records;		      /* decoded records */
};

/* Damage of the file, for the message and the exit status. */
struct trace_damage {
	uint64_t bad_chunks;   /* chunks with a wrong magic number, size or checksum, or with invalid data */
	uint64_t skipped_bytes;
	uint64_t first_byte;   /* file offset of the first bad chunk */
	bool truncated;	       /* no END chunk: the recorder was killed, or the file was cut */
	uint64_t cut_byte;     /* offset of the chunk that the end of the file cuts off; 0: none */
};

/*
 * Open path.  Returns 0 and *out, or -errno with a sentence if the file cannot be read, is empty, is not a trace, or has a newer format.
 */
int trace_open(const char *path, struct trace_reader **out, struct diag *d);
/* If the recorder of the trace at path is still running, wait until it has ended, at most ten seconds. */
void trace_wait_for_recorder(const char *path);
void trace_close(struct trace_reader *t);
/* Was a recorder of this machine still writing the trace when it was opened? */
bool trace_is_being_written(const struct trace_reader *t);

/* Select the chunks whose records are delivered, by the bits 1u << enum trace_chunk_type.  Takes effect at the next chunk. */
void trace_select_chunks(struct trace_reader *t, unsigned chunk_types);
/* Deliver only records with one of these nr ids (the array must stay valid), or all if nr is 0.  Skipping the others is cheaper than
 * delivering them. */
void trace_select_ids(struct trace_reader *t, const uint32_t *ids, uint32_t nr);
/* Keep the bodies of RECORDS chunks that are read from now on, up to TRACE_KEPT_BYTES, so that another pass or trace_read_record_at() does
 * not decompress them again. */
#define TRACE_KEPT_BYTES ((size_t)256 << 20)
void trace_keep_bodies(struct trace_reader *t);
/* Free each kept body from now on when its last record has been read, unless trace_hold_current_body() was called for one of its
 * records. */
void trace_release_left_bodies(struct trace_reader *t);
void trace_hold_current_body(struct trace_reader *t);
/* Go back to the first record.  Damage is counted anew. */
void trace_rewind(struct trace_reader *t);

/* Read the next record.  Returns 1 with *r, or 0 at the end of the file or when the budget is exceeded.  Damage is skipped and counted. */
int trace_next(struct trace_reader *t, struct trace_record *r);

/* The place of the last record that trace_next() returned. */
struct trace_place trace_get_place(const struct trace_reader *t);
/* Read the record at a place, which is valid until the next call.  Does not change the position of trace_next().  Returns false if no
 * record can be read there. */
bool trace_read_record_at(struct trace_reader *t, struct trace_place place, struct trace_record *r);

const struct trace_stats *trace_get_stats(const struct trace_reader *t);
const struct trace_damage *trace_get_damage(const struct trace_reader *t);
/* Write a sentence for users about the damage.  Returns false if there is none. */
bool trace_describe_damage(const struct trace_reader *t, char *text, size_t bytes);
/*
 * The budget of reading this trace (budget.h).  trace_next() spends from it for reading, and returns 0 when it is exceeded.  Code that does
 * something many times for one record spends for it by this function.  Returns false if the budget is exceeded.
 */
bool trace_spend_budget(struct trace_reader *t, uint64_t steps);
/* Has the budget room for memory that is allocated at once?  If not, it counts as exceeded. */
bool trace_budget_has_room(struct trace_reader *t, uint64_t bytes);
/* The budget itself, for code that reads sections inside records.  Valid until trace_close(). */
struct budget *trace_budget(struct trace_reader *t);
/* Returns 0, or -E2BIG with a sentence if the budget is exceeded. */
int trace_check_budget(const struct trace_reader *t, struct diag *d);

/* The chunk of the last record, and its offset in the file. */
const struct trace_chunk *trace_get_chunk(const struct trace_reader *t, uint64_t *file_offset);
/* Bytes read so far and in all, for progress. */
void trace_get_progress(const struct trace_reader *t, uint64_t *at, uint64_t *total);

/* Accessors of fields, which return 0, "" or an empty value if the field is absent or of another kind.  index: F(record, field). */
uint64_t trace_u64(const struct trace_record *r, int index);
int64_t trace_s64(const struct trace_record *r, int index);
const char *trace_bytes(const struct trace_record *r, int index, size_t *bytes);
/* Does the field have this text?  An absent field does not. */
bool trace_text_is(const struct trace_record *r, int index, const char *text);
/* A NUL-terminated copy of a text, "" if the field is absent.  The caller frees it. */
char *trace_text(const struct trace_record *r, int index);
/* The kind of a NOTICE record and the reason of a LOSS record, or NR_NOTICES and NR_LOSSES if this version does not know them. */
enum notice_kind trace_notice_kind(const struct trace_record *r);
enum loss_reason trace_loss_reason(const struct trace_record *r);
/* Element e of a LIST, and member m of such an element.  Return a value of kind OTHER if there is none. */
struct trace_value trace_item(const struct trace_value *list, uint64_t e);
struct trace_value trace_element(const struct trace_value *list, uint64_t e, int m);

/*
 * A decoded SAMPLES record.  column[c][i] is a number of sample i.  column[c] is NULL if the column is absent, which means all 0.
 * Registers have perf's numbers.  chain_offset[i] is the index of sample i's first return address in chain (chain_offset[nr]: their end).
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
	uint64_t *column[SAMPLE_COLUMN_REGISTER_0]; /* indexed by enum sample_column, without REGISTER_0, STACK and CHAIN */
	uint64_t *registers[SAMPLE_REGISTERS_MAX];
	uint32_t nr_ips; /* if not 0, ips[ip_index[i]] is the ip of sample i */
	uint64_t *ips;
	uint16_t *ip_index;
	uint64_t *chain;	/* return addresses of all samples */
	uint64_t *chain_offset; /* NULL without chains */
	bool has_stacks, has_kernel_chains;
	struct sample_columns constant; /* columns with equal numbers in all samples */
	struct sample_columns unwanted; /* set by the caller: columns to skip if there are no stacks and chains */
	struct stack_decoder *stacks_;	  /* this and all below are private to the decoder */
	struct trace_value kernel_chains_;
	uint64_t *kernel_chain_, *kernel_offset_; /* decoded on demand */
	uint64_t *room_[SAMPLE_NR_COLUMNS]; /* arrays, kept from block to block */
	uint32_t same_[SAMPLE_NR_COLUMNS]; /* how many numbers at the beginning of an array equal its first */
	uint32_t room_nr_;
	unsigned char *ip_seen_;
};

/* Decode a TRACE_SAMPLES record to b, which is zeroed before the first call, and reused (unwanted is kept).  Returns 0, or -EBADMSG or
 * -ENOMEM with b empty.  Stacks of b are valid as long as the record. */
int sample_block_decode(const struct trace_record *r, struct sample_block *b);
/*
 * The stack of sample i from the stack pointer upwards, and its size in *bytes, or 0 if it has none.  Valid until the next call, and not
 * aligned.  Stacks are stored as changes, so call this in the order of samples: going back starts from the first one again.
 */
const unsigned char *sample_block_stack(struct sample_block *b, uint32_t i, size_t *bytes);
/* The return addresses of sample i in the kernel, innermost first, and their number.  Valid until the next block is decoded. */
const uint64_t *sample_block_kernel_chain(struct sample_block *b, uint32_t i, uint64_t *nr);
void sample_block_fini(struct sample_block *b);

#endif
