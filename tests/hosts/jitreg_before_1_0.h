/* SPDX-License-Identifier: MIT */
/*
 * jitreg: what a program that generates code can say about it.
 *
 * A host (a database, a language runtime, any JIT) includes this one header, compiles as C99, C11 or C++17 or later,
 * links nothing, and tells a profiler that may or may not be in the process which code it generated, from what
 * (components of abstraction levels, linked by a Tagging Dictionary), and what it is doing (marks, counters, tags).
 * Without a profiler every call costs a load, a branch, and a look at the clock (no system call).
 *
 * A record is jitdump's prefix (id, total size, timestamp), a fixed part, and variable parts in the order of their
 * counts.  Ids 0-4 are those of perf's jitdump, byte for byte (linux tools/perf/Documentation/jitdump-specification.txt);
 * ours start at 64.  README.md beside this file specifies each record.  All numbers are in the machine's byte order.
 *
 * Order of this file: emitting; the records; what most hosts need (code, components, links, the Abstraction Tracker,
 * tags); the rest.
 *
 * Every function here returns 0, or
 *   -ENOSYS   no agent in this process (or it has switched itself off)
 *   -EINVAL   malformed record
 *   -ENOBUFS  the record had to be dropped; the agent counts it
 * Context of all: thread (any thread, never a signal handler), unless it says otherwise.  Nothing allocates, nothing
 * blocks for longer than 1 ms, and errno is left alone.
 */
#ifndef JITREG_H
#define JITREG_H

#ifndef _GNU_SOURCE
#define JITREG_RTLD_DEFAULT ((void *)0) /* what RTLD_DEFAULT is on Linux; the macro needs _GNU_SOURCE */
#else
#define JITREG_RTLD_DEFAULT RTLD_DEFAULT
#endif

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JITREG_VERSION 1u

/* A LOAD with this time stamp says: the code was there before the agent came (found on attach). */
#define JITREG_TIME_BEFORE 1u

/* ------------------------------------------------------------------------------------------------ the records */

/*
 * One list per record.  Kinds:
 *   U32 U64 S64   fixed part, in this order, without padding
 *   NR            fixed part: a u32 count (bytes of a STR or BIN, elements of an ARR); the n-th NR belongs to the n-th
 *                 of STR, BIN, ARR
 *   STR BIN       variable part: text (UTF-8, without NUL) and bytes
 *   ARR           variable part: elements of struct jitreg_<second argument>
 *   ZSTR REST     jitdump's own: NUL-terminated text; all bytes up to the end of the record
 *   LINES         jitdump's own: nr_entry times {u64 address, u32 line, u32 discriminator, NUL-terminated file name}
 */
#define JITREG_FIELDS_LOAD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(pid) U32(tid) U64(vma) U64(code_addr) U64(code_size) U64(code_index) ZSTR(name) REST(code)
#define JITREG_FIELDS_MOVE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(pid) U32(tid) U64(vma) U64(old_code_addr) U64(new_code_addr) U64(code_size) U64(code_index)
#define JITREG_FIELDS_DEBUG_INFO(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(code_addr) U64(nr_entry) LINES(entries)
#define JITREG_FIELDS_CLOSE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES)
#define JITREG_FIELDS_UNWINDING_INFO(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(unwinding_size) U64(eh_frame_hdr_size) U64(mapped_size) REST(unwinding_data)
/* A loaded object.  load_bias: what is added to the addresses in the ELF file.  bytes: the whole file, for objects
 * that are in memory only or deleted (JITREG_IMAGE_MEMORY_ELF: section addresses are final, debug sections are not
 * relocated, as LLVM hands them to the GDB JIT interface).  An ELF of that kind needs no segments. */
#define JITREG_FIELDS_IMAGE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(load_bias) U32(flags) NR(nr_segments) NR(build_id_bytes) NR(path_bytes) NR(bytes_bytes) U32(reserved) \
	ARR(segments, segment) BIN(build_id) STR(path) BIN(bytes)
