/* SPDX-License-Identifier: MIT */
/* tailor db: a store of many epochs: what is put in, asked, and kept in order. */
#include "analyzer/cmd_db.h"

#include "analyzer/cmd_trace.h"
#include "analyzer/fleet/fleet.h"
#include "analyzer/store/changes.h"
#include "analyzer/store/fold.h"
#include "analyzer/store/merge.h"
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
	const char *format, *output, *target; /* of `export`; of it and `trace`; of `push` */
	uint64_t cap;
	int keep; /* traces of epochs; -1: all */
	const char *last;
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

/* STORE[@WINDOW], or ClickHouse's address.  q gets the window.  0, or -errno with a sentence. */
static int open_window(const char *text, struct sums_question *q, struct store **out, struct diag *d)
{
	bool fleet = fleet_is_named(text);
	size_t bytes = fleet ? fleet_address_bytes(text) : store_path_bytes(text);
	char *path = strndup(text, bytes);
	int ret = path ? 0 : -ENOMEM;

	if (ret == 0 && text[bytes] == '@')
		ret = window_parse(text + bytes + 1, now_ns(), &q->window, d);
	if (ret == 0 && fleet) {
		ret = fleet_open(path, &q->window, q->host, q->by == SUMS_FUNCTION, out, d);
		q->window = (struct window)WINDOW_ALL; /* it has nothing else */
		q->host = NULL;
	} else if (ret == 0) {
		ret = store_open(path, STORE_READ, out, d);
	}
	free(path);
	return ret;
}

bool db_is_named(const char *text)
{
	return fleet_is_named(text) || store_is_named(text);
}

char *db_next_source(char **rest)
{
	char *first = *rest;

	if (first && fleet_is_named(first)) {
		*rest += fleet_address_bytes(first);
		strsep(rest, ",");
		return first;
	}
	return strsep(rest, ",");
}

/* The same window, by another question: hours of ClickHouse's have no functions. */
static int open_again(const char *text, const struct sums_question *asked, struct sums_question *q, struct store **s, struct diag *d)
{
	if (!fleet_is_named(text))
		return 0;
	store_close(*s);
	*s = NULL;
	q->window = asked->window;
	q->host = asked->host;
	return open_window(text, q, s, d);
}

