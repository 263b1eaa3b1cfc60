/* SPDX-License-Identifier: MIT */
#include "analyzer/top/watching.h"

#include "analyzer/top/lines.h"
#include "analyzer/top/screen.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 8
#define POLL_MS 500 /* longest wait, so that a signal or the host's end that came just before the wait began is seen soon */
#define MESSAGE_BYTES sizeof(((struct diag *)NULL)->text)

struct watching {
	const struct watching_options *o;
	struct follow *follow;
	struct page page; /* width and character set of the output */
	/* the levels that the user has entered, each with its filter */
	struct depth {
		enum top_level by;
		struct filter_arguments filter;
		char *key, *name; /* row that was entered from this level; NULL: none yet */
		uint32_t chosen;
	} depth[DEPTH_MAX];
	uint32_t nr; /* levels in depth */
	enum top_sort sort;
	char pattern[128];
	regex_t regex;
	bool has_regex, typing, paused, helps;
	/* the rows that are shown, and what is known about their trace */
	struct top_rows rows;
	uint32_t *shown, nr_shown;
	uint64_t first_ns; /* first sample of the trace; 0: not known yet */
	uint64_t before_ns; /* first sample of the epoch before; 0: none */
	double from_s, to_s, end_s; /* end_s: end of a complete trace */
	off_t seen_bytes;
	char message[MESSAGE_BYTES];
	uint32_t chosen, top; /* chosen row, and first row on the screen, as indices of shown */
	uint32_t looks;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	if (signal != SIGCHLD)
		stopped = 1;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	struct sigaction a = { .sa_handler = stop }; /* without SA_RESTART, so that waits end */

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* -------------------------------------------------------------------------------------------------- reading the rows */

static bool row_is_wanted(const struct watching *w, const struct top_row *row)
{
	return !w->has_regex || regexec(&w->regex, row->name, 0, NULL, 0) == 0 || regexec(&w->regex, row->place, 0, NULL, 0) == 0;
}

static void choose_rows(struct watching *w)
{
	free(w->shown);
	w->nr_shown = 0;
	w->shown = calloc((size_t)w->rows.nr + 1, sizeof(*w->shown));
	for (uint32_t i = 0; w->shown && i < w->rows.nr; i++)
		if (row_is_wanted(w, &w->rows.at[i]))
			w->shown[w->nr_shown++] = i;
	if (w->chosen >= w->nr_shown)
		w->chosen = w->nr_shown ? w->nr_shown - 1 : 0;
}

static struct depth *bottom(struct watching *w)
{
	return &w->depth[w->nr - 1];
}

static bool keeps_messages(const struct watching *w)
{
	return w->o->on_screen || !w->o->path;
}

/* Rounds down to milliseconds, so that --from and --to of a report with the printed times give the same rows. Negative times become 0. */
static double whole_ms(double s)
{
	return s > 0 ? floor(s * 1000) / 1000 : 0;
}

/*
 * Reads rows of a part of a trace. Returns the exit status. The message of a failure is printed, or, while a screen is shown or a
 * recording is followed, kept for the last line of the screen and for the end.
 */
static int read_stretch(struct watching *w, const char *path, bool live, double from_s, double to_s, struct top_rows *rows)
{
	struct top_question q = { bottom(w)->by, w->o->trace, w->sort == TOP_BY_TOTAL };
	struct diag d = { "" };
	bool is_news;
	int ret;

	q.trace.filter = bottom(w)->filter;
	q.trace.filter.from_s = from_s;
	q.trace.filter.to_s = to_s;
	q.trace.live = live;
	ret = top_rows_read(path, &q, rows, &d);
	is_news = ret && strcmp(w->message, d.text) != 0;
	snprintf(w->message, sizeof(w->message), "%s", ret ? d.text : "");
	if (is_news && !keeps_messages(w))
		message_print("%s", w->message);
	return ret == -EINVAL ? CMD_MISUSED : ret ? CMD_FAILED : CMD_DONE;
}

/* Adds the rows of that part of the window that lies in the epoch before. */
static void add_epoch_before(struct watching *w, struct top_rows *rows, double earlier_s)
{
	struct top_rows before;

	if (read_stretch(w, w->follow->before, true, earlier_s, 0, &before) == CMD_DONE)
		top_rows_add(rows, &before);
	top_rows_fini(&before);
}

/* Returns the time from which from_s and to_s count, which is the first sample of this epoch, or of the epoch before while this one has no
 * sample. Returns 0 if neither is known. */
static uint64_t zero_ns(const struct watching *w)
{
	return w->first_ns ? w->first_ns : w->before_ns;
}

static double since_s(uint64_t ns, uint64_t zero)
{
	return (double)(int64_t)(ns - zero) / 1e9;
}

static int read_rows(struct watching *w, const char *path, bool live)
{
	double to_s = live && !w->paused ? 0 : w->to_s;
	struct top_rows rows;
	int status = read_stretch(w, path, live, w->first_ns ? whole_ms(w->from_s) : 0, to_s, &rows);

	if (rows.first_ns)
		w->first_ns = rows.first_ns;
	if (live && w->before_ns && w->follow->before && (!w->first_ns || w->from_s < 0))
		add_epoch_before(w, &rows, whole_ms(w->from_s + since_s(zero_ns(w), w->before_ns)));
	top_rows_fini(&w->rows);
	w->rows = rows;
	/* The level that leads at first is shown until a key asks for another one, but functions give way to what gets names later. */
	if (bottom(w)->by == TOP_LEADING && rows.samples > 0 && rows.level != TOP_FUNCTIONS)
		bottom(w)->by = rows.level;
	top_rows_sort(&w->rows, w->sort);
	choose_rows(w);
	return status;
}

/* Sets from_s so that the window ends now, and begins no earlier than the first sample of the epoch before, or of this one if there is none
 * before. */
static void set_window(struct watching *w)
{
	double now_s = zero_ns(w) ? since_s(clock_now_ns(), zero_ns(w)) : 0;
	double least_s = w->before_ns ? -since_s(zero_ns(w), w->before_ns) : 0;

	w->from_s = fmax(floor((now_s - w->o->window_s) * 1000) / 1000, least_s);
}

/* Reads the last seconds of the growing trace, and sets *status to the exit status. A new trace may be read twice at first, since the
 * window can be placed only when the trace's first sample is known. Returns false, without a status, if there is nothing to read yet. */
static bool look_at_recording(struct watching *w, int *status)
{
	struct follow *f = w->follow;
	bool is_quiet, is_first;
	struct stat st;

	if (w->paused && f->path && zero_ns(w)) { /* shows the same seconds, maybe by another level */
		*status = read_rows(w, f->path, true);
		return true;
	}
	if (follow_look(f)) {
		w->before_ns = w->first_ns;
		w->first_ns = 0;
	}
	if (!f->path || stat(f->path, &st) || !st.st_size)
		return false;
	is_first = !w->first_ns;
	is_quiet = st.st_size == w->seen_bytes && w->rows.samples <= 0;
	w->seen_bytes = st.st_size;
	set_window(w);
	*status = is_quiet ? CMD_DONE : read_rows(w, f->path, true); /* quiet: there were no samples, and the file has not grown since */
	w->to_s = zero_ns(w) ? whole_ms(since_s(clock_now_ns(), zero_ns(w))) : 0;
	return is_first && w->first_ns && (w->before_ns || w->to_s > w->o->window_s) ? look_at_recording(w, status) : true;
}

/* Reads the whole trace, to know how long it is. */
static int measure_trace(struct watching *w)
{
	int status = read_rows(w, w->o->path, false);

	w->end_s = whole_ms((double)(w->rows.last_ns - w->rows.first_ns) / 1e9 + 0.001); /* at most 1 ms after the last sample */
	return status;
}

static int look_at_trace(struct watching *w)
{
	w->from_s = w->o->whole ? 0 : whole_ms(w->to_s - w->o->window_s);
	return read_rows(w, w->o->path, false);
}

/* -------------------------------------------------------------------------------------------------- showing the rows */

static void write_path(struct watching *w, char *text, size_t bytes)
{
	size_t at = 0;

	*text = 0;
	for (uint32_t i = 0; i + 1 < w->nr && at < bytes; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%s", i ? " > " : "", w->depth[i].name);
}

static struct lines_head make_head(struct watching *w, char path[1024])
{
	write_path(w, path, 1024);
	return (struct lines_head){ w->o->what, path, w->has_regex ? w->pattern : NULL, w->sort, w->paused, w->from_s, w->to_s };
}

static uint32_t rows_in_pipe(const struct watching *w)
{
	return w->o->rows && w->o->rows < w->nr_shown ? w->o->rows : w->nr_shown;
}

static void print_look(struct watching *w)
{
	char path[1024], text[LINES_BYTES];
	struct lines_head h = make_head(w, path);

	if (w->o->json) {
		lines_write_json(stdout, &w->rows, &h, w->shown, rows_in_pipe(w));
	} else {
		lines_format_title(&w->page, &w->rows, &h, text);
		printf("%s%s\n", w->looks ? "\n" : "", text);
		for (uint32_t i = 0; i < w->rows.nr_notes; i++)
			for (int n = 0; lines_format_note(&w->page, w->rows.note[i], n, text); n++)
				puts(text);
		lines_format_heading(&w->page, &w->rows, text);
		puts(text);
		for (uint32_t i = 0; i < rows_in_pipe(w); i++) {
			lines_format_row(&w->page, &w->rows, w->shown[i], text);
			puts(text);
		}
	}
	fflush(stdout);
}

#define HEAD_LINES 3 /* without those of notes */
#define NOTE_LINES 3 /* maximum number of lines of notes on a screen */
#define KEYS "q quit  Enter into  l level  s sort  / filter  ? help"
static const char *const help[] = {
	"up, down, PgUp, PgDn   choose a row",
	"Enter, right           go into it: its lines, then who called it",
	"Backspace, left        and back",
	"l, L                   next level: operators, queries, language, functions, lines, callers, programs, processes,",
	"                       threads",
	"s                      sort by self, total (with what it called) or name",
	"/                      filter rows by a regular expression; an empty one ends it",
	"space                  stop the screen, and go on",
	"w                      write what is seen as a trace",
	"q                      quit",
};

/* Returns the number of lines that notes take, at most NOTE_LINES, and draws them below the title if put is set. */
static int note_lines(const struct watching *w, bool put)
{
	char text[LINES_BYTES];
	int nr = 0;

	for (uint32_t i = 0; i < w->rows.nr_notes; i++)
		for (int n = 0; nr < NOTE_LINES && lines_format_note(&w->page, w->rows.note[i], n, text); n++) {
			nr++;
			if (put)
				screen_put(nr, text, SCREEN_BOLD);
		}
	return nr;
}

static int head_lines(const struct watching *w)
{
	return HEAD_LINES + note_lines(w, false);
}

static int body_lines(const struct watching *w)
{
	int lines, columns, head = head_lines(w);

	screen_size(&lines, &columns);
	return lines > head + 1 ? lines - head - 1 : 0;
}

static void put_cut(struct watching *w, int line, const char *said, enum screen_style style)
{
	char text[LINES_BYTES];

	page_cut(&w->page, said, w->page.columns, text, sizeof(text));
	screen_put(line, text, style);
}

static void draw_rows(struct watching *w)
{
	uint32_t body = (uint32_t)body_lines(w);
	int head = head_lines(w);
	char text[LINES_BYTES];

	if (w->chosen < w->top)
		w->top = w->chosen;
	if (w->chosen >= w->top + body)
		w->top = w->chosen + 1 - body;
	for (uint32_t i = 0; i < body && w->top + i < w->nr_shown; i++) {
		lines_format_row(&w->page, &w->rows, w->shown[w->top + i], text);
		screen_put(head + (int)i, text, w->top + i == w->chosen ? SCREEN_CHOSEN : SCREEN_PLAIN);
	}
}

static void draw(struct watching *w)
{
	char path[1024], text[LINES_BYTES];
	struct lines_head h = make_head(w, path);
	int lines, columns, notes;

	screen_size(&lines, &columns);
	w->page.columns = columns;
	notes = note_lines(w, false);
	screen_begin();
	if (lines > HEAD_LINES + notes && columns > 30) {
		lines_format_title(&w->page, &w->rows, &h, text);
		screen_put(0, text, SCREEN_BOLD);
		note_lines(w, true);
		lines_format_path(&w->page, &h, text);
		screen_put(notes + 1, text, SCREEN_PLAIN);
		lines_format_heading(&w->page, &w->rows, text);
		screen_put(notes + 2, text, SCREEN_DIM);
		for (size_t i = 0; w->helps && i < sizeof(help) / sizeof(help[0]) && (int)i < body_lines(w); i++)
			put_cut(w, HEAD_LINES + notes + (int)i, help[i], SCREEN_PLAIN);
		if (!w->helps && body_lines(w))
			draw_rows(w);
	}
	if (w->typing)
		snprintf(text, sizeof(text), "/%s", w->pattern);
	put_cut(w, lines - 1, w->typing ? text : *w->message ? w->message : KEYS, SCREEN_DIM);
	screen_show();
}

/* -------------------------------------------------------------------------------------------------------------- keys */

static bool set_pattern(struct watching *w, const char *pattern)
{
	if (w->has_regex)
		regfree(&w->regex);
	w->has_regex = *pattern && regcomp(&w->regex, pattern, REG_EXTENDED | REG_NOSUB) == 0;
	return w->has_regex || !*pattern;
}

static void type_pattern(struct watching *w, int key)
{
	size_t n = strlen(w->pattern);

	if (key == SCREEN_ENTER || key == SCREEN_RESIZED) {
		w->typing = key == SCREEN_RESIZED;
		return;
	}
	if (key == SCREEN_BACK && n)
		w->pattern[n - 1] = 0;
	else if (key == SCREEN_BACK)
		w->typing = false;
	else if (key < 256 && !iscntrl(key) && n + 1 < sizeof(w->pattern))
		w->pattern[n] = (char)key, w->pattern[n + 1] = 0;
	snprintf(w->message, sizeof(w->message), "%s", set_pattern(w, w->pattern) ? "" : "not a regular expression yet");
	choose_rows(w);
}

/* Sets *below to the level that a row opens: queries → operators → lines → callers, both kinds of functions → lines, and programs →
 * processes → threads → operators.  Returns false for callers and command lines, which open nothing. */
static bool level_below(const struct watching *w, enum top_level *below)
{
	static const enum top_level of[TOP_NR_LEVELS] = {
		[TOP_OPERATORS] = TOP_LINES, [TOP_QUERIES] = TOP_OPERATORS, [TOP_LANGUAGE] = TOP_LINES,
		[TOP_FUNCTIONS] = TOP_LINES, [TOP_LINES] = TOP_CALLERS,
		[TOP_PROGRAMS] = TOP_PROCESSES, [TOP_PROCESSES] = TOP_THREADS, [TOP_THREADS] = TOP_OPERATORS,
	};

	*below = of[w->rows.level];
	return w->rows.level != TOP_CALLERS && w->rows.level != TOP_COMMANDS;
}

static void forget_choice(struct depth *d)
{
	free(d->key);
	free(d->name);
	d->key = d->name = NULL;
}

static bool add_filter(struct filter_arguments *f, enum top_level level, const char *key)
{
	switch (level) {
	case TOP_PROGRAMS:
		f->program = key;
		return true;
	case TOP_PROCESSES:
		f->has_pid = true;
		f->pid = strtoull(key, NULL, 10);
		return true;
	case TOP_THREADS:
		f->has_tid = true;
		f->tid = strtoull(key, NULL, 10);
		return true;
	case TOP_FUNCTIONS:
		f->function = key;
		return true;
	case TOP_LINES:
		if (f->nr_below < FILTER_COMPONENTS_MAX)
			f->below[f->nr_below++] = key;
		return true;
	case TOP_OPERATORS:
	case TOP_QUERIES:
		if (f->nr_components < FILTER_COMPONENTS_MAX)
			f->component[f->nr_components++] = key;
		return true;
	default:
		return false;
	}
}

static bool go_into(struct watching *w)
{
	const struct top_row *row = w->chosen < w->nr_shown ? &w->rows.at[w->shown[w->chosen]] : NULL;
	struct depth *d = bottom(w), *next = d + 1;
	enum top_level below;

	if (!row || !*row->key || w->nr == DEPTH_MAX || !level_below(w, &below))
		return false;
	d->key = strdup(row->key);
	d->name = strdup(row->name);
	if (!d->key || !d->name) {
		forget_choice(d);
		return false;
	}
	*next = (struct depth){ .by = below, .filter = d->filter };
	add_filter(&next->filter, row->is_component ? TOP_OPERATORS : w->rows.level, d->key);
	d->chosen = w->chosen;
	w->nr++;
	w->chosen = w->top = 0;
	return true;
}

static bool go_back(struct watching *w)
{
	if (w->nr == 1)
		return false;
	w->nr--;
	w->chosen = bottom(w)->chosen;
	forget_choice(bottom(w));
	return true;
}

/* Changes to the next level that the trace has (by 1), or to the one before (by -1). */
static void change_level(struct watching *w, int by)
{
	int level = (int)w->rows.level;

	do
		level = (level + by + TOP_NR_LEVELS) % TOP_NR_LEVELS;
	while (w->rows.levels && !(w->rows.levels >> level & 1));
	bottom(w)->by = (enum top_level)level;
	w->chosen = w->top = 0;
}

static void keep_trace(struct watching *w)
{
	struct diag d = { "" };
	char name[64];

	if (w->o->path)
		snprintf(w->message, sizeof(w->message), "tailor report --from %.3f --to %.3f %s", w->from_s, w->to_s, w->o->path);
	else if (follow_keep(w->follow, name, sizeof(name), &d))
		snprintf(w->message, sizeof(w->message), "%s", d.text);
	else
		snprintf(w->message, sizeof(w->message), "written: %s; this screen: --from %.3f --to %.3f", name, whole_ms(w->from_s),
			 w->to_s);
}

static void move_to(struct watching *w, int64_t row)
{
	w->chosen = row < 0 ? 0 : row >= w->nr_shown ? (w->nr_shown ? w->nr_shown - 1 : 0) : (uint32_t)row;
}

enum after_key { GO_ON, LOOK_ANEW, QUIT };

static enum after_key obey(struct watching *w, int key)
{
	*w->message = 0;
	w->helps = false;
	switch (key) {
	case 'q':
		return QUIT;
	case SCREEN_UP:
	case 'k':
		move_to(w, (int64_t)w->chosen - 1);
		break;
	case SCREEN_DOWN:
	case 'j':
		move_to(w, (int64_t)w->chosen + 1);
		break;
	case SCREEN_PAGE_UP:
		move_to(w, (int64_t)w->chosen - body_lines(w));
		break;
	case SCREEN_PAGE_DOWN:
		move_to(w, (int64_t)w->chosen + body_lines(w));
		break;
	case SCREEN_HOME:
		move_to(w, 0);
		break;
	case SCREEN_END:
		move_to(w, w->nr_shown);
		break;
	case SCREEN_ENTER:
		return go_into(w) ? LOOK_ANEW : GO_ON;
	case SCREEN_BACK:
		return go_back(w) ? LOOK_ANEW : GO_ON;
	case 'l':
	case '\t':
	case 'L':
		change_level(w, key == 'L' ? -1 : 1);
		return LOOK_ANEW;
	case 's':
		w->sort = (enum top_sort)((w->sort + 1) % TOP_NR_SORTS);
		return LOOK_ANEW;
	case '/':
		w->typing = true;
		break;
	case ' ':
		w->paused = !w->paused;
		break;
	case 'w':
		keep_trace(w);
		break;
	case '?':
	case 'h':
		w->helps = true;
		break;
	default:
		break;
	}
	return GO_ON;
}

/* ---------------------------------------------------------------------------------------------------------- the loop */

static bool is_over(struct watching *w)
{
	return stopped || (w->o->looks && w->looks >= w->o->looks) || (!w->o->path && follow_has_ended(w->follow));
}

/* Waits until the rows are to be read again, and handles keys. *anew becomes true if a key asks for rows at once. Returns false if the loop
 * ends. */
static bool wait_for_next(struct watching *w, double seconds, bool *anew)
{
	uint64_t until_ns = clock_now_ns() + (uint64_t)(seconds * 1e9), now_ns;

	*anew = false;
	while ((now_ns = clock_now_ns()) < until_ns || w->paused || w->typing) {
		int left_ms = now_ns < until_ns ? (int)((until_ns - now_ns) / 1000000) + 1 : POLL_MS, key;
		enum after_key after;

		left_ms = left_ms < POLL_MS ? left_ms : POLL_MS;
		if (is_over(w))
			return false;
		if (!w->o->on_screen) {
			usleep(1000 * (useconds_t)left_ms);
			continue;
		}
		key = screen_wait_key(left_ms);
		if (key == SCREEN_NONE)
			continue;
		if (key == SCREEN_GONE)
			return false;
		if (w->typing) {
			type_pattern(w, key);
			after = GO_ON;
		} else {
			after = obey(w, key);
		}
		if (after == QUIT)
			return false;
		if (after == LOOK_ANEW) {
			*anew = true;
			return true;
		}
		draw(w);
	}
	return true;
}

static void show(struct watching *w)
{
	if (w->o->on_screen)
		draw(w);
	else
		print_look(w);
	w->looks++;
}

static int watch_trace(struct watching *w)
{
	double speed = w->o->speed > 0 ? w->o->speed : w->o->on_screen ? 1 : 0;
	int status = measure_trace(w);
	bool anew = false;

	if (status && !w->rows.nr) /* a damaged trace has rows */
		return status;
	w->to_s = w->o->whole || w->end_s < w->o->interval_s ? w->end_s : w->o->interval_s;
	for (;;) {
		status = look_at_trace(w);
		if (status && !w->rows.nr && !w->o->on_screen)
			return status;
		show(w);
		if (w->to_s >= w->end_s && !w->o->on_screen)
			return status;
		if (!wait_for_next(w, w->to_s >= w->end_s ? 1e6 : speed > 0 ? w->o->interval_s / speed : 0, &anew) || is_over(w))
			return CMD_DONE;
		if (!anew)
			w->to_s = fmin(w->to_s + w->o->interval_s, w->end_s);
	}
}

/* Returns CMD_FAILED if the recorder ended before there was a sample, and CMD_DONE otherwise. Before CMD_FAILED, prints the last message of
 * a hidden recorder, or, if the recorder began a trace, that there was no sample. */
static int end_of_recorder(struct watching *w)
{
	char text[1024];
	const char *said = follow_said(w->follow, text, sizeof(text));

	if (w->follow->recorder >= 0 || zero_ns(w))
		return CMD_DONE;
	if (w->o->on_screen && *said)
		message_put(stderr, "%s", said);
	else if (w->follow->path || follow_look(w->follow))
		message_print("%s: it ended before there was a sample of it", w->o->what);
	return CMD_FAILED;
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define SHARE_OF_LOOKS 0.01 /* the largest share of one processor for reading and showing rows, if o->may_wait */

static int watch_recording(struct watching *w)
{
	double pause_s = fmin(w->o->interval_s, 1); /* the first look comes after at most 1 s */
	bool anew = false;
	int status;

	if (w->o->on_screen)
		draw(w);
	while (wait_for_next(w, anew ? 0 : pause_s, &anew)) {
		double began_s = processor_s();

		if (!look_at_recording(w, &status))
			continue;
		if (status && !w->follow->recorder && !w->o->on_screen) /* the epoch of a store cannot be read */
			return status;
		if (zero_ns(w) || w->o->on_screen)
			show(w);
		pause_s = w->o->interval_s;
		if (w->o->may_wait)
			pause_s = fmax(pause_s, (processor_s() - began_s) / SHARE_OF_LOOKS);
	}
	return CMD_DONE;
}

int watching_run(const struct watching_options *o)
{
	struct watching w = { .o = o, .follow = o->follow, .nr = 1, .sort = o->sort, .depth[0] = { .by = o->by } };
	struct diag d = { "" };
	int status;

	w.depth[0].filter = o->trace.filter;
	if (page_init(&w.page, stdout, PAGE_TEXT))
		return CMD_FAILED;
	w.page.colour = false;
	if (o->pattern) {
		snprintf(w.pattern, sizeof(w.pattern), "%s", o->pattern);
		if (strlen(o->pattern) >= sizeof(w.pattern) || !set_pattern(&w, w.pattern)) {
			message_print("--filter: '%s' is not a regular expression of at most %zu bytes", o->pattern,
					  sizeof(w.pattern) - 1);
			return CMD_MISUSED;
		}
	}
	catch_signals();
	if (o->on_screen && screen_open(&d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	status = o->path ? watch_trace(&w) : watch_recording(&w);
	if (o->on_screen)
		screen_close();
	if (!o->path && status == CMD_DONE)
		status = end_of_recorder(&w);
	else if (status && keeps_messages(&w))
		message_print("%s", w.message);
	top_rows_fini(&w.rows);
	for (uint32_t i = 0; i < w.nr; i++)
		forget_choice(&w.depth[i]);
	if (w.has_regex)
		regfree(&w.regex);
	free(w.shown);
	page_end(&w.page);
	return status;
}