#define JITREG_FIELDS_IMAGE_UNLOAD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(load_bias) U32(flags) NR(path_bytes) STR(path)
/* An executable mapping and who made it. */
#define JITREG_FIELDS_REGION(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) U32(prot) NR(mapper_bytes) U64(mapper_offset) STR(mapper)
/* The range is free; what ran there before stays attributable.  bytes 0: the whole object at address. */
#define JITREG_FIELDS_CODE_UNLOAD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes)
/* Call-frame information as a JIT registers it: .eh_frame bytes, valid at the address where they lay. */
#define JITREG_FIELDS_EH_FRAME(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U32(flags) NR(frames_bytes) BIN(frames)
/* An abstraction level.  upper: the levels that its components are linked to. */
#define JITREG_FIELDS_LEVEL(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) NR(name_bytes) NR(nr_upper) STR(name) ARR(upper, level_ref)
#define JITREG_FIELDS_COMPONENT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) U64(component) NR(name_bytes) NR(detail_bytes) STR(name) STR(detail)
/* Tagging Dictionary: lower component -> upper component; weights share a sample between several uppers. */
#define JITREG_FIELDS_LINK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(lower_level) U32(upper_level) U64(lower) U64(upper) U32(weight) U32(reserved)
#define JITREG_FIELDS_UNLINK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(lower_level) U32(upper_level) U64(lower) U64(upper)
/* For hosts that do the last lowering themselves: from entries[i].offset on, code belongs to that component. */
#define JITREG_FIELDS_CODE_MAP(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(code_addr) NR(nr_entries) U32(reserved) ARR(entries, code_map_entry)
/* Dataflow between two components of a level: plans, pipelines, DAGs.  from: the producer; to: the consumer. */
#define JITREG_FIELDS_EDGE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) NR(label_bytes) U64(from) U64(to) U32(order) U32(reserved) STR(label)
/* Where the tag lives.  where: a DWARF register number, or JITREG_TAG_MEMORY (address: offset of the word from the
 * thread pointer).  A value v is a tag if (v & check_mask) == check_value.  fields: which bits name which level's
 * component.  keepers: code that never changes the register except to set a tag. */
#define JITREG_FIELDS_TAG(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(where) U32(flags) U64(address) U64(check_mask) U64(check_value) NR(nr_fields) NR(nr_keepers) \
	ARR(fields, tag_field) ARR(keepers, range)
#define JITREG_FIELDS_COUNTER(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) NR(name_bytes) U64(component) S64(value) STR(name)
/* Begin or end of a phase, or of one execution of a component.  component 0: of the process as a whole. */
#define JITREG_FIELDS_MARK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(action) U32(level) U64(component) U64(instance) U64(parent_instance) U64(units) \
	NR(name_bytes) NR(text_bytes) STR(name) STR(text)
#define JITREG_FIELDS_CONTROL(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(action) NR(name_bytes) STR(name)
/* A text that line tables refer to by name (the file name in the debug information).  level != 0: its line n is
 * component first_component + n of that level, lines starting at 1. */
#define JITREG_FIELDS_SOURCE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) U64(first_component) NR(name_bytes) NR(text_bytes) STR(name) BIN(text)

/* Memory that has a name from now on: a column, a hash table, a heap's nursery; of a component, or of nobody (component 0).  bytes 0: what
 * began at address has gone. */
#define JITREG_FIELDS_MEMORY(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) U32(level) NR(name_bytes) U64(component) STR(name)

/* Functions that were put into others: from an entry's address on, those that code is of, in jitdump's encoding (LINES).  An entry each,
 * discriminator 0 for the code object's own function, 1 for what is inlined into it, and so on; the next address begins anew.  line:
 * where the function around it calls it.  The text: its name, a newline, and the file that it is in. */
#define JITREG_FIELDS_INLINES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(code_addr) U64(nr_entry) LINES(entries)

/*      NAME, struct suffix, id */
#define JITREG_RECORDS(X) \
	X(LOAD, load, 0) \
	X(MOVE, move, 1) \
	X(DEBUG_INFO, debug_info, 2) \
	X(CLOSE, close, 3) \
	X(UNWINDING_INFO, unwinding_info, 4) \
	X(IMAGE, image, 64) \
	X(IMAGE_UNLOAD, image_unload, 65) \
	X(REGION, region, 66) \
	X(CODE_UNLOAD, code_unload, 67) \
	X(LEVEL, level, 68) \
	X(COMPONENT, component, 69) \
	X(LINK, link, 70) \
	X(UNLINK, unlink, 71) \
	X(CODE_MAP, code_map, 72) \
	X(EDGE, edge, 73) \
	X(TAG, tag, 74) \
	X(COUNTER, counter, 75) \
	X(MARK, mark, 76) \
	X(CONTROL, control, 77) \
	X(SOURCE, source, 78) \
	X(EH_FRAME, eh_frame, 79) \
	X(MEMORY, memory, 80) \
	X(INLINES, inlines, 81)

