/* SPDX-License-Identifier: MIT */
/*
 * The trace file: chunk framing and the list of records.  TRACE.md beside this file is the prose.
 *
 * A file is a sequence of chunks; a chunk is a struct trace_chunk and its body, zstd-compressed or not.  The
 * uncompressed body is a sequence of msgpack arrays, one per record:
 *
 *	[id, time_ns, pid, tid, field, field, ...]
 *
 * with the fields in the order of the record's list.  Every chunk can be decoded by itself.  A reader skips ids that it
 * does not know and ignores fields behind those that it knows.
 */
#ifndef TAILOR_TRACE_H
#define TAILOR_TRACE_H

#include "jitreg/jitreg.h"

#define TRACE_FORMAT_VERSION 2u
#define TRACE_MAGIC 0x43524c54u /* "TLRC" in the file; little-endian, as all numbers of the framing */
#define TRACE_CHUNK_MAX (64u << 20) /* of a body, uncompressed: a reader refuses more */

enum trace_chunk_type {
	TRACE_CHUNK_RECORDS = 1, /* everything but samples and image files */
	TRACE_CHUNK_SAMPLES = 2,
	TRACE_CHUNK_FILES = 3,
	TRACE_CHUNK_END = 4, /* the last one: its END record says that the recording was closed in order */
};

#define TRACE_CHUNK_ZSTD 1u

struct trace_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint32_t stored_bytes; /* of the body as it stands in the file */
	uint32_t body_bytes;   /* of the body, uncompressed */
	uint64_t sequence;     /* 0, 1, 2, ... */
	uint32_t reserved;
	uint32_t crc32c; /* of the 28 bytes before and the stored body */
};
_Static_assert(sizeof(struct trace_chunk) == 32, "the framing is fixed");

/*
 * Lifetimes: a fact holds from its record's time on, until another record ends it; times decide, not the order in the file.
 *
 * Code.  LOAD, IMAGE and MMAP say what is at their addresses, and end what was said of these addresses before, of others not.  MOVE ends a
 * LOAD where it was and begins it where it goes; CODE_UNLOAD ends what is in its range, IMAGE_UNLOAD the segments of the IMAGE with its
 * load_bias.  REGION and MMAP without a file answer only where nothing else is.  EH_FRAME, and UNWINDING_INFO with its LOAD, end what
 * was said of unwinding at these addresses before; with UNWINDING_INFO in a process, so does each LOAD.  DEBUG_INFO and INLINES belong to
 * the next LOAD of their address, UNWINDING_INFO to the next of its thread, CODE_MAP to the last of its address or else the next.  There
 * is no record of munmap(2): what is mapped there next ends what was.
 *
 * What a host declares.  LEVEL and COMPONENT (the last of each is the one), EDGE and SOURCE hold for all time; LINK until an UNLINK of
 * it; the latest of a COUNTER's values, a block's COUNTER_VALUES and a component's FLOWs is the one; a TAG until the process's next; a
 * MARK's begin until the end of the same thread, name, component and instance.
 */

/* jitreg's records keep their ids; these are the recorder's own.  Kinds as in jitreg.h, of which only U32 U64 S64 STR BIN
 * and ARR (msgpack array of elements, each an array; the second argument names the element) occur here. */

/* A MARK's handle from here on is of no host (those are made of addresses): a command added the mark, and all processes know it. */
#define TRACE_MARK_OF_NO_HOST (1ull << 63)

/* First record of the file.  command: [[argument]...].  time_ns of all records: CLOCK_MONOTONIC of that machine;
 * real_ns: CLOCK_REALTIME at time_ns.  way: how it was recorded, one of JIT_WAYS (jitreg/hosts/jit_hosts.h); no_adapt: hosts
 * were not asked for more than they tell by themselves.  epoch: 1, 2, ... of a recording that was cut into files, which share
 * cut_recording; 0: it was not. */
#define TRACE_FIELDS_HEADER(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(version) STR(tool) U64(real_ns) STR(host_name) STR(machine) STR(kernel) U32(nr_cpus) STR(cwd) ARR(command, text) \
	STR(way) U32(no_adapt) U32(epoch) U64(cut_recording)
/* One event that is counted.  registers: perf's mask of user registers; rate: samples per second that were asked for, 0
 * when it was a period; period: the one in use, 0 when the kernel changes it to hold the rate; unit: what a sample's weight
 * counts ("ns", "cycles", ...); period_spread: how far a sample's period may be from that one, which is their mean, up or down. */
