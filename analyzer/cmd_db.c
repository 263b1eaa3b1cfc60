/* SPDX-License-Identifier: MIT */
/*
 * tailor db adds traces to a store of many epochs, answers questions about the store, checks and copies it, keeps its size within limits,
 * and exports it or sends it to a server.
 */
#include "analyzer/cmd_compare.h"
#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/fleet.h"
#include "analyzer/fleet/leading_view.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/history/history.h"
#include "analyzer/merge/window_trace.h"
#include "analyzer/output/named_list.h"
#include "analyzer/output/page_arguments.h"
#include "analyzer/reading/reading_command.h"
#include "analyzer/store/fold.h"
#include "analyzer/store/milestones.h"
#include "analyzer/store/tables.h"
#include "analyzer/store/tend.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_option.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define OPERANDS_MAX 1024

struct arguments {
	struct asked_options asked;
	struct page_arguments page;
	const struct db_verb *verb;
	char *operand[OPERANDS_MAX];
	int nr;
	const char *format, *output; /* format: option of `export`; output: option of `export` and `trace` */
	uint64_t cap;
	bool dry_run;
	int keep; /* --keep: number of the newest traces of epochs that stay; -1: none are removed */
};

struct db_verb {
	const char *name, *usage, *summary;
	int (*run)(struct arguments *a); /* NULL: command() is run instead */
	int least, most; /* number of operands */
	int (*command)(int argc, char **argv);
};

static int fail(const struct diag *d, int error)
{
	message_print("%s", d->text);
	return error == -EINVAL ? CMD_MISUSED : CMD_FAILED;
}

/* --------------------------------------------------------------------------------------------------------------- add */

static void ask_sums(void *context, struct report *r)
{
	fold_ask(context, r);
}

/*
 * Adds a trace to the store, and returns the exit status. If the trace is damaged or its budget is exceeded, the part that was read is
 * added, and the status is CMD_FAILED. by_user: prints a message if the store has the trace already, and reads the trace with a thread for
 * each processor instead of one thread.
 */
static int add_trace(struct store *s, const char *path, bool by_user)
{
	const struct reading_arguments all = { .threads = by_user ? 0 : 1 };
	struct reading session = { 0 };
	struct fold fold = { 0 };
	struct diag d = { "" };
	int status = reading_command_open(&session, path, &all, ask_sums, &fold), ret;

	if (status)
		return status;
	ret = fold_add(&fold, &session.report, s, &d);
	if (ret < 0)
		status = fail(&d, ret);
	else if (ret && by_user)
		message_print("%s: the store has it already", path);
	return reading_command_close(&session, status);
}

static void add_left_trace(void *context, const char *path)
{
	add_trace(context, path, false);
}

/*
 * Removes the oldest traces of epochs from their folder if there are too many (spool_bound()). This comes before the store is opened, so
 * that the folder stays bounded if opening fails, or if the process is killed while it adds traces.
 */
static int bound_spool(const struct arguments *a, struct diag *d)
{
	uint32_t nr_dropped;
	int ret = spool_bound(a->operand[1], (uint32_t)a->keep, &nr_dropped, d);

	if (nr_dropped)
		message_print("%u traces of epochs dropped: they could not be added to %s", nr_dropped, a->operand[0]);
	return ret;
}

static int run_add(struct arguments *a)
{
	struct store *s;
	struct diag d = { "" };
	int ret = a->keep >= 0 ? bound_spool(a, &d) : 0, status = CMD_DONE;

	if (a->keep >= 0) /* `tailor watch` runs this with --keep beside its recorder, so huge pages are off to save memory. */
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (ret == 0)
		ret = store_open(a->operand[0], STORE_ADD, &s, &d);
	if (ret)
		return fail(&d, ret);
	if (a->cap)
		ret = store_set_cap(s, a->cap, &d);
	for (int i = 1; i < a->nr && ret == 0; i++) {
		int one = add_trace(s, a->operand[i], a->keep < 0);

		status = status == CMD_DONE ? one : status;
		if (store_has_failed(s)) /* add_trace() has printed the error */
			break;
		if (i + 1 < a->nr)
			ret = tend_store(s, clock_real_ns(), NULL, &d);
	}
	if (ret == 0 && !store_has_failed(s) && a->keep >= 0)
		ret = spool_tidy(s, a->operand[1], (uint32_t)a->keep, add_left_trace, s, &d);
	if (ret == 0 && !store_has_failed(s))
		ret = tend_store(s, clock_real_ns(), NULL, &d);
	store_close(s);
	return ret ? fail(&d, ret) : status;
}

