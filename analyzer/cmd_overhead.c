/* SPDX-License-Identifier: MIT */
/* tailor overhead measures the overhead and the attribution rate of several sampling configurations on the user's own program. */
#include "analyzer/output/svg.h"
#include "analyzer/overhead/view.h"
#include "analyzer/pictures/overhead.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"

#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_DEFAULT 5
#define ROUNDS_QUICK 3
#define ROUNDS_MAX 1000
#define RATE_MAX 1000000
#define SHORT_S 0.05 /* seconds; after shorter runs, a message says that most of the overhead is that of their start */

enum { KEY_ROUNDS = 0x100, KEY_RATES, KEY_QUICK, KEY_JSON, KEY_SVG, KEY_SHOW_OUTPUT };

struct arguments {
	struct overhead o;
	const char *svg;
	bool json, quick;
};

static const struct argp_option options[] = {
	{ "event", 'e', "EVENT", 0, "event to sample, as in `tailor run` (default: auto)", 0 },
	{ "rates", KEY_RATES, "N,N...", 0, "sampling rates in samples per second and CPU, at most eight (default: 1000,4000,20000)", 0 },
	{ "rounds", KEY_ROUNDS, "N", 0, "runs of each configuration at each rate (default: 5)", 0 },
	{ "quick", KEY_QUICK, NULL, 0, "three rounds, only 4000 samples per second, the default of `tailor run`", 0 },
	{ "svg", KEY_SVG, "FILE", 0, "picture to write (default: overhead.svg)", 0 },
	{ "json", KEY_JSON, NULL, 0, "write JSON instead of the table", 0 },
	{ "show-output", KEY_SHOW_OUTPUT, NULL, 0, "write the output of the command to stderr (default: discard it)", 0 },
	{ 0 },
};

static uint64_t parse_number_in_range(struct argp_state *state, const char *name, const char *text, char **end, uint64_t most)
{
	uint64_t n = strtoull(text, end, 10);

	if (*end == text || *text == '-' || *text == '+' || n < 1 || n > most)
		usage_fail(state, "--%s takes numbers from 1 to %llu, not '%s'", name, (unsigned long long)most, text);
	return n;
}

static void parse_rates(struct argp_state *state, struct overhead *o, char *text)
{
	char *end;

	for (o->nr_rates = 0;; text = end + 1) {
		uint64_t rate = parse_number_in_range(state, "rates", text, &end, RATE_MAX);

		if (*end && *end != ',')
			usage_fail(state, "--rates takes numbers separated by commas, not '%s'", text);
		if (o->nr_rates == OVERHEAD_RATES_MAX)
			usage_fail(state, "--rates takes at most %d rates", OVERHEAD_RATES_MAX);
		for (unsigned i = 0; i < o->nr_rates; i++)
			if (o->rate[i] == rate)
				usage_fail(state, "--rates has %llu twice", (unsigned long long)rate);
		o->rate[o->nr_rates++] = rate;
		if (!*end)
			return;
	}
}

static void set_default_rates(struct arguments *a)
{
	static const uint64_t rates[] = { 1000, 4000, 20000 };
	struct overhead *o = &a->o;

	if (!o->nr_rounds)
		o->nr_rounds = a->quick ? ROUNDS_QUICK : ROUNDS_DEFAULT;
	if (o->nr_rates)
		return;
	o->nr_rates = a->quick ? 1 : sizeof(rates) / sizeof(rates[0]);
	memcpy(o->rate, a->quick ? &rates[1] : rates, o->nr_rates * sizeof(rates[0]));
}

static error_t parse_overhead_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char *end;

	switch (key) {
	case 'e':
		a->o.event = arg;
		break;
	case KEY_ROUNDS:
		a->o.nr_rounds = (unsigned)parse_number_in_range(state, "rounds", arg, &end, ROUNDS_MAX);
		if (*end)
			usage_fail(state, "--rounds takes numbers from 1 to %d, not '%s'", ROUNDS_MAX, arg);
		break;
	case KEY_RATES:
		parse_rates(state, &a->o, arg);
		break;
	case KEY_QUICK:
		a->quick = true;
		break;
	case KEY_SVG:
		a->svg = arg;
		break;
	case KEY_JSON:
		a->json = true;
		break;
	case KEY_SHOW_OUTPUT:
		a->o.show_output = true;
		break;
	case ARGP_KEY_ARGS:
		a->o.command = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "no command given");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static volatile int stop; /* 128 + the number of the last signal that was caught, which is the exit status if it ended the runs; 0: none */

static void note_stop_signal(int signal_number)
{
	stop = 128 + signal_number;
}

