/* SPDX-License-Identifier: MIT */
#include "analyzer/history/history.h"

#include "analyzer/compare/change.h"
#include "analyzer/history/plans.h"
#include "analyzer/store/milestones.h"
#include "analyzer/store/names.h"
#include "jitreg/base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_NS 3600000000000ll
#define DAY_NS (24 * HOUR_NS)
#define PLANS_BEFORE_NS (7 * DAY_NS) /* a plan is new if the query did not have it in a week */
#define OFTEN 3 /* a mark whose text comes more often in a window is of a program that is started again and again */
#define LEVELS_LOOKED_AT 200 /* most lines of a program whose levels are looked up, the largest */
#define COMPARED_MAX 8 /* most marks around which windows are compared */

/*
 * Returns the hour before the last complete hour. A later one cannot be judged, because changes_find() requires that the hour after a
 * change's first hour differs from the history, too.
 */
static struct window last_hours(int64_t now_ns)
{
	int64_t now = now_ns / HOUR_NS * HOUR_NS;

	return (struct window){ now - 2 * HOUR_NS, now - HOUR_NS };
}

/* ---------------------------------------------------------------------------------------------------------------- plans */

static int add_plan(struct changes *out, const struct plan_change *p)
{
	struct left_history *c = changes_add(out, CHANGE_PLAN, p->since_ns, p->nr_before);
	char *sentence = plans_sentence(p);

	if (c) {
		c->after = p->share;
		c->name = strdup(p->query);
		c->detail = strdup(p->nodes);
		c->sentence = sentence;
	} else {
		free(sentence);
	}
	return c && sentence ? 0 : -ENOMEM;
}

static int find_plans(struct store *s, const struct sums_question *q, struct changes *out, struct diag *d)
{
	struct sums_question wide = *q;
	struct plan_changes found;
	int ret;

	if (wide.window.from_ns > INT64_MIN + PLANS_BEFORE_NS)
		wide.window.from_ns -= PLANS_BEFORE_NS;
	wide.window.to_ns = q->window.to_ns < INT64_MAX - HOUR_NS ? q->window.to_ns + HOUR_NS : INT64_MAX;
	ret = plans_find(s, &wide, &found, d);
	for (uint32_t i = 0; i < found.nr && ret == 0; i++) {
		int64_t since_ns = found.at[i].since_ns;

		if (since_ns >= q->window.from_ns && since_ns < q->window.to_ns && add_plan(out, &found.at[i]))
			ret = diag_fail(d, ENOMEM, "out of memory");
	}
	plans_fini(&found);
	return ret;
}

/* ------------------------------------------------------------------------------------------------------- before and after */

/* program: shares are of this program, whose name comes before the line's; NULL: of all that was asked for */
static int tell_lines(const struct comparison *c, const struct change *x, int64_t at_ns, const char *program, struct changes *out)
{
	const struct profile_entry *e = match_first_entry(&c->match, c->profile, x->line);
	struct left_history *to = changes_add(out, CHANGE_SHARE, at_ns, c->profile[0].nr_runs);

	if (!to)
		return -ENOMEM;
	out->has_own_shares |= program != NULL;
	to->before = x->share[0];
	to->after = x->share[1];
	if (asprintf(&to->name, "%s%s%s", program ? basename(program) : "", program ? ": " : "", e->label ? e->label : "") < 0)
		to->name = NULL;
	to->detail = strdup(e->detail ? e->detail : "");
	return to->name && to->detail ? 0 : -ENOMEM;
}

static int judge_lines(struct comparison *c, int64_t at_ns, const char *program, struct changes *out)
{
	uint32_t nr = c->match.nr;
	struct change *x = calloc((size_t)nr + 1, sizeof(*x));
	int ret = x ? 0 : -ENOMEM;

	for (uint32_t i = 0; x && i < nr; i++)
		x[i].line = i;
	if (ret == 0)
		ret = change_test_lines(c, x, nr);
	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		out->nr_compared += x[i].tested;
		if (x[i].significant)
			ret = tell_lines(c, &x[i], at_ns, program, out);
	}
	free(x);
	return ret;
}

/* Compares the epochs of two windows, by the rules of `tailor diff`.  A window without epochs, or with too few samples, is not compared.
 * program: the question's, if shares are of it alone, else NULL.  Sets *samples to the effective samples of the smaller one, if it was
 * less. */
static int compare_windows(struct store *s, const struct sums_question *q, const struct window w[2], const char *program,
			   struct changes *out, double *samples, struct diag *d)
{
	static const char *const called[2] = { "before", "after" };
	struct comparison *c = calloc(1, sizeof(*c));
	int ret = c ? 0 : diag_fail(d, ENOMEM, "out of memory");
	double effective;