/* ------------------------------------------------------------------------------------------------------------- trace */

static int find_traces(const struct arguments *a, struct spool_traces *t, struct diag *d)
{
	struct window w;
	int ret = asked_window(a->operand[0], &a->asked, &w, d);

	return ret ? ret : window_find_traces(a->operand[0], &w, t, d);
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
	return ret ? fail(&d, ret) : CMD_DONE;
}

/* ------------------------------------------------------------------------------------------------------------- reports */

static int show_view(struct page *p, struct store *s, const struct asked_view *view, const struct sums *sums, enum sums_by by,
		     struct diag *d)
{
	if (view->is_list)
		return tables_lines(p, s, by, sums, d);
	if (view->name[0] == 'r')
		return tables_reasons(p, s, sums, d);
	tables_epochs(p, sums);
	return 0;
}

static int show_timeline(struct page *p, struct store *s, const struct asked_view *view, const struct sums *sums, enum sums_by by,
			 struct diag *d)
{
	(void)view;
	return tables_timeline(p, s, by, sums, d);
}

static int show_page(const struct arguments *a, struct store *s, const struct sums *sums, enum sums_by by,
		     int (*table)(struct page *p, struct store *s, const struct asked_view *view, const struct sums *sums, enum sums_by by,
				  struct diag *d))
{
	struct diag d = { "" };
	struct page p;
	int ret = 0;

	if (page_start(&p, &a->page))
		return CMD_FAILED;
	p.top = a->page.top;
	tables_describe(&p, sums);
	if (sums->epochs.nr)
		ret = table(&p, s, asked_find_view(a->asked.view), sums, by, &d);
	else
		p.table = NULL; /* without epochs there are no tables, so --table must not fail */
	return page_finish(&p, ret ? fail(&d, ret) : CMD_DONE);
}

static int show(const struct arguments *a,
		int (*table)(struct page *p, struct store *s, const struct asked_view *view, const struct sums *sums, enum sums_by by,
			     struct diag *d))
{
	struct diag d = { "" };
	struct sums_question q;
	struct sums sums;
	struct store *s;
	int ret = leading_view_open(a->operand[0], &a->asked, table == show_view, &q, &s, &sums, &d), status;

	status = ret ? fail(&d, ret) : show_page(a, s, &sums, q.by, table);
	sums_fini(&sums);
	if (s)
		store_close(s);
	return status;
}

static int run_report(struct arguments *a)
{
	return show(a, show_view);
}

static int run_timeline(struct arguments *a)
{
	return show(a, show_timeline);
}

static int run_changes(struct arguments *a)
{
	struct changes changes = { 0 };
	struct diag d = { "" };
	struct sums_question q;
	struct store *s;
	struct page p;
	int status = CMD_FAILED;
	int ret = fleet_is_named(a->operand[0]) ? diag_fail(&d, EINVAL, "%s: changes are found in a store", fleet_shown(a->operand[0])) :
						  asked_open(a->operand[0], &a->asked, asked_find_view(a->asked.view)->by, &q, &s, &d);

	if (ret)
		return fail(&d, ret);
	ret = history_find(s, &q, q.window.from_ns != INT64_MIN || q.window.to_ns != INT64_MAX, &changes, &d);
	if (ret) {
		status = fail(&d, ret);
	} else if (page_start(&p, &a->page) == 0) {
		p.top = a->page.top;
		changes_show(&p, &changes);
		status = page_finish(&p, changes.nr ? CMD_DIFFERENT : CMD_DONE);
	}
	changes_fini(&changes);
	store_close(s);
	return status;
}