/* Elements of ARR parts. */
struct jitreg_segment {
	uint64_t address; /* where it is mapped */
	uint64_t bytes;
	uint64_t file_offset;
	uint64_t prot; /* PROT_READ | PROT_WRITE | PROT_EXEC */
};
struct jitreg_level_ref {
	uint64_t level;
};
struct jitreg_code_map_entry {
	uint64_t offset; /* from code_addr, ascending */
	uint64_t level;
	uint64_t component; /* 0: nobody's */
};
struct jitreg_tag_field {
	uint64_t level;
	uint64_t shift;
	uint64_t bits;
};
struct jitreg_range {
	uint64_t start;
	uint64_t end; /* one past the last byte */
};

struct jitreg_prefix {
	uint32_t id;
	uint32_t total_size; /* of the record in bytes, prefix included */
	uint64_t timestamp;  /* CLOCK_MONOTONIC, ns; 0: the agent stamps it */
};

#define JITREG_ID_(NAME, name, id) JITREG_##NAME = id,
enum jitreg_id { JITREG_RECORDS(JITREG_ID_) JITREG_ID_MAX_ = 127 };
#undef JITREG_ID_

#define JITREG_M32_(f) uint32_t f;
#define JITREG_M64_(f) uint64_t f;
#define JITREG_MS64_(f) int64_t f;
#define JITREG_M0_(f)
#define JITREG_M00_(f, t)
#define JITREG_STRUCT_(NAME, name, id_) \
	struct jitreg_##name { \
		struct jitreg_prefix prefix; \
		JITREG_FIELDS_##NAME(JITREG_M32_, JITREG_M64_, JITREG_MS64_, JITREG_M32_, JITREG_M0_, JITREG_M0_, JITREG_M00_, \
				     JITREG_M0_, JITREG_M0_, JITREG_M0_) \
	};
JITREG_RECORDS(JITREG_STRUCT_)
#undef JITREG_STRUCT_
#undef JITREG_M32_
#undef JITREG_M64_
#undef JITREG_MS64_
#undef JITREG_M0_
#undef JITREG_M00_

/* IMAGE flags */
#define JITREG_IMAGE_MEMORY_ELF 1u /* bytes is an ELF that exists in memory only, section addresses final */
#define JITREG_IMAGE_DELETED 2u    /* its file is gone from the file system */
#define JITREG_IMAGE_MAIN 4u       /* the program itself */
#define JITREG_IMAGE_VDSO 8u

/* COMPONENT flags */
#define JITREG_COMPONENT_SHARED 1u  /* code used by several components: a tag or the call stack decides */
#define JITREG_COMPONENT_RUNTIME 2u /* not generated: the engine's own machinery */

/* SOURCE flags */
#define JITREG_SOURCE_QUERY 1u /* what the user wrote; shown with the plan */

/* LEVEL flags */
#define JITREG_LEVEL_PLAN 1u /* its components and EDGEs form the plan that reports show first */

/* TAG where */
#define JITREG_TAG_MEMORY 0xffffffffu

/* MARK and CONTROL actions */
#define JITREG_MARK_BEGIN 1u
#define JITREG_MARK_END 2u
#define JITREG_CONTROL_START 1u
#define JITREG_CONTROL_STOP 2u
#define JITREG_CONTROL_CUT 3u
#define JITREG_CONTROL_NOTE 4u /* name: a sentence for the reader of the trace; asks for nothing */

/* ----------------------------------------------------------------------------------------------------- emitting */

typedef int (*jitreg_emit_function)(const struct iovec *parts, int nr_parts);
typedef void (*jitreg_replay_function)(void *host);

/* The agent's side of the ABI (exported by libtailor.so).  The first part must hold the whole prefix; total_size and a
 * zero timestamp are filled in by the agent. */
int jitreg_emit(const struct iovec *parts, int nr_parts);
/* ... and how many recorders have listened so far; 0: the agent is there, and nobody has yet. */
extern uint32_t jitreg_recorders;

/* What this translation unit knows about the agent.  Weak, so that all units of a program share one. */
struct jitreg_state_ {
	jitreg_emit_function emit;
	const uint32_t *recorders; /* the agent's */
	uint32_t heard_by;	   /* its number, when the replay function ran last */
	jitreg_replay_function replay;
	void *replay_host;
	int64_t looked_s; /* time(), last time that the agent was looked for */
};
__attribute__((weak, visibility("hidden"))) struct jitreg_state_ jitreg_state_;