int db_read_profile(const char *text, const struct trace_arguments *arguments, struct profile *p)
{
	const struct filter_arguments *f = &arguments->filter;
	struct sums_question q = { .window = WINDOW_ALL, .event = f->event, .component = f->nr_components ? f->component[0] : NULL,
				   .by = arguments->level && strcmp(arguments->level, "function") == 0 ? SUMS_FUNCTION : SUMS_COMPONENT };
	const struct sums_question asked = q;
	struct store *s = NULL;
	struct diag d = { "" };
	int ret = open_window(text, &q, &s, &d);

	if (ret)
		return fail(&d, ret);
	ret = sums_profile(s, &q, text, p, &d);
	if (ret == 0 && q.by == SUMS_COMPONENT && p->nr == 1 && strcmp(p->entry[0].name, "(unattributed)") == 0) {
		profile_fini(p); /* no host declared components */
		q.by = SUMS_FUNCTION;
		ret = open_again(text, &asked, &q, &s, &d);
		if (ret == 0)
			ret = sums_profile(s, &q, text, p, &d);
	}
	if (s)
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

/* ------------------------------------------------------------------------------------------------------------- trace */

/* The store itself is not needed. */
static int find_traces(const struct arguments *a, struct spool_traces *t, struct diag *d)
{
	size_t bytes = store_path_bytes(a->operand[0]);
	char *path = strndup(a->operand[0], bytes), *text = NULL, when[32];
	struct window w = WINDOW_ALL;
	int ret = path ? 0 : -ENOMEM;

	if (ret == 0 && a->operand[0][bytes] == '@')
		ret = window_parse(a->operand[0] + bytes + 1, now_ns(), &w, d);
	if (ret == 0 && a->last)
		ret = asprintf(&text, "-%s", a->last) < 0 ? -ENOMEM : window_parse(text, now_ns(), &w, d);
	if (ret == 0)
		ret = spool_find(path, &w, t, d);
	if (ret == 0 && !t->nr)
		ret = t->newest_ns ? diag_fail(d, ENOENT, "%s.epochs: no trace of that window is kept; the newest ends at %s", path,
					       window_format_time(t->newest_ns, when)) :
				     diag_fail(d, ENOENT, "%s.epochs: no trace is there", path);
	free(path);
	free(text);
	return ret;
}

static int run_trace(struct arguments *a)
{
	struct spool_traces t = { 0 };
	struct merge_counts counts;
	struct diag d = { "" };
	char from[32], to[32];
	int ret = a->output ? find_traces(a, &t, &d) : diag_fail(&d, EINVAL, "give the trace's name: -o FILE");

	if (ret == 0)
		ret = merge_traces(t.path, t.nr, a->output, &counts, &d);
	if (ret == 0) {
		printf("%s: %llu samples of %u epochs, from %s to %s\n", a->output, (unsigned long long)counts.samples, t.nr,
		       window_format_time(t.begin_ns, from), window_format_time(t.end_ns, to));
		if (!counts.has_end)
			printf("The last of them is not complete: names of functions that are in no other may be missing.\n");
		if (t.nr_others)
			printf("%u epochs of earlier recordings are in that window as well: give their time alone.\n", t.nr_others);
		if (counts.is_damaged)
			ret = diag_fail(&d, EBADMSG, "%s: something of its epochs could not be read", a->output);
	}
	spool_traces_fini(&t);
	return ret ? fail(&d, ret) : trace_flush_output(CMD_DONE);
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
	const struct sums_question asked = a->question;
	struct sums sums = { 0 };
	struct store *s = NULL;
	struct page p;
	int ret = open_window(a->operand[0], &a->question, &s, &d);

	if (ret)
		return fail(&d, ret);
	ret = sums_make(s, &a->question, &sums, &d);
	if (ret == 0 && !a->view && sums.nr == 1 && !sums.line[0].id && a->question.by == SUMS_COMPONENT) {
		sums_fini(&sums); /* no host declared components */
		a->question.by = SUMS_FUNCTION;
		ret = open_again(a->operand[0], &asked, &a->question, &s, &d);
		if (ret == 0)
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
	if (s)
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

/* Without a window: the last two hours that are over. */
static void choose_hours(const struct arguments *a, struct window *w)
{
	int64_t hour_ns = 3600000000000ll, now = now_ns() / hour_ns * hour_ns;

	if (!a->operand[0][store_path_bytes(a->operand[0])])
		*w = (struct window){ now - 2 * hour_ns, now - hour_ns };
}

static int run_changes(struct arguments *a)
{
	struct changes changes = { 0 };
	struct diag d = { "" };
	struct store *s;
	struct page p;
	int ret = fleet_is_named(a->operand[0]) ? diag_fail(&d, EINVAL, "%s: changes are found in a store", a->operand[0]) :
						  open_window(a->operand[0], &a->question, &s, &d);
	bool are_found;

	if (ret)
		return fail(&d, ret);
	choose_hours(a, &a->question.window);
	ret = changes_find(s, &a->question, &changes, &d);
	if (ret == 0 && page_init(&p, stdout, a->page.form)) {
		ret = diag_fail(&d, ENOMEM, "out of memory");
	} else if (ret == 0) {
		p.top = a->page.top;
		changes_show(&p, &changes);
		if (page_end(&p))
			ret = diag_fail(&d, EIO, "cannot write the output");
	}
	are_found = changes.nr;
	changes_fini(&changes);
	store_close(s);
	return ret ? fail(&d, ret) : are_found ? CMD_DIFFERENT : CMD_DONE;
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

/* -------------------------------------------------------------------------------------------------------------- fleet */

static int open_fleet(struct arguments *a, struct store **s, struct fleet_what *what, struct diag *d)
{
	struct sums_question q = a->question;
	int ret = fleet_is_named(a->operand[0]) ? diag_fail(d, EINVAL, "%s: only a store is sent", a->operand[0]) :
						  open_window(a->operand[0], &q, s, d);

	*what = (struct fleet_what){ q.window, q.host, q.event };
	return ret;
}

static int run_export(struct arguments *a)
{
	struct diag d = { "" };
	struct fleet_what what;
	struct store *s;
	int ret;

	if (!a->format || !a->output) {
		trace_print_error("db export needs --format otlp|pprof and --output FILE");
		return CMD_MISUSED;
	}
	ret = open_fleet(a, &s, &what, &d);
	if (ret)
		return fail(&d, ret);
	ret = fleet_export(s, &what, a->format, a->output, &d);
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static int run_push(struct arguments *a)
{
	struct diag d = { "" };
	struct fleet_pushed pushed;
	struct fleet_what what;
	struct store *s;
	int ret;

	if (!a->target) {
		trace_print_error("db push needs --to TARGET; see `tailor help db`");
		return CMD_MISUSED;
	}
	ret = open_fleet(a, &s, &what, &d);
	if (ret)
		return fail(&d, ret);
	ret = fleet_push(s, &what, a->target, &pushed, &d);
	store_close(s);
	if (ret == 0 || pushed.requests)
		printf("%u pushed in %u requests of %.0f bytes; %u were there\n", pushed.units, pushed.requests, pushed.bytes, pushed.had);
	return trace_flush_output(ret ? fail(&d, ret) : CMD_DONE);
}

static const struct db_verb verbs[] = {
	{ "add", "STORE TRACE...", "add traces to a store, which is created where there is none", run_add, 2, OPERANDS_MAX },
	{ "report", "STORE[@WINDOW]", "what the time of a window went into", run_report, 1, 1 },
	{ "timeline", "STORE[@WINDOW]", "shares over time", run_timeline, 1, 1 },
	{ "changes", "STORE[@WINDOW]", "what left its own history (exit status 3); by default in the last two hours", run_changes, 1, 1 },
	{ "trace", "STORE[@WINDOW] -o FILE", "one trace of the epochs whose traces are kept, for every view", run_trace, 1, 1 },
	{ "check", "STORE", "list what is damaged (exit status 3)", run_check, 1, 1 },
	{ "gc", "STORE", "fold old epochs into hours and days, and drop what the cap leaves no room for", run_gc, 1, 1 },
	{ "copy", "STORE FILE", "copy it as it is at one moment, also while it is written", run_copy, 2, 2 },
	{ "sql", "STORE QUERY", "ask it in SQL (read only)", run_sql, 2, 2 },
	{ "export", "STORE[@WINDOW]", "write a window for other programs (--format, --output)", run_export, 1, 1 },
	{ "push", "STORE[@WINDOW]", "send a window to a server (--to)", run_push, 1, 1 },
};
#define NR_VERBS ((int)(sizeof(verbs) / sizeof(verbs[0])))

enum { KEY_EVENT = 0x100, KEY_PROCESS, KEY_SERVICE, KEY_HOST, KEY_QUERY, KEY_COMPONENT, KEY_CAP, KEY_KEEP, KEY_LAST, KEY_TO };
static const struct argp_option options[] = {
	{ "view", 'v', "components|functions|queries|processes|services|epochs|reasons", 0,
	  "what to list (components; functions where no host declares any)", 0 },
	{ "event", KEY_EVENT, "NAME", 0, "of this event (the first that is no wait)", 0 },
	{ "process", KEY_PROCESS, "NAME", 0, "of processes of this name or executable", 0 },
	{ "service", KEY_SERVICE, "NAME", 0, "of this service: a systemd unit, a container, a name for OpenTelemetry", 0 },
	{ "host", KEY_HOST, "NAME", 0, "of this machine", 0 },
	{ "query", KEY_QUERY, "TEXT", 0, "of queries that contain this text", 0 },
	{ "component", KEY_COMPONENT, "[LEVEL:]NAME", 0, "of this component", 0 },
	{ "last", KEY_LAST, "TIME", 0, "trace: the window from so long before now: 90s, 10m, 2h", 0 },
	{ "keep", KEY_KEEP, "N", 0, "add: remove traces of epochs (NAME.000001.tlr) from the first one's folder once the store has them, "
	  "all but the newest N", 0 },
	{ "format", 'f', "otlp|pprof", 0, "export: OpenTelemetry's profiles, or pprof's", 0 },
	{ "output", 'o', "FILE", 0, "export, trace: the file; with .gz at its end compressed (export)", 0 },
	{ "to", KEY_TO, "TARGET", 0, "push: otlp+http://HOST:PORT[/PATH], or clickhouse://HOST[:PORT][,HOST...]/DATABASE; "
	  "otlp+https and clickhouses: by TLS", 0 },
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
	argp_error(state, "unknown view '%s': components, functions, queries, processes, services, epochs or reasons; traces have the "
		   "others (tailor db trace)", arg);
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
	case 'o':
		a->output = arg;
		break;
	case KEY_LAST:
		a->last = arg;
		break;
	case KEY_KEEP:
		a->keep = (int)strtoul(arg, &end, 10);
		if (end == arg || *end || *arg == '-' || a->keep < 0 || a->keep > 1000000)
			argp_error(state, "--keep must be a number, not '%s'", arg);
		break;
	case 'f':
		a->format = arg;
		break;
	case KEY_TO:
		a->target = arg;
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
