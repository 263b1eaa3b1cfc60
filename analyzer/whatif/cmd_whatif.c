/* SPDX-License-Identifier: MIT */
/* The command `tailor whatif` says what bounds an execution, and predicts how long it would take with other resources or a faster part. */
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page_arguments.h"
#include "analyzer/output/svg.h"
#include "analyzer/pictures/predictions.h"
#include "analyzer/reading/one_trace.h"
#include "analyzer/reading/reading_command.h"
#include "analyzer/whatif/interval.h"
#include "analyzer/whatif/kept.h"
#include "analyzer/whatif/parts.h"
#include "analyzer/whatif/verdict.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/base/sorted.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX 16
#define TRACES_MAX 32
#define SWEEP_MAX 256
#define CORES_MAX 1000000
#define QUOTA_LEAST 0.001 /* smallest quota, in processors, that the kernel accepts: 1 ms of each second */

enum {
	KEY_CORES = 0x100, KEY_QUOTA, KEY_CLOCK, KEY_DISK, KEY_NETWORK, KEY_MEMORY, KEY_COMPONENT, KEY_LOCK, KEY_SKEW, KEY_TARGET,
	KEY_THREADS, KEY_EXPLAIN, KEY_KEEP, KEY_SVG, KEY_VERIFY, KEY_RESOURCES, KEY_CALIBRATION, KEY_MARK, KEY_LEVEL, KEY_FORCE,
};

/* This struct is a change that an option asks for. Names in it are looked up after the trace has been read (make_change()). */
struct asked {
	enum change_kind kind;
	double value;
	/* component or part (LEVEL:NAME), function that takes the lock, or name of threads; not NUL-terminated, see name_bytes */
	const char *name;
	size_t name_bytes;
	const char *text; /* the option's argument, for messages */
};

struct arguments {
	struct page_arguments page;
	struct reading_arguments trace;
	const char *path; /* trace to predict from; if there are several, choose_median() sets it to the one with the median time */
	const char *traces[TRACES_MAX];
	double measured_ns[TRACES_MAX]; /* measured completion time of each trace, set only if there are several */
	uint32_t nr_traces;
	const char *verify, *keep, *svg, *resources, *calibration;
	struct asked asked[CHANGES_MAX];
	uint32_t nr_asked;
	uint32_t sweep_from, sweep_to; /* numbers of processors for a table (--cores A..B); 0: no table was asked for */
	double target_ns;
	bool explain, force;
	struct timeline *timeline;
	struct calibration measured; /* content of the file of --calibration */
};

static const struct argp_option options[] = {
	{ "cores", KEY_CORES, "N|A..B", 0, "with N processors; A..B: with all numbers of them, as a table", 0 },
	{ "quota", KEY_QUOTA, "Q|none", 0, "with a quota (a container's limit) of Q processors' time", 0 },
	{ "clock", KEY_CLOCK, "F", 0, "with processors F times as fast: 1.2, or +20%", 0 },
	{ "disk", KEY_DISK, "F", 0, "with disks F times as fast", 0 },
	{ "network", KEY_NETWORK, "F", 0, "with answers of the network F times as fast", 0 },
	{ "component", KEY_COMPONENT, "LEVEL:NAME=P%", 0, "with a component, or function:NAME, that takes more or less time: -50%", 0 },
	{ "lock", KEY_LOCK, "FUNCTION", 0, "without waits for the lock that FUNCTION takes", 0 },
	{ "skew", KEY_SKEW, "LEVEL:NAME", 0, "with the work on a component, or on threads:TID (that a thread made), evenly divided", 0 },
	{ "threads", KEY_THREADS, "NAME=N", 0, "with at most N of the threads of this name (* and ?) at work at once", 0 },
	{ "memory", KEY_MEMORY, "BYTES", 0, "(cannot be told: traces do not say what memory a program would use again)", 0 },
	{ "target", KEY_TARGET, "TIME", 0, "what alone, or as a pair, reaches this completion time: 1.5s, 200ms", 0 },
	{ "explain", KEY_EXPLAIN, NULL, 0, "say what was assumed", 0 },
	{ "keep", KEY_KEEP, "FILE", 0, "write the predictions, with the trace's checksum", 0 },
	{ "svg", KEY_SVG, "FILE", 0, "also write the predictions as a picture", 0 },
	{ "verify", KEY_VERIFY, "AFTER", 0, "compare with a trace that was recorded later; TRACE may be a file of --keep", 0 },
	{ "resources", KEY_RESOURCES, "FILE", 0, "what calls wait for, a line each: RESOURCE FUNCTION", 0 },
	{ "calibration", KEY_CALIBRATION, "FILE", 0, "how much longer work takes beside other work, a line each: PROCESSORS FACTOR", 0 },
	{ "mark", KEY_MARK, "NAME", 0, "predict the time of these marks, NAME or NAME#INSTANCE; all: of the whole trace (run)", 0 },
	{ "level", KEY_LEVEL, "LEVEL", 0, "components of this level (the plan's)", 0 },
	{ "force", KEY_FORCE, NULL, 0, "predict even where the replay is far from what was measured", 0 },
	{ 0 },
};

