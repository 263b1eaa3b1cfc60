/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/options.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/message.h"
#include "jitreg/base/registers.h"
#include "jitreg/output/output_option.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PERIOD = 0x100, KEY_SCOPE, KEY_SAMPLER, KEY_STACK, KEY_REGISTERS, KEY_FRAME_POINTERS, KEY_IMAGE_CODE, KEY_SOURCE_TEXT,
       KEY_DEBUGINFOD, KEY_NO_COMPRESS, KEY_EPOCHS, KEY_EPOCH_COMMAND, KEY_COST, KEY_OVERWRITE };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "trace to write (tailor.tlr)", 0 },
	OUTPUT_OVERWRITE_OPTION(KEY_OVERWRITE),
	{ "event", 'e', "LIST", 0,
	  "events to sample, a comma-separated list of NAME[:MODIFIER][@PERIOD].  NAME: auto (the best available), cycles, "
	  "task-clock, page-faults, context-switches, any event of libpfm4 (MEM_LOAD_RETIRED:L3_MISS), a raw code (r01c2), or a "
	  "PMU with fields (cpu/event=0xc2/).  MODIFIER: u or k (user or kernel code only), p, pp or ppp (exactly this precise level).  "
	  "PERIOD: one sample every PERIOD events, with suffix k, M or G (auto)", 0 },
	{ "rate", 'r', "N", 0, "samples per second and CPU, for events without a period (4000)", 0 },
	{ "period", KEY_PERIOD, "N", 0,
	  "one sample every N events (clocks: ns) on average, instead of a rate; periods vary by up to 1/16", 0 },
	{ "scope", KEY_SCOPE, "cpu|thread", 0, "one inherited counter per CPU, or one counter per thread, opened by the agent (cpu)", 0 },
	{ "sampler", KEY_SAMPLER, "auto|signal|timer", 0,
	  "how samples are taken: by the kernel if permitted (auto); by a signal handler in the host at each counter overflow, "
	  "which can read a tag in thread-local storage (signal); or by a signal handler at each expiry of a per-thread CPU-time "
	  "timer (timer)", 0 },
	{ "stack", KEY_STACK, "BYTES", 0,
	  "stack bytes to copy with each sample, 0 to 65528 (65528; less if the ring buffers are small; 2048 with --sampler signal "
	  "or timer)", 0 },
	{ "registers", KEY_REGISTERS, "LIST", 0,
	  "user registers to record with each sample: all, none, or some of ax bx cx dx si di bp sp ip flags r8 to r15 "
	  "(bx,bp,sp,ip,r12,r13,r14,r15)", 0 },
	{ "frame-pointers", KEY_FRAME_POINTERS, NULL, 0,
	  "record the kernel's callchain by frame pointers; used for samples without stack bytes (--stack 0)", 0 },
	{ "image-code", KEY_IMAGE_CODE, "BYTES", 0,
	  "machine code of sampled functions of programs and libraries to keep in the trace, the hottest first, for `report --view asm` "
	  "and `cpi`; 0: none (262144)", 0 },
	{ "source-text", KEY_SOURCE_TEXT, "BYTES", 0,
	  "text of source files around the hottest lines to keep in the trace at the end, for reports on other machines; 0: none "
	  "(32768)", 0 },
	{ "debuginfod", KEY_DEBUGINFOD, NULL, 0, "fetch symbols that are nowhere on this machine from debuginfod servers, for at most a "
	  "minute: those that DEBUGINFOD_URLS names (which alone asks for that, too), or elfutils' own", 0 },
	{ "epochs", KEY_EPOCHS, "TIME", 0, "cut the recording at each multiple of TIME (10m, 20s) into traces FILE.000001, FILE.000002, "
	  "... (before the ending .tlr), without losing a sample", 0 },
	{ "epoch-command", KEY_EPOCH_COMMAND, "COMMAND", 0,
	  "with --epochs: run COMMAND, with the trace's path behind it, for each that is complete; by sh, at "
	  "idle priority", 0 },
	{ "cost", KEY_COST, "PERCENT", 0, "choose the rate by what a sample costs here, so that all cost the program so much, at most 1000 "
	  "samples a second; the recorder's own work comes on top, about 0.1 to 0.3 ms a sample", 0 },
	{ "no-compress", KEY_NO_COMPRESS, NULL, 0, "write an uncompressed trace (plain msgpack), for readers without zstd", 0 },
	{ 0 },
};