#define TRACE_FIELDS_EVENT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) STR(name) STR(unit) U32(type) U64(config) U64(period) U64(rate) U32(precise) U32(exclude_kernel) \
	U64(registers) U32(stack_bytes) STR(scope) U64(period_spread)
/* Beside an event "context-switches", whose samples say where a thread leaves the processor, there is one named
 * TRACE_EVENT_SWITCH without instruction and registers: each time that a thread comes or goes.  Its weight is a
 * trace_switch. */
#define TRACE_EVENT_SWITCH "switch"
/* Behind it, where that is permitted: each time that such a thread is woken, and waits for a processor from then on.  Its weight is the
 * thread that wakes it, TRACE_WOKEN_BY_INTERRUPT, or TRACE_WOKEN_BY_UNKNOWN (older traces). */
#define TRACE_EVENT_WOKEN "woken"
#define TRACE_WOKEN_BY_INTERRUPT 0u
#define TRACE_WOKEN_BY_UNKNOWN 1u
enum trace_switch { TRACE_SWITCH_IN = 0, TRACE_SWITCH_WAITS = 1, TRACE_SWITCH_PREEMPTED = 2 };
/* A sentence for the reader: an unavailable rung of the ladder, a loss, a refusal.  kind: one of NOTICE_KINDS. */
#define TRACE_FIELDS_NOTICE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(kind) STR(sentence)
/* Something of a host is missing in this recording; a NOTICE of the kind `version` behind it has the sentence.  host_version: "" where it
 * is unknown; missing: a noun phrase; reason: a clause behind "because"; lacks: likewise, the part that it lacks, or ""; helps: a sentence
 * without its full stop, or ""; jit_hosts: names of those in jitreg/hosts/jit_hosts.c whose code it is. */
#define TRACE_FIELDS_HOST_LACK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(host) STR(host_version) STR(missing) STR(reason) STR(lacks) STR(helps) STR(jit_hosts)
/* A process that existed when it was first seen (started by us, attached, or said hello): it begins a program, unless one is known
 * there. */
#define TRACE_FIELDS_PROCESS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(ppid) STR(executable) STR(comm)
/* pid, tid: of the new process or thread.  A process (ppid is not pid) has its parent's memory, code included, as it was then; what was
 * known of a process that had this pid before has ended. */
#define TRACE_FIELDS_FORK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(ppid) U32(ptid)
/* A thread's name.  exec: also a new program, without mappings and code: those of the one before have ended. */
#define TRACE_FIELDS_COMM(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(exec) STR(comm)
/* Of a thread, or the last of a process.  It ends nothing that samples need: some of them are drained behind it. */
#define TRACE_FIELDS_EXIT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(ppid) U32(ptid)
/* A mapping of a file (or [vdso], //anon), as the kernel reports it: executable, or, where addresses are recorded, of data. */
#define TRACE_FIELDS_MMAP(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) U64(file_offset) U32(prot) STR(path) BIN(build_id) U64(device) U64(inode) U64(generation)
/* The guest in this process said hello (again after fork and exec). */
#define TRACE_FIELDS_GUEST(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(version) U64(log_bytes)
/* What was lost, by reason: one of LOSS_REASONS.  count: samples or records, as the reason says; several records of one
 * reason add up. */
#define TRACE_FIELDS_LOSS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(reason) U64(count) U32(event)
/* The parts of an ELF file that analysis needs, as (file offset, bytes); the rest reads as zeros.  key: how MMAP and IMAGE
 * refer to it: build id in hex where there is one, else the path.  reason: why parts are missing, else empty;
 * TRACE_NOT_ELF: the mapping is memory that code was generated into. */
#define TRACE_NOT_ELF "not an ELF file"
#define TRACE_COPY "its parts are those of the first file with this build id" /* and with its size, which stands in front of it */
#define TRACE_DEBUG_FILE "symbols of the file in front" /* with its key: what was taken out of that file */
#define TRACE_FIELDS_IMAGE_FILE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(key) STR(path) BIN(build_id) U64(file_bytes) STR(reason) ARR(parts, file_part) U64(device) U64(inode) U64(generation)
/* nr samples of one event; columns: [[column, encoding, bytes]...], see SAMPLE_COLUMNS. */
#define TRACE_FIELDS_SAMPLES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) U32(nr) ARR(columns, column)
/* exit_status: wait(2)'s of the command, ~0 when unknown.  samples, records: written to this trace.  command_cpu_ns: of the command and of
 * the children that it has waited for, as the kernel says when it has ended; 0: not known. */
