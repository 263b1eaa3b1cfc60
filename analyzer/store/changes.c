/* SPDX-License-Identifier: MIT */
/*
 * Shares are compared as logarithms of odds.  Their variance has two parts: sampling (1/n + 1/rest), and variation between hours.  A few
 * hours say little about a line's own variance, so the variance of all lines together counts as PRIOR_DF more hours (as in Smyth, Linear
 * models and empirical Bayes methods, 2004).  A line that grows makes the shares of all others shrink.  So the line that stands out most is
 * taken out of the total, and the others are compared again, until no line stands out.
 */
#include "analyzer/store/changes.h"

#include "analyzer/compare/stats.h"
#include "analyzer/store/fold.h"
#include "analyzer/store/internal.h"
#include "analyzer/store/names.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/sorted.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_NS 3600000000000ll
#define DAY_HOURS 24
#define DAYS_MAX 28
#define HOURS_BEFORE 48 /* hours before the pair that are used if there are too few days */
#define HISTORY_LEAST 5
#define HISTORY_MOST (DAYS_MAX + HOURS_BEFORE)
#define HISTORY_NS ((DAYS_MAX + 2) * DAY_HOURS * HOUR_NS)
#define ALPHA 0.01
#define PRIOR_DF 6.0
#define SAMPLES_LEAST 25 /* samples that a line needs in the hour, or in an hour of its history in the mean */
#define TAKEN_MAX 64 /* most lines of an hour that are reported */
#define LOADS_LEAST 20
#define LOADS_TIMES 3

struct hours {
	struct sums sums;
	double per_weight; /* effective samples per unit of weight */
	int64_t *hour;	   /* hours since 1970, ascending */
	double *samples;   /* effective samples of all lines, by hour */
	uint32_t nr;
	double *of_line; /* effective samples, [line][hour] */
	bool *taken;	 /* per line: it is taken out of the total of this pair of hours */
	uint32_t *since; /* per line: 1 + index of the last hour in which it stood out; 0: none */
};

struct history {
	uint32_t hour[HISTORY_MOST], nr;
	bool is_same_hour;
};

/* ------------------------------------------------------------------------------------------------------------- hours */

static int64_t hour_of(const struct sums_epoch *e)
{
	return (e->begin_ns / 2 + e->end_ns / 2) / HOUR_NS;
}

static uint32_t find_hour(const struct hours *h, int64_t hour)
{
	uint32_t n = SORTED_COUNT(h->nr, i, h->hour[i] < hour);

	return n < h->nr && h->hour[n] == hour ? n : UINT32_MAX;
}