#ifdef JITREG_AGENT
/* Defined by the agent alone, which is what all others look for. */
static inline jitreg_emit_function jitreg_agent_(void)
{
	return jitreg_emit;
}
#else
/* One thread has the host announce all that is live, once for each recorder. */
static inline void jitreg_greet_(uint32_t recorder)
{
	if (__atomic_exchange_n(&jitreg_state_.heard_by, recorder, __ATOMIC_ACQ_REL) != recorder && jitreg_state_.replay)
		jitreg_state_.replay(jitreg_state_.replay_host);
}

/*
 * Find the agent, at most once a second while there is none (a weak reference to jitreg_emit would stay NULL in
 * non-PIE executables and for agents that are loaded later).  One whose recorder is still to come is none.
 */
static inline jitreg_emit_function jitreg_find_(void)
{
	int64_t now_s = (int64_t)time(0);
	int saved = errno;
	void *symbol, *recorders;
	jitreg_emit_function emit;
	uint32_t recorder;

	if (__atomic_load_n(&jitreg_state_.looked_s, __ATOMIC_RELAXED) == now_s)
		return 0;
	symbol = dlsym(JITREG_RTLD_DEFAULT, "jitreg_emit");
	recorders = symbol ? dlsym(JITREG_RTLD_DEFAULT, "jitreg_recorders") : 0;
	recorder = recorders ? __atomic_load_n((const uint32_t *)recorders, __ATOMIC_ACQUIRE) : 0;
	if (!recorder) {
		/* only now: who comes while another thread still looks must look as well, or what it says is lost */
		__atomic_store_n(&jitreg_state_.looked_s, now_s, __ATOMIC_RELAXED);
		if (!recorders)
			(void)dlerror();
		errno = saved;
		return 0;
	}
	memcpy(&emit, &symbol, sizeof(emit));
	__atomic_store_n(&jitreg_state_.recorders, (const uint32_t *)recorders, __ATOMIC_RELEASE);
	__atomic_store_n(&jitreg_state_.emit, emit, __ATOMIC_RELEASE);
	jitreg_greet_(recorder);
	errno = saved;
	return emit;
}

static inline jitreg_emit_function jitreg_agent_(void)
{
	jitreg_emit_function emit = __atomic_load_n(&jitreg_state_.emit, __ATOMIC_ACQUIRE);
	uint32_t recorder;

	if (!emit)
		return jitreg_find_();
	recorder = __atomic_load_n(jitreg_state_.recorders, __ATOMIC_ACQUIRE);
	if (recorder != __atomic_load_n(&jitreg_state_.heard_by, __ATOMIC_RELAXED))
		jitreg_greet_(recorder);
	return emit;
}
#endif

/* Is there anybody to talk to?  For hosts that want to skip work; a load and a branch when there is. */
static inline int jitreg_enabled(void)
{
	return jitreg_agent_() != 0;
}

/* Have replay(host) called for each recorder that comes late; it announces all that is live.  Call it early. */
static inline void jitreg_set_replay(jitreg_replay_function replay, void *host)
{
	jitreg_state_.replay_host = host;
	jitreg_state_.replay = replay;
}

static inline int jitreg_emit_(uint32_t id, void *record, size_t fixed_bytes, const struct iovec *rest, int nr_rest)
{
	jitreg_emit_function emit = jitreg_agent_();
	struct jitreg_prefix *prefix = (struct jitreg_prefix *)record;
	struct iovec parts[6];
	int i;

	if (!emit)
		return -ENOSYS;
	prefix->id = id;
	parts[0].iov_base = record;
	parts[0].iov_len = fixed_bytes;
	for (i = 0; i < nr_rest && i < 5; i++)
		parts[i + 1] = rest[i];
	return emit(parts, i + 1);
}

static inline struct iovec jitreg_part_(const void *base, size_t bytes)
{
	struct iovec part;

	part.iov_base = (void *)(uintptr_t)base;
	part.iov_len = base ? bytes : 0;
	return part;
}

static inline uint32_t jitreg_text_bytes_(const char *text)
{
	return text ? (uint32_t)strlen(text) : 0;
}

#define JITREG_BEGIN_(type, r) \
	struct type r; \
	memset(&r, 0, sizeof(r))
#define JITREG_SEND_(ID, r, parts) jitreg_emit_(ID, &r, sizeof(r), parts, (int)(sizeof(parts) / sizeof(parts[0])))
#define JITREG_SEND_FIXED_(ID, r) jitreg_emit_(ID, &r, sizeof(r), (const struct iovec *)0, 0)