/* Returns the factor that text, in one of the forms "1.2", "x1.2", "+20%" and "-10%", means, or 0 if it has no such form. */
static double parse_factor(const char *text)
{
	char *end;
	double v = strtod(*text == 'x' ? text + 1 : text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0))
		return 0;
	return *end ? 1 + v / 100 : v;
}

static void add_asked(struct argp_state *state, enum change_kind kind, double value, const char *name, size_t bytes, const char *text)
{
	struct arguments *a = state->input;

	if (a->nr_asked == CHANGES_MAX)
		usage_fail(state, "at most %d changes can be given", CHANGES_MAX);
	a->asked[a->nr_asked++] = (struct asked){ kind, value, name, bytes, text };
}

static void add_factor(struct argp_state *state, enum change_kind kind, const char *option, const char *arg)
{
	const double f = parse_factor(arg);

	if (!(f > 0 && f <= 1000))
		usage_fail(state, "--%s must be a factor, such as 2 or +20%%, not '%s'", option, arg);
	add_asked(state, kind, f, NULL, 0, arg);
}

static void parse_cores(struct argp_state *state, const char *arg)
{
	struct arguments *a = state->input;
	char *end, *second;
	long from = strtol(arg, &end, 10), to = from;

	if (strncmp(end, "..", 2) == 0) {
		second = end + 2;
		to = strtol(second, &end, 10);
	}
	if (end == arg || *end || from < 1 || to < from || to > CORES_MAX || to - from >= SWEEP_MAX)
		usage_fail(state, "--cores must be a number, or A..B (at most %d of them), not '%s'", SWEEP_MAX, arg);
	if (to > from) {
		a->sweep_from = (uint32_t)from;
		a->sweep_to = (uint32_t)to;
	} else {
		add_asked(state, CHANGE_CORES, (double)from, NULL, 0, arg);
	}
}

static void parse_component(struct argp_state *state, const char *arg)
{
	const char *equals = strrchr(arg, '=');
	char *end = NULL;
	double percent = equals ? strtod(equals + 1, &end) : 0;

	if (!equals || end == equals + 1 || strcmp(end, "%") != 0 || !(percent >= -100 && percent <= 1000))
		usage_fail(state, "--component must be LEVEL:NAME=-20%%, not '%s'", arg);
	add_asked(state, CHANGE_COMPONENT, -percent / 100, arg, (size_t)(equals - arg), arg);
}

static void parse_threads(struct argp_state *state, const char *arg)
{
	const char *equals = strrchr(arg, '=');
	const struct arguments *a = state->input;
	char *end = NULL;
	long n = equals ? strtol(equals + 1, &end, 10) : 0;

	if (!equals || equals == arg || equals - arg >= (ptrdiff_t)sizeof(((struct change *)NULL)->name) || *end || n < 1 || n > CORES_MAX)
		usage_fail(state, "--threads must be NAME=N, such as 'worker*=2', not '%s'", arg);
	for (uint32_t i = 0; i < a->nr_asked; i++)
		if (a->asked[i].kind == CHANGE_THREADS)
			usage_fail(state, "--threads can be given once");
	add_asked(state, CHANGE_THREADS, (double)n, arg, (size_t)(equals - arg), arg);
}

