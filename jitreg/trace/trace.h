/* SPDX-License-Identifier: MIT */
/*
 * This header defines the chunks and the records of the trace file. TRACE.md beside this file describes it.
 *
 * A file is a sequence of chunks.  A chunk is a struct trace_chunk and its body, zstd-compressed or not.  The uncompressed body is a
 * sequence of msgpack arrays, one per record:
 *
 *	[id, time_ns, pid, tid, field, field, ...]
 *
 * with the fields in the order of the record's list (JITREG_FIELDS_* in jitreg.h, TRACE_FIELDS_* below).  Every chunk can be decoded by
 * itself.  A reader skips ids that it does not know, and ignores fields behind those that it knows.
 */
#ifndef TAILOR_TRACE_H
#define TAILOR_TRACE_H

#include "jitreg/jitreg.h"

#define TRACE_FORMAT_VERSION 2u
#define TRACE_MAGIC 0x43524c54u /* "TLRC" in the file; little-endian, as all numbers of the framing */
#define TRACE_CHUNK_MAX (64u << 20) /* maximum size of an uncompressed body; readers refuse more */

enum trace_chunk_type {
	TRACE_CHUNK_RECORDS = 1, /* everything but samples, image files and the END record */
	TRACE_CHUNK_SAMPLES = 2,
	TRACE_CHUNK_FILES = 3,
	TRACE_CHUNK_END = 4, /* the END record in it says that the recording ended properly; only chunks that commands add later follow */
};

#define TRACE_CHUNK_ZSTD 1u

struct trace_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint32_t stored_bytes; /* size of the body in the file */
	uint32_t body_bytes;   /* size of the body, uncompressed */
	uint64_t sequence;     /* 0, 1, 2, ...; those of chunks that could not be written are missing */
	uint32_t reserved;
	uint32_t crc32c; /* checksum of the 28 bytes before and the stored body */
};
_Static_assert(sizeof(struct trace_chunk) == 32, "the framing is fixed");

/*
 * Lifetimes: a record is valid from its time on, until another record ends it. The times of records decide, and not their order in the
 * file, because each processor has a buffer of its own.
 *
 * Code: LOAD, IMAGE and MMAP say what is at a range of addresses. They end what earlier records say about these addresses, but not what
 * they say about others. MOVE ends a LOAD at its old place and begins it at the new one. CODE_UNLOAD ends records in its range, and
 * IMAGE_UNLOAD the segments of the IMAGE with its load_bias. REGION and MMAP without a file are valid only at addresses for which no other
 * record is valid. EH_FRAME, and UNWINDING_INFO with its LOAD, end earlier unwind information at these addresses. In a process with
 * UNWINDING_INFO records, each LOAD ends it too. DEBUG_INFO and INLINES belong to the next LOAD of their address, UNWINDING_INFO to the
 * next LOAD of its thread, and CODE_MAP to the last LOAD of its address or else the next one. There is no record of munmap(2), so a
 * mapping ends at the next mapping of its addresses.
 *
 * Declarations of hosts: LEVEL, EDGE, SOURCE and the first COMPONENT with a number are also valid before their time. Of several LEVELs with
 * one number, the last is valid. A COMPONENT with another name than the one before with its number, or with another detail that is not
 * empty, is another component from its time on. A LINK is valid until its UNLINK, and a TAG until the next one of the process. The latest
 * value of a COUNTER, the latest COUNTER_VALUES of a block and the latest FLOW of a component are valid. A MARK that begins is valid until
 * the one that ends it, which has the same handle, or, without a handle, the same name, component and instance.
 */

/* Records of jitreg keep their ids. The records below are those of the recorder. The kinds of fields are those of jitreg.h, of which only
 * U32, U64, S64, STR, BIN and ARR occur here. An ARR is a msgpack array of elements, each an array of the members that TRACE_ELEMENTS
 * lists. The second argument names the element. */

/* Handles of MARKs from this number on do not come from hosts, because addresses, of which hosts' handles are made, are smaller.  `tailor
 * plan` adds such marks, which are valid in all processes. */
#define TRACE_MARK_OF_NO_HOST (1ull << 63)