static int compare_hours(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool list_hours(struct hours *h)
{
	h->hour = calloc((size_t)h->sums.epochs.nr + 1, sizeof(*h->hour));
	if (!h->hour)
		return false;
	for (uint32_t i = 0; i < h->sums.epochs.nr; i++)
		if (h->sums.epochs.at[i].tier < 2)
			h->hour[h->nr++] = hour_of(&h->sums.epochs.at[i]);
	if (h->nr)
		qsort(h->hour, h->nr, sizeof(*h->hour), compare_hours);
	for (uint32_t i = 1, nr = h->nr, kept = 1; i < nr; i++) {
		if (h->hour[i] != h->hour[kept - 1])
			h->hour[kept++] = h->hour[i];
		h->nr = kept;
	}
	return true;
}

static bool fill_hours(struct hours *h)
{
	const struct sums *s = &h->sums;
	double samples = 0, effective = 0;

	h->samples = calloc((size_t)h->nr + 1, sizeof(*h->samples));
	h->of_line = calloc((size_t)h->nr * s->lines.nr + 1, sizeof(*h->of_line));
	h->taken = calloc((size_t)s->lines.nr + 1, sizeof(*h->taken));
	h->since = calloc((size_t)s->lines.nr + 1, sizeof(*h->since));
	if (!h->samples || !h->of_line || !h->taken || !h->since)
		return false;
	for (uint32_t e = 0; e < s->epochs.nr; e++) {
		samples += s->epochs.at[e].samples;
		effective += s->epochs.at[e].effective;
	}
	h->per_weight = s->weight > 0 && samples > 0 ? s->samples / s->weight * effective / samples : 0;
	for (uint32_t e = 0; e < s->epochs.nr; e++) {
		uint32_t hour = s->epochs.at[e].tier < 2 ? find_hour(h, hour_of(&s->epochs.at[e])) : UINT32_MAX;

		for (uint32_t i = 0; i < s->lines.nr && hour != UINT32_MAX; i++) {
			h->of_line[(size_t)i * h->nr + hour] += s->lines.at[i].of_epoch[e] * h->per_weight;
			h->samples[hour] += s->lines.at[i].of_epoch[e] * h->per_weight;
		}
	}
	return true;
}

static int make_hours(struct store *s, const struct sums_question *q, struct hours *h, struct diag *d)
{
	struct sums_question wide = *q;
	int ret;

	memset(h, 0, sizeof(*h));
	if (q->window.from_ns > INT64_MIN + HISTORY_NS)
		wide.window.from_ns -= HISTORY_NS;
	wide.window.to_ns = q->window.to_ns < INT64_MAX - HOUR_NS ? q->window.to_ns + HOUR_NS : INT64_MAX;
	ret = sums_make(s, &wide, &h->sums, d);
	if (ret == 0 && (!list_hours(h) || !store_has_room(s, (uint64_t)h->nr * h->sums.lines.nr * sizeof(*h->of_line)) || !fill_hours(h)))
		ret = store_failed(s, d) ? -s->error : diag_fail(d, ENOMEM, "out of memory");
	return ret;
}

static void hours_fini(struct hours *h)
{
	sums_fini(&h->sums);
	free(h->hour);
	free(h->samples);
	free(h->of_line);
	free(h->taken);
	free(h->since);
}

static double line_at(const struct hours *h, uint32_t line, uint32_t hour)
{
	return h->of_line[(size_t)line * h->nr + hour];
}

/* Returns the hours with which an hour is compared: the same hour of earlier days, or, if these are too few, the hours before the first
 * one of the pair.  Hours with few samples are left out. */
static struct history history_of(const struct hours *h, uint32_t hour, uint32_t first)
{
	struct history t = { .is_same_hour = true };

	for (int day = 1; day <= DAYS_MAX; day++) {
		uint32_t at = find_hour(h, h->hour[hour] - (int64_t)day * DAY_HOURS);

		if (at != UINT32_MAX && h->samples[at] >= CHANGES_SAMPLES_LEAST)
			t.hour[t.nr++] = at;
	}
	if (t.nr >= HISTORY_LEAST)
		return t;
	t = (struct history){ 0 };
	for (uint32_t at = first; at-- > 0 && t.nr < HOURS_BEFORE && h->hour[first] - h->hour[at] <= HOURS_BEFORE;)
		if (h->samples[at] >= CHANGES_SAMPLES_LEAST)
			t.hour[t.nr++] = at;
	return t;
}

/* ------------------------------------------------------------------------------------------------------------ shares */

/* Returns an hour's samples in the lines that are not taken out of the total. */
static double unchanged(const struct hours *h, uint32_t hour)
{
	double all = h->samples[hour];

	for (uint32_t i = 0; i < h->sums.lines.nr; i++)
		if (h->taken[i])
			all -= line_at(h, i, hour);
	return all;
}

struct odds {
	double log, variance; /* log: natural logarithm; variance: the part of it that sampling causes */
};

static struct odds odds_of(double of_line, double all)
{
	double a = of_line + 0.5, rest = (all > of_line ? all - of_line : 0) + 0.5;

	return (struct odds){ log(a / rest), 1 / a + 1 / rest };
}

/* A line's past is the mean and variance of its log odds, the mean of the variances that sampling causes, and the mean samples of an
 * hour. */
struct past {
	double mean, variance, sampling, samples;
};

static struct past past_of(const struct hours *h, const struct history *t, const double *all, uint32_t line)
{
	struct past p = { 0 };
	double logs[HISTORY_MOST];
	struct estimate e;

	for (uint32_t i = 0; i < t->nr; i++) {
		double n = line_at(h, line, t->hour[i]);
		struct odds o = odds_of(n, all[i]);

		logs[i] = o.log;
		p.sampling += o.variance / t->nr;
		p.samples += n / t->nr;
	}
	e = stats_mean(logs, t->nr);
	p.mean = e.mean;
	p.variance = e.error * e.error * t->nr;
	return p;
}

/* A judgement compares one hour with its history. */
struct judgement {
	const struct hours *h;
	uint32_t hour;
	struct history t;
	double of_history[HISTORY_MOST], of_hour; /* samples of all lines that are not taken out */
	double between; /* median of lines' variances between hours beyond those by sampling; 0: none, or below 0 */
	uint32_t nr_judged;
	double critical;
};

static bool is_judged(const struct judgement *j, const struct past *p, uint32_t line)
{
	double now = line_at(j->h, line, j->hour);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < j->t.nr; i++)
		nr += line_at(j->h, line, j->t.hour[i]) > 0;
	return nr >= HISTORY_LEAST && (p->samples >= SAMPLES_LEAST || now >= SAMPLES_LEAST);
}