static void parse_target(struct argp_state *state, const char *arg)
{
	struct arguments *a = state->input;
	char *end;
	double v = strtod(arg, &end);

	a->target_ns = v * (strcmp(end, "ms") == 0 ? 1e6 : strcmp(end, "us") == 0 ? 1e3 : 1e9);
	if (end == arg || !(v > 0 && v < HUGE_VAL) || (*end && strcmp(end, "s") != 0 && strcmp(end, "ms") != 0 && strcmp(end, "us") != 0))
		usage_fail(state, "--target must be a time, such as 1.5s or 200ms, not '%s'", arg);
}

static error_t parse_whatif_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	double q;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->page;
		break;
	case KEY_CORES:
		parse_cores(state, arg);
		break;
	case KEY_QUOTA:
		q = strcmp(arg, "none") == 0 ? 1e9 : strtod(arg, &end);
		if (strcmp(arg, "none") != 0 && (end == arg || *end || !(q >= QUOTA_LEAST)))
			usage_fail(state, "--quota must be a number of processors, at least %g, or none, not '%s'", QUOTA_LEAST, arg);
		add_asked(state, CHANGE_QUOTA, q, NULL, 0, arg);
		break;
	case KEY_CLOCK:
		add_factor(state, CHANGE_CLOCK, "clock", arg);
		break;
	case KEY_DISK:
		add_factor(state, CHANGE_DISK, "disk", arg);
		break;
	case KEY_NETWORK:
		add_factor(state, CHANGE_NETWORK, "network", arg);
		break;
	case KEY_MEMORY:
		usage_fail(state, "--memory cannot be predicted: a trace does not say which memory a program would use again");
		break;
	case KEY_COMPONENT:
		parse_component(state, arg);
		break;
	case KEY_LOCK:
		add_asked(state, CHANGE_LOCK, 0, arg, strlen(arg), arg);
		break;
	case KEY_SKEW:
		add_asked(state, CHANGE_SKEW, 0, arg, strlen(arg), arg);
		break;
	case KEY_THREADS:
		parse_threads(state, arg);
		break;
	case KEY_TARGET:
		parse_target(state, arg);
		break;
	case KEY_EXPLAIN:
		a->explain = true;
		break;
	case KEY_KEEP:
		a->keep = arg;
		break;
	case KEY_SVG:
		a->svg = arg;
		break;
	case KEY_VERIFY:
		a->verify = arg;
		break;
	case KEY_RESOURCES:
		a->resources = arg;
		break;
	case KEY_CALIBRATION:
		a->calibration = arg;
		break;
	case KEY_MARK:
		a->trace.filter.mark = arg;
		break;
	case KEY_LEVEL:
		a->trace.level = arg;
		break;
	case KEY_FORCE:
		a->force = true;
		break;
	case ARGP_KEY_ARG:
		if (a->nr_traces == TRACES_MAX)
			usage_fail(state, "at most %d traces can be given", TRACES_MAX);
		a->traces[a->nr_traces++] = arg;
		a->path = a->traces[0];
		break;
	case ARGP_KEY_END:
		one_trace_or_newest(state, &a->path);
		if (a->target_ns > 0 && (a->nr_asked || a->sweep_to))
			usage_fail(state, "--target finds what reaches a time; it cannot be given with changes");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void ask_timeline(void *context, struct report *r)
{
	struct arguments *a = context;

	a->timeline = timeline_ask(r);
}

/* ------------------------------------------------------------------------------------------------ what was asked for */

static int find_level(const struct timeline *t, const char *name, size_t bytes)
{
	if (bytes == 8 && strncmp(name, "function", 8) == 0)
		return -1;
	for (int i = 0; i < TIMELINE_LEVELS; i++)
		if (t->level[i] < LEVELS_MAX && strlen(report_level_name(t->report, t->level[i])) == bytes &&
		    strncmp(report_level_name(t->report, t->level[i]), name, bytes) == 0)
			return i;
	return TIMELINE_LEVELS;
}