/* This is the first record of the file.  command: a list of the arguments of the recorded command.  time_ns of all records: CLOCK_MONOTONIC
 * of the recorded machine.  real_ns: CLOCK_REALTIME at time_ns.  way: the way of recording, one of JIT_WAYS (jitreg/hosts/jit_hosts.h).
 * no_adapt: 1 if host adapters were disabled.  epoch: 1, 2, ... if the recording was cut into files, and otherwise 0.  cut_recording: a
 * random number that these files share. */
#define TRACE_FIELDS_HEADER(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(version) STR(tool) U64(real_ns) STR(host_name) STR(machine) STR(kernel) U32(nr_cpus) STR(cwd) ARR(command, text) \
	STR(way) U32(no_adapt) U32(epoch) U64(cut_recording)
/* This record is of a counted event.  registers: the mask of user registers that samples have (perf_event_attr.sample_regs_user).  rate:
 * requested samples per second, or 0 if a period was requested.  period: the period in use, or 0 if the kernel changes it to keep the
 * rate.  unit: the unit of a sample's weight ("ns", "cycles", ...). period_spread: the maximum distance of a sample's period from period,
 * which is their mean. */
#define TRACE_FIELDS_EVENT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) STR(name) STR(unit) U32(type) U64(config) U64(period) U64(rate) U32(precise) U32(exclude_kernel) \
	U64(registers) U32(stack_bytes) STR(scope) U64(period_spread)
/* The samples of an event "context-switches" have the code at which a thread leaves the processor, but not the time at which it comes back.
 * So the recorder adds an event named TRACE_EVENT_SWITCH, which has a sample without instruction and registers each time that a thread
 * comes to a processor or leaves it.  Its weight is an enum trace_switch. */
#define TRACE_EVENT_SWITCH "switch"
/* The event after TRACE_EVENT_SWITCH, if the kernel permits it, has a sample each time that a thread that waits is woken, and from then on
 * waits for a processor.  The weight is the tid of the thread that wakes it, TRACE_WOKEN_BY_INTERRUPT, or TRACE_WOKEN_BY_UNKNOWN (older
 * traces). */
#define TRACE_EVENT_WOKEN "woken"
#define TRACE_WOKEN_BY_INTERRUPT 0u
#define TRACE_WOKEN_BY_UNKNOWN 1u
enum trace_switch { TRACE_SWITCH_IN = 0, TRACE_SWITCH_WAITS = 1, TRACE_SWITCH_PREEMPTED = 2 };
/* This record has a sentence that reports show to users of the trace, for instance that a way of sampling was unavailable.  kind: one of
 * NOTICE_KINDS. */
#define TRACE_FIELDS_NOTICE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(kind) STR(sentence)
/* Information of a host is missing in this recording.  The NOTICE of the kind `version` that follows says the same as a sentence.
 * host_version: "" if unknown.  missing: what is missing, as a noun phrase.  reason: a clause that fits after "because".  lacks: such a
 * clause about the part that the host lacks, or "".  helps: what users can do, as a sentence without its full stop, or "".  jit_hosts: the
 * names in jitreg/hosts/jit_hosts.c of the hosts whose code has no names for this reason. */
#define TRACE_FIELDS_HOST_LACK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(host) STR(host_version) STR(missing) STR(reason) STR(lacks) STR(helps) STR(jit_hosts)
/* This record is of a process that already existed when the recorder first saw it: the recorder started it or attached to it, or its agent
 * connected (GUEST). Its program begins with this record, unless an earlier record says which program it executes. */
#define TRACE_FIELDS_PROCESS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(ppid) STR(executable) STR(comm)
/* This record is of a new process or thread, whose numbers are pid and tid of the record. If ppid is not pid, the process is new, and
 * has a copy of the memory that its parent had then, including code. A former process with this pid has ended. existed: 1 if the
 * recorder found the process when it had run already, and has the time of its fork from /proc. Nothing is known of its time between the
 * fork and its first sample. */
#define TRACE_FIELDS_FORK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(ppid) U32(ptid) U32(existed)
/* This record has the name of a thread.  exec: 1 if the process executes a new program, which ends all mappings and code of the one
 * before. */
