/* SPDX-License-Identifier: MIT */
/*
 * At a cut, the recorder ends the trace of one epoch and begins that of the next, which first repeats the state of the recording.
 * Registrations of agents are repeated as they were made, with their times, so that their bytes are the same. Data that the recorder reads
 * itself (perf maps, methods of a JVM) have the time of reading, so code of these counts as repeated if it is still the last code that was
 * registered at its addresses. Mappings are listed without a time (JITREG_TIME_BEFORE).
 */
#include "analyzer/merge/merge.h"

#include "analyzer/merge/merge_files.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/output/output_file.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GRANULE_BYTES 16u
#define GRANULES_MAX (1u << 18) /* maximum number of granules of a code object; a larger one is always copied */
#define COMPANIONS_MAX 8u
#define NO_CODE UINT32_MAX
#define TOLD UINT32_MAX

/* A companion is a record such as DEBUG_INFO that was read and waits for the LOAD after it, to which it belongs. It is left out if the LOAD
 * is. */
struct companion {
	uint32_t id;
	char *bytes;
	size_t nr;
};

struct loaded {
	uint64_t time_ns;
	uint32_t epoch;
};

struct merging {
	struct trace_writer *to;
	struct trace_reader *from;
	struct merge_files files;
	struct merge_counts *counts;
	uint32_t epoch;		    /* number of the epoch that is read: 1, 2, ... */
	struct hash_map said;	    /* hash of a registration or notice -> the first epoch that has it */
	struct hash_map generation; /* pid -> how many programs and processes with it have begun so far, or count as begun (own()) */
	struct hash_map code_of;    /* hashes of the place, code and name of a LOAD -> 1 + its index in loaded */
	struct hash_map owner;	    /* 16 bytes of a process's memory -> the code that is there: 1 + index in loaded, or NO_CODE */
	/* address, process and time of a LOAD that was left out -> 1 + index in loaded of the one that it repeats */
	struct hash_map earlier;
	struct hash_map has_bytes;
	struct hash_map mapped;	 /* a mapping -> the first epoch whose list has it; TOLD: its own record MMAP came before any list */
	uint64_t begin_ns;	 /* time at which the epoch begins */
	ARRAY(struct loaded) loaded;
	struct companion companion[COMPANIONS_MAX];
	uint32_t nr_companions;
	char *event[64]; /* names of the events of the first epoch that has them */
	uint32_t exit_status;
	uint64_t recorder_cpu_ns, command_cpu_ns, end_ns;
	int error;
};

static void keep_error(struct merging *g, int ret)
{
	g->error = g->error ? g->error : ret;
}

static void set(struct merging *g, struct hash_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	if (!hash_map_set(m, a, b, value))
		keep_error(g, -ENOMEM);
}

/* ------------------------------------------------------------------------------------------------------- repetitions */

/* Return whether an earlier epoch had the same record, and note it if no epoch had it. Records with equal hashes, sizes and keys are taken
 * to be the same. */
static bool is_repeated(struct merging *g, const char *bytes, size_t nr, uint64_t key)
{
	uint64_t hash = hash_bytes(bytes, nr);
	uint32_t epoch;

	key ^= (uint64_t)nr << 16;
	epoch = hash_map_find(&g->said, hash, key);
	if (!epoch)
		set(g, &g->said, hash, key, g->epoch);
	return epoch && epoch < g->epoch;
}

static uint64_t process_of(const struct merging *g, uint32_t pid)
{
	return (uint64_t)hash_map_find(&g->generation, pid, 0) << 32 | pid;
}

static void begin_program(struct merging *g, uint32_t pid)
{
	set(g, &g->generation, pid, 0, hash_map_find(&g->generation, pid, 0) + 1);
}

static uint64_t granules(uint64_t address, uint64_t bytes, uint64_t *first)
{
	*first = address / GRANULE_BYTES;
	return bytes && bytes - 1 <= UINT64_MAX - address ? (address + bytes - 1) / GRANULE_BYTES - *first + 1 : 0;
}