static bool find_function(const struct timeline *t, const char *name, size_t bytes, uint32_t *of)
{
	for (uint32_t i = 1; i < t->report->a->nr_functions; i++)
		if (strlen(t->report->a->function[i].name) == bytes && strncmp(t->report->a->function[i].name, name, bytes) == 0) {
			*of = i;
			return true;
		}
	return false;
}

/* Finds the next component of this level and name behind component *of, and sets *of to it. Returns false if there is none. */
static bool find_component(const struct timeline *t, int level, const char *name, uint32_t *of)
{
	const struct dictionary *d = &t->report->model->dictionary;

	for (uint32_t i = *of + 1; i < d->components.nr; i++)
		if (d->components.at[i].level == t->level[level] && labels_match(&t->report->labels, d, i, name)) {
			*of = i;
			return true;
		}
	return false;
}

static bool find_creator(const struct timeline *t, const char *tid, uint32_t *of)
{
	const unsigned long number = strtoul(tid, NULL, 10);

	for (uint32_t i = 0; i < t->threads.nr; i++)
		if (t->threads.at[i].tid == number) {
			*of = i;
			return true;
		}
	return false;
}

/* Looks up the part LEVEL:NAME that the option names, and sets c->level and c->of. Returns 0, or -EINVAL with a sentence. */
static int find_part(const struct timeline *t, const struct asked *asked, struct change *c, struct diag *d)
{
	const char *colon = memchr(asked->name, ':', asked->name_bytes);
	char name[256];
	bool found;

	if (!colon)
		return diag_fail(d, EINVAL, "'%.*s' must be LEVEL:NAME", (int)asked->name_bytes, asked->name);
	snprintf(name, sizeof(name), "%.*s", (int)(asked->name + asked->name_bytes - colon - 1), colon + 1);
	if (c->kind == CHANGE_SKEW && strncmp(asked->name, "threads:", 8) == 0) {
		c->level = PART_THREADS;
		found = find_creator(t, name, &c->of);
	} else {
		c->level = find_level(t, asked->name, (size_t)(colon - asked->name));
		if (c->level == TIMELINE_LEVELS)
			return diag_fail(d, EINVAL, "'%.*s' is no level of operators, pipelines or queries here, nor function",
					 (int)(colon - asked->name), asked->name);
		found = c->level == -1 ? find_function(t, name, strlen(name), &c->of) : find_component(t, c->level, name, &c->of);
	}
	return found ? 0 : diag_fail(d, EINVAL, "nothing is called '%.*s' here", (int)asked->name_bytes, asked->name);
}

/* Looks up the threads that --threads names, and sets c->name and c->of, their number. Returns 0. Returns -EINVAL with a sentence if there
 * are none, or if more threads are asked for than were recorded, because the work of further ones is not in the trace. */
static int find_threads(const struct step_graph *g, const struct asked *asked, struct change *c, struct diag *d)
{
	snprintf(c->name, sizeof(c->name), "%.*s", (int)asked->name_bytes, asked->name);
	c->of = predict_count_threads(g, c->name);
	if (!c->of)
		return diag_fail(d, EINVAL, "no thread is called '%s' here", c->name);
	if (c->value > c->of)
		return diag_fail(d, EINVAL, "%u threads are called '%s' here; what more of them would do is not in the trace", c->of,
				 c->name);
	return 0;
}

static int make_change(const struct step_graph *g, const struct asked *asked, struct change *c, struct diag *d)
{
	static const char *const names[] = { [CHANGE_CORES] = "cores", [CHANGE_QUOTA] = "quota", [CHANGE_CLOCK] = "clock",
					     [CHANGE_DISK] = "disk", [CHANGE_NETWORK] = "network", [CHANGE_SLEEP] = "sleep",
					     [CHANGE_LOCK] = "lock", [CHANGE_COMPONENT] = "component", [CHANGE_SKEW] = "skew",
					     [CHANGE_THREADS] = "threads" };

	*c = (struct change){ .kind = asked->kind, .value = asked->value };
	snprintf(c->key, sizeof(c->key), "%s=%.120s", names[asked->kind], asked->text);
	if (asked->kind == CHANGE_THREADS)
		return find_threads(g, asked, c, d);
	if (asked->kind == CHANGE_LOCK && !find_function(g->t, asked->name, asked->name_bytes, &c->of))
		return diag_fail(d, EINVAL, "no function is called '%s' here", asked->name);
	return asked->kind == CHANGE_COMPONENT || asked->kind == CHANGE_SKEW ? find_part(g->t, asked, c, d) : 0;
}