/* ------------------------------------------------------------------------------------------------- code objects */

/* Code was generated: [address, address + bytes).  code may be NULL when the bytes cannot be read yet. */
static inline int jitreg_code_load(uint64_t address, uint64_t bytes, uint64_t index, const char *name, const void *code)
{
	JITREG_BEGIN_(jitreg_load, r);
	struct iovec parts[2];

	r.vma = r.code_addr = address;
	r.code_size = bytes;
	r.code_index = index;
	parts[0] = jitreg_part_(name ? name : "", jitreg_text_bytes_(name) + 1u);
	parts[1] = jitreg_part_(code, (size_t)bytes);
	return JITREG_SEND_(JITREG_LOAD, r, parts);
}

static inline int jitreg_code_move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t index)
{
	JITREG_BEGIN_(jitreg_move, r);
	r.vma = r.new_code_addr = to;
	r.old_code_addr = from;
	r.code_size = bytes;
	r.code_index = index;
	return JITREG_SEND_FIXED_(JITREG_MOVE, r);
}

static inline int jitreg_code_unload(uint64_t address, uint64_t bytes)
{
	JITREG_BEGIN_(jitreg_code_unload, r);
	r.address = address;
	r.bytes = bytes;
	return JITREG_SEND_FIXED_(JITREG_CODE_UNLOAD, r);
}

/* Line table of the code at address, in jitdump's encoding (see LINES above); announce it before the code itself. */
static inline int jitreg_debug_info(uint64_t address, uint64_t nr_entries, const void *entries, size_t bytes)
{
	JITREG_BEGIN_(jitreg_debug_info, r);
	struct iovec parts[1];

	r.code_addr = address;
	r.nr_entry = nr_entries;
	parts[0] = jitreg_part_(entries, bytes);
	return JITREG_SEND_(JITREG_DEBUG_INFO, r, parts);
}

/* Inlined functions of the code at address, likewise (see INLINES above). */
static inline int jitreg_inlines(uint64_t address, uint64_t nr_entries, const void *entries, size_t bytes)
{
	JITREG_BEGIN_(jitreg_inlines, r);
	struct iovec parts[1];

	r.code_addr = address;
	r.nr_entry = nr_entries;
	parts[0] = jitreg_part_(entries, bytes);
	return JITREG_SEND_(JITREG_INLINES, r, parts);
}

/* eh_frame_hdr and eh_frame of the next LOAD, as jitdump has them. */
static inline int jitreg_unwinding_info(const void *data, uint64_t bytes, uint64_t header_bytes, uint64_t mapped_bytes)
{
	JITREG_BEGIN_(jitreg_unwinding_info, r);
	struct iovec parts[1];

	r.unwinding_size = bytes;
	r.eh_frame_hdr_size = header_bytes;
	r.mapped_size = mapped_bytes;
	parts[0] = jitreg_part_(data, (size_t)bytes);
	return JITREG_SEND_(JITREG_UNWINDING_INFO, r, parts);
}

/* .eh_frame bytes that lie, relocated, at address. */
static inline int jitreg_eh_frame(uint64_t address, const void *frames, uint32_t bytes)
{
	JITREG_BEGIN_(jitreg_eh_frame, r);
	struct iovec parts[1];

	r.address = address;
	r.frames_bytes = bytes;
	parts[0] = jitreg_part_(frames, bytes);
	return JITREG_SEND_(JITREG_EH_FRAME, r, parts);
}

/* Sorted (offset, level, component): which code belongs to whom. */
static inline int jitreg_code_map(uint64_t address, const struct jitreg_code_map_entry *entries, uint32_t nr_entries)
{
	JITREG_BEGIN_(jitreg_code_map, r);
	struct iovec parts[1];

	r.code_addr = address;
	r.nr_entries = nr_entries;
	parts[0] = jitreg_part_(entries, nr_entries * sizeof(*entries));
	return JITREG_SEND_(JITREG_CODE_MAP, r, parts);
}

/* --------------------------------------------------------------------- levels, components, the Tagging Dictionary */

/* An abstraction level; upper: the level above it, 0 for none. */
static inline int jitreg_level(uint32_t level, const char *name, uint32_t upper, uint32_t flags)
{
	JITREG_BEGIN_(jitreg_level, r);
	struct jitreg_level_ref above;
	struct iovec parts[2];

	above.level = upper;
	r.level = level;
	r.flags = flags;
	r.name_bytes = jitreg_text_bytes_(name);
	r.nr_upper = upper ? 1 : 0;
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(&above, r.nr_upper * sizeof(above));
	return JITREG_SEND_(JITREG_LEVEL, r, parts);
}

