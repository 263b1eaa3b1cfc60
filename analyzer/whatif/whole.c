/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/whole.h"

#include "analyzer/whatif/verdict.h"

#include <errno.h>
#include <string.h>

#define SWEEP_TIMES 4 /* the sweep goes up to this multiple of the machine's number of processors, and at most to SWEEP_MAX */
#define SWEEP_MAX 32

static int show_predictions(struct predictor *p, struct page *page, struct diag *d)
{
	const uint32_t nr_cpus = p->g->t->report->model->nr_cpus ? p->g->t->report->model->nr_cpus : 1;
	const uint32_t most = nr_cpus < SWEEP_MAX / SWEEP_TIMES ? nr_cpus * SWEEP_TIMES : SWEEP_MAX;
	int ret;

	if (p->replay_error > PREDICT_REFUSE)
		return verdict_refuse(p, d);
	ret = verdict_show_now(p, page);
	ret = ret ? ret : verdict_show_table(p, page, NULL);
	return ret ? ret : verdict_show_sweep(p, NULL, 0, 1, most, page, NULL);
}

/* Writes a page as the member `key` of the JSON object that is being written. If show() fails, the page has the reason. */
static void put_page(const char *key, FILE *to, int (*show)(void *context, struct page *page, struct diag *d), void *context)
{
	struct diag d = { "" };
	struct page page;
	int ret;

	fprintf(to, "\"%s\":", key);
	if (page_init(&page, to, PAGE_JSON)) {
		fputs("null", to);
		return;
	}
	ret = show(context, &page, &d);
	if (ret)
		page_reason(&page, *d.text ? d.text : strerror(-ret));
	page_end(&page);
}

struct parts_of_page {
	struct timeline *t;
	struct predictor p;
	struct step_graph g;
	int ret; /* 0, or the -errno of step_graph_make() or predictor_init() */
	struct diag d;
};

static int show_verdict(void *context, struct page *page, struct diag *d)
{
	struct parts_of_page *a = context;

	return a->ret ? diag_fail(d, -a->ret, "%s", a->d.text) : show_predictions(&a->p, page, d);
}

static int show_resources(void *context, struct page *page, struct diag *d)
{
	struct parts_of_page *a = context;

	(void)d;
	whole_show_resources(a->t, page);
	return 0;
}

static int show_critical(void *context, struct page *page, struct diag *d)
{
	struct parts_of_page *a = context;

	(void)d;
	return a->ret ? 0 : whole_show_critical(&a->p, page); /* the page is empty then, and verdict says why */
}

void whole_put_json(struct timeline *t, FILE *to)
{
	struct parts_of_page a = { .t = t, .ret = 0 };

	if (!t || timeline_make(t, NULL, &a.d)) {
		fputs("null", to);
		return;
	}
	a.ret = step_graph_make(t, t->report->arguments->mark, &a.g, &a.d);
	a.ret = a.ret ? a.ret : predictor_init(&a.p, &a.g, NULL, &a.d);
	fputc('{', to);
	/* The critical path comes first, because it shows the last simulation, which is still the replay then. */
	put_page("critical", to, show_critical, &a);
	fputc(',', to);
	put_page("verdict", to, show_verdict, &a);
	fputc(',', to);
	put_page("resources", to, show_resources, &a);
	fputc('}', to);
	predictor_fini(&a.p);
	step_graph_fini(&a.g);
}