/* Note that this code (1 + index in loaded) is now at the addresses. NO_CODE: some code ended there, or other code may be there. Code that
 * is larger than GRANULES_MAX granules is not noted. */
static void own(struct merging *g, uint32_t pid, uint64_t address, uint64_t bytes, uint32_t code)
{
	uint64_t process = process_of(g, pid), first, nr = granules(address, bytes, &first);

	if (nr > GRANULES_MAX && code == NO_CODE)
		begin_program(g, pid); /* the range has too many granules, so nothing is known of the process's code from now on */
	if (nr > GRANULES_MAX || !trace_spend_budget(g->from, nr))
		return;
	for (uint64_t i = 0; i < nr; i++)
		set(g, &g->owner, process, first + i, code);
}

static bool is_still_there(const struct merging *g, uint32_t pid, uint64_t address, uint64_t bytes, uint32_t code)
{
	uint64_t process = process_of(g, pid), first, nr = granules(address, bytes, &first);

	for (uint64_t i = 0; i < nr && nr <= GRANULES_MAX; i++)
		if (hash_map_find(&g->owner, process, first + i) != code)
			return false;
	return nr && nr <= GRANULES_MAX && trace_spend_budget(g->from, nr);
}

/* Return a hash of the process, place and bytes of code, without the time, which differs if the recorder read the code again. *name_hash
 * becomes that of its name. */
static uint64_t hash_of_code(const struct trace_record *r, uint64_t *name_hash)
{
	size_t name_bytes, code_bytes;
	const char *name = trace_bytes(r, F(load, name), &name_bytes), *code = trace_bytes(r, F(load, code), &code_bytes);
	const uint64_t where[] = { r->pid, trace_u64(r, F(load, code_addr)), trace_u64(r, F(load, code_size)), name_bytes, code_bytes };

	*name_hash = hash_bytes(name, name_bytes);
	return hash_bytes(where, sizeof(where)) ^ hash_bytes(code, code_bytes);
}

static uint64_t key_of_load(uint32_t pid, uint64_t time_ns)
{
	return time_ns ^ (uint64_t)pid << 32;
}