/* Prepares the comparison of an hour. room: working memory, an element per line.  Returns false if there is too little history, if there
 * are too few samples, or if no line has enough of them. */
static bool begin_judgement(struct judgement *j, const struct hours *h, uint32_t hour, uint32_t first, double *room)
{
	uint32_t nr = 0;

	*j = (struct judgement){ .h = h, .hour = hour, .t = history_of(h, hour, first), .of_hour = unchanged(h, hour) };
	if (j->t.nr < HISTORY_LEAST || h->samples[hour] < CHANGES_SAMPLES_LEAST)
		return false;
	for (uint32_t i = 0; i < j->t.nr; i++)
		j->of_history[i] = unchanged(h, j->t.hour[i]);
	for (uint32_t i = 0; i < h->sums.lines.nr; i++) {
		struct past p = past_of(h, &j->t, j->of_history, i);

		if (!is_judged(j, &p, i))
			continue;
		j->nr_judged++;
		if (p.samples >= SAMPLES_LEAST && !h->taken[i])
			room[nr++] = p.variance - p.sampling;
	}
	if (nr)
		qsort(room, nr, sizeof(*room), sorted_by_double);
	j->between = nr && room[nr / 2] > 0 ? room[nr / 2] : 0;
	j->critical = j->nr_judged ? stats_t_quantile(j->t.nr - 1 + PRIOR_DF, ALPHA / j->nr_judged) : INFINITY;
	return j->nr_judged > 0;
}

/* Returns how far a line is from its history, in units of the distance that is significant. A line above 1 or below -1 stands out. Returns
 * 0 if the line has too few samples or too little history to be judged. */
static double score(const struct judgement *j, uint32_t line)
{
	struct past p = past_of(j->h, &j->t, j->of_history, line);
	double df = j->t.nr - 1, variance, own;
	struct odds o;

	if (!is_judged(j, &p, line))
		return 0;
	o = odds_of(line_at(j->h, line, j->hour), j->of_hour);
	variance = (PRIOR_DF * (p.sampling + j->between) + df * p.variance) / (PRIOR_DF + df);
	variance = variance > p.sampling ? variance : p.sampling;
	own = o.variance > p.sampling ? o.variance - p.sampling : 0;
	return (o.log - p.mean) / sqrt(variance * (1 + 1.0 / j->t.nr) + own) / j->critical;
}

struct left_history *changes_add(struct changes *c, enum change_kind kind, int64_t begin_ns, uint32_t nr_history)
{
	if (!ARRAY_GROW(*c))
		return NULL;
	c->at[c->nr] = (struct left_history){ .kind = kind, .begin_ns = begin_ns, .nr_history = nr_history };
	return &c->at[c->nr++];
}

/* Keeps a sentence about a mark, which is freed with c, or here if there is no room.  text is NULL if memory ran out before. */
static bool add_sentence(struct changes *c, char *text)
{
	if (text && ARRAY_GROW(c->compared)) {
		c->compared.at[c->compared.nr++] = text;
		return true;
	}
	free(text);
	return false;
}

bool changes_add_compared(struct changes *c, const char *when, const char *mark, uint32_t nr)
{
	char *text;

	if (asprintf(&text, "%s, %s: %u line%s differ%s from before.", when, mark, nr, nr == 1 ? "" : "s", nr == 1 ? "s" : "") < 0)
		text = NULL;
	return add_sentence(c, text);
}

bool changes_add_too_few(struct changes *c, const char *when, const char *mark, double samples)
{
	char *text;

	if (asprintf(&text, "%s, %s: not compared, since of the %d samples that are needed on each side there are %.0f.", when, mark,
		     CHANGES_SAMPLES_LEAST, samples) < 0)
		text = NULL;
	return add_sentence(c, text);
}