	for (uint32_t i = 0; i < 2 && ret == 0; i++) {
		struct sums_question side = *q;


		side.window = w[i];
		side.is_total = false;
		c->side[i] = (struct side){ i, 1 };
		ret = sums_profile(s, &side, called[i], &c->profile[i], d);
	}
	effective = ret == 0 ? fmin(c->profile[0].effective, c->profile[1].effective) : 0;
	*samples = fmax(*samples, effective);
	if (ret == 0 && effective >= CHANGES_SAMPLES_LEAST) {
		c->given = -1;
		c->same_unit = true;
		ret = match_make_lines(c->profile, 2, &c->match);
		if (ret == 0) {
			ret = judge_lines(c, w[1].from_ns, program, out);
			match_fini(&c->match);
		}
		if (ret)
			ret = diag_fail(d, ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; c && i < 2; i++)
		profile_fini(&c->profile[i]);
	free(c);
	return ret == -ENODATA ? 0 : ret;
}

/* Removes marks that come often, of programs that are started again and again. */
static void thin_out(struct milestones *m)
{
	struct milestones all = *m;

	m->nr = 0;
	for (uint32_t i = 0; i < all.nr; i++) {
		uint32_t times = 0;

		for (uint32_t n = 0; n < all.nr; n++)
			times += strcmp(all.mark[n].text, all.mark[i].text) == 0;
		if (times <= OFTEN)
			m->mark[m->nr++] = all.mark[i];
	}
}

/* Returns where the epoch begins that divides all into halves of nearly the same time.  The first epoch, and the last, may be cut short. */
static int64_t find_middle(const struct sums *s)
{
	const int64_t middle_ns = s->epochs.at[0].begin_ns / 2 + s->epochs.at[s->epochs.nr - 1].end_ns / 2;
	int64_t found_ns = s->epochs.nr > 1 ? s->epochs.at[1].begin_ns : s->epochs.at[0].begin_ns;

	for (uint32_t i = 2; i < s->epochs.nr; i++)
		if (llabs(s->epochs.at[i].begin_ns - middle_ns) < llabs(found_ns - middle_ns))
			found_ns = s->epochs.at[i].begin_ns;
	return found_ns;
}

static void remove_mark(struct milestones *m, uint32_t i)
{
	m->nr--;
	memmove(&m->mark[i], &m->mark[i + 1], (m->nr - i) * sizeof(m->mark[0]));
}

/* Keeps COMPARED_MAX marks: the latest ones, and starts of programs only where there is room beside deployments and builds. */
static void keep_marks_to_compare(struct milestones *m)
{
	while (m->nr > COMPARED_MAX) {
		uint32_t i = 0;

		while (i < m->nr && m->mark[i].kind != MILESTONE_START)
			i++;
		remove_mark(m, i < m->nr ? i : 0);
	}
}

static uint32_t count_epochs(const struct sums *s, int64_t from_ns, int64_t to_ns)
{
	uint32_t nr = 0;

	for (uint32_t e = 0; e < s->epochs.nr; e++) {
		int64_t middle_ns = s->epochs.at[e].begin_ns + (s->epochs.at[e].end_ns - s->epochs.at[e].begin_ns) / 2;

		nr += middle_ns >= from_ns && middle_ns < to_ns;
	}
	return nr;
}

/* Dates a new build by the start of its program.  A build is seen in an epoch, which may be the one after that in which it started. */
static void join_builds_with_starts(struct milestones *m, const struct sums *s)
{
	for (uint32_t i = 1; i < m->nr; i++)
		for (uint32_t n = i; m->mark[i].kind == MILESTONE_BUILD && n-- > 0;) {
			struct milestone *start = &m->mark[n];

			if (start->kind != MILESTONE_START || !*start->program || strcmp(start->program, m->mark[i].program) != 0 ||
			    count_epochs(s, start->at_ns, m->mark[i].at_ns) > 1)
				continue;
			m->mark[i].at_ns = start->at_ns;
			*start = m->mark[i];
			remove_mark(m, i--);
			break;
		}
}

/* Joins marks between which no epoch lies: nothing could be compared between them.  What is no start stays. */
static void join_marks(struct milestones *m, const struct sums *s)
{
	for (uint32_t i = 1; i < m->nr;)
		if (count_epochs(s, m->mark[i - 1].at_ns, m->mark[i].at_ns))
			i++;
		else
			remove_mark(m, m->mark[i - 1].kind == MILESTONE_START ? i - 1 : i);
}

/* Reads the marks behind the first epoch, and chooses those that are compared.  *span: a window of the first to the last epoch, as far as
 * they are in the question's window; *middle_ns: where its middle epoch begins. */
static int find_marks(struct store *s, const struct sums_question *q, struct milestones *marks, struct window *span, int64_t *middle_ns,
		      uint32_t *nr, struct diag *d)
{
	struct sums_question total = *q;
	struct sums sums;
	int ret;

	total.is_total = true;
	ret = sums_make(s, &total, &sums, d);
	if (ret)
		return ret;
	*nr = sums.epochs.nr;
	if (sums.epochs.nr) {
		*span = (struct window){ sums.epochs.at[0].begin_ns, sums.epochs.at[sums.epochs.nr - 1].end_ns };
		*middle_ns = find_middle(&sums);
		milestones_read(s, span->from_ns + 1, span->to_ns, marks);
		join_builds_with_starts(marks, &sums);
		thin_out(marks);
		join_marks(marks, &sums);
		keep_marks_to_compare(marks);
	}
	sums_fini(&sums);
	return 0;
}

/* Chooses by what a program's work is compared: its functions, or those of its language.  Returns false if more of it is of components that
 * have lines in the answer already, such as nodes of plans. */
static bool choose_functions(struct store *s, const char *program, const struct window *w, enum sums_by *by)
{
	const struct sums_question q = { .window = *w, .by = SUMS_COMPONENT, .process = program, .is_total = true };
	double all = 0, of_language = 0, of_none = 0;
	struct diag none = { "" };
	struct sums sums;

	if (sums_make(s, &q, &sums, &none))
		return false;
	for (uint32_t i = 0; i < sums.lines.nr; i++) {
		const struct sums_line *l = &sums.lines.at[i];
		struct sums_names names = { 0 };

		all += l->weight;
		of_none += l->id ? 0 : l->weight;
		if (l->id && i < LEVELS_LOOKED_AT && sums_names(s, SUMS_COMPONENT, l, &names, &none) == 0 &&
		    names_is_language_level(names.level))
			of_language += l->weight;
		sums_names_fini(&names);
	}
	sums_fini(&sums);
	*by = of_language > of_none ? SUMS_COMPONENT : SUMS_FUNCTION;
	return of_language + of_none > all / 2;
}

static int compare_around_marks(struct store *s, const struct sums_question *q, struct changes *out, struct diag *d)
{
	struct milestones marks = { .nr = 0 };
	struct window span;
	int64_t middle_ns;
	uint32_t nr = 0;
	char when[32];
	int ret = find_marks(s, q, &marks, &span, &middle_ns, &nr, d);

	out->nr_epochs = nr;
	if (ret || nr < 2)
		return ret;
	if (!marks.nr) {
		marks.mark[marks.nr++].at_ns = middle_ns;
		snprintf(marks.mark[0].text, sizeof(marks.mark[0].text), "the middle of these epochs");
	}
	for (uint32_t i = 0; i < marks.nr && ret == 0; i++) {
		const struct milestone *mark = &marks.mark[i];
		const struct window w[2] = { { i ? mark[-1].at_ns : span.from_ns, mark->at_ns },
					     { mark->at_ns, i + 1 < marks.nr ? mark[1].at_ns : span.to_ns } };
		uint32_t before = out->nr;
		struct sums_question own = *q;
		double samples = 0;
		bool ok;

		ret = compare_windows(s, q, w, NULL, out, &samples, d);
		if (ret == 0 && *mark->program && !q->process && !q->query && !q->component &&
		    choose_functions(s, mark->program, &w[1], &own.by)) {
			own.process = mark->program;
			ret = compare_windows(s, &own, w, mark->program, out, &samples, d);
		}
		if (ret)
			break;
		window_format_time(mark->at_ns, when);
		ok = samples >= CHANGES_SAMPLES_LEAST ? changes_add_compared(out, when, mark->text, out->nr - before) :
							changes_add_too_few(out, when, mark->text, samples);
		if (!ok)
			ret = diag_fail(d, ENOMEM, "out of memory");
	}
	return ret;
}

int history_find(struct store *s, const struct sums_question *q, bool has_window, struct changes *out, struct diag *d)
{
	const int64_t now_ns = clock_real_ns();
	struct sums_question asked = *q;
	int ret;

	if (!has_window)
		asked.window = last_hours(now_ns);
	ret = changes_find(s, &asked, out, d);
	out->is_first_day = out->nr_judged == 0;
	if (ret == 0 && out->is_first_day) {
		if (!has_window)
			asked.window = (struct window){ now_ns - DAY_NS, now_ns + HOUR_NS };
		ret = compare_around_marks(s, &asked, out, d);
	}
	return ret ? ret : find_plans(s, &asked, out, d);
}