static bool is_code_repeated(struct merging *g, const struct trace_record *r)
{
	uint64_t name, hash = hash_of_code(r, &name), address = trace_u64(r, F(load, code_addr)), bytes = trace_u64(r, F(load, code_size));
	uint32_t code = hash_map_find(&g->code_of, hash, name);
	struct loaded *l = code ? &g->loaded.at[code - 1] : NULL;

	if (l && l->epoch < g->epoch && is_still_there(g, r->pid, address, bytes, code)) {
		set(g, &g->earlier, address, key_of_load(r->pid, r->time_ns), code);
		return true;
	}
	if (!l) {
		if (!ARRAY_GROW(g->loaded)) {
			keep_error(g, -ENOMEM);
			return false;
		}
		l = &g->loaded.at[g->loaded.nr++];
		code = g->loaded.nr;
		set(g, &g->code_of, hash, name, code);
	}
	*l = (struct loaded){ r->time_ns, g->epoch };
	own(g, r->pid, address, bytes, code);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ copies */

static void copy_record(struct merging *g, const struct trace_record *r)
{
	keep_error(g, trace_record_copy(g->to, r));
}

static void keep_companion(struct merging *g, const struct trace_record *r)
{
	struct companion *c = &g->companion[g->nr_companions];

	*c = (struct companion){ r->id, malloc(r->packed_bytes + 1), r->packed_bytes };
	if (!c->bytes) {
		keep_error(g, -ENOMEM);
		return;
	}
	memcpy(c->bytes, r->packed, r->packed_bytes);
	g->nr_companions++;
}

static void leave_companions(struct merging *g, bool are_written)
{
	for (uint32_t i = 0; i < g->nr_companions; i++) {
		const struct companion *c = &g->companion[i];

		if (are_written)
			copy_record(g, &(struct trace_record){ .id = c->id, .packed = c->bytes, .packed_bytes = c->nr });
		free(c->bytes);
	}
	g->nr_companions = 0;
}

static void copy_load(struct merging *g, const struct trace_record *r)
{
	bool is_repeat = is_code_repeated(g, r);

	leave_companions(g, !is_repeat);
	g->counts->repeated += is_repeat;
	if (!is_repeat)
		copy_record(g, r);
}

/* Copy the bytes of code, unless they belong to a LOAD whose bytes have been copied. If the LOAD of the code was left out, the bytes get
 * the time of the LOAD that it repeats. */
static void copy_code_bytes(struct merging *g, const struct trace_record *r)
{
	uint64_t address = trace_u64(r, F(code_bytes, address)), loaded_ns = trace_u64(r, F(code_bytes, loaded_ns)), key;
	uint32_t code = hash_map_find(&g->earlier, address, key_of_load(r->pid, loaded_ns));
	struct trace_put_code_bytes put = { .address = address, .loaded_ns = code ? g->loaded.at[code - 1].time_ns : loaded_ns };

	key = key_of_load(r->pid, put.loaded_ns);
	if (loaded_ns != TRACE_NOT_LOADED && hash_map_find(&g->has_bytes, address, key))
		return;
	set(g, &g->has_bytes, address, key, 1);
	put.code.p = trace_bytes(r, F(code_bytes, code), &put.code.bytes);
	keep_error(g, trace_put_fields(g->to, TRACE_CODE_BYTES, r->time_ns, r->pid, r->tid, &put));
}

/* Copy an event, unless an earlier epoch had it or its number is beyond g->event. If an earlier epoch has another name for its number, the
 * traces are of different recordings, and merging fails. */
static void copy_event(struct merging *g, const struct trace_record *r)
{
	uint64_t i = trace_u64(r, F(event, event));

	if (i >= sizeof(g->event) / sizeof(g->event[0]))
		return;
	if (!g->event[i]) {
		g->event[i] = trace_text(r, F(event, name));
		copy_record(g, r);
	} else if (!trace_text_is(r, F(event, name), g->event[i])) {
		keep_error(g, -EBADMSG);
	}
}

static void copy_notice(struct merging *g, const struct trace_record *r)
{
	size_t bytes;
	const char *sentence = trace_bytes(r, F(notice, sentence), &bytes);

	if (!is_repeated(g, sentence, bytes, (uint64_t)r->id << 32))
		copy_record(g, r);
}

static void copy_host_lack(struct merging *g, const struct trace_record *r)
{
	static const int fields[] = { F(host_lack, host), F(host_lack, host_version), F(host_lack, missing), F(host_lack, reason) };
	char text[512];
	size_t at = 0, bytes;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *field = trace_bytes(r, fields[i], &bytes);

		bytes = bytes < sizeof(text) - 1 - at ? bytes : sizeof(text) - 1 - at;
		if (bytes)
			memcpy(text + at, field, bytes);
		at += bytes;
		if (at < sizeof(text) - 1)
			text[at++] = 0;
	}
	if (!is_repeated(g, text, at, (uint64_t)r->id << 32))
		copy_record(g, r);
}

/* Copy a mapping. An epoch begins with a list of the mappings that there are, without times. Of a later epoch's list, a mapping that was
 * read before is left out, and any other one gets the time of the cut. The mapping's own record MMAP may come after the list, because it
 * was in a ring that was drained later. If it is of a file and this epoch's list was the first to have it, the record is left out. */