#define TRACE_FIELDS_COMM(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(exec) STR(comm)
/* This record is of the end of a thread, which may be the last one of its process.  It does not end the validity of other records about the
 * process, since samples from before it may come later in the file. */
#define TRACE_FIELDS_EXIT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(ppid) U32(ptid)
/* This record is of a mapping of a file (or [vdso], //anon), as the kernel reports it.  The mapping is executable, or, if the recording has
 * addresses of memory accesses, any. */
#define TRACE_FIELDS_MMAP(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) U64(file_offset) U32(prot) STR(path) BIN(build_id) U64(device) U64(inode) U64(generation)
/* The agent in this process has connected to the recorder, which it does again after fork and exec.  log_bytes: size of its registration
 * log. */
#define TRACE_FIELDS_GUEST(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(version) U64(log_bytes)
/* Something was lost.  reason: one of LOSS_REASONS, which says what count counts.  The counts of several records with one reason add up. */
#define TRACE_FIELDS_LOSS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(reason) U64(count) U32(event)
/* This record has the parts of an ELF file that analysis needs, as (file offset, bytes).  Readers take the rest of the file for zeros.
 * key: the name by which MMAP and IMAGE refer to the file, which is its build id in hex or else its path.  reason: why parts are missing,
 * or empty.  With the reason TRACE_NOT_ELF, the mapping holds generated code. */
#define TRACE_NOT_ELF "not an ELF file"
/* The record is a copy of an earlier IMAGE_FILE with the same size, which has the parts. */
#define TRACE_COPY "its parts are those of the first file with this build id"
/* The parts are those of the debug file, with the symbols that were stripped from the earlier IMAGE_FILE of the same key. */
#define TRACE_DEBUG_FILE "symbols of the file in front"
#define TRACE_FIELDS_IMAGE_FILE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(key) STR(path) BIN(build_id) U64(file_bytes) STR(reason) ARR(parts, file_part) U64(device) U64(inode) U64(generation)
/* This record has nr samples of one event.  columns: a list of [column, encoding, bytes], see SAMPLE_COLUMNS. */
#define TRACE_FIELDS_SAMPLES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) U32(nr) ARR(columns, column)
/* This is the record of the end of the recording.  exit_status: the command's status as of wait(2), or ~0 if unknown.  samples, records:
 * how many this trace has. command_cpu_ns: CPU time of the command and of the children that it waited for, as the kernel reports it at the
 * end, or 0 if unknown. */
#define TRACE_FIELDS_END(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(exit_status) U64(samples) U64(records) U64(recorder_cpu_ns) U64(command_cpu_ns)

/* This record has the values of a counter when it was closed or when the trace file was cut (epoch), and in later files those since that
 * cut. value: what it counted, in the event's unit, over all threads that inherited it. cpu: the processor on which it counted, or ~0 if it
 * is the counter of the thread tid on all processors. enabled_ns: how long these threads ran on any processor. on_cpu_ns: how long they ran
 * on this processor (0: unknown). running_ns: how long it counted, which is less than on_cpu_ns if it was multiplexed with other counters.
 * samples, lost: how many of its samples are in the trace, and how many were lost. weight: the sum of the weights of its samples, which is
 * less than value if interrupts came late or samples were lost (0: unknown). idle_ns: how long a clock of a processor counted while the
 * processor was idle and not sampled. value, enabled_ns and running_ns do not include this time. */
#define TRACE_FIELDS_COUNT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) U32(cpu) U64(value) U64(enabled_ns) U64(running_ns) U64(samples) U64(lost) U64(on_cpu_ns) U64(weight) \
	U64(idle_ns)

/* This record has the bytes of a code object whose LOAD has none, as read from the process's memory at the record's time.  If there are
 * several records of an object, the first is valid.  loaded_ns: the time of the LOAD to which the bytes belong, or TRACE_NOT_LOADED for a
 * page, or all, of a region whose code was not registered. */
#define TRACE_NOT_LOADED UINT64_MAX
/* The bytes of code objects of at most this size are recorded even without a sample, though only of the first 16,384 in a recording, since
 * calls may lead through them (trampolines, as Python's). */
#define CODE_SMALL_BYTES 64u
#define TRACE_FIELDS_CODE_BYTES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(loaded_ns) BIN(code)