/* --------------------------------------------------------------------------------------------------------- the command */

/* Reads the trace at path, and sets *measured_ns to its measured completion time, and *processors, unless that is NULL, to its quota, or to
 * its number of processors if it had none. Returns CMD_DONE, or another exit status after a message. */
static int measure(const char *path, struct arguments *a, double *measured_ns, double *processors)
{
	struct reading s = { 0 };
	struct arguments other = { .trace = a->trace, .resources = a->resources };
	struct diag d = { "" };
	struct step_graph g = { 0 };
	int status = reading_command_open(&s, path, &other.trace, ask_timeline, &other), ret;

	if (status)
		return status;
	ret = other.timeline ? timeline_make(other.timeline, a->resources, &d) : -1;
	if (ret == 0)
		ret = step_graph_make(other.timeline, a->trace.filter.mark, &g, &d);
	if (ret == 0 && processors)
		*processors = other.timeline->quota > 0 ? other.timeline->quota : other.timeline->processors;
	if (ret == 0)
		*measured_ns = step_graph_measured_ns(&g);
	else
		message_print("%s: %s", path, d.text);
	step_graph_fini(&g);
	return reading_command_close(&s, ret ? CMD_FAILED : CMD_DONE);
}

/* Measures all traces, and sets a->path to the one with the median completion time (of an even number, the lower median). Returns CMD_DONE,
 * or another exit status after a message, also if the traces are of different numbers of processors. */
static int choose_median(struct arguments *a)
{
	double sorted[TRACES_MAX], processors[TRACES_MAX];
	int status = CMD_DONE;

	for (uint32_t i = 0; i < a->nr_traces && status == CMD_DONE; i++) {
		status = measure(a->traces[i], a, &a->measured_ns[i], &processors[i]);
		sorted[i] = a->measured_ns[i];
		if (status == CMD_DONE && sorted_by_double(&processors[i], &processors[0]) != 0) {
			message_print("%s is of %g processors, %s of %g: several traces must be of the same machine", a->traces[0],
					  processors[0], a->traces[i], processors[i]);
			status = CMD_FAILED;
		}
	}
	if (status)
		return status;
	qsort(sorted, a->nr_traces, sizeof(*sorted), sorted_by_double);
	for (uint32_t i = 0; i < a->nr_traces; i++)
		if (sorted_by_double(&a->measured_ns[i], &sorted[(a->nr_traces - 1) / 2]) == 0)
			a->path = a->traces[i];
	return CMD_DONE;
}

static void say_runs(const struct arguments *a, struct page *page)
{
	double least = a->measured_ns[0], most = least;
	char from[16], to[16];

	for (uint32_t i = 1; i < a->nr_traces; i++) {
		least = fmin(least, a->measured_ns[i]);
		most = fmax(most, a->measured_ns[i]);
	}
	if (a->nr_traces > 1)
		page_sentence(page, "%u traces, from %s to %s; predicted from the median, %s.", a->nr_traces, grid_duration(least, from),
			      grid_duration(most, to), a->path);
}