static struct left_history *add_change(struct changes *c, enum change_kind kind, const struct hours *h, uint32_t hour, uint32_t nr_history)
{
	return changes_add(c, kind, h->hour[hour] * HOUR_NS, nr_history);
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

static int name_line(struct store *s, enum sums_by by, const struct sums_line *l, struct left_history *c, struct diag *d)
{
	struct sums_names n;
	int ret = sums_names(s, by, l, &n, d);

	c->name = strdup(*n.detail && !strchr(n.label, '#') ? n.name : n.label);
	if (asprintf(&c->detail, "%s%s%s", n.detail, *n.detail && *n.place ? " -> " : "", n.place) < 0)
		c->detail = NULL;
	sums_names_fini(&n);
	return ret;
}

struct finding {
	struct store *store;
	const struct sums_question *q;
	struct changes *out;
	double *room;
};

static int tell_share(const struct finding *f, const struct hours *h, const struct judgement *j, uint32_t line, struct diag *d)
{
	struct left_history *c = add_change(f->out, CHANGE_SHARE, h, j->hour, j->t.nr);

	if (!c)
		return diag_fail(d, ENOMEM, "out of memory");
	f->out->same_hours |= j->t.is_same_hour;
	for (uint32_t i = 0; i < j->t.nr; i++)
		c->before += share(line_at(h, line, j->t.hour[i]), j->of_history[i]) / j->t.nr;
	c->after = share(line_at(h, line, j->hour), j->of_hour);
	return name_line(f->store, f->q->by, &h->sums.lines.at[line], c, d);
}

/* Notes that a line stands out in the pair of hours that begins with this one.  Returns false if it stood out in the pair that began an
 * hour before, so that the change is not new. */
static bool is_new(const struct hours *h, uint32_t line, uint32_t hour)
{
	bool was = h->since[line] == hour && hour > 0 && h->hour[hour - 1] == h->hour[hour] - 1;

	h->since[line] = hour + 1;
	return !was;
}

/* Begins a pair of hours.  Only those lines are taken out of the total that have no samples in the history.  They are new, and would make
 * the shares of all others shrink. */
static void take_new_lines(struct hours *h, uint32_t hour)
{
	struct history t = history_of(h, hour, hour);

	for (uint32_t i = 0; i < h->sums.lines.nr; i++) {
		double past = 0;

		for (uint32_t n = 0; n < t.nr; n++)
			past += line_at(h, i, t.hour[n]);
		h->taken[i] = past <= 0;
	}
}

static int judge_pair(const struct finding *f, struct hours *h, uint32_t hour, bool is_told, struct diag *d)
{
	struct judgement first, second;
	int ret = 0;

	take_new_lines(h, hour);
	for (int n = 0; n < TAKEN_MAX && ret == 0; n++) {
		uint32_t most = UINT32_MAX;
		double most_score = 1;

		if (!begin_judgement(&first, h, hour, hour, f->room) || !begin_judgement(&second, h, hour + 1, hour, f->room))
			return 0;
		f->out->nr_judged = first.nr_judged > f->out->nr_judged ? first.nr_judged : f->out->nr_judged;
		for (uint32_t i = 0; i < h->sums.lines.nr; i++) {
			double one = h->taken[i] ? 0 : score(&first, i), two = fabs(one) > most_score ? score(&second, i) : 0;
			double both = one * two > 0 ? fmin(fabs(one), fabs(two)) : 0;

			if (both > most_score) {
				most_score = both;
				most = i;
			}
		}
		if (most == UINT32_MAX)
			break;
		if (is_new(h, most, hour) && is_told)
			ret = tell_share(f, h, &first, most, d);
		h->taken[most] = true;
	}
	return ret;
}

/* ---------------------------------------------------------------------------------------------------------- compiling */

static bool is_storm(const struct hours *h, const struct history *t, uint32_t line, uint32_t hour, double *before)
{
	double now = line_at(h, line, hour), past[HISTORY_MOST], variance;
	struct estimate e;

	for (uint32_t i = 0; i < t->nr; i++)
		past[i] = line_at(h, line, t->hour[i]);
	e = stats_mean(past, t->nr);
	variance = fmax(e.error * e.error * t->nr, e.mean + 1); /* at least about the variance of independent events (Poisson) */
	*before = e.mean;
	return now >= LOADS_LEAST && now >= LOADS_TIMES * e.mean &&
	       (now - e.mean) / sqrt(variance * (1 + 1.0 / t->nr)) > stats_t_quantile(t->nr - 1 + PRIOR_DF, ALPHA / h->sums.lines.nr);
}

static int judge_loads(const struct finding *f, struct hours *h, uint32_t hour, const struct history *t, bool is_told, struct diag *d)
{
	for (uint32_t i = 0; i < h->sums.lines.nr; i++) {
		struct left_history *c;
		double before;
		int ret;

		if (!is_storm(h, t, i, hour + 1, &before) || !is_storm(h, t, i, hour, &before) || !is_new(h, i, hour) || !is_told)
			continue;
		c = add_change(f->out, CHANGE_COMPILATION, h, hour, t->nr);
		if (!c)
			return diag_fail(d, ENOMEM, "out of memory");
		c->before = before;
		c->after = line_at(h, i, hour);
		ret = name_line(f->store, SUMS_FUNCTION, &h->sums.lines.at[i], c, d);
		if (ret)
			return ret;
	}
	return 0;
}

/* Finds hours in which much more code was generated.  A sample of FOLD_LOADS is a code object.  The history is that of `shares`, the
 * hours of the question's own event, since history_of() would leave out hours in which little code was generated. */
static int find_storms(const struct finding *f, const struct hours *shares, struct diag *d)
{
	struct sums_question q = *f->q;
	struct hours h;
	int ret;

	q.event = FOLD_LOADS;
	q.by = SUMS_FUNCTION;
	q.component = q.query = NULL;
	ret = make_hours(f->store, &q, &h, d);
	for (uint32_t i = 0; ret == 0 && i + 1 < shares->nr; i++) {
		uint32_t hour = find_hour(&h, shares->hour[i]);
		struct history t = history_of(shares, i, i), mine = { 0 };
		bool is_told = shares->hour[i] * HOUR_NS >= q.window.from_ns && shares->hour[i] * HOUR_NS < q.window.to_ns;

		if (hour == UINT32_MAX || hour + 1 >= h.nr || h.hour[hour + 1] != h.hour[hour] + 1 || t.nr < HISTORY_LEAST)
			continue;
		for (uint32_t n = 0; n < t.nr; n++) {
			uint32_t at = find_hour(&h, shares->hour[t.hour[n]]);

			if (at != UINT32_MAX)
				mine.hour[mine.nr++] = at;
		}
		if (mine.nr >= HISTORY_LEAST)
			ret = judge_loads(f, &h, hour, &mine, is_told, d);
	}
	hours_fini(&h);
	return ret;
}

/* ---------------------------------------------------------------------------------------- shares and generated code */

static int find_shares(const struct finding *f, struct hours *h, struct diag *d)
{
	const struct window *w = &f->q->window;
	int ret = 0;

	for (uint32_t i = 0; i + 1 < h->nr && ret == 0; i++) {
		int64_t begin_ns = h->hour[i] * HOUR_NS;
		bool is_told = begin_ns >= w->from_ns && begin_ns < w->to_ns;

		/* the hour before the window is judged, too, so that changes which began there are not reported as new */
		if (h->hour[i + 1] != h->hour[i] + 1 || begin_ns + HOUR_NS < w->from_ns || begin_ns >= w->to_ns)
			continue;
		f->out->nr_hours += is_told;
		ret = judge_pair(f, h, i, is_told, d);
	}
	return ret;
}

int changes_find(struct store *s, const struct sums_question *q, struct changes *out, struct diag *d)
{
	struct finding f = { .store = s, .q = q, .out = out };
	struct hours h;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = make_hours(s, q, &h, d);
	if (ret == 0)
		f.room = calloc((size_t)h.sums.lines.nr + 1, sizeof(*f.room));
	if (ret == 0 && !f.room)
		ret = diag_fail(d, ENOMEM, "out of memory");
	if (ret == 0)
		ret = find_shares(&f, &h, d);
	if (ret == 0 && store_ask_number(s, "SELECT count(*) FROM event e JOIN text t ON t.id = e.name WHERE t.s = '" FOLD_LOADS "'"))
		ret = find_storms(&f, &h, d);
	free(f.room);
	hours_fini(&h);
	return ret;
}

static void describe_changes(struct page *p, const struct changes *c)
{
	if (!c->is_first_day) {
		page_sentence(p, "%u hour%s, at most %u lines with enough history: %u left it.", c->nr_hours, c->nr_hours == 1 ? "" : "s",
			      c->nr_judged, c->nr);
	} else if (c->nr_epochs < 2) {
		page_sentence(p, "%s epoch is in that window: two are needed to compare, and %d hours to judge by history.",
			      c->nr_epochs ? "One" : "No", HISTORY_LEAST + 2);
	} else {
		page_sentence(p, "No history of %d hours yet: %u epochs before and after a mark are compared, %u lines.", HISTORY_LEAST,
			      c->nr_epochs, c->nr_compared);
		for (uint32_t i = 0; i < c->compared.nr; i++)
			page_sentence(p, "%s", c->compared.at[i]);
		if (c->has_own_shares)
			page_sentence(p, "Shares of a line that begins with a program are of that program's time.");
	}
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->at[i].sentence) {
			page_fact(p, "plan", c->at[i].sentence);
			page_sentence(p, "%c%s.", toupper((unsigned char)*c->at[i].sentence), c->at[i].sentence + 1);
		}
}