/* This record lists functions of the kernel that samples or their call chains are in, with their addresses in the running kernel. A trace
 * may have several records with different functions, and lacks those beyond a limit of the recorder. module: "" for the kernel itself, or
 * the name in brackets in /proc/kallsyms (a module, "bpf", ...). */
#define TRACE_FIELDS_KERNEL_FUNCTIONS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	ARR(functions, kernel_function)

/* This record has machine code of sampled functions of an ELF file, as (address in the file, bytes).  A file may have several records with
 * different functions.  key, device, inode, generation: the values of its IMAGE_FILE. */
#define TRACE_FIELDS_IMAGE_CODE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(key) ARR(functions, function_code) U64(device) U64(inode) U64(generation)

/* The process was started with an option that makes its host give names of generated code.  The recorder found it among the arguments or in
 * the environment.  option: one of the texts in jitreg/hosts/jit_hosts.c. */
#define TRACE_FIELDS_HOST_OPTION(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(option)

/* This record has the part of a COUNT that belongs to a thread (tid) that has ended, on this processor (UINT32_MAX: on all).  value: what
 * the counter counted in the thread, or 0 if only the value of all threads together is known.  samples, weight: the number of the thread's
 * samples on this processor, and the sum of their weights. */
#define TRACE_FIELDS_THREAD_COUNT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(event) U32(cpu) U64(value) U64(samples) U64(weight)

/* The machine code at [address, address + bytes) interprets programs.  A frame of it has the frame pointer rbp, and executes the program
 * whose code a LOAD has at the address in the word at rbp + place.  If no LOAD is there, the address is in the word at rbp + function. */
#define TRACE_FIELDS_INTERPRETER(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) S64(place) S64(function)

/* This record has text of a source file around lines with samples, as read on the recording machine at the end of the recording.  If a file
 * has several records, the first is valid.  file: its name in line tables.  newer: 1 if the file was changed after the program was built,
 * or after the recording began. */
#define TRACE_FIELDS_SOURCE_LINES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(file) U32(newer) ARR(pieces, source_piece)

/* This record has the command line of this process's program, as read soon after its start, with a blank between words, and cut to less
 * than COMMAND_LINE_BYTES. It is missing if the program had ended by then, or if the command lines in the trace take too many bytes. */
#define COMMAND_LINE_BYTES 1024u
#define TRACE_FIELDS_COMMAND_LINE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(text)

/* This record has the service (in the sense of OpenTelemetry or systemd) that this process's program belongs to.  A program without such a
 * record has the service of the program before its exec, or of the process that forked it.  group: the path of its control group.  name:
 * the service name set for OpenTelemetry, or the systemd unit, or the first 12 digits of the container's id, or "" if there is none. */
#define TRACE_FIELDS_SERVICE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(group) STR(name)

/* This record has the complete name that a thread (tid) has from the record's time on.  The kernel keeps only the first 15 bytes of a name,
 * so a COMM of the thread has these.  The first COMM from that time on whose first THREAD_NAME_ALIKE letters are the same is taken for this
 * name. */
#define THREAD_NAME_ALIKE 7u /* letters to compare, since some runtimes leave out the middle of a name */
#define TRACE_FIELDS_THREAD_NAME(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(name)

/* This record has the resources of a process and of the machine, as the kernel reports them. when: "start" when the process was added to
 * the recording or began a program, "end" (only for the recorded command, or for attached processes) at the end of the command or of the
 * recording. values: (name, number) for each of the following that could be read: processors (that the process may use), quota_us and
 * quota_period_us (of its cgroup, if there is a quota), throttled (times), throttled_ns or throttled_us; disk_read_limit, disk_write_limit
 * (bytes per second, the lowest of its cgroup's limits of disks); ran_ns, queued_ns (of its first thread, from schedstat); read_bytes and
 * write_bytes (of disks), read_calls_bytes, write_calls_bytes; pressure_cpu_us, pressure_io_us, pressure_memory_us (of the machine,
 * "some"). */
#define TRACE_FIELDS_RESOURCES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	STR(when) ARR(values, named_value)