#define TRACE_FIELDS_END(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(exit_status) U64(samples) U64(records) U64(recorder_cpu_ns) U64(command_cpu_ns)

/* What a counter says at its end beside what its samples say: value in the event's unit (of all threads that it was inherited
 * by); running_ns: how long it counted; samples: had of it, and lost of it.  cpu ~0: of the thread in tid.  enabled_ns: how long
 * those threads ran, on whichever processor; on_cpu_ns: on this one (0: not known).  The counter was multiplexed where running is less.
 * weight: of its samples together, less than value where interrupts came late or samples were lost (0: not known).  idle_ns: how much
 * longer a clock of a processor counted, while that was idle and was not sampled. */
#define TRACE_FIELDS_COUNT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) U32(cpu) U64(value) U64(enabled_ns) U64(running_ns) U64(samples) U64(lost) U64(on_cpu_ns) U64(weight) \
	U64(idle_ns)

/* Bytes of a code object that came without, as they were at the record's time in the process's memory; the first record of an object is
 * the one that counts.  loaded_ns: of its LOAD, which ends with it;
 * TRACE_NOT_LOADED: a page of a region without a registration, or all of the region. */
#define TRACE_NOT_LOADED UINT64_MAX
/* Objects of at most so many bytes are there without a sample, too: trampolines, through which calls lead (Python's). */
#define CODE_SMALL_BYTES 64u
#define TRACE_FIELDS_CODE_BYTES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(loaded_ns) BIN(code)

/* Functions of the kernel that have samples, with its addresses at that time; those of several records add up.  module: "" of the kernel
 * itself, else a module's name, "bpf", ... as /proc/kallsyms has it. */
#define TRACE_FIELDS_KERNEL_FUNCTIONS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	ARR(functions, kernel_function)

/* Machine code of sampled functions of a file, as (its own address, bytes); those of several records add up.  key, device, inode,
 * generation: of its IMAGE_FILE. */
#define TRACE_FIELDS_IMAGE_CODE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(key) ARR(functions, function_code) U64(device) U64(inode) U64(generation)

/* An option of a known host that names its code, as it was found among the process's arguments or in its environment: one of the texts in
 * jitreg/hosts/jit_hosts.c. */
#define TRACE_FIELDS_HOST_OPTION(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(option)

/* Of a thread (tid) that has ended: a part of what COUNT says of all, on this processor (UINT32_MAX: on all).  value: 0 where only that of
 * all threads together is known.  samples, weight: of those that it has on this processor, together. */
#define TRACE_FIELDS_THREAD_COUNT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) U32(cpu) U64(value) U64(samples) U64(weight)

/* [address, address + bytes) interprets a program: frames there are kept by rbp, and are of the program's code at the word at rbp + place;
 * where that is none, at the word at rbp + function.  That code has a LOAD. */
#define TRACE_FIELDS_INTERPRETER(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) S64(place) S64(function)

/* Text of a source file around lines with samples, as it was on the recording machine at the recording's end; of a file the first record
 * counts.  file: as line tables name it.  newer: 1: it was changed after the program was built, or after its recording began. */
#define TRACE_FIELDS_SOURCE_LINES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(file) U32(newer) ARR(pieces, source_piece)

/* The beginning of the command line of this process's program, its words with a blank between them, as it was soon after it began. */
#define COMMAND_LINE_BYTES 1024u
#define TRACE_FIELDS_COMMAND_LINE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(text)

/* Which service this process's program works for; without a record it is that of the program before its exec, or of the process that forked
 * it.  group: the path of its control group; name: what it calls itself for OpenTelemetry, or its systemd unit, or the first 12 digits of
 * its container's id; "": it has none. */
#define TRACE_FIELDS_SERVICE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(group) STR(name)

/* The whole name that a thread (tid) has from then on, where the kernel has the beginning of it: of COMMs, the first that begins alike and
 * is not before it is the same name. */
#define THREAD_NAME_ALIKE 7u /* letters: some runtimes leave out what is in the middle */
#define TRACE_FIELDS_THREAD_NAME(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(name)

/* What the kernel says of a process and of the machine.  when: "start", as a program began or the recording did, "end", as the process or
 * the recording ended.  Values that could be read: processors (it may use), quota_us and quota_period_us (of its cgroup, where there is
 * a quota), throttled (times), throttled_ns or throttled_us; ran_ns, queued_ns (of its first thread, by schedstat); read_bytes and
 * write_bytes (of disks), read_calls_bytes, write_calls_bytes; pressure_cpu_us, pressure_io_us, pressure_memory_us (of the machine,
 * "some"). */