static void copy_mapping(struct merging *g, const struct trace_record *r)
{
	size_t path_bytes, id_bytes;
	const char *path = trace_bytes(r, F(mmap, path), &path_bytes), *build_id = trace_bytes(r, F(mmap, build_id), &id_bytes);
	const struct trace_put_mmap put = {
		.address = trace_u64(r, F(mmap, address)),
		.bytes = trace_u64(r, F(mmap, bytes)),
		.file_offset = trace_u64(r, F(mmap, file_offset)),
		.prot = (uint32_t)trace_u64(r, F(mmap, prot)),
		.path = { path, path_bytes },
		.build_id = { build_id, id_bytes },
		.device = trace_u64(r, F(mmap, device)),
		.inode = trace_u64(r, F(mmap, inode)),
		.generation = trace_u64(r, F(mmap, generation)),
	};
	const uint64_t what[] = { put.address, put.bytes, put.file_offset, hash_bytes(path, path_bytes) };
	const uint64_t hash = hash_bytes(what, sizeof(what)), process = process_of(g, r->pid);
	const uint32_t known = hash_map_find(&g->mapped, hash, process);
	const bool is_there = r->time_ns == JITREG_TIME_BEFORE;

	if (!known)
		set(g, &g->mapped, hash, process, is_there ? g->epoch : TOLD);
	if (is_there ? known && g->epoch > 1 : known == g->epoch && mapping_kind(path, path_bytes) == MAPPING_FILE)
		g->counts->repeated++;
	else if (!is_there || g->epoch == 1)
		copy_record(g, r);
	else
		keep_error(g, trace_put_fields(g->to, TRACE_MMAP, g->begin_ns, r->pid, r->tid, &put));
}

static void take_end(struct merging *g, const struct trace_record *r)
{
	g->counts->has_end = true;
	g->exit_status = (uint32_t)trace_u64(r, F(end, exit_status));
	g->recorder_cpu_ns += trace_u64(r, F(end, recorder_cpu_ns));
	g->command_cpu_ns = trace_u64(r, F(end, command_cpu_ns));
	g->end_ns = r->time_ns > g->end_ns ? r->time_ns : g->end_ns;
}

/* Return whether these are the values that counters had at the beginning of a later epoch. They are left out, because those of the first
 * epoch hold for the whole recording. */
static bool is_base_of_later_epoch(const struct merging *g, const struct trace_record *r)
{
	return r->id == JITREG_COUNTER_VALUES && g->epoch > 1 && trace_u64(r, F(counter_values, flags)) & JITREG_VALUES_BASE;
}

static bool is_companion(uint32_t id)
{
	return id == JITREG_DEBUG_INFO || id == JITREG_INLINES || id == JITREG_UNWINDING_INFO;
}

static void copy_registration(struct merging *g, const struct trace_record *r)
{
	switch (r->id) {
	case JITREG_MEMORY: /* there are many of these, and no cut repeats them */
		break;
	case JITREG_CODE_UNLOAD:
		own(g, r->pid, trace_u64(r, F(code_unload, address)), trace_u64(r, F(code_unload, bytes)), NO_CODE);
		break;
	case JITREG_MOVE:
		own(g, r->pid, trace_u64(r, F(move, old_code_addr)), trace_u64(r, F(move, code_size)), NO_CODE);
		own(g, r->pid, trace_u64(r, F(move, new_code_addr)), trace_u64(r, F(move, code_size)), NO_CODE);
		break;
	}
	if (is_base_of_later_epoch(g, r))
		return;
	if (r->id != JITREG_MEMORY && is_repeated(g, r->packed, r->packed_bytes, 0))
		g->counts->repeated++;
	else if (r->id == JITREG_LOAD)
		copy_load(g, r);
	else if (is_companion(r->id) && g->nr_companions < COMPANIONS_MAX)
		keep_companion(g, r);
	else
		copy_record(g, r);
}