/* component: any number but 0, unique in its level and process. */
static inline int jitreg_component(uint32_t level, uint64_t component, const char *name, const char *detail, uint32_t flags)
{
	JITREG_BEGIN_(jitreg_component, r);
	struct iovec parts[2];

	r.level = level;
	r.flags = flags;
	r.component = component;
	r.name_bytes = jitreg_text_bytes_(name);
	r.detail_bytes = jitreg_text_bytes_(detail);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(detail, r.detail_bytes);
	return JITREG_SEND_(JITREG_COMPONENT, r, parts);
}

/* weight: relative share of a lower component's samples that this upper one receives; 1 when there is only one. */
static inline int jitreg_link(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper, uint32_t weight)
{
	JITREG_BEGIN_(jitreg_link, r);
	r.lower_level = lower_level;
	r.upper_level = upper_level;
	r.lower = lower;
	r.upper = upper;
	r.weight = weight;
	return JITREG_SEND_FIXED_(JITREG_LINK, r);
}

/* upper 0: all links of the lower component to that level. */
static inline int jitreg_unlink(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	JITREG_BEGIN_(jitreg_unlink, r);
	r.lower_level = lower_level;
	r.upper_level = upper_level;
	r.lower = lower;
	r.upper = upper;
	return JITREG_SEND_FIXED_(JITREG_UNLINK, r);
}

static inline int jitreg_edge(uint32_t level, uint64_t from, uint64_t to, uint32_t order, const char *label)
{
	JITREG_BEGIN_(jitreg_edge, r);
	struct iovec parts[1];

	r.level = level;
	r.from = from;
	r.to = to;
	r.order = order;
	r.label_bytes = jitreg_text_bytes_(label);
	parts[0] = jitreg_part_(label, r.label_bytes);
	return JITREG_SEND_(JITREG_EDGE, r, parts);
}

/*
 * The Abstraction Tracker (Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels, EuroSys 2021,
 * section 4.2.4): a stack of who is being lowered now.  One tracker per lowering step, owned by the host, zeroed
 * before use except for its levels.  Deeper than JITREG_TRACKER_DEPTH the top stays what it was; push and pop still
 * match.
 */
#define JITREG_TRACKER_DEPTH 64
struct jitreg_tracker {
	uint32_t lower_level;
	uint32_t upper_level;
	uint32_t depth;
	uint32_t reserved;
	uint64_t stack[JITREG_TRACKER_DEPTH];
};

static inline void jitreg_tracker_push(struct jitreg_tracker *t, uint64_t upper)
{
	if (t->depth < JITREG_TRACKER_DEPTH)
		t->stack[t->depth] = upper;
	t->depth++;
}

static inline void jitreg_tracker_pop(struct jitreg_tracker *t)
{
	if (t->depth > 0)
		t->depth--;
}

/* The component being lowered, or 0. */
static inline uint64_t jitreg_tracker_top(const struct jitreg_tracker *t)
{
	uint32_t depth = t->depth < JITREG_TRACKER_DEPTH ? t->depth : JITREG_TRACKER_DEPTH;

	return depth ? t->stack[depth - 1] : 0;
}

/* A lower component came into being: link it to the one being lowered.  Without one nothing is said. */
static inline int jitreg_tracker_link(const struct jitreg_tracker *t, uint64_t lower)
{
	uint64_t upper = jitreg_tracker_top(t);

	return upper ? jitreg_link(t->lower_level, lower, t->upper_level, upper, 1) : 0;
}

/* --------------------------------------------------------------------------------------------------------- tags */

/*
 * Declare the tag: before the first code that sets it runs.  where: DWARF register number (x86-64: rbx 3, r12-r15
 * 12-15) or JITREG_TAG_MEMORY.
 */
static inline int jitreg_tag(uint32_t where, uint64_t address, uint64_t check_mask, uint64_t check_value,
			     const struct jitreg_tag_field *fields, uint32_t nr_fields, const struct jitreg_range *keepers,
			     uint32_t nr_keepers)
{
	JITREG_BEGIN_(jitreg_tag, r);
	struct iovec parts[2];

	r.where = where;
	r.address = address;
	r.check_mask = check_mask;
	r.check_value = check_value;
	r.nr_fields = nr_fields;
	r.nr_keepers = nr_keepers;
	parts[0] = jitreg_part_(fields, nr_fields * sizeof(*fields));
	parts[1] = jitreg_part_(keepers, nr_keepers * sizeof(*keepers));
	return JITREG_SEND_(JITREG_TAG, r, parts);
}