#define TRACE_FIELDS_RESOURCES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(when) ARR(values, named_value)

/*
 * Which functions and lines of a program work for which components, where that depends on what their thread was doing: one function works
 * for other plans in other tasks.  pattern: how the functions' names begin; behind a digit none follows.  context (of context_level): what
 * the mark in force on the thread is linked to; 0: any.  rank: of a stack's functions one of the lowest counts, the innermost of them.
 * entries: lines first_line to last_line (0, 0: any), and behind the pattern and one character a name that begins with rest, are
 * component's, of level (0: of none, and the next caller counts); the first that fits.  Lines 1 to nr_lines are also lines_first + line of
 * lines_level.
 */
#define TRACE_FIELDS_PLAN_CODE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(context_level) U64(context) STR(pattern) U32(rank) U32(level) U32(lines_level) U64(lines_first) U32(nr_lines) \
	ARR(entries, plan_code_entry)

#define TRACE_RECORDS(X) \
	X(HEADER, header, 128) \
	X(EVENT, event, 129) \
	X(NOTICE, notice, 130) \
	X(PROCESS, process, 131) \
	X(FORK, fork, 132) \
	X(COMM, comm, 133) \
	X(EXIT, exit, 134) \
	X(MMAP, mmap, 135) \
	X(GUEST, guest, 136) \
	X(LOSS, loss, 137) \
	X(IMAGE_FILE, image_file, 138) \
	X(SAMPLES, samples, 139) \
	X(END, end, 140) \
	X(COUNT, count, 141) \
	X(CODE_BYTES, code_bytes, 142) \
	X(KERNEL_FUNCTIONS, kernel_functions, 143) \
	X(IMAGE_CODE, image_code, 144) \
	X(HOST_OPTION, host_option, 145) \
	X(THREAD_COUNT, thread_count, 146) \
	X(INTERPRETER, interpreter, 147) \
	X(SOURCE_LINES, source_lines, 148) \
	X(COMMAND_LINE, command_line, 149) \
	X(SERVICE, service, 150) \
	X(THREAD_NAME, thread_name, 152) \
	X(PLAN_CODE, plan_code, 156) \
	X(RESOURCES, resources, 158) \
	X(HOST_LACK, host_lack, 160)

#define TRACE_ID_(NAME, name, id) TRACE_##NAME = id,
enum trace_id { TRACE_RECORDS(TRACE_ID_) };
#undef TRACE_ID_

/* Elements of ARR parts and their members: U = unsigned, S = text, B = bytes.  These are jitreg.h's, of struct jitreg_<name>. */
#define JITREG_ELEMENTS(X, U) \
	X(segment, U(address) U(bytes) U(file_offset) U(prot)) \
	X(level_ref, U(level)) \
	X(code_map_entry, U(offset) U(level) U(component)) \
	X(tag_field, U(level) U(shift) U(bits)) \
	X(range, U(start) U(end)) \
	X(function, U(address)) \
	X(object_component, U(level) U(component)) \
	X(counter_entry, U(kind) U(level) U(component) U(at)) \
	X(count, U(count)) \
	X(flow_block, U(level) U(first) U(nr)) \
	X(flow_arc, U(from) U(to) U(estimate)) \
	X(flow_call, U(block) U(site) U(level) U(component)) \
	X(flow_execution, U(level) U(component) U(block))
/* Elements that the trace's own records have; line: of LINES. */
#define TRACE_ELEMENTS(X, U, S, B) \
	X(text, S(text)) \
	X(file_part, U(file_offset) B(bytes)) \
	X(function_code, U(address) B(bytes)) \
	X(column, U(column) U(encoding) B(bytes)) \
	X(kernel_function, U(address) U(bytes) S(name) S(module)) \
	X(source_piece, U(first_line) S(text)) \
	X(named_value, S(name) U(value)) \
	X(plan_code_entry, U(first_line) U(last_line) U(component) S(rest)) \
	X(line, U(address) U(line) U(discriminator) S(file))

/* What a NOTICE is about. */
#define NOTICE_KINDS(X) \
	X(FALLBACK, "fallback") /* an event that is sampled in place of a better one, which it names, and why */ \
	X(LADDER, "ladder") /* another better way of sampling that is unavailable, and why */ \
	X(REFUSED, "refused") /* something asked for that could not be done */ \
	X(LOSS, "loss") /* a loss that has no number */ \
	X(HOST, "host") /* the host did something that the reader should know */ \
	X(VERSION, "version") /* something of a host is missing (HOST_LACK); reports begin with it */ \
	X(TAG, "tag") /* samples cannot have the host's tag: what decides is missing, so reports begin with it */