static void show_verification(struct page *p, const struct kept *k, double measured_ns)
{
	struct grid *g = grid_create("verification", "Predictions beside what was measured then");
	int predicted = grid_column(g, "predicted_ns", "predicted", CELL_DURATION, 0, 0);
	int low = grid_column(g, "low_ns", "at least", CELL_DURATION, 0, 0);
	int high = grid_column(g, "high_ns", "at most", CELL_DURATION, 0, 0);
	int measured = grid_column(g, "measured_ns", "measured", CELL_DURATION, 0, 0);
	int error = grid_column(g, "error", "error", CELL_PERCENT, 0, 0), inside = grid_column(g, "inside", "inside", CELL_TEXT, 0, 0);
	int change = grid_column(g, "change", "if", CELL_TEXT, GRID_NAME, 0);

	for (uint32_t i = 0; i < k->nr; i++) {
		grid_row(g);
		grid_set(g, predicted, k->at[i].completion_ns);
		grid_set(g, low, k->at[i].low_ns);
		grid_set(g, high, k->at[i].high_ns);
		grid_set(g, measured, measured_ns);
		grid_set(g, error, k->at[i].completion_ns / measured_ns - 1);
		grid_set_text(g, inside, measured_ns >= k->at[i].low_ns && measured_ns <= k->at[i].high_ns ? "yes" : "no");
		grid_set_text(g, change, k->at[i].change);
	}
	grid_show(g, p);
}

static int verify_kept(struct arguments *a, struct kept *k)
{
	double measured_ns = 0;
	struct page page;
	char text[16];
	int status = measure(a->verify, a, &measured_ns, NULL);

	if (status)
		return status;
	if (page_start(&page, &a->page))
		return CMD_FAILED;
	page.top = a->page.top < 0 ? 0 : a->page.top;
	page_fact(&page, "view", "whatif");
	page_sentence(&page, "Measured: %s in %s.", grid_duration(measured_ns, text), a->verify);
	show_verification(&page, k, measured_ns);
	return page_finish(&page, CMD_DONE);
}

/* Adds the change that an option asks for. If several components of a level have the name, one change is added for each of them. change:
 * room for CHANGES_MAX, of which *nr are used. Returns 0, or -EINVAL with a sentence. */
static int add_change(const struct step_graph *g, const struct asked *asked, struct change *change, uint32_t *nr, struct diag *d)
{
	const char *name = asked->name ? memchr(asked->name, ':', asked->name_bytes) : NULL;
	char text[256] = "";
	struct change c;
	int ret = make_change(g, asked, &c, d);

	if (ret)
		return ret;
	if (name && (c.kind == CHANGE_COMPONENT || c.kind == CHANGE_SKEW) && c.level >= 0)
		snprintf(text, sizeof(text), "%.*s", (int)(asked->name + asked->name_bytes - name - 1), name + 1);
	do {
		if (*nr == CHANGES_MAX)
			return diag_fail(d, EINVAL, "at most %d changes can be given: '%s' is more", CHANGES_MAX, asked->text);
		change[(*nr)++] = c;
	} while (*text && find_component(g->t, c.level, text, &c.of));
	return 0;
}

/* Shows what bounds the execution now, and then the table of --cores A..B, what reaches --target, the prediction for all changes together,
 * or, without such options, the table of what would help most. Returns 0, or -errno, with a sentence in d only if a change of the command
 * line is wrong. */
static int show_answers(struct arguments *a, struct predictor *p, struct page *page, struct kept *k, struct diag *d)
{
	struct change change[CHANGES_MAX];
	uint32_t nr = 0;
	int ret = 0;

	for (uint32_t i = 0; i < a->nr_asked && ret == 0; i++)
		ret = add_change(p->g, &a->asked[i], change, &nr, d);
	if (ret == 0)
		ret = verdict_show_now(p, page);
	if (ret == 0 && a->sweep_to)
		ret = verdict_show_sweep(p, change, nr, a->sweep_from, a->sweep_to, page, k);
	else if (ret == 0 && a->target_ns > 0)
		ret = verdict_show_target(p, a->target_ns, page, k);
	else if (ret == 0 && nr)
		ret = verdict_show_change(p, change, nr, page, k);
	else if (ret == 0)
		ret = verdict_show_table(p, page, k);
	if (ret == 0 && a->explain)
		verdict_explain(p, page);
	return ret;
}

