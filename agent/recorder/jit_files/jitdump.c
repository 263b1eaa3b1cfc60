/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/jitdump.h"

#include "agent/recorder/process/time_namespace.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4a695444u /* "JiTD" */
#define FLAG_COUNTER 1u
#define HEADER_MAX 4096u
#define RECORD_MAX (32u << 20)
#define LINES_MAX (16u << 20)
#define CLOCKS_APART_NS 1000000000ull /* a timestamp that much later than now is of another clock */
#define ELF_HEADER_BYTES 0x40u

struct header {
	uint32_t magic, version, total_size, elf_machine, pad, pid;
	uint64_t timestamp, flags;
};

struct jitdump {
	struct jitdump_writer writer;
	struct jitdump_clock first; /* clocks when the file was found, from which the counter's frequency is measured */
	bool has_header, has_record, has_failed, is_counter;
	uint64_t shift_ns; /* number that is added to the writer's clock to get CLOCK_MONOTONIC */
	ARRAY(unsigned char) left; /* bytes of an incomplete record */
	unsigned char *lines; /* entries of a DEBUG_INFO whose LOAD has not come yet; NULL: none */
	size_t lines_bytes;
	uint64_t nr_lines, lines_start, lines_time_ns;
	bool is_shifted, is_not_shifted;
};

struct jitdump_clock jitdump_clock_now(void)
{
	struct jitdump_clock c = { 0, 0 };

#if defined(__x86_64__)
	c.counter = __builtin_ia32_rdtsc();
#endif
	c.ns = clock_now_ns();
	return c;
}

struct jitdump *jitdump_create(const struct jitdump_writer *w)
{
	struct jitdump *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->writer = *w;
	j->first = jitdump_clock_now();
	return j;
}

void jitdump_destroy(struct jitdump *j)
{
	if (!j)
		return;
	free(j->left.at);
	free(j->lines);
	free(j);
}

/* Converts a timestamp to CLOCK_MONOTONIC. The result is not later than now. The frequency of the counter is measured over the time since
 * the file was found, which is exact enough, since the timestamps are recent. If the counter is unknown, as in an import, the result is the
 * time at which the file was mapped. */
static uint64_t convert_timestamp(const struct jitdump *j, uint64_t timestamp, const struct jitdump_clock *now)
{
	uint64_t ns;

	if (!j->is_counter) {
		ns = j->shift_ns ? timestamp + j->shift_ns : time_namespace_convert(timestamp, j->writer.ahead_ns);
	} else if (!now->counter) {
		ns = j->writer.mapped_ns;
	} else if (now->counter <= j->first.counter || now->ns <= j->first.ns) {
		ns = now->ns;
	} else {
		double pace = (double)(now->ns - j->first.ns) / (double)(now->counter - j->first.counter);
		double ago = pace * (double)(int64_t)(now->counter - timestamp);

		ns = ago < (double)now->ns ? now->ns - (uint64_t)(int64_t)ago : 0;
	}
	/* a record that was read was not written later than now, whatever its timestamp says */
	return ns > now->ns ? now->ns : ns;
}

/* The first record tells whether the writer has another clock, since it is neither later than now nor earlier than the file.  The header
 * does not tell it, since V8 takes its time from yet another clock. */
static void compare_clocks(struct jitdump *j, uint64_t timestamp, const struct jitdump_clock *now)
{
	uint64_t time_ns = convert_timestamp(j, timestamp, &(struct jitdump_clock){ 0, UINT64_MAX }), mapped_ns = j->writer.mapped_ns;

	if (j->is_counter)
		return;
	if ((time_ns > now->ns && time_ns - now->ns > CLOCKS_APART_NS) ||
	    (j->writer.has_just_mapped && time_ns < mapped_ns && mapped_ns - time_ns > CLOCKS_APART_NS))
		j->shift_ns = mapped_ns - timestamp;
}