/*
 * Maps functions and lines of a program to components, for functions that work for different plans in different tasks (Spark's).
 * pattern: the record is about functions whose names begin with it, and with no longer pattern. If it ends in a digit, no digit may follow
 * in the name.
 * context_level, context: a component. The record is valid for samples in a mark of a component that is linked to it. context 0: in any
 * mark.
 * rank: if several functions on a sample's stack have such records, the innermost one of those with the lowest rank decides.
 * entries: the first entry that matches has the number of the component of the level. If that is 0, the caller on the stack is considered
 * instead. An entry matches lines first_line to last_line (0, 0: any) of functions whose name, behind the pattern and one more character,
 * begins with rest.
 * lines_level, lines_first, nr_lines: line n of lines 1 to nr_lines also belongs to component lines_first + n of lines_level.
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

/* These are the elements of ARR fields of jitreg.h, and their members.  U marks an unsigned number, S a text, and B bytes.  In memory, they
 * are struct jitreg_<name>. */
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
/* These are the elements of ARR fields of the records above.  line is the element of LINES. */
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

/* Kinds of NOTICEs. */
#define NOTICE_KINDS(X) \
	X(FALLBACK, "fallback") /* a better event was unavailable: the event that is sampled in its place, and why */ \
	X(LADDER, "ladder") /* another better way of sampling was unavailable, and why */ \
	X(REFUSED, "refused") /* a request that could not be fulfilled */ \
	X(LOSS, "loss") /* a loss without a count */ \
	X(HOST, "host") /* something that happened in the host and that users should know */ \
	X(VERSION, "version") /* information of a host is missing (HOST_LACK); reports show it first */ \
	X(TAG, "tag") /* samples cannot have the host's tag, which attribution needs; reports show it first */ \
	X(NAMES, "names") /* functions of an interpreter or a JIT have no names here; reports show it first */ \
	X(NO_SAMPLES, "no samples") /* the kernel did not count a command or a process, and why */ \
	X(NAMES_NOT_READ, "names not read") /* names of generated code are in a file that was not read, and why */ \
	X(DISK_FULL, "disk full") /* a loss without a count: the disk of the trace, or the user's part of it, was full */

#define NOTICE_INDEX_(NAME, text) NOTICE_##NAME,
enum notice_kind { NOTICE_KINDS(NOTICE_INDEX_) NR_NOTICES }; /* NR_NOTICES: kind of a later version */
#undef NOTICE_INDEX_
extern const char *const trace_notices[NR_NOTICES + 1]; /* texts of the kinds */

/* These are the beginnings of the sentences of two kinds.  A sentence goes on as the comment says, and reports show that part alone. */
/* This is the name of process 0 and of the one image in it, where the recorder is in a PID namespace: all processes outside of it. */
#define TRACE_OUTSIDE "[other PID namespace]"
#define TRACE_NO_SAMPLES_OF "no samples of " /* NO_SAMPLES: name of the command or process, and why */
#define TRACE_NAMES_NOT_READ "names of generated code not read: " /* NAMES_NOT_READ: name of the file, and why */
#define TRACE_WRITE_FAILED "writing the trace failed: " /* DISK_FULL, and some of kind LOSS: the error */

/* This list has the reasons of losses.  Columns: constant, text in a LOSS record, what is missing (enum loss_class), sentence in
 * reports. */
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

/* A loss has a class by the data that it makes incomplete, which are samples, registrations of hosts and other records that describe
 * code, or something else (threads, times). */
enum loss_class { LOSS_OF_SAMPLES, LOSS_OF_REGISTRATIONS, LOSS_OF_OTHER };

#define LOSS_INDEX_(NAME, text, CLASS, sentence) LOSS_##NAME,
enum loss_reason { LOSS_REASONS(LOSS_INDEX_) NR_LOSSES }; /* NR_LOSSES: reason of a later version */
#undef LOSS_INDEX_

struct loss_meaning {
	const char *text; /* text in the record */
	enum loss_class of;
	const char *sentence;
};
extern const struct loss_meaning trace_losses[NR_LOSSES];