static int write_picture(const struct kept *k, const char *path, struct diag *d)
{
	struct predictions_row *row = calloc((size_t)k->nr + 1, sizeof(*row));
	struct output_file picture = { .form = &svg_output_form };
	int ret;

	if (!row)
		return diag_fail(d, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < k->nr; i++)
		row[i] = (struct predictions_row){ k->at[i].change, k->at[i].completion_ns, k->at[i].low_ns, k->at[i].high_ns };
	ret = output_file_open_stream(&picture, path, d);
	if (ret == 0) {
		predictions_svg(k->measured_ns, row, k->nr, picture.to);
		ret = output_file_end(&picture, d);
	}
	free(row);
	return ret;
}

#define SAID 1 /* result of a failure whose message has been printed already */

static int predict_trace(struct arguments *a)
{
	struct predictor p = { .g = NULL };
	struct kept k = { .nr = 0 };
	struct step_graph g = { .nr_steps = 0 };
	struct diag d = { "" };
	double measured_ns = 0;
	struct page page;
	int ret, status = CMD_FAILED;

	ret = a->timeline ? timeline_make(a->timeline, a->resources, &d) : diag_fail(&d, ENOMEM, "out of memory");
	ret = ret ? ret : step_graph_make(a->timeline, a->trace.filter.mark, &g, &d);
	ret = ret ? ret : predictor_init(&p, &g, &a->measured, &d);
	if (ret == 0 && a->nr_traces > 1)
		interval_learn(&p, a->measured_ns, a->nr_traces);
	if (ret == 0 && p.replay_error > PREDICT_REFUSE && !a->force)
		ret = verdict_refuse(&p, &d);
	if (ret == 0 && page_start(&page, &a->page) == 0) {
		page.top = a->page.top < 0 ? 0 : a->page.top;
		page_fact(&page, "view", "whatif");
		k.measured_ns = p.measured_ns;
		say_runs(a, &page);
		ret = show_answers(a, &p, &page, &k, &d);
		if (ret == 0 && a->verify && measure(a->verify, a, &measured_ns, NULL) == CMD_DONE)
			show_verification(&page, &k, measured_ns);
		else if (ret == 0 && a->verify)
			ret = SAID;
		status = page_finish(&page, ret ? CMD_FAILED : CMD_DONE);
	}
	if (ret == 0 && a->keep && (kept_checksum(a->path, &k, &d) || kept_write(&k, a->keep, &d)))
		ret = -1;
	if (ret == 0 && a->svg)
		ret = write_picture(&k, a->svg, &d);
	if (ret) {
		if (*d.text || ret != SAID)
			message_print("%s", *d.text ? d.text : strerror(-ret));
		status = ret == -EINVAL ? CMD_MISUSED : CMD_FAILED;
	}
	kept_fini(&k);
	predictor_fini(&p);
	step_graph_fini(&g);
	return status;
}

static int run_whatif(int argc, char **argv)
{
	static const struct argp_child children[] = { { &page_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
						      { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_whatif_option,
		"[TRACE...]",
		"Say which resource bounds a recorded execution, and predict its completion time with other resources or faster parts: "
		"without options, a table of what would help most.  The trace needs context switches: "
		"`tailor run -e auto,context-switches`.  Several traces of the same say how much its runs differ.\v"
		"Predictions are of fixed work: a program that does something else with more processors (more threads, other plans) "
		"is another one.",
		children,
		NULL,
		NULL
	};
	struct arguments args = { .page.top = -1 };
	struct reading session = { 0 };
	struct diag d = { "" };
	struct kept k;
	int status;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(args.keep, args.svg, args.page.csv_folder));
	if (args.verify && kept_is(args.path)) {
		if (kept_read(&k, args.path, &d)) {
			message_print("%s", d.text);
			kept_fini(&k);
			return CMD_FAILED;
		}
		status = verify_kept(&args, &k);
		kept_fini(&k);
		return status;
	}
	if (calibration_read(args.calibration, &args.measured, &d)) { /* the file is read first, because reading the traces may take long */
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	if (args.nr_traces > 1 && (status = choose_median(&args)))
		return status;
	status = reading_command_open(&session, args.path, &args.trace, ask_timeline, &args);
	if (status)
		return status;
	status = predict_trace(&args);
	return reading_command_close(&session, status);
}

const struct cmd cmd_whatif = { "whatif", "say what bounds a run, and predict it with other resources", run_whatif };