#define NOTICE_INDEX_(NAME, text) NOTICE_##NAME,
enum notice_kind { NOTICE_KINDS(NOTICE_INDEX_) NR_NOTICES }; /* NR_NOTICES: a later version's kind */
#undef NOTICE_INDEX_
extern const char *const trace_notices[NR_NOTICES + 1]; /* their texts */

/* How sentences of some notices begin, from which reports derive others. */
#define TRACE_NO_SAMPLES_OF "no samples of " /* REFUSED: of the command or a process, and why */
#define TRACE_NAMES_NOT_READ "names of generated code not read: " /* REFUSED: of which file, and why */
#define TRACE_WRITE_FAILED "writing the trace failed: " /* LOSS: with which error */

/* Why something is missing: its text in a LOSS record, what is missing (enum loss_class), and the sentence that reports print. */
#define LOSS_REASONS(X) \
	X(RING_FULL, "ring full", SAMPLES, "samples dropped by the kernel: ring buffer full") \
	X(THROTTLED, "throttled", OTHER, "times the kernel throttled an event") \
	X(LOG_FULL, "log full", REGISTRATIONS, "registrations dropped: log full") \
	X(LOG_GAP, "log gap", REGISTRATIONS, "bytes of the log lost: writer killed, or stopped for 10 s") \
	X(LOG_BAD, "log malformed", REGISTRATIONS, "invalid registrations") \
	X(LOG_UNKNOWN, "log unknown", REGISTRATIONS, "registrations of a later version than this recorder's") \
	X(FILES_BAD, "perf maps and jitdumps malformed", OTHER, "invalid lines of perf maps, invalid jitdump files") \
	X(RING_BAD, "ring malformed", OTHER, "invalid records in a ring buffer") \
	X(WRITE, "trace write failed", SAMPLES, "samples not written: writing the trace failed") \
	X(WRITE_RECORDS, "records not written", REGISTRATIONS, \
	  "other records (code, names, images) not written: writing the trace failed") \
	X(GUEST_FULL, "guest table full", REGISTRATIONS, "entries dropped: a table of the agent full") \
	X(STORE_FULL, "store full", REGISTRATIONS, "registrations dropped before the recording: limit of --memory reached") \
	X(UNCOUNTED, "threads not counted", OTHER, "threads without a counter") \
	X(SAMPLE_LOG_FULL, "sample log full", SAMPLES, "samples of a signal handler dropped: log full") \
	X(LATE, "threads counted late", OTHER, "threads that ran before their counters were enabled: the recorder was busy or stopped") \
	X(FILES_UNREAD, "perf maps and jitdumps unread", OTHER, "perf maps and jitdump files not read to their end: too large") \
	X(PROCESS_LATE, "microseconds of new processes before their counters", OTHER, \
	  "microseconds, at most, that new processes ran before their counters were opened") \
	X(PROCESS_MISSED, "new processes not counted", OTHER, "new processes that had ended before their counters were opened") \
	X(SERVICE_OF_PARENT, "services of parents", OTHER, \
	  "programs that ended before their service could be read: they have that of the process that started them")

/* What losses of a reason are: samples; registrations, or other records that say what code is; or neither (threads, times). */
enum loss_class { LOSS_OF_SAMPLES, LOSS_OF_REGISTRATIONS, LOSS_OF_OTHER };

#define LOSS_INDEX_(NAME, text, CLASS, sentence) LOSS_##NAME,
enum loss_reason { LOSS_REASONS(LOSS_INDEX_) NR_LOSSES }; /* NR_LOSSES: a later version's reason */
#undef LOSS_INDEX_

struct loss_meaning {
	const char *text; /* in the record */
	enum loss_class of;
	const char *sentence;
};
extern const struct loss_meaning trace_losses[NR_LOSSES];

/*
 * Sample columns.  Each is an array of nr numbers (STACK: the stacks' bytes one after another, lengths in
 * STACK_BYTES; CHAIN: the chains' return addresses, lengths in CHAIN_LENGTH).  A column that is absent is all 0.
 * REGISTERS: column REGISTER_0 + n is perf register n.
 */