/*
 * Sample columns. Each is an array of one number per sample, except that STACK has the bytes of all stacks one after another (STACK_BYTES
 * has the size of each), CHAIN the return addresses of all samples (CHAIN_LENGTH has the number of each), and KERNEL_CHAIN a list for each.
 * An absent column is all 0. Column REGISTER_0 + n is register n of perf.
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
	X(REGISTERS_ABI, 9, "registers_abi") /* 0: no registers; otherwise PERF_SAMPLE_REGS_ABI_* */ \
	X(STACK_BYTES, 10, "stack_bytes") \
	X(STACK, 11, "stack") \
	X(CHAIN_LENGTH, 12, "chain_length") \
	X(CHAIN, 13, "chain") /* return addresses by frame pointers, innermost first */ \
	X(DATA_SOURCE, 14, "data_source") /* union perf_mem_data_src: the cache or memory that had the data */ \
	X(LATENCY, 15, "latency") /* latency of the access, in the processor's unit, mostly cycles */ \
	X(REGISTER_0, 64, "register") /* registers 0 to 63 are columns 64 to 127 */ \
	X(KERNEL_CHAIN, 128, "kernel_chain") /* return addresses in the kernel, for samples in the kernel, innermost first */

/* This is the register column of the thread-local word with the tag, which samples that a signal handler took have.  perf has no register
 * of this number. */
#define SAMPLE_TAG_WORD 62

#define SAMPLE_COLUMN_ID_(NAME, id, text) SAMPLE_COLUMN_##NAME = id,
enum sample_column { SAMPLE_COLUMNS(SAMPLE_COLUMN_ID_) };
#undef SAMPLE_COLUMN_ID_

enum sample_mode { SAMPLE_MODE_USER = 0, SAMPLE_MODE_KERNEL = 1, SAMPLE_MODE_OTHER = 2 };

/*
 * Encodings.  All numbers of varying size are LEB128 of at most 10 bytes.  All differences are modulo 2^64 and zigzag: (d << 1) ^ (d >>
 * 63).
 *
 * BYTES: unencoded bytes (STACK only).
 * U64: little-endian numbers.
 * DELTA: differences to the number before (the first one: to 0).
 * CONSTANT: one number, which all samples have.
 * TABLE: IP only.  The number of entries (different addresses), their differences to the entry before, and for each sample the index of its
 * entry.
 * BY_IP: differences to the number of the last sample with the same ip, or for a new ip to that of the sample before (the first one: to 0).
 *	Column IP is before it in the record, as a TABLE.
 * AGAINST: the number of a column that is before it in the record, and the differences to that column's numbers.
 * LISTS: KERNEL_CHAIN only.  For each sample the number of its addresses, and these, innermost first, as differences to the address before,
 *	also if it is of another sample (the first one: to 0).
 * CHANGES: STACK only.  The size of the runs in bytes, the runs, and the new words and bytes.  See SAMPLE_STACK_WORDS.
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

#define SAMPLE_NR_MAX 65536u /* samples of one SAMPLES record */

/*
 * The encoding CHANGES stores the stacks of one SAMPLES record as changes. Decoding keeps SAMPLE_STACK_MEMORIES memories of
 * SAMPLE_STACK_WORDS words of 64 bits, all 0 before the first sample of the record. A thread uses memory number tid %
 * SAMPLE_STACK_MEMORIES. Word w of a sample's stack corresponds to memory[(sp / 8 + w) % SAMPLE_STACK_WORDS], where sp is the sample's
 * number in column REGISTER_0 + SAMPLE_STACK_POINTER. A stack is a sequence of runs that cover all of its whole words. A run is two
 * numbers: how many words equal those in the memory, and how many after them do not. The latter are among the new words, and are written
 * to the memory. The last bytes % 8 bytes of a stack follow its new words.
 */
#define SAMPLE_STACK_MEMORIES 256u
#define SAMPLE_STACK_WORDS 8192u
#define SAMPLE_STACK_MAX 65535u /* bytes */
/* The kernel copies the requested number of bytes, unless the stack's mapping ends before, or the record would get too long.  A copy that
 * is smaller than requested is surely the whole stack only if it is also smaller than this, because then the record's limit of 64 KiB did
 * not cut it. */
#define SAMPLE_STACK_SURELY_WHOLE (60u << 10)
#define SAMPLE_STACK_POINTER 7

#endif