static uint64_t parse_bounded_number(struct argp_state *state, const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || n < least || n > most)
		usage_fail(state, "--%s must be a number from %llu to %llu, not '%s'", name, (unsigned long long)least,
			   (unsigned long long)most, text);
	return n;
}

/* These are the names of --registers, with perf's numbers. Segment registers are not among them, since perf cannot sample ds, es, fs and gs
 * on x86-64. */
#define REGISTER_(name, dwarf, perf, instruction) { #name, perf },
static const struct {
	const char *name;
	int number;
} registers[] = { REGISTERS(REGISTER_){ "ip", REGISTER_PERF_IP }, { "flags", REGISTER_PERF_FLAGS } };
#undef REGISTER_

static uint64_t parse_register_mask(struct argp_state *state, const char *list)
{
	uint64_t mask = 0;

	if (strcmp(list, "none") == 0)
		return EVENT_REGISTERS_NONE;
	for (size_t bytes; *list; list += bytes + (list[bytes] == ',')) {
		size_t i, nr = sizeof(registers) / sizeof(registers[0]);
		bool all;

		bytes = strcspn(list, ",");
		all = bytes == 3 && memcmp(list, "all", 3) == 0;
		for (i = 0; i < nr; i++)
			if (all || (strlen(registers[i].name) == bytes && memcmp(registers[i].name, list, bytes) == 0)) {
				mask |= 1ull << registers[i].number;
				if (!all)
					break;
			}
		if (i == nr && !all)
			usage_fail(state, "unknown register '%.*s'", (int)bytes, list);
	}
	/* 7 and 8 are perf's numbers of sp and ip, without which nothing can be unwound; they cost 16 bytes a sample */
	return mask | 1ull << 7 | 1ull << 8;
}

/* Returns the nanoseconds of "2", "2s", "500ms" or "3m".  Ends the command with a usage error if it is none of these, less than 1 ns or
 * above 1e18 ns.  A recorder that reads a request does not end, and gets 0. */
static uint64_t parse_duration(struct argp_state *state, const char *name, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "m", 60e9 } };
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; end > text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && number * units[i].ns >= 1 && number * units[i].ns <= 1e18)
			return (uint64_t)(number * units[i].ns);
	usage_fail(state, "--%s must be a time above 0, as in 2, 2s, 500ms or 3m, not '%s'", name, text);
	return 0;
}

static double parse_cost(struct argp_state *state, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent > 0) || percent > 50)
		usage_fail(state, "--cost must be a percentage above 0, at most 50, as in 1%%, not '%s'", text);
	return percent / 100;
}

/* Returns the argument vector that executes the command of --epoch-command by the shell, or NULL if memory runs out.
 * session_fold_execute_command() appends the path of the finished trace, which the shell sees as $1. */
static char **session_shell_command(const char *command)
{
	static char *words[6]; /* one per process, never freed */
	char *script = NULL;

	if (asprintf(&script, "exec %s \"$1\"", command) < 0)
		return NULL;
	words[0] = (char *)"/bin/sh";
	words[1] = (char *)"-c";
	words[2] = script;
	words[3] = (char *)"sh";
	return words;
}