#define SAMPLE_COLUMNS(X) \
	X(TIME, 1, "time_ns") \
	X(PID, 2, "pid") \
	X(TID, 3, "tid") \
	X(CPU, 4, "cpu") \
	X(IP, 5, "ip") \
	X(ADDRESS, 6, "address") \
	X(WEIGHT, 7, "weight") \
	X(MODE, 8, "mode") /* enum sample_mode */ \
	X(REGISTERS_ABI, 9, "registers_abi") /* 0: none had; else PERF_SAMPLE_REGS_ABI_* */ \
	X(STACK_BYTES, 10, "stack_bytes") \
	X(STACK, 11, "stack") \
	X(CHAIN_LENGTH, 12, "chain_length") \
	X(CHAIN, 13, "chain") /* return addresses by frame pointers, innermost first */ \
	X(DATA_SOURCE, 14, "data_source") /* union perf_mem_data_src: which cache or memory had it */ \
	X(LATENCY, 15, "latency") /* of the access, in the processor's unit, mostly cycles */ \
	X(REGISTER_0, 64, "register") /* to 64 + 63 */ \
	X(KERNEL_CHAIN, 128, "kernel_chain") /* of samples in the kernel: return addresses in the kernel */

/* In place of a register that perf does not have: the tag's thread-local word, where a handler in the thread could read it. */
#define SAMPLE_TAG_WORD 62

#define SAMPLE_COLUMN_ID_(NAME, id, text) SAMPLE_COLUMN_##NAME = id,
enum sample_column { SAMPLE_COLUMNS(SAMPLE_COLUMN_ID_) };
#undef SAMPLE_COLUMN_ID_

enum sample_mode { SAMPLE_MODE_USER = 0, SAMPLE_MODE_KERNEL = 1, SAMPLE_MODE_OTHER = 2 };

/*
 * All varying numbers are LEB128, at most 10 bytes; all differences are modulo 2^64 and zigzag: (d << 1) ^ (d >> 63).
 *
 * BYTES: as they are (STACK only).
 * U64: little-endian.
 * DELTA: differences to the number before (the first: to 0).
 * CONSTANT: one number, which all are.
 * TABLE: IP only.  How many entries, their differences to the entry before; then each sample's index.
 * BY_IP: differences to the number of the last sample with the same ip; of a new ip: of the sample before (the first: to 0).
 *	Column IP stands before, as a TABLE.
 * AGAINST: a column that stands before; then differences to its numbers.
 * LISTS: KERNEL_CHAIN only.  Of each sample how many numbers, then these, innermost first: differences to the number before, also that
 *	of another sample (the first: to 0).
 * CHANGES: STACK only.  The bytes of the runs (a number), the runs, the new words and bytes.  See SAMPLE_STACK_WORDS.
 */
enum sample_encoding {
	SAMPLE_ENCODING_BYTES = 0,
	SAMPLE_ENCODING_U64 = 1,
	SAMPLE_ENCODING_DELTA = 2,
	SAMPLE_ENCODING_CONSTANT = 3,
	SAMPLE_ENCODING_TABLE = 4,
	SAMPLE_ENCODING_BY_IP = 5,
	SAMPLE_ENCODING_AGAINST = 6,
	SAMPLE_ENCODING_CHANGES = 7,
	SAMPLE_ENCODING_LISTS = 8,
};

#define SAMPLE_NR_MAX 65536u /* of one SAMPLES record */

/*
 * The stacks of one SAMPLES record as changes: threads with the same (tid % SAMPLE_STACK_MEMORIES) share a memory of
 * SAMPLE_STACK_WORDS words of 64 bits, all 0 before the record's first sample.  Word w of a sample's stack belongs to
 * memory[(sp / 8 + w) % SAMPLE_STACK_WORDS], sp being the sample's number in column REGISTER_0 + SAMPLE_STACK_POINTER.  A
 * stack is a sequence of runs (words that are as the memory has them, words that are not), until all its whole words are
 * told; the second kind stand among the new words and go into the memory.  A stack's last bytes % 8 follow its new words.
 */
#define SAMPLE_STACK_MEMORIES 256u
#define SAMPLE_STACK_WORDS 8192u
#define SAMPLE_STACK_MAX 65535u /* bytes */
/* The kernel copies what was asked for, unless the stack's mapping ends before that, or the record would get too long: of an uncut copy of
 * more than that it is not known whether it is the whole stack. */
#define SAMPLE_STACK_SURELY_WHOLE (60u << 10)
#define SAMPLE_STACK_POINTER 7

#endif
