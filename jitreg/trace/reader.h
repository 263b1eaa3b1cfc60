/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace, record by record. Memory is needed for a chunk or two, and for the bodies that trace_keep_bodies() keeps. Every byte of a
 * trace is untrusted, so lengths are checked before use, and bytes that are not a valid chunk are skipped up to the next magic number, and
 * counted.
 *
 * Context: thread. One reader belongs to one thread.
 */
#ifndef TAILOR_READER_H
#define TAILOR_READER_H

#include "jitreg/base/diag.h"
#include "jitreg/trace/schema.h"

#include <stdbool.h>

struct budget;
struct trace_reader;

/* This struct has the value of a field.  Text and bytes point into the body of the record's chunk, and are valid until the next
 * trace_next(). */
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
	const char *packed; /* the record as encoded in the chunk's body, with all fields, also those that this version does not know */
	size_t packed_bytes;
};

/* The place of a record consists of the offset of its chunk in the file, and its own offset in the uncompressed body of the chunk. */
struct trace_place {
	uint64_t chunk;
	uint32_t record;
};

/* This struct counts the work done.  A chunk that was read once counts once, however often its records are read. */
struct trace_stats {
	uint64_t chunks[TRACE_CHUNK_END + 1]; /* checked and decompressed chunks, by type */
	uint64_t records;		      /* decoded records */
};

/* Describes the parts of the file that could not be read, for the message and the exit status of commands. */
struct trace_damage {
	uint64_t bad_chunks;   /* chunks with a wrong magic number, size or checksum, or with invalid data */
	uint64_t skipped_bytes;
	uint64_t first_byte;   /* file offset of the first bad chunk */
	bool truncated; /* no whole END chunk: the trace is still being written, the recorder was killed, or the file was cut or damaged */
	uint64_t cut_byte;     /* offset of the chunk that the end of the file cuts off; 0: none */
};

/*
 * Open path.  Returns 0 with *out, which trace_close() frees.  Returns -errno with a sentence if the file cannot be read, is empty, is not
 * a trace, or has a newer format, if TAILOR_BUDGET is invalid (budget.h), or if memory runs out.
 */
int trace_open(const char *path, struct trace_reader **out, struct diag *d);
/* If a process is writing the trace at path, wait until it has closed it, at most ten seconds. */
void trace_wait_for_recorder(const char *path);
void trace_close(struct trace_reader *t);
/* Did another process hold the lock for writing the trace when it was opened?  Records at the end may be missing then. */
bool trace_is_being_written(const struct trace_reader *t);

/* Select the chunks whose records are delivered, by the bits 1u << enum trace_chunk_type.  Takes effect at the next chunk. */
void trace_select_chunks(struct trace_reader *t, unsigned chunk_types);
/* Make trace_next() return only records with one of these nr ids (the array must stay valid), or all if nr is 0.  The others are not
 * decoded, which takes less time than ignoring them in the caller. */
void trace_select_ids(struct trace_reader *t, const uint32_t *ids, uint32_t nr);
/* Keep the decompressed bodies of RECORDS chunks that are read from now on, so that a second pass or trace_read_record_at() does not
 * decompress them again.  Bodies of more than 1 MiB, and those beyond TRACE_KEPT_BYTES in all, are not kept. */
#define TRACE_KEPT_BYTES ((size_t)256 << 20)
void trace_keep_bodies(struct trace_reader *t);
/* Callers use this before the last pass. From then on, each kept body is freed when its last record has been read, unless
 * trace_hold_current_body() was called while the current record (that of the last trace_next()) was in it. */
void trace_release_left_bodies(struct trace_reader *t);
void trace_hold_current_body(struct trace_reader *t);
/* Go back to the first record.  Damage is counted anew from 0. */
void trace_rewind(struct trace_reader *t);

/* Read the next record.  Returns 1 with *r, or 0 at the end of the file or when the budget is exceeded (trace_check_budget() tells which).
 * Damaged parts are skipped and counted. */
int trace_next(struct trace_reader *t, struct trace_record *r);

/* Returns the place of the last record that trace_next() returned. */
struct trace_place trace_get_place(const struct trace_reader *t);
/* Read the record at a place from trace_get_place().  *r is valid until the next call of this function or of trace_next().  Does not change
 * the position of trace_next().  Returns false if no record can be read there. */
bool trace_read_record_at(struct trace_reader *t, struct trace_place place, struct trace_record *r);

const struct trace_stats *trace_get_stats(const struct trace_reader *t);
const struct trace_damage *trace_get_damage(const struct trace_reader *t);
/* Write a sentence for users about an exceeded budget, or about damage.  Returns false, with text unchanged, if there is neither. */
bool trace_describe_damage(const struct trace_reader *t, char *text, size_t bytes);
/*
 * Reading this trace has a budget (budget.h). trace_next() spends from it for reading, and returns 0 when it is exceeded. Code whose work
 * for one record may be large calls this function with the number of its steps. Returns false if the budget is exceeded.
 */
bool trace_spend_budget(struct trace_reader *t, uint64_t steps);
/* Can this many bytes be allocated within the budget?  If not, the budget counts as exceeded from now on. */
bool trace_budget_has_room(struct trace_reader *t, uint64_t bytes);
/* Returns the budget itself, for code that reads ELF sections inside records and does not know the reader. It is valid until
 * trace_close(). */