static error_t parse_sampling_option(int key, char *arg, struct argp_state *state)
{
	struct session_options *o = state->input;

	switch (key) {
	case 'o':
		if (strcmp(arg, "-") == 0)
			usage_fail(state, "a trace is not written to standard output, which is the program's; give a file or a FIFO");
		o->output = arg;
		break;
	case KEY_OVERWRITE:
		o->overwrite = true;
		break;
	case 'e':
		o->counting.event.name = arg;
		break;
	case 'r':
		o->counting.event.rate = parse_bounded_number(state, "rate", arg, 1, 1000000);
		o->counting.event.period = 0;
		o->counting.cost = 0;
		break;
	case KEY_PERIOD:
		o->counting.event.period = parse_bounded_number(state, "period", arg, 1, 1ull << 50);
		break;
	case KEY_STACK:
		o->counting.event.stack_bytes = (uint32_t)parse_bounded_number(state, "stack", arg, 0, 65528) & ~7u;
		break;
	case KEY_SCOPE:
		if (strcmp(arg, "cpu") != 0 && strcmp(arg, "thread") != 0)
			usage_fail(state, "--scope must be cpu or thread, not '%s'", arg);
		o->counting.scope_thread = arg[0] == 't';
		break;
	case KEY_SAMPLER:
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "signal") != 0 && strcmp(arg, "timer") != 0)
			usage_fail(state, "--sampler must be auto, signal or timer, not '%s'", arg);
		o->counting.sampler = arg[0] == 'a' ? SAMPLER_AUTO : arg[0] == 's' ? SAMPLER_SIGNAL : SAMPLER_TIMER;
		break;
	case KEY_REGISTERS:
		o->counting.event.registers = parse_register_mask(state, arg);
		break;
	case KEY_FRAME_POINTERS:
		o->counting.event.frame_pointers = true;
		break;
	case KEY_IMAGE_CODE:
		o->image_code_bytes = parse_bounded_number(state, "image-code", arg, 0, 1u << 25);
		break;
	case KEY_SOURCE_TEXT:
		o->source_text_bytes = parse_bounded_number(state, "source-text", arg, 0, 1u << 24);
		break;
	case KEY_DEBUGINFOD:
		o->debuginfod = true;
		break;
	case KEY_NO_COMPRESS:
		o->uncompressed = true;
		break;
	case KEY_EPOCHS:
		o->epoch_ns = parse_duration(state, "epochs", arg);
		break;
	case KEY_EPOCH_COMMAND:
		o->epoch_command = session_shell_command(arg);
		break;
	case KEY_COST:
		o->counting.cost = parse_cost(state, arg);
		o->counting.cost_is_limit = false;
		break;
	case ARGP_KEY_END:
		if (o->epoch_command && !o->epoch_ns)
			usage_fail(state, "--epoch-command requires --epochs");
		if (o->epoch_ns && (o->counting.scope_thread || o->counting.sampler != SAMPLER_AUTO))
			usage_fail(state, "--epochs supports --scope cpu and --sampler auto only");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

enum { KEY_DORMANT = 0x180, KEY_MEMORY };

static const struct argp_option dormant_options[] = {
	{ "dormant", KEY_DORMANT, NULL, 0, "collect registrations, but count and write nothing until `tailor start PID` starts a "
	 "recording; `tailor stop PID` ends it", 0 },
	{ "memory", KEY_MEMORY, "MIB", 0, "with --dormant: maximum memory for the registrations of each process (256)", 0 },
	{ 0 },
};