static int read_jitdump_header(struct jitdump *j, const unsigned char *at, size_t bytes, size_t *used)
{
	struct header h;

	*used = 0;
	if (bytes < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	if (h.magic != MAGIC || h.version < 1 || h.total_size < sizeof(h) || h.total_size > HEADER_MAX)
		return -EBADMSG;
	if (bytes < h.total_size)
		return 0;
	*used = h.total_size;
	j->has_header = true;
	j->is_counter = h.flags & FLAG_COUNTER;
	return 0;
}

/* ------------------------------------------------------------------------------------------------- line tables */

/* A line table consists of packed entries {u64 address, u32 line, u32 discriminator, NUL-terminated file name}. */
#define ENTRY_BYTES 16u
#define FUNCTION_BYTES_MAX (64u << 20)
#define PADDING_MAX 8u

struct entries {
	const unsigned char *at;
	size_t bytes;
	uint64_t nr, start; /* start: address of the code */
};

static bool is_address_near_code(const struct entries *e, const unsigned char *at)
{
	uint64_t address;

	memcpy(&address, at, 8);
	return address - e->start < FUNCTION_BYTES_MAX;
}

/*
 * Returns the end of the entry at this place, or NULL if there is none.  The end is behind the first NUL that is followed by another entry
 * or by the table's end.  That may not be the first NUL in the name, since V8 (10 and 11 at least) writes as many bytes as the script's
 * name had, although it has freed the name already.
 */
static const unsigned char *end_of_line_entry(const struct entries *e, const unsigned char *at, bool is_last)
{
	const unsigned char *end = e->at + e->bytes, *nul = at + ENTRY_BYTES;

	if ((size_t)(end - at) <= ENTRY_BYTES)
		return NULL;
	while ((nul = memchr(nul, 0, (size_t)(end - nul)))) {
		size_t left = (size_t)(end - ++nul);

		if (is_last ? left < PADDING_MAX : left > ENTRY_BYTES && is_address_near_code(e, nul))
			return nul;
	}
	return NULL;
}

static bool line_entries_make_sense(const struct entries *e)
{
	const unsigned char *at = e->at;

	if (!is_address_near_code(e, at))
		return false;
	for (uint64_t i = 0; i < e->nr; i++) {
		at = end_of_line_entry(e, at, i + 1 == e->nr);
		if (!at)
			return false;
	}
	return true;
}

/* Copies the entries to `to`, with a name "\xff" replaced by that of the entry before, and a name with NULs in it (a freed one) by an empty
 * one.  Returns the number of bytes.  If `to` is NULL, only counts them, and stops above LINES_MAX. */
static size_t expand_line_names(const struct entries *e, unsigned char *to)
{
	const unsigned char *at = e->at;
	const char *name = "";
	size_t bytes = 0;

	for (uint64_t i = 0; i < e->nr && bytes <= LINES_MAX; i++) {
		const unsigned char *end = end_of_line_entry(e, at, i + 1 == e->nr);
		const char *own = (const char *)at + ENTRY_BYTES;
		size_t name_bytes;

		if (strcmp(own, "\xff") != 0)
			name = own + strlen(own) + 1 == (const char *)end ? own : "";
		name_bytes = strlen(name) + 1;
		if (to) {
			memcpy(to + bytes, at, ENTRY_BYTES);
			memcpy(to + bytes + ENTRY_BYTES, name, name_bytes);
		}
		bytes += ENTRY_BYTES + name_bytes;
		at = end;
	}
	return bytes;
}

static void drop_pending_lines(struct jitdump *j)
{
	free(j->lines);
	j->lines = NULL;
	j->nr_lines = 0;
}

/* Keeps the lines of a DEBUG_INFO, which comes before the LOAD of its code.  Drops a malformed or too large one. */
static void keep_pending_lines(struct jitdump *j, const unsigned char *record, size_t size, uint64_t time_ns)
{
	struct entries e = { record + 32, 0, 0, 0 };

	drop_pending_lines(j);
	if (size < 32)
		return;
	e.bytes = size - 32;
	memcpy(&e.start, record + 16, 8);
	memcpy(&e.nr, record + 24, 8);
	if (!e.nr || e.nr > e.bytes / (ENTRY_BYTES + 1) || !line_entries_make_sense(&e))
		return;
	j->lines_bytes = expand_line_names(&e, NULL);
	j->lines = j->lines_bytes <= LINES_MAX ? malloc(j->lines_bytes) : NULL;
	if (!j->lines)
		return;
	expand_line_names(&e, j->lines);
	j->nr_lines = e.nr;
	j->lines_start = e.start;
	j->lines_time_ns = time_ns;
}

static size_t bytes_of_line_entry(const unsigned char *at)
{
	return ENTRY_BYTES + strlen((const char *)at + ENTRY_BYTES) + 1;
}

static uint64_t address_of_line_entry(const unsigned char *at)
{
	uint64_t address;

	memcpy(&address, at, 8);
	return address;
}

/* Finds the script's path in the name of a code object such as "JS:*name /path/to/file.js:12:3" (V8 11) or "LazyCompile:*name
 * /path/to/file.js:12" (V8 10).  Returns its length, or 0 if there is none. */
static size_t find_script_in_name(const char *name, size_t bytes, const char **script)
{
	const char *blank = memrchr(name, ' ', bytes), *end = name + bytes;

	for (int numbers = 0; blank && numbers < 2; numbers++) {
		const char *digit = end;

		while (digit - 1 > blank && digit[-1] >= '0' && digit[-1] <= '9')
			digit--;
		if (digit == end || digit[-1] != ':')
			break;
		end = digit - 1;
	}
	if (!blank || end <= blank + 1)
		return 0;
	*script = blank + 1;
	return (size_t)(end - *script);
}

/* Sets the names of lines without one to the script in the name of their code.  Leaves them if there is none, or memory runs out. */
static void fill_missing_line_names(struct jitdump *j, const struct schema_value *name)
{
	const char *script = NULL;
	size_t script_bytes = find_script_in_name(name->p, name->bytes, &script), nameless = 0, bytes;
	unsigned char *at = j->lines, *named, *to;

	for (uint64_t i = 0; i < j->nr_lines; i++, at += bytes_of_line_entry(at))
		nameless += !at[ENTRY_BYTES];
	bytes = j->lines_bytes + nameless * script_bytes;
	if (!nameless || !script_bytes || nameless > LINES_MAX / script_bytes || bytes > LINES_MAX)
		return;
	named = to = malloc(bytes);
	if (!named)
		return;
	at = j->lines;
	for (uint64_t i = 0; i < j->nr_lines; i++, at += bytes_of_line_entry(at)) {
		size_t each = bytes_of_line_entry(at);

		memcpy(to, at, each);
		to += each;
		if (!at[ENTRY_BYTES]) {
			memcpy(to - 1, script, script_bytes);
			to += script_bytes;
			to[-1] = 0;
		}
	}
	free(j->lines);
	j->lines = named;
	j->lines_bytes = bytes;
}

/*
 * Undoes the shift of line tables by the size of an ELF header.  Whether the writer shifts is found out from the tables so far.  It does if
 * one starts where the header would end, or ends behind its code, and none has an entry before the header's end.
 */
static void undo_elf_header_shift(struct jitdump *j, uint64_t code_bytes)
{
	uint64_t first = UINT64_MAX, last = 0;
	unsigned char *at = j->lines;

	for (uint64_t i = 0; i < j->nr_lines; i++, at += bytes_of_line_entry(at)) {
		uint64_t offset = address_of_line_entry(at) - j->lines_start;

		first = offset < first ? offset : first;
		last = offset > last ? offset : last;
	}
	j->is_not_shifted |= first < ELF_HEADER_BYTES;
	j->is_shifted |= first == ELF_HEADER_BYTES || (last >= code_bytes && last < code_bytes + ELF_HEADER_BYTES);
	if (!j->is_shifted || j->is_not_shifted)
		return;
	at = j->lines;
	for (uint64_t i = 0; i < j->nr_lines; i++, at += bytes_of_line_entry(at)) {
		uint64_t address = address_of_line_entry(at) - ELF_HEADER_BYTES;

		memcpy(at, &address, 8);
	}
}

static void pass_pending_lines(struct jitdump *j, const struct schema_value *load, uint32_t tid, jitdump_record record, void *context)
{
	struct schema_value values[] = {
		{ .kind = SCHEMA_U64, .u = j->lines_start },
		{ .kind = SCHEMA_U64, .u = j->nr_lines },
		{ .kind = SCHEMA_LINES, .u = j->nr_lines },
	};

	if (j->lines_start == load[F(load, code_addr)].u) {
		undo_elf_header_shift(j, load[F(load, code_size)].u);
		fill_missing_line_names(j, &load[F(load, name)]);
		values[2].p = j->lines;
		values[2].bytes = j->lines_bytes;
		record(context, JITREG_DEBUG_INFO, j->lines_time_ns, tid, values, 3);
	}
	drop_pending_lines(j);
}

/* ------------------------------------------------------------------------------------------------------ records */

static int handle_jitdump_record(struct jitdump *j, const unsigned char *at, size_t size, const struct jitdump_clock *now,
				 jitdump_record record, void *context)
{
	struct schema_value values[SCHEMA_FIELDS_MAX];
	struct jitreg_prefix prefix;
	uint64_t time_ns;
	uint32_t tid = 0;
	int nr, ret;

	memcpy(&prefix, at, sizeof(prefix));
	if (prefix.id > JITREG_UNWINDING_INFO)
		return 0; /* the record is of a later version, or one of jitreg's own */
	if (!j->has_record)
		compare_clocks(j, prefix.timestamp, now);
	j->has_record = true;
	time_ns = convert_timestamp(j, prefix.timestamp, now);
	if (prefix.id == JITREG_DEBUG_INFO) {
		keep_pending_lines(j, at, size, time_ns);
		return 0;
	}
	ret = schema_parse(at, size, values, &nr);
	if (ret)
		return ret;
	switch (prefix.id) {
	case JITREG_LOAD:
		tid = (uint32_t)values[F(load, tid)].u;
		if (j->nr_lines)
			pass_pending_lines(j, values, tid, record, context);
		break;
	case JITREG_MOVE:
		tid = (uint32_t)values[F(move, tid)].u;
		break;
	}
	record(context, prefix.id, time_ns, tid, values, nr);
	return 0;
}

/* Handles the file's header and all complete records in [at, at + bytes).  *used: the number of bytes handled. */
static int handle_complete_records(struct jitdump *j, const unsigned char *at, size_t bytes, size_t *used, const struct jitdump_clock *now,
				   jitdump_record record, void *context)
{
	size_t done = 0;
	int ret = 0;

	if (!j->has_header)
		ret = read_jitdump_header(j, at, bytes, &done);
	while (ret == 0 && j->has_header && bytes - done >= sizeof(struct jitreg_prefix)) {
		struct jitreg_prefix prefix;

		memcpy(&prefix, at + done, sizeof(prefix));
		if (prefix.total_size < sizeof(prefix) || prefix.total_size > RECORD_MAX)
			ret = -EBADMSG;
		else if (prefix.total_size > bytes - done)
			break;
		else
			ret = handle_jitdump_record(j, at + done, prefix.total_size, now, record, context);
		if (ret == 0)
			done += prefix.total_size;
	}
	*used = done;
	return ret;
}

static int keep_incomplete_record(struct jitdump *j, const unsigned char *at, size_t bytes)
{
	if (!ARRAY_RESERVE(j->left, bytes))
		return -ENOMEM;
	memcpy(j->left.at + j->left.nr, at, bytes);
	j->left.nr += bytes;
	return 0;
}

int jitdump_feed(struct jitdump *j, const void *bytes, size_t nr, const struct jitdump_clock *now, jitdump_record record,
		 void *context)
{
	const unsigned char *at = bytes;
	size_t used = 0;
	int ret;

	if (j->has_failed)
		return -EBADMSG;
	if (j->left.nr) { /* the new bytes are appended to an incomplete record from before */
		ret = keep_incomplete_record(j, at, nr);
		if (ret == 0)
			ret = handle_complete_records(j, j->left.at, j->left.nr, &used, now, record, context);
		memmove(j->left.at, j->left.at + used, j->left.nr - used);
		j->left.nr -= used;
	} else {
		ret = handle_complete_records(j, at, nr, &used, now, record, context);
		if (ret == 0 && used < nr)
			ret = keep_incomplete_record(j, at + used, nr - used);
	}
	j->has_failed = ret != 0;
	return ret;
}