static void copy_any(struct merging *g, const struct trace_record *r)
{
	g->end_ns = r->time_ns > g->end_ns ? r->time_ns : g->end_ns;
	if (r->id != JITREG_LOAD && !is_companion(r->id))
		leave_companions(g, true);
	if (r->id < TRACE_HEADER) {
		copy_registration(g, r);
		return;
	}
	switch (r->id) {
	case TRACE_MMAP:
		copy_mapping(g, r);
		return;
	case TRACE_HEADER:
		g->begin_ns = r->time_ns;
		if (g->epoch == 1) {
			copy_record(g, r);
			keep_error(g, trace_writer_flush(g->to, TRACE_CHUNK_RECORDS)); /* the header must be the first record */
		}
		return;
	case TRACE_EVENT:
		copy_event(g, r);
		return;
	case TRACE_NOTICE:
		copy_notice(g, r);
		return;
	case TRACE_HOST_LACK:
		copy_host_lack(g, r);
		return;
	case TRACE_IMAGE_FILE:
		keep_error(g, merge_files_add_image(&g->files, r));
		return;
	case TRACE_SOURCE_LINES:
		keep_error(g, merge_files_add_lines(&g->files, r));
		return;
	case TRACE_CODE_BYTES:
		copy_code_bytes(g, r);
		return;
	case TRACE_END:
		take_end(g, r);
		return;
	case TRACE_SAMPLES:
		g->counts->samples += trace_u64(r, F(samples, nr));
		break;
	case TRACE_FORK:
		if (trace_u64(r, F(fork, ppid)) != r->pid)
			begin_program(g, r->pid);
		break;
	case TRACE_COMM:
		if (trace_u64(r, F(comm, exec)))
			begin_program(g, r->pid);
		break;
	}
	copy_record(g, r);
}

static int copy_epoch(struct merging *g, const char *path, struct diag *d)
{
	struct trace_record r;
	int ret = trace_open(path, &g->from, d);

	if (ret)
		return ret;
	g->epoch++;
	g->counts->has_end = false;
	while (!g->error && trace_next(g->from, &r) == 1)
		copy_any(g, &r);
	leave_companions(g, true);
	g->counts->is_damaged |= g->counts->has_end && trace_get_damage(g->from)->bad_chunks;
	ret = trace_check_budget(g->from, d);
	trace_close(g->from);
	if (g->error == -EBADMSG)
		return diag_fail(d, EBADMSG, "%s: its events are not those of the epoch before it", path);
	return ret;
}

static void write_end(struct merging *g)
{
	keep_error(g, merge_files_write_images(&g->files, g->to, g->end_ns));
	keep_error(g, merge_files_write_lines(&g->files, g->to, g->end_ns));
	trace_writer_flush_all(g->to);
	keep_error(g, TRACE_PUT(g->to, end, g->end_ns, 0, 0, .exit_status = g->exit_status, .samples = g->counts->samples,
				.records = trace_writer_records(g->to), .recorder_cpu_ns = g->recorder_cpu_ns,
				.command_cpu_ns = g->command_cpu_ns));
}

static void fini(struct merging *g)
{
	struct hash_map *maps[] = { &g->said, &g->generation, &g->code_of, &g->owner, &g->earlier, &g->has_bytes, &g->mapped };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		hash_map_fini(maps[i]);
	for (size_t i = 0; i < sizeof(g->event) / sizeof(g->event[0]); i++)
		free(g->event[i]);
	free(g->loaded.at);
	merge_files_fini(&g->files);
}

int merge_traces(char *const *path, uint32_t nr, const char *output, struct merge_counts *counts, struct diag *d)
{
	struct merging g = { .counts = counts, .exit_status = UINT32_MAX };
	int ret = 0;

	memset(counts, 0, sizeof(*counts));
	for (uint32_t i = 0; i < nr; i++)
		if (output_file_is_same(output, path[i]))
			return diag_fail(d, EINVAL, "%s: input and output are the same file", output);
	ret = trace_writer_create(output, &(struct trace_writer_options){ .compression = TRACE_SMALL, .whole = true }, &g.to, d);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < nr && ret == 0 && !g.error; i++)
		ret = copy_epoch(&g, path[i], d);
	if (ret == 0 && !g.error)
		write_end(&g);
	if (ret == 0 && g.error)
		ret = diag_fail(d, -g.error, "%s: cannot be written: %s", output, strerror(-g.error));
	if (ret)
		trace_writer_drop(g.to);
	else
		ret = trace_writer_end(g.to, d);
	fini(&g);
	return ret;
}