void changes_show(struct page *p, const struct changes *c)
{
	static const char *const kinds[] = { "share", "plan", "compilation" };
	struct grid *g = grid_create("changes", c->is_first_day ? "What differs" : "What left its own history");
	int begin = grid_column(g, "begin", "since", CELL_TEXT, GRID_FIXED, 0);
	int begin_ns = grid_column(g, "begin_ns", "", CELL_HEX, GRID_HIDDEN, 0);
	int kind = grid_column(g, "kind", "kind", CELL_TEXT, GRID_FIXED, 0);
	int before = grid_column(g, "before", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int after = grid_column(g, "after", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int change = grid_column(g, "change", "change", CELL_TEXT, GRID_FIXED | GRID_TEXT_ONLY, 0);
	int history = grid_column(g, "history", c->is_first_day ? "epochs" : "hours", CELL_COUNT, 0, 0);
	int name = grid_column(g, "name", "name", CELL_TEXT, 0, 0), detail = grid_column(g, "detail", "", CELL_TEXT, GRID_HIDDEN, 0);

	page_fact_number(p, "hours", c->nr_hours);
	page_fact_number(p, "lines", c->nr_judged);
	page_fact_number(p, "found", c->nr);
	describe_changes(p, c);
	grid_show_all_rows(g);
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct left_history *x = &c->at[i];
		char text[64], number[2][16];

		grid_row(g);
		grid_set_text(g, begin, window_format_time(x->begin_ns, text));
		grid_set_address(g, begin_ns, (uint64_t)x->begin_ns);
		grid_set_text(g, kind, kinds[x->kind]);
		grid_set(g, before, x->before);
		grid_set(g, after, x->after);
		if (x->kind == CHANGE_COMPILATION)
			snprintf(text, sizeof(text), "%s -> %s objects/h", grid_short_number(x->before, number[0]),
				 grid_short_number(x->after, number[1]));
		else if (x->kind == CHANGE_PLAN)
			snprintf(text, sizeof(text), "%.0f %% in new nodes", 100 * x->after);
		else
			snprintf(text, sizeof(text), "%.2f -> %.2f %%", 100 * x->before, 100 * x->after);
		grid_set_text(g, change, text);
		grid_set(g, history, x->nr_history);
		grid_set_text(g, name, x->name ? x->name : "");
		grid_set_text(g, detail, x->detail ? x->detail : "");
		if (x->detail && *x->detail)
			grid_set_detail(g, name, x->detail);
	}
	if (c->nr || p->form != PAGE_TEXT)
		grid_show(g, p);
	else
		grid_discard(g);
}

void changes_fini(struct changes *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		free(c->at[i].name);
		free(c->at[i].detail);
		free(c->at[i].sentence);
	}
	for (uint32_t i = 0; i < c->compared.nr; i++)
		free(c->compared.at[i]);
	free(c->compared.at);
	free(c->at);
	memset(c, 0, sizeof(*c));
}
