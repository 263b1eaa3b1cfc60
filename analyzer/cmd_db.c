/* SPDX-License-Identifier: MIT */
/* tailor db: a store of many epochs: what is put in, asked, and kept in order. */
#include "analyzer/cmd_db.h"

#include "analyzer/cmd_trace.h"
#include "analyzer/store/fold.h"
#include "analyzer/store/spool.h"
#include "analyzer/store/tables.h"
#include "analyzer/store/tend.h"
#include "jitreg/base/command.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPERANDS_MAX 1024

struct arguments {
	struct trace_arguments trace; /* of `add` */
	struct page_arguments page;
	const struct db_verb *verb;
	char *operand[OPERANDS_MAX];
	int nr;
	struct sums_question question;
	const char *view;
	uint64_t cap;
	int keep; /* traces of epochs; -1: all */
};

struct db_verb {
	const char *name, *usage, *summary;
	int (*run)(struct arguments *a);
	int least, most; /* operands */
};

static int fail(const struct diag *d, int error)
{
	trace_print_error("%s", d->text);
	return error == -EINVAL ? CMD_MISUSED : CMD_FAILED;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* STORE[@WINDOW].  0, or -errno with a sentence. */
static int open_window(const char *text, struct store **out, struct window *w, struct diag *d)
{
	size_t bytes = store_path_bytes(text);
	char *path = strndup(text, bytes);
	int ret = path ? 0 : -ENOMEM;

	if (ret == 0 && text[bytes] == '@')
		ret = window_parse(text + bytes + 1, now_ns(), w, d);
	if (ret == 0)
		ret = store_open(path, STORE_READ, out, d);
	free(path);
	return ret;
}

int db_read_profile(const char *text, const struct trace_arguments *arguments, struct profile *p)
{
	const struct filter_arguments *f = &arguments->filter;
	struct sums_question q = { .window = WINDOW_ALL, .event = f->event, .component = f->nr_components ? f->component[0] : NULL,
				   .by = arguments->level && strcmp(arguments->level, "function") == 0 ? SUMS_FUNCTION : SUMS_COMPONENT };
	struct store *s;
	struct diag d = { "" };
	int ret = open_window(text, &s, &q.window, &d);

	if (ret)
		return fail(&d, ret);
	ret = sums_profile(s, &q, text, p, &d);
	if (ret == 0 && q.by == SUMS_COMPONENT && p->nr == 1 && strcmp(p->entry[0].name, "(unattributed)") == 0) {
		profile_fini(p); /* no host declared components */
		q.by = SUMS_FUNCTION;
		ret = sums_profile(s, &q, text, p, &d);
	}
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

/* --------------------------------------------------------------------------------------------------------------- add */

static void ask_sums(void *context, struct report *r)
{
	fold_ask(context, r);
}

/* Of a damaged one what can be read, and CMD_FAILED.  known: that the store has it already is worth a sentence. */
static int add_trace(struct store *s, const struct arguments *a, const char *path, bool known)
{
	struct trace_session session = { 0 };
	struct fold fold = { 0 };
	struct diag d = { "" };
	int status = trace_session_read(&session, path, &a->trace, ask_sums, &fold), ret;

	if (status)
		return status;
	ret = fold_add(&fold, &session.report, s, &d);
	if (ret < 0)
		status = fail(&d, ret);
	else if (ret && known)
		trace_print_error("%s: the store has it already", path);
	return trace_session_close(&session, status);
}

struct adding {
	struct store *store;
	const struct arguments *arguments;
};

static void add_left_trace(void *context, const char *path)
{
	struct adding *a = context;

	add_trace(a->store, a->arguments, path, false);
}

static int tidy_spool(struct store *s, const struct arguments *a, struct diag *d)
{
	struct adding adding = { s, a };
	uint32_t nr_dropped;
	int ret = spool_tidy(s, a->operand[1], (uint32_t)a->keep, add_left_trace, &adding, &nr_dropped, d);

	if (nr_dropped)
		trace_print_error("%u traces of epochs dropped: they could not be added to %s", nr_dropped, a->operand[0]);
	return ret;
}

static int run_add(struct arguments *a)
{
	struct store *s;
	struct diag d = { "" };
	int ret = store_open(a->operand[0], STORE_ADD, &s, &d), status = CMD_DONE;

	if (ret)
		return fail(&d, ret);
	if (a->cap)
		ret = store_set_cap(s, a->cap, &d);
	for (int i = 1; i < a->nr && ret == 0; i++) {
		int one = add_trace(s, a, a->operand[i], a->keep < 0);

		status = status == CMD_DONE ? one : status;
		if (store_has_failed(s)) /* as it was said */
			break;
	}
	if (ret == 0 && !store_has_failed(s) && a->keep >= 0)
		ret = tidy_spool(s, a, &d);
	if (ret == 0 && !store_has_failed(s))
		ret = tend_store(s, now_ns(), &d);
	store_close(s);
	return ret ? fail(&d, ret) : status;
}

/* ------------------------------------------------------------------------------------------------------------- reports */

static const struct {
	const char *name, *summary;
	enum sums_by by;
} views[] = {
	{ "components", "components of the plan's level", SUMS_COMPONENT },
	{ "functions", "functions", SUMS_FUNCTION },
	{ "queries", "queries, without their literals", SUMS_QUERY },
	{ "processes", "processes, by their executable", SUMS_PROCESS },
	{ "services", "services: systemd units, containers", SUMS_SERVICE },
	{ "epochs", "epochs: when, how many samples", SUMS_PROCESS },
	{ "reasons", "why samples have no component, and what was lost", SUMS_PROCESS },
};

static int show_view(struct page *p, struct store *s, const struct arguments *a, const struct sums *sums, struct diag *d)
{
	if (a->view && strcmp(a->view, "epochs") == 0)
		tables_epochs(p, sums);
	else if (a->view && strcmp(a->view, "reasons") == 0)
		return tables_reasons(p, s, sums, d);
	else
		return tables_lines(p, s, a->question.by, sums, d);
	return 0;
}

static int show_timeline(struct page *p, struct store *s, const struct arguments *a, const struct sums *sums, struct diag *d)
{
	return tables_timeline(p, s, a->question.by, sums, d);
}

static int show(struct arguments *a,
		int (*table)(struct page *p, struct store *s, const struct arguments *a, const struct sums *sums, struct diag *d))
{
	struct diag d = { "" };
	struct sums sums = { 0 };
	struct store *s;
	struct page p;
	int ret = open_window(a->operand[0], &s, &a->question.window, &d);

	if (ret)
		return fail(&d, ret);
	ret = sums_make(s, &a->question, &sums, &d);
	if (ret == 0 && !a->view && sums.nr == 1 && !sums.line[0].id && a->question.by == SUMS_COMPONENT) {
		sums_fini(&sums); /* no host declared components */
		a->question.by = SUMS_FUNCTION;
		ret = sums_make(s, &a->question, &sums, &d);
	}
	if (ret == 0 && page_init(&p, stdout, a->page.form)) {
		ret = diag_fail(&d, ENOMEM, "out of memory");
	} else if (ret == 0) {
		p.top = a->page.top;
		tables_describe(&p, &sums);
		if (sums.nr_epochs)
			ret = table(&p, s, a, &sums, &d);
		if (page_end(&p) && ret == 0)
			ret = diag_fail(&d, EIO, "cannot write the output");
	}
	sums_fini(&sums);
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static int run_report(struct arguments *a)
{
	return show(a, show_view);
}

static int run_timeline(struct arguments *a)
{
	return show(a, show_timeline);
}

/* --------------------------------------------------------------------------------------------------------------- tend */

static int run_check(struct arguments *a)
{
	struct diag d = { "" };
	struct store *s;
	uint32_t nr = 0;
	int ret = store_open(a->operand[0], STORE_READ, &s, &d);

	if (ret)
		return fail(&d, ret);
	ret = tend_check(s, stdout, &nr, &d);
	store_close(s);
	if (ret)
		return fail(&d, ret);
	return nr ? CMD_DIFFERENT : CMD_DONE;
}

static int run_gc(struct arguments *a)
{
	struct diag d = { "" };
	struct store *s;
	uint64_t before;
	int ret = store_open(a->operand[0], STORE_CHANGE, &s, &d);

	if (ret)
		return fail(&d, ret);
	before = store_size(s);
	if (a->cap)
		ret = store_set_cap(s, a->cap, &d);
	if (ret == 0)
		ret = tend_store(s, now_ns(), &d);
	if (ret == 0)
		printf("%s: %.1f MiB before, %.1f MiB now, of at most %.1f MiB\n", a->operand[0], (double)before / (1 << 20),
		       (double)store_size(s) / (1 << 20), (double)store_cap(s) / (1 << 20));
	store_close(s);
	return ret ? fail(&d, ret) : trace_flush_output(CMD_DONE);
}

static int run_copy(struct arguments *a)
{
	struct diag d = { "" };
	struct store *s;
	int ret = store_open(a->operand[0], STORE_READ, &s, &d);

	if (ret)
		return fail(&d, ret);
	ret = tend_copy(s, a->operand[1], &d);
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static int run_sql(struct arguments *a)
{
	struct diag d = { "" };
	struct store *s;
	struct page p;
	int ret = store_open(a->operand[0], STORE_READ, &s, &d);

	if (ret)
		return fail(&d, ret);
	if (page_init(&p, stdout, a->page.form)) {
		ret = diag_fail(&d, ENOMEM, "out of memory");
	} else {
		p.top = a->page.top;
		ret = tend_sql(s, a->operand[1], &p, &d);
		if (page_end(&p) && ret == 0)
			ret = diag_fail(&d, EIO, "cannot write the output");
	}
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static const struct db_verb verbs[] = {
	{ "add", "STORE TRACE...", "add traces to a store, which is created where there is none", run_add, 2, OPERANDS_MAX },
	{ "report", "STORE[@WINDOW]", "what the time of a window went into", run_report, 1, 1 },
	{ "timeline", "STORE[@WINDOW]", "shares over time", run_timeline, 1, 1 },
	{ "check", "STORE", "list what is damaged (exit status 3)", run_check, 1, 1 },
	{ "gc", "STORE", "fold old epochs into hours and days, and drop what the cap leaves no room for", run_gc, 1, 1 },
	{ "copy", "STORE FILE", "copy it as it is at one moment, also while it is written", run_copy, 2, 2 },
	{ "sql", "STORE QUERY", "ask it in SQL (read only)", run_sql, 2, 2 },
};
#define NR_VERBS ((int)(sizeof(verbs) / sizeof(verbs[0])))

enum { KEY_EVENT = 0x100, KEY_PROCESS, KEY_SERVICE, KEY_HOST, KEY_QUERY, KEY_COMPONENT, KEY_CAP, KEY_KEEP };
static const struct argp_option options[] = {
	{ "view", 'v', "components|functions|queries|processes|services|epochs|reasons", 0,
	  "what to list (components; functions where no host declares any)", 0 },
	{ "event", KEY_EVENT, "NAME", 0, "of this event (the first that is no wait)", 0 },
	{ "process", KEY_PROCESS, "NAME", 0, "of processes of this name or executable", 0 },
	{ "service", KEY_SERVICE, "NAME", 0, "of this service: a systemd unit, a container, a name for OpenTelemetry", 0 },
	{ "host", KEY_HOST, "NAME", 0, "of this machine", 0 },
	{ "query", KEY_QUERY, "TEXT", 0, "of queries that contain this text", 0 },
	{ "component", KEY_COMPONENT, "[LEVEL:]NAME", 0, "of this component", 0 },
	{ "keep", KEY_KEEP, "N", 0, "add: remove traces of epochs (NAME.000001.tlr) from the first one's folder once the store has them, "
	  "all but the newest N", 0 },
	{ "cap", KEY_CAP, "MIB", 0, "add, gc: most that the store may take, from now on (1024)", 0 },
	{ 0 },
};

static bool verb_list_entry(int i, const char **name, const char **summary)
{
	if (i >= NR_VERBS)
		return false;
	*name = verbs[i].name;
	*summary = verbs[i].summary;
	return true;
}

static void choose_view(struct argp_state *state, const char *arg)
{
	struct arguments *a = state->input;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (strcmp(views[i].name, arg) == 0) {
			a->view = views[i].name;
			a->question.by = views[i].by;
			return;
		}
	argp_error(state, "unknown view '%s': components, functions, queries, processes, services, epochs or reasons", arg);
}

static void take_operand(struct argp_state *state, char *arg)
{
	struct arguments *a = state->input;
	char near[256];

	for (int i = 0; i < NR_VERBS && !a->verb; i++)
		if (strcmp(verbs[i].name, arg) == 0) {
			a->verb = &verbs[i];
			return;
		}
	if (!a->verb)
		argp_error(state, "unknown verb '%s'%s; see `tailor help db`", arg,
			   trace_suggest_names(arg, verb_list_entry, near, sizeof(near)));
	if (a->nr == a->verb->most)
		argp_error(state, "too many operands; usage: tailor db %s %s", a->verb->name, a->verb->usage);
	a->operand[a->nr++] = arg;
}

static error_t parse_db_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->page;
		break;
	case 'v':
		choose_view(state, arg);
		break;
	case KEY_EVENT:
		a->question.event = arg;
		break;
	case KEY_PROCESS:
		a->question.process = arg;
		break;
	case KEY_SERVICE:
		a->question.service = arg;
		break;
	case KEY_HOST:
		a->question.host = arg;
		break;
	case KEY_QUERY:
		a->question.query = arg;
		break;
	case KEY_COMPONENT:
		a->question.component = arg;
		break;
	case KEY_KEEP:
		a->keep = (int)strtoul(arg, &end, 10);
		if (end == arg || *end || *arg == '-' || a->keep < 0 || a->keep > 1000000)
			argp_error(state, "--keep must be a number, not '%s'", arg);
		break;
	case KEY_CAP:
		a->cap = strtoull(arg, &end, 10) << 20;
		if (end == arg || *end || *arg == '-' || !a->cap || a->cap >> 50)
			argp_error(state, "--cap must be a number of MiB, not '%s'", arg);
		break;
	case ARGP_KEY_ARG:
		take_operand(state, arg);
		break;
	case ARGP_KEY_END:
		if (!a->verb)
			argp_error(state, "no verb given; see `tailor help db`");
		if (a->nr < a->verb->least)
			argp_error(state, "usage: tailor db %s %s", a->verb->name, a->verb->usage);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static char *filter_db_help(int key, const char *text, void *input)
{
	(void)input;
	return trace_help_list(key, text, "Verbs", verb_list_entry, "tailor db report watch.tlrs@yesterday --view functions");
}

static int run_db(int argc, char **argv)
{
	static const struct argp_child children[] = { { &page_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_db_option,
		"VERB STORE[@WINDOW] [ARGUMENT...]",
		"Put traces into a store, and ask it.  A store is one file with the profiles of many epochs, for months.\v"
		"WINDOW is a time or FROM..TO: now, today, yesterday, 2026-11-25, 2026-11-25T14:30[:05][Z], or before now -90s, -30m, -2h, "
		"-7d.  `tailor diff STORE@yesterday STORE@today` compares two windows, by the rules for traces.",
		children,
		filter_db_help,
		NULL
	};
	struct arguments a = { .page.top = 20, .question.window = WINDOW_ALL, .keep = -1 };

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	return a.verb->run(&a);
}

const struct cmd cmd_db = { "db", "keep profiles of months in a store, and ask it", run_db };