/*
 * JITREG_WITH_TAG_R13(tag) { statements }: set the tag for the statements, then put back what was there, so it nests.
 * The unit must be compiled with -ffixed-r13 (gcc), else the compiler may use the register in between.  Leaving the
 * block by goto, break or return skips the restore.  Likewise RBX, R12, R14, R15.  JITREG_WITH_TAG_WORD(word, tag)
 * does the same with a thread-local word of the host.  Context: any.
 */
/* Names of their own per line, so that blocks nest without shadowing. */
#define JITREG_JOIN2_(a, b) a##b
#define JITREG_JOIN_(a, b) JITREG_JOIN2_(a, b)
#define JITREG_FOR_(old, once, get, set, v) for (uint64_t old = (get), once = 1; once ? (set(v), 1) : 0; set(old), once = 0)
#define JITREG_WITH_(get, set, v) \
	JITREG_FOR_(JITREG_JOIN_(jitreg_old_, __LINE__), JITREG_JOIN_(jitreg_once_, __LINE__), get, set, v)
#if defined(__x86_64__) && defined(__GNUC__)
#define JITREG_TAG_REGISTER_(reg) \
	static inline uint64_t jitreg_tag_get_##reg(void) \
	{ \
		uint64_t v; \
		__asm__ volatile("movq %%" #reg ", %0" : "=r"(v)); \
		return v; \
	} \
	static inline void jitreg_tag_set_##reg(uint64_t v) \
	{ \
		__asm__ volatile("movq %0, %%" #reg : : "r"(v) : "memory"); \
	}
JITREG_TAG_REGISTER_(rbx)
JITREG_TAG_REGISTER_(r12)
JITREG_TAG_REGISTER_(r13)
JITREG_TAG_REGISTER_(r14)
JITREG_TAG_REGISTER_(r15)
#define JITREG_WITH_TAG_RBX(v) JITREG_WITH_(jitreg_tag_get_rbx(), jitreg_tag_set_rbx, v)
#define JITREG_WITH_TAG_R12(v) JITREG_WITH_(jitreg_tag_get_r12(), jitreg_tag_set_r12, v)
#define JITREG_WITH_TAG_R13(v) JITREG_WITH_(jitreg_tag_get_r13(), jitreg_tag_set_r13, v)
#define JITREG_WITH_TAG_R14(v) JITREG_WITH_(jitreg_tag_get_r14(), jitreg_tag_set_r14, v)
#define JITREG_WITH_TAG_R15(v) JITREG_WITH_(jitreg_tag_get_r15(), jitreg_tag_set_r15, v)
#endif
#define JITREG_WORD_SET_(word, v) __atomic_store_n(&(word), (uint64_t)(v), __ATOMIC_RELAXED)
#define JITREG_FOR_WORD_(old, once, word, v) \
	for (uint64_t old = (word), once = 1; once ? (JITREG_WORD_SET_(word, v), 1) : 0; JITREG_WORD_SET_(word, old), once = 0)
#define JITREG_WITH_TAG_WORD(word, v) \
	JITREG_FOR_WORD_(JITREG_JOIN_(jitreg_old_, __LINE__), JITREG_JOIN_(jitreg_once_, __LINE__), word, v)

/* ----------------------------------------------------------------------------------------------------- the rest */

/* A fact about a component: "rows", "estimated rows", block counts.  The last value said for a name holds. */
static inline int jitreg_counter(uint32_t level, uint64_t component, const char *name, int64_t value)
{
	JITREG_BEGIN_(jitreg_counter, r);
	struct iovec parts[1];

	r.level = level;
	r.component = component;
	r.value = value;
	r.name_bytes = jitreg_text_bytes_(name);
	parts[0] = jitreg_part_(name, r.name_bytes);
	return JITREG_SEND_(JITREG_COUNTER, r, parts);
}

/*
 * A phase or an execution begins or ends on this thread: name "compile", "run", "iteration", ...  component 0 (level 0):
 * of the process.  instance tells executions apart (0: not needed); parent_instance: the one that it belongs to.
 * units: work done (rows, bytes), said at the end.
 */
static inline int jitreg_mark(uint32_t action, const char *name, uint32_t level, uint64_t component, uint64_t instance,
			      uint64_t parent_instance, uint64_t units, const char *text)
{
	JITREG_BEGIN_(jitreg_mark, r);
	struct iovec parts[2];

	r.action = action;
	r.level = level;
	r.component = component;
	r.instance = instance;
	r.parent_instance = parent_instance;
	r.units = units;
	r.name_bytes = jitreg_text_bytes_(name);
	r.text_bytes = jitreg_text_bytes_(text);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(text, r.text_bytes);
	return JITREG_SEND_(JITREG_MARK, r, parts);
}

/* Ask the recorder to start or stop counting, or to cut the recording here (name: of the part that begins). */
static inline int jitreg_control(uint32_t action, const char *name)
{
	JITREG_BEGIN_(jitreg_control, r);
	struct iovec parts[1];

	r.action = action;
	r.name_bytes = jitreg_text_bytes_(name);
	parts[0] = jitreg_part_(name, r.name_bytes);
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}

/* A text that line tables refer to by name; see SOURCE above. */
static inline int jitreg_source(const char *name, const char *text, uint32_t level, uint64_t first_component, uint32_t flags)
{
	JITREG_BEGIN_(jitreg_source, r);
	struct iovec parts[2];

	r.level = level;
	r.flags = flags;
	r.first_component = first_component;
	r.name_bytes = jitreg_text_bytes_(name);
	r.text_bytes = jitreg_text_bytes_(text);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(text, r.text_bytes);
	return JITREG_SEND_(JITREG_SOURCE, r, parts);
}

/* [address, address + bytes) is called name from now on, whatever it was called before, and belongs to a component (0: to none).
 * Freed memory: jitreg_memory(address, 0, "", 0, 0). */
static inline int jitreg_memory(const void *address, uint64_t bytes, const char *name, uint32_t level, uint64_t component)
{
	JITREG_BEGIN_(jitreg_memory, r);
	struct iovec parts[1];

	r.address = (uint64_t)(uintptr_t)address;
	r.bytes = bytes;
	r.level = level;
	r.component = component;
	r.name_bytes = jitreg_text_bytes_(name);
	parts[0] = jitreg_part_(name, r.name_bytes);
	return JITREG_SEND_(JITREG_MEMORY, r, parts);
}

/* A loaded object; see IMAGE above.  bytes may be NULL, with nr_bytes 0. */
static inline int jitreg_image(uint64_t load_bias, uint32_t flags, const char *path, const struct jitreg_segment *segments,
			       uint32_t nr_segments, const void *build_id, uint32_t build_id_bytes, const void *bytes,
			       uint32_t nr_bytes)
{
	JITREG_BEGIN_(jitreg_image, r);
	struct iovec parts[4];

	r.load_bias = load_bias;
	r.flags = flags;
	r.nr_segments = nr_segments;
	r.build_id_bytes = build_id_bytes;
	r.path_bytes = jitreg_text_bytes_(path);
	r.bytes_bytes = nr_bytes;
	parts[0] = jitreg_part_(segments, nr_segments * sizeof(*segments));
	parts[1] = jitreg_part_(build_id, build_id_bytes);
	parts[2] = jitreg_part_(path, r.path_bytes);
	parts[3] = jitreg_part_(bytes, nr_bytes);
	return JITREG_SEND_(JITREG_IMAGE, r, parts);
}

static inline int jitreg_image_unload(uint64_t load_bias, const char *path)
{
	JITREG_BEGIN_(jitreg_image_unload, r);
	struct iovec parts[1];

	r.load_bias = load_bias;
	r.path_bytes = jitreg_text_bytes_(path);
	parts[0] = jitreg_part_(path, r.path_bytes);
	return JITREG_SEND_(JITREG_IMAGE_UNLOAD, r, parts);
}

/* An executable mapping of which only the mapper is known: image path and offset of the call in it. */
static inline int jitreg_region(uint64_t address, uint64_t bytes, uint32_t prot, const char *mapper, uint64_t mapper_offset)
{
	JITREG_BEGIN_(jitreg_region, r);
	struct iovec parts[1];

	r.address = address;
	r.bytes = bytes;
	r.prot = prot;
	r.mapper_offset = mapper_offset;
	r.mapper_bytes = jitreg_text_bytes_(mapper);
	parts[0] = jitreg_part_(mapper, r.mapper_bytes);
	return JITREG_SEND_(JITREG_REGION, r, parts);
}

#ifdef __cplusplus
}
#endif

#endif