static error_t parse_dormant_option(int key, char *arg, struct argp_state *state)
{
	struct session_options *o = state->input;

	switch (key) {
	case KEY_DORMANT:
		o->dormant = true;
		break;
	case KEY_MEMORY:
		o->store_bytes = parse_bounded_number(state, "memory", arg, 1, 1u << 20) << 20;
		break;
	case ARGP_KEY_END:
		if (o->dormant && (o->counting.scope_thread || o->counting.sampler != SAMPLER_AUTO))
			usage_fail(state, "--dormant supports --scope cpu and --sampler auto only");
		o->counting.no_guest |= o->dormant;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp dormant_argp = { dormant_options, parse_dormant_option, NULL, NULL, NULL, NULL, NULL };

enum { KEY_FOLLOW = 0x200, KEY_INJECT, KEY_NO_ADAPT, KEY_NAME, KEY_TREE, KEY_NO_CHILDREN, KEY_ALL, KEY_UNIT,
       KEY_CONTAINER, KEY_EXEC };

static const struct argp_option attach_options[] = {
	{ "duration", 'd', "TIME", 0, "stop recording after TIME, in seconds or as 500ms, 2s or 3m (until the process exits, or "
	  "Ctrl-C)", 0 },
	{ "name", KEY_NAME, "REGEX", 0, "record all processes whose name, or whose command line's first word, matches this extended "
	  "regular expression, and those that start meanwhile", 0 },
	{ "exec", KEY_EXEC, "FILE", 0, "record all processes that execute this program, by its path, and those that start meanwhile, also "
	  "when another file has taken its place", 0 },
	{ "all", KEY_ALL, NULL, 0, "record all processes of the machine, and the kernel's own threads, from outside (as root)", 0 },
	{ "unit", KEY_UNIT, "NAME", 0, "record all processes of this systemd unit (nginx.service, or nginx), by their control group, and "
	  "those that join it", 0 },
	{ "container", KEY_CONTAINER, "ID|NAME", 0, "record all processes of this container, by its id (the first 12 digits do) or the "
	  "name that docker, podman, LXC or systemd-nspawn has for it, and those that join it", 0 },
	{ "tree", KEY_TREE, NULL, 0, "record all processes below the given ones, too, also where these work themselves", 0 },
	{ "no-children", KEY_NO_CHILDREN, NULL, 0, "leave out the processes below the given ones that run already, also where these "
	  "sleep while those work", 0 },
	{ "follow", KEY_FOLLOW, NULL, 0, "record until all processes that it starts meanwhile have exited as well; with --name and --exec "
	  "also while there is none, until Ctrl-C or --duration", 0 },
	{ "inject", KEY_INJECT, NULL, 0, "load the agent into the process; hosts that use jitreg then register all live code again, and "
	  "so do V8 (Node) and CPython", 0 },
	{ "no-adapt", KEY_NO_ADAPT, NULL, 0, "do not ask a JVM for a perf map, nor (with --inject) V8 and Python for their code", 0 },
	{ "quiet", 'q', NULL, 0, "print errors only", 0 },
	{ 0 },
};

static void check_regular_expression(const struct argp_state *state, const char *text)
{
	char problem[128];
	regex_t compiled;
	int error = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);

	if (error) {
		regerror(error, &compiled, problem, sizeof(problem));
		usage_fail(state, "--name '%s' is not a regular expression: %s", text, problem);
	} else {
		regfree(&compiled);
	}
}

static error_t parse_attach_option(int key, char *arg, struct argp_state *state)
{
	struct session_options *o = state->input;
	enum session_descendants descendants;

	switch (key) {
	case 'd':
		o->duration_ns = parse_duration(state, "duration", arg);
		break;
	case KEY_INJECT:
		o->inject = true;
		break;
	case KEY_ALL:
		o->all = true;
		break;
	case KEY_UNIT:
	case KEY_CONTAINER:
		if (o->service.unit || o->service.container)
			usage_fail(state, "one --unit or --container can be recorded at a time");
		*(key == KEY_UNIT ? &o->service.unit : &o->service.container) = arg;
		break;
	case KEY_NAME:
		check_regular_expression(state, arg);
		o->name = arg;
		break;
	case KEY_EXEC:
		o->program = arg;
		break;
	case KEY_TREE:
	case KEY_NO_CHILDREN:
		descendants = key == KEY_TREE ? DESCENDANTS_ALL : DESCENDANTS_NONE;
		if (o->descendants != DESCENDANTS_THAT_WORK && o->descendants != descendants)
			usage_fail(state, "--tree and --no-children exclude each other");
		o->descendants = descendants;
		break;
	case KEY_FOLLOW:
		o->follow = true;
		break;
	case KEY_NO_ADAPT:
		o->no_adapt = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp attach_argp = { attach_options, parse_attach_option, NULL, NULL, NULL, NULL, NULL };

/* Parses the words that `tailor start` or `attach` has sent.  A PID among them is accepted without being read, because the request came to
 * the recorder of that process. */
static error_t parse_request_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = state->child_inputs[1] = state->input;
	return key == ARGP_KEY_INIT || key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child request_children[] = { { &sampling_argp, 0, NULL, 0 }, { &attach_argp, 0, NULL, 0 }, { 0 } };
const struct argp request_argp = { NULL, parse_request_option, NULL, NULL, request_children, NULL, NULL };

const struct argp sampling_argp = { options, parse_sampling_option, NULL, NULL, NULL, NULL, NULL };

static pid_t parse_pid(struct argp_state *state, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT_MAX)
		usage_fail(state, "'%s' is not a PID (`ps` or `pidof NAME` prints it)", text);
	return (pid_t)pid;
}

void options_parse_pid(struct argp_state *state, pid_t *pid, const char *arg)
{
	if (*pid)
		usage_fail(state, "only one PID is accepted; %d and %s were given", (int)*pid, arg);
	*pid = parse_pid(state, arg);
}

void options_parse_pids(struct argp_state *state, struct pid_list *pids, char *arg)
{
	for (char *rest = arg, *word; (word = strsep(&rest, ","));) {
		if (!ARRAY_PUSH(*pids, parse_pid(state, word)))
			usage_fail(state, "out of memory for PIDs");
	}
}