static int run_deploy(struct arguments *a)
{
	struct diag d = { "" };
	int64_t at_ns = clock_real_ns();
	struct store *s;
	int is_day, ret = a->asked.from ? window_parse_time(a->asked.from, at_ns, &at_ns, &is_day, &d) : 0;

	if (ret == 0)
		ret = store_open(a->operand[0], STORE_CHANGE, &s, &d);
	if (ret)
		return fail(&d, ret);
	ret = milestones_deploy(s, at_ns, a->operand[1], &d);
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
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

/* Prints "; 12 epochs until 2026-11-28 10:20:00 WHAT", or nothing for 0 epochs. */
static void print_epochs(uint32_t nr, int64_t end_ns, const char *what)
{
	char until[32];

	if (nr)
		printf("; %u epoch%s until %s %s", nr, nr == 1 ? "" : "s", window_format_time(end_ns, until), what);
}

static void print_foreseen(const char *path, double before, double cap, const struct tend_foreseen *f)
{
	printf("%s: %.1f MiB now, about %.1f MiB then, of at most %.1f MiB", path, before / (1 << 20), f->work.bytes / (1 << 20),
	       cap / (1 << 20));
	if (f->nr_folded)
		printf("; %u epoch%s would become parts of hours and days", f->nr_folded, f->nr_folded == 1 ? "" : "s");
	print_epochs(f->work.stripped, f->work.stripped_end_ns, "would lose their functions");
	print_epochs(f->work.went, f->work.went_end_ns, "would go");
	putchar('\n');
}

static int foresee_gc(struct arguments *a)
{
	struct tend_foreseen foreseen;
	struct diag d = { "" };
	struct store *s;
	int ret = store_open(a->operand[0], STORE_READ, &s, &d);

	if (ret)
		return fail(&d, ret);
	ret = tend_foresee(s, clock_real_ns(), a->cap, &foreseen, &d);
	if (ret == 0)
		print_foreseen(a->operand[0], (double)store_size(s), (double)(a->cap ? a->cap : store_cap(s)), &foreseen);
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static int run_gc(struct arguments *a)
{
	struct diag d = { "" };
	struct cap_work work;
	struct store *s;
	uint64_t before;
	int ret;

	if (a->dry_run)
		return foresee_gc(a);
	ret = store_open(a->operand[0], STORE_CHANGE, &s, &d);
	if (ret)
		return fail(&d, ret);
	before = store_size(s);
	if (a->cap)
		ret = store_set_cap(s, a->cap, &d);
	if (ret == 0)
		ret = tend_store(s, clock_real_ns(), &work, &d);
	if (ret == 0) {
		printf("%s: %.1f MiB before, %.1f MiB now, of at most %.1f MiB", a->operand[0], (double)before / (1 << 20),
		       (double)store_size(s) / (1 << 20), (double)store_cap(s) / (1 << 20));
		print_epochs(work.stripped, work.stripped_end_ns, "lost their functions");
		print_epochs(work.went, work.went_end_ns, "went");
		putchar('\n');
		if (store_size(s) > store_cap(s))
			message_print("%s: it takes more than its cap: %s", a->operand[0],
					  store_nr_epochs(s) > 1 ? "another process reads it; ask again later" :
								   "it has one epoch, which is larger than that");
	}
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
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
	int status = CMD_FAILED;
	int ret = store_open(a->operand[0], STORE_READ, &s, &d);

	if (ret)
		return fail(&d, ret);
	if (page_start(&p, &a->page) == 0) {
		p.top = a->page.top;
		ret = tend_sql(s, a->operand[1], &p, &d);
		status = page_finish(&p, ret ? fail(&d, ret) : CMD_DONE);
	}
	store_close(s);
	return status;
}

/* -------------------------------------------------------------------------------------------------------------- fleet */

static int open_fleet(const struct arguments *a, const struct asked_options *asked, struct store **s, struct fleet_what *what,
		      struct diag *d)
{
	struct sums_question q = { 0 };
	int ret = fleet_is_named(a->operand[0]) ? diag_fail(d, EINVAL, "%s: only a store is sent", fleet_shown(a->operand[0])) :
						  asked_open(a->operand[0], asked, SUMS_COMPONENT, &q, s, d);

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
		message_print("db export needs --format otlp|pprof and --output FILE");
		return CMD_MISUSED;
	}
	ret = open_fleet(a, &a->asked, &s, &what, &d);
	if (ret)
		return fail(&d, ret);
	ret = fleet_export(s, &what, a->format, a->output, &d);
	store_close(s);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static void print_pushed(const struct fleet_pushed *p)
{
	if (!p->requests && !p->had && p->waiting) {
		printf("nothing to push: no hour is complete yet\n");
		return;
	}
	printf("%u %s pushed in %u request%s of %.0f bytes", p->units - p->rejected, p->units_are, p->requests, p->requests == 1 ? "" : "s",
	       p->bytes);
	if (p->had)
		printf("; %u were there", p->had);
	if (p->rejected)
		printf("; %u were rejected", p->rejected);
	putchar('\n');
	if (p->undated)
		printf("%u epoch%s of dates that the server has not (1970 to 2105): not pushed\n", p->undated,
		       p->undated == 1 ? " is" : "s are");
}

static int run_push(struct arguments *a)
{
	struct diag d = { "" };
	struct fleet_pushed pushed;
	struct fleet_what what;
	struct asked_options asked = a->asked;
	struct store *s;
	int ret;

	if (!a->asked.to) {
		message_print("db push needs --to TARGET; see `tailor help db`");
		return CMD_MISUSED;
	}
	asked.to = NULL; /* --to is the target, not the end of a window */
	ret = open_fleet(a, &asked, &s, &what, &d);
	if (ret)
		return fail(&d, ret);
	ret = fleet_push(s, &what, a->asked.to, &pushed, &d);
	store_close(s);
	if (ret == 0 && !pushed.requests && !pushed.had && !pushed.waiting)
		ret = diag_fail(&d, ENODATA, pushed.undated ? "all epochs are of dates that the server has not: 1970 to 2105" :
							      "no epoch is in that window");
	if (ret == 0 || pushed.requests)
		print_pushed(&pushed);
	if (ret == 0 && pushed.rejected)
		ret = diag_fail(&d, EPROTO, "%u of %u %s were rejected%s%s", pushed.rejected, pushed.units, pushed.units_are,
				*pushed.message ? ": " : "; the server's log may say why", pushed.message);
	else if (ret == 0 && *pushed.message)
		message_print("the server took them with a warning: %s", pushed.message);
	return ret ? fail(&d, ret) : CMD_DONE;
}

static int run_diff(int argc, char **argv)
{
	return compare_run_diff(argc, argv, true);
}

static int run_stat(int argc, char **argv)
{
	return compare_run_stat(argc, argv, true);
}

static int run_top(int argc, char **argv)
{
	return cmd_top.run(argc, argv);
}

static const struct db_verb verbs[] = {
	{ "add", "STORE TRACE...", "add traces to a store, which is created where there is none", run_add, 2, OPERANDS_MAX, NULL },
	{ "report", "STORE[@WINDOW]", "what the time of a window went into", run_report, 1, 1, NULL },
	{ "diff", "STORE[@WINDOW] STORE[@WINDOW]", "what changed from one window to another, as `tailor diff`", NULL, 0, 0, run_diff },
	{ "stat", "STORE[@WINDOW]...", "variation between a window's epochs, or between windows, as `tailor stat`", NULL, 0, 0, run_stat },
	{ "top", "STORE", "what runs now, as `tailor top`", NULL, 0, 0, run_top },
	{ "timeline", "STORE[@WINDOW]", "shares over time", run_timeline, 1, 1, NULL },
	{ "changes", "STORE[@WINDOW]", "what left its own history, or differs around a mark (exit status 3)", run_changes, 1, 1, NULL },
	{ "deploy", "STORE NAME", "mark now (or --from TIME) as a deployment, for `changes`", run_deploy, 2, 2, NULL },
	{ "trace", "STORE[@WINDOW] -o FILE", "one trace of the epochs whose traces are kept, for every view", run_trace, 1, 1, NULL },
	{ "check", "STORE", "list what is damaged (exit status 3)", run_check, 1, 1, NULL },
	{ "gc", "STORE", "fold old epochs into hours and days, and drop what the cap leaves no room for", run_gc, 1, 1, NULL },
	{ "copy", "STORE FILE", "copy it as it is at one moment, also while it is written", run_copy, 2, 2, NULL },
	{ "sql", "STORE QUERY", "ask it in SQL (read only)", run_sql, 2, 2, NULL },
	{ "export", "STORE[@WINDOW]", "write a window for other programs (--format, --output)", run_export, 1, 1, NULL },
	{ "push", "STORE[@WINDOW]", "send a window to a server (--to ADDRESS; @WINDOW and --from say what of it)", run_push, 1, 1, NULL },
};
#define NR_VERBS ((int)(sizeof(verbs) / sizeof(verbs[0])))

enum { KEY_CAP = 0x100, KEY_KEEP, KEY_DRY_RUN };
static const struct argp_option options[] = {
	{ "keep", KEY_KEEP, "N", 0, "add: remove traces of epochs (NAME.000001.tlr) from the first one's folder once the store has them, "
	  "all but the newest N", 0 },
	{ "format", 'f', "otlp|pprof", 0, "export: OpenTelemetry's profiles, or pprof's", 0 },
	{ "output", 'o', "FILE", 0, "export, trace: the file; with .gz at its end compressed (export)", 0 },
	{ "cap", KEY_CAP, "MIB", 0, "add, gc: most that the store may take, from now on (1024)", 0 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "gc: say what would go, and change nothing", 0 },
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

static void take_operand(struct argp_state *state, char *arg)
{
	struct arguments *a = state->input;
	char near[256];

	for (int i = 0; i < NR_VERBS && !a->verb; i++)
		if (strcmp(verbs[i].name, arg) == 0) {
			a->verb = &verbs[i];
			if (!a->verb->run)
				usage_fail(state, "%s comes first: tailor db %s [OPTION...] %s", arg, arg, a->verb->usage);
			return;
		}
	if (!a->verb)
		usage_fail(state, "unknown verb '%s'%s; see `tailor help db`", arg,
			   named_list_suggest(arg, verb_list_entry, near, sizeof(near)));
	if (a->nr == a->verb->most)
		usage_fail(state, "too many operands; usage: tailor db %s %s", a->verb->name, a->verb->usage);
	a->operand[a->nr++] = arg;
}

static error_t parse_db_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->asked;
		state->child_inputs[1] = &a->page;
		break;
	case 'o':
		a->output = arg;
		break;
	case KEY_KEEP:
		a->keep = (int)strtoul(arg, &end, 10);
		if (end == arg || *end || *arg == '-' || a->keep < 0 || a->keep > 1000000)
			usage_fail(state, "--keep must be a number, not '%s'", arg);
		break;
	case 'f':
		a->format = arg;
		break;
	case KEY_DRY_RUN:
		a->dry_run = true;
		break;
	case KEY_CAP:
		a->cap = strtoull(arg, &end, 10) << 20;
		if (end == arg || *end || *arg == '-' || !a->cap || a->cap >> 50)
			usage_fail(state, "--cap must be a number of MiB, not '%s'", arg);
		break;
	case ARGP_KEY_ARG:
		take_operand(state, arg);
		break;
	case ARGP_KEY_END:
		if (!a->verb)
			usage_fail(state, "no verb given; see `tailor help db`");
		if (a->dry_run && a->verb->run != run_gc)
			usage_fail(state, "--dry-run is for tailor db gc");
		if (a->nr < a->verb->least)
			usage_fail(state, "usage: tailor db %s %s", a->verb->name, a->verb->usage);
		if (a->asked.per_service && a->verb->run != run_report && a->verb->run != run_timeline)
			usage_fail(state, "db %s has no rows of services: --per is for report, timeline, diff and stat", a->verb->name);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static char *filter_db_help(int key, const char *text, void *input)
{
	(void)input;
	return named_list_help(key, text, "Verbs", verb_list_entry, "tailor db report watch.tlrs@yesterday --view functions");
}

static int run_command_of_verb(const struct db_verb *verb, int argc, char **argv)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s %s", program_invocation_name, verb->name);
	argv[0] = program_invocation_name = program_invocation_short_name = name;
	return verb->command(argc, argv);
}

static int run_db(int argc, char **argv)
{
	static const struct argp_child children[] = { { &asked_argp, 0, NULL, 0 }, { &page_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
						      { &confine_argp, 0, NULL, 0 }, { 0 } };
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
	struct arguments a = { .page.top = 20, .keep = -1 };
	const char *other;
	bool is_address;

	for (int i = 0; i < NR_VERBS && argc > 1; i++)
		if (verbs[i].command && strcmp(verbs[i].name, argv[1]) == 0)
			return run_command_of_verb(&verbs[i], argc - 1, argv + 1);
	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	other = strcmp(a.verb->name, "copy") == 0 || a.keep >= 0 ? a.operand[1] : NULL;
	is_address = fleet_is_named(a.operand[0]);
	confine_allow_read("/proc"); /* the message about a locked store names the process that has the lock */
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(is_address ? NULL : a.operand[0], a.output, other, a.page.csv_folder));
	return a.verb->run(&a);
}

const struct cmd cmd_db = { "db", "keep profiles of months in a store, and ask it", run_db };