/*
 * Makes the signals below set only `stop`, so that the started processes end and the temporary files are removed before the exit. A signal
 * that was ignored when the command started stays ignored.
 */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction a = { .sa_handler = note_stop_signal }, before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &a, NULL);
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, wait4() would not return the CPU time of children */
	signal(SIGPIPE, SIG_IGN);
}

static void show_progress(void *context, unsigned done, unsigned total, unsigned rate, enum capture c)
{
	static struct timespec begin;
	const struct overhead *o = context;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!done)
		begin = now;
	fprintf(stderr, "\r\033[Krun %u of %u: %s", done + 1, total, capture_kinds[c].name);
	if (c != CAPTURE_BARE)
		fprintf(stderr, ", %llu samples/s", (unsigned long long)o->rate[rate]);
	if (done)
		fprintf(stderr, "; about %.0f s left", (double)(now.tv_sec - begin.tv_sec + 1) / done * (total - done));
}

static int write_picture(struct output_file *picture, const struct overhead *o)
{
	struct diag d = { "" };

	overhead_svg(o, picture->to);
	if (output_file_end(picture, &d) == 0)
		return CMD_DONE;
	message_print("%s", d.text);
	return CMD_FAILED;
}

static int show_overhead(const struct arguments *a, struct output_file *picture)
{
	double bare_s = overhead_bare_spread(&a->o, true).median;
	int status = write_picture(picture, &a->o);

	if (bare_s < SHORT_S)
		message_print("%s ran for %.0f ms only: most of the overhead is that of its start; use a longer run", a->o.command[0],
				  1000 * bare_s);
	if (a->json) {
		if (overhead_json(&a->o, stdout))
			status = CMD_FAILED;
	} else {
		overhead_text(&a->o, stdout);
		if (status == CMD_DONE)
			message_put(stdout, "Picture: %s", a->svg);
	}
	return status;
}

#define CAPTURE_HELP_(NAME, name, key, options, stack_only) "  " name ": " options "\n"

static int run_overhead(int argc, char **argv)
{
	static const struct argp_child children[] = { { &output_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_overhead_option,
		"-- COMMAND [ARGUMENT...]",
		"Measure the overhead of several sampling configurations on a command, and the share of samples that each attributes to "
		"components: tag register, frame pointers and stack copies compared on your own program.  The command runs without "
		"recording (the baseline) and under each configuration, in several rounds of random order.\v"
		"The standard input of the command is /dev/null.  Run time is that of the command, without the start and the end of the "
		"recorder; CPU time is user and system time, of the command and of the recorder.  All traces are temporary files in "
		"$TMPDIR or /tmp.\n\n"
		"Configurations, each with the options of `tailor run` that it stands for:\n" CAPTURES(CAPTURE_HELP_)
		"\nExit status: 0 done; 1 failure, also of the command, with or without a recorder; 2 usage error.\n\n"
		"Example: tailor overhead --quick -- build/engine --query q3",
		children,
		NULL,
		NULL
	};
	struct output_file picture = { .form = &svg_output_form };
	struct arguments a = { .svg = "overhead.svg" };
	const char *temporary = getenv("TMPDIR");
	char directory[256];
	struct diag d = { "" };
	int status = CMD_FAILED, ret;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	set_default_rates(&a);
	/* The picture is created before the runs, which may take an hour, so that a wrong path fails at once. */
	if (output_file_open_stream(&picture, a.svg, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	a.o.run = calloc((size_t)a.o.nr_rounds * a.o.nr_rates * NR_CAPTURES, sizeof(*a.o.run));
	snprintf(directory, sizeof(directory), "%s/tailor-overhead.XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (!a.o.run || !mkdtemp(directory)) {
		message_print("cannot create a temporary folder '%s': %s", directory, strerror(errno));
		output_file_drop(&picture);
		free(a.o.run);
		return CMD_FAILED;
	}
	catch_signals();
	ret = overhead_measure(&a.o, directory, &stop, isatty(2) ? show_progress : NULL, &a.o, &d);
	if (isatty(2))
		fputs("\r\033[K", stderr);
	rmdir(directory);
	if (ret == 0)
		status = show_overhead(&a, &picture);
	else if (stop)
		status = stop;
	else
		message_print("%s", d.text);
	if (ret == -EINVAL)
		status = CMD_MISUSED;
	output_file_drop(&picture); /* after write_picture(), there is nothing left to drop */
	free(a.o.run);
	return status;
}

const struct cmd cmd_overhead = { "overhead", "measure the overhead of sampling on a command", run_overhead };