struct budget *trace_budget(struct trace_reader *t);
/* Returns 0, or -E2BIG with a sentence if the budget is exceeded. */
int trace_check_budget(const struct trace_reader *t, struct diag *d);

/* Returns the head of the chunk that has the last record, and its offset in the file. */
const struct trace_chunk *trace_get_chunk(const struct trace_reader *t, uint64_t *file_offset);
/* Sets *at to the bytes of the file that were read so far, and *total to its size, to show progress. */
void trace_get_progress(const struct trace_reader *t, uint64_t *at, uint64_t *total);

/* These functions read fields, and return 0, "" or an empty value if the field is absent or of another kind. index: F(record, field). */
uint64_t trace_u64(const struct trace_record *r, int index);
int64_t trace_s64(const struct trace_record *r, int index);
const char *trace_bytes(const struct trace_record *r, int index, size_t *bytes);
/* Does the field have this text? A field that is absent or of another kind counts as "". */
bool trace_text_is(const struct trace_record *r, int index, const char *text);
/* Returns a NUL-terminated copy of a text, which the caller frees.  It is "" if the field is absent, and NULL if memory runs out. */
char *trace_text(const struct trace_record *r, int index);
/* Return the kind of a NOTICE record, or the reason of a LOSS record.  They are NR_NOTICES or NR_LOSSES if this version does not know the
 * text.  Notices of traces of 1.0.0 and before have the kinds that came later, by their sentences. */
enum notice_kind trace_notice_kind(const struct trace_record *r);
enum loss_reason trace_loss_reason(const struct trace_record *r);
/* Return element e of a LIST, or member m of its element e, which is a list itself.  Return a value of kind OTHER if there is none. */
struct trace_value trace_item(const struct trace_value *list, uint64_t e);
struct trace_value trace_element(const struct trace_value *list, uint64_t e, int m);

/*
 * A decoded SAMPLES record. column[c][i] is the number of sample i in column c. column[c] is NULL if the column is absent, which means all
 * 0, or was not decoded (unwanted). Registers have perf's numbers. chain_offset[i] is the index in chain of the first return address of
 * sample i, which has those up to chain_offset[i + 1].
 */
#define SAMPLE_REGISTERS_MAX 64
#define SAMPLE_NR_COLUMNS (SAMPLE_COLUMN_REGISTER_0 + SAMPLE_REGISTERS_MAX)

/* This struct is a set of columns.  Column n is bit n % 64 of mask[n / 64], so mask[1] is the mask of registers with perf's numbers. */
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
	/* number of different instruction pointers; ips[ip_index[i]] is that of sample i.  0: column IP is not a TABLE, so ips and ip_index
	 * are unset */
	uint32_t nr_ips;
	uint64_t *ips;
	uint16_t *ip_index;
	uint64_t *chain;	/* return addresses of all samples */
	uint64_t *chain_offset; /* NULL without chains */
	bool has_stacks, has_kernel_chains;
	struct sample_columns constant; /* columns that are stored as one number, which all samples have */
	/* set by the caller: columns that need not be decoded. They are decoded nonetheless in a block with stacks or chains, or if a
	 * column that is needed is stored as differences to them (AGAINST). Without column IP, no column can be decoded that is stored
	 * BY_IP */
	struct sample_columns unwanted;
	struct stack_decoder *stacks_;	  /* this and all below are private to the decoder */
	struct trace_value kernel_chains_;
	uint64_t *kernel_chain_, *kernel_offset_; /* decoded by the first sample_block_kernel_chain() */
	/* the arrays of columns, which are reused for the next block; [0]: see add_differences_by_ip() */
	uint64_t *room_[SAMPLE_NR_COLUMNS];
	/* how many numbers at the beginning of a room_ array equal its first, so that a constant column need not be filled again */
	uint32_t same_[SAMPLE_NR_COLUMNS];
	uint32_t room_nr_;
	unsigned char *ip_seen_;
};

/* Decode a TRACE_SAMPLES record to b.  The caller zeroes b before the first call, and may set unwanted.  Later calls reuse its memory, and
 * sample_block_fini() frees it.  Returns 0, or -EBADMSG or -ENOMEM with b empty.  Stacks and kernel chains of b are read from the record,
 * which must stay valid. */
int sample_block_decode(const struct trace_record *r, struct sample_block *b);
/*
 * Returns the stack of sample i from the stack pointer upwards, and its size in *bytes, which is 0 if it has none. The stack is valid
 * until the next call, and not aligned. Stacks are stored as changes since earlier ones, so the calls should be in the order of samples.
 * Going back decodes all from the first one on again.
 */
const unsigned char *sample_block_stack(struct sample_block *b, uint32_t i, size_t *bytes);
/* Returns the return addresses of sample i in the kernel, innermost first, and sets *nr to their number.  They are valid until the next
 * block is decoded to b.  *nr is 0 if there are none or memory runs out. */
const uint64_t *sample_block_kernel_chain(struct sample_block *b, uint32_t i, uint64_t *nr);
void sample_block_fini(struct sample_block *b);

#endif
