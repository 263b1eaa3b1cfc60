/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/plan_records.h"

#include "analyzer/spark/java_text.h"
#include "analyzer/spark/java_twins.h"
#include "jitreg/base/budget.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL_QUERY 0x53500001u
#define LEVEL_STAGE 0x53500002u
#define LEVEL_TASK 0x53500003u
#define LEVEL_OPERATOR 0x53500004u
#define LEVEL_JAVA 0x53500005u
/* All handles of marks have these bits. TRACE_MARK_OF_NO_HOST makes them valid in all processes, since an application may have several
 * executors. */
#define HANDLE (TRACE_MARK_OF_NO_HOST | 0x5350000000000000ull)
#define HANDLE_TASK (HANDLE | 1ull << 40)
#define HANDLE_WORK (HANDLE | 1ull << 41)
#define WORKERS_OF_STAGE (1ull << 62) /* components of level task that stand for the Python workers of a stage: this + index of the stage */
#define DETAIL_BYTES 2000
#define NODES_A_STEP 8
#define TEXT_BYTES_A_STEP 16
#define NUMBERS_A_STEP 16
#define GENERATED "org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage"

struct output {
	struct trace_writer *w;
	const struct model *m;
	const struct spark_log *l;
	struct budget *b;
	uint32_t *codegen; /* spark_text_codegen() of each source of the model that is of Spark, 0 for others */
	uint64_t time_ns;
	uint32_t pid;
	struct hash_map said; /* (level, component) -> 1 if it has been written */
	struct spark_counts *counts;
};

static struct trace_span span(const char *text)
{
	size_t bytes = strlen(text);

	if (bytes > DETAIL_BYTES)
		for (bytes = DETAIL_BYTES; bytes && (text[bytes] & 0xc0) == 0x80;) /* cuts at a whole character */
			bytes--;
	return (struct trace_span){ text, bytes };
}

static bool is_new(struct output *o, uint32_t level, uint64_t id)
{
	return !hash_map_find(&o->said, level, id) && hash_map_set(&o->said, level, id, 1);
}

static void put_level(struct output *o, uint32_t level, const char *name, uint32_t upper, uint32_t flags)
{
	const struct jitreg_level_ref above = { upper };

	TRACE_PUT(o->w, level, o->time_ns, o->pid, o->pid, .level = level, .flags = flags, .name = trace_string(name),
		  .upper = { &above, upper != 0 });
}

static void put_component(struct output *o, uint32_t level, uint64_t id, const char *name, const char *detail, uint32_t flags)
{
	TRACE_PUT(o->w, component, o->time_ns, o->pid, o->pid, .level = level, .flags = flags | JITREG_COMPONENT_COMMON, .component = id,
		  .name = span(name), .detail = span(detail));
}

static void put_link(struct output *o, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	TRACE_PUT(o->w, link, o->time_ns, o->pid, o->pid, .lower_level = lower_level, .upper_level = upper_level, .lower = lower,
		  .upper = upper, .weight = 1);
}

/* ------------------------------------------------------------------------------------------------------------ the plan */

static void put_query(struct output *o, const struct spark_query *q)
{
	if (!is_new(o, LEVEL_QUERY, q->id))
		return;
	o->counts->queries++;
	put_component(o, LEVEL_QUERY, q->id, q->description, "", 0);
	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		const struct spark_node *n = &q->nodes.at[i];

		put_component(o, LEVEL_OPERATOR, n->id, n->name, n->detail, 0);
		put_link(o, LEVEL_OPERATOR, n->id, LEVEL_QUERY, q->id);
		if (n->parent)
			TRACE_PUT(o->w, edge, o->time_ns, o->pid, o->pid, .level = LEVEL_OPERATOR, .from = n->id,
				  .to = q->nodes.at[n->parent - 1].id, .order = n->order);
		o->counts->operators++;
	}
}

/* Writes the numbers of rows of operators, from the last execution of each plan. */
static void put_rows(struct output *o)
{
	uint64_t rows;

	for (uint32_t i = o->l->queries.nr; i > 0; i--) {
		const struct spark_query *q = &o->l->queries.at[i - 1];

		for (uint32_t k = 0; k < q->nodes.nr; k++) {
			const struct spark_node *n = &q->nodes.at[k];

			if (spark_metric_value(o->l, n, "number of output rows", &rows) && is_new(o, 0, n->id))
				TRACE_PUT(o->w, counter, o->time_ns, o->pid, o->pid, .level = LEVEL_OPERATOR, .component = n->id,
					  .value = (int64_t)rows, .name = trace_string("rows"));
		}
	}
}

/* -------------------------------------------------------------------------------------------------- functions of operators */

#define LINES_MAX 65536u /* maximum number of lines of a generated text */
#define NODES_MAX SPARK_PREFIXES_MAX /* maximum number of operators of a WholeStageCodegen */

/* This struct has the operators of a WholeStageCodegen by their prefixes.  Code of operators with one prefix that the text cannot tell
 * apart is attributed to the WholeStageCodegen itself.  So are their methods that are known by their names alone. */
struct generated {
	struct spark_prefix prefix[NODES_MAX];
	char room[NODES_MAX][64], rest[NODES_MAX][72];
	uint64_t id[NODES_MAX], method_id[NODES_MAX];
	/* number of "(" in the operator's text in the plan; operators with one prefix are counted together, at the first of them */
	uint32_t parentheses[NODES_MAX];
	uint32_t nr;
	struct spark_numbers numbers; /* numbers in the texts that the plan has for the operators */
	uint64_t other; /* component of code without a known operator: the only operator, else the WholeStageCodegen */
	const struct source *text; /* generated text of the WholeStageCodegen; NULL: there is none, or several fit equally well */
	uint64_t lines_first;
	uint32_t nr_lines;
	uint8_t of_line[LINES_MAX]; /* 1 + index of the operator; 0: none, or unknown */
};

static void add_operator(struct generated *g, const struct spark_prefix *prefix, uint64_t id, uint64_t other)
{
	uint64_t *method = &g->method_id[g->nr], *own = &g->id[g->nr];

	*method = *own = id;
	for (uint32_t k = 0; k < g->nr; k++)
		if (strcmp(g->prefix[k].text, prefix->text) == 0) {
			g->method_id[k] = *method = other;
			if (!spark_prefix_has_twins(prefix->text) && !prefix->branch)
				g->id[k] = *own = other;
		}
	snprintf(g->rest[g->nr], sizeof(g->rest[g->nr]), "%s_", prefix->text);
	g->prefix[g->nr++] = *prefix;
}

/* Returns 1 + index of the only union in a WholeStageCodegen, or 0 if there is none or there are several. */
static uint32_t find_union(const struct spark_query *q, uint32_t at)
{
	uint32_t found = 0, nr = 0;

	for (uint32_t i = 0; i < q->nodes.nr; i++)
		if (q->nodes.at[i].stage == at + 1 && strcmp(q->nodes.at[i].name, "Union") == 0) {
			found = i + 1;
			nr++;
		}
	return nr == 1 ? found : 0;
}

/* Returns 1 + index of the union's input that a node is in, or 0 if it is in none, or is more than NODES_MAX nodes below the union.
 * above: 1 + index of the union, or 0 if there is none. */
static uint32_t branch_of_node(const struct spark_query *q, uint32_t node, uint32_t above)
{
	for (uint32_t i = node, steps = 0; above && q->nodes.at[i].parent && steps < NODES_MAX; i = q->nodes.at[i].parent - 1, steps++)
		if (q->nodes.at[i].parent == above)
			return q->nodes.at[i].order + 1;
	return 0;
}

static uint32_t count_parentheses(const char *detail)
{
	uint32_t nr = 0;

	for (; *detail; detail++)
		nr += *detail == '(';
	return nr;
}

static void read_operators(const struct spark_query *q, uint32_t at, struct generated *g)
{
	const uint32_t above = find_union(q, at);

	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		struct spark_prefix prefix = { NULL, 0 };

		if (q->nodes.at[i].stage != at + 1)
			continue;
		spark_numbers_add(&g->numbers, q->nodes.at[i].detail);
		prefix.text = g->nr < NODES_MAX ? spark_prefix_of_node(&q->nodes.at[i], g->room[g->nr]) : NULL;
		if (!prefix.text)
			continue;
		prefix.branch = branch_of_node(q, i, above);
		add_operator(g, &prefix, q->nodes.at[i].id, q->nodes.at[at].id);
		g->parentheses[spark_first_of_prefix(g->prefix, g->nr - 1) - 1] += count_parentheses(q->nodes.at[i].detail);
	}
	g->other = g->nr == 1 ? g->id[0] : q->nodes.at[at].id;
}

static bool are_equal(const struct source *a, const struct source *b)
{
	return a->text_bytes == b->text_bytes && memcmp(a->text, b->text, a->text_bytes) == 0;
}

/* Returns how well source i fits a WholeStageCodegen, which is 1 + how many of the plan's numbers are in it. Returns 0 if it is of a
 * WholeStageCodegen with another number, lacks names of an operator, or has marks of other operators, or if the budget is exceeded. */
static uint32_t fit_of_text(struct output *o, const struct spark_query *q, uint32_t at, const struct generated *g, uint32_t i)
{
	const struct source *s = &o->m->sources.at[i];

	if (o->codegen[i] != q->nodes.at[at].codegen || !budget_spend(o->b, 1 + s->text_bytes / TEXT_BYTES_A_STEP) ||
	    !spark_text_has_prefixes(s->text, s->text_bytes, g->prefix, g->nr) ||
	    spark_text_has_other_operators(s->text, s->text_bytes, g->prefix, g->nr))
		return 0;
	/* spends the steps for the search of numbers, and for comparisons with other sources that fit as well */
	budget_spend(o->b, (3 + g->numbers.nr / NUMBERS_A_STEP) * (uint64_t)s->text_bytes / TEXT_BYTES_A_STEP);
	return 1 + spark_text_count_numbers(s->text, s->text_bytes, &g->numbers);
}

static bool is_nearer(const struct generated *g, const struct source *s, const struct source *other)
{
	return spark_text_is_nearer(s->text, s->text_bytes, other->text, other->text_bytes, g->prefix, g->nr, g->parentheses);
}

/* Sets the operators of the lines that have the same operator in all texts that fit equally well.  One of these texts was compiled, so
 * this is right whichever it was. */
static void find_common_lines(struct output *o, struct generated *g, const uint32_t *fit, uint32_t best)
{
	uint8_t *other = malloc(LINES_MAX);
	bool is_first = true;

	for (uint32_t i = 0; other && i < o->m->sources.nr; i++) {
		const struct source *s = &o->m->sources.at[i];
		uint32_t lines = 0;

		if (fit[i] != best)
			continue;
		if (budget_spend(o->b, s->text_bytes))
			lines = spark_text_lines(s->text, s->text_bytes, g->prefix, g->nr, other, LINES_MAX);
		g->nr_lines = is_first || lines < g->nr_lines ? lines : g->nr_lines;
		for (uint32_t k = 0; k < g->nr_lines; k++)
			g->of_line[k] = is_first || g->of_line[k] == other[k] ? other[k] : 0;
		is_first = false;
	}
	free(other);
}

/* Finds the generated text that fits best. If several fit equally well, the one that is nearer to the plan than each other one is taken. If
 * there is no such text, only the operators of lines on which all of them agree are used. */
static void find_text(struct output *o, const struct spark_query *q, uint32_t at, struct generated *g)
{
	uint32_t *fit = calloc(o->m->sources.nr + 1, sizeof(*fit)), best = 0;

	for (uint32_t i = 0; fit && g->nr && i < o->m->sources.nr; i++) {
		const struct source *s = &o->m->sources.at[i];

		fit[i] = fit_of_text(o, q, at, g, i);
		if (fit[i] > best || (fit[i] && fit[i] == best && !are_equal(g->text, s) && is_nearer(g, s, g->text))) {
			g->text = s;
			g->lines_first = ((uint64_t)i + 1) << 20;
			best = fit[i];
		}
	}
	for (uint32_t i = 0; g->text && i < o->m->sources.nr; i++)
		if (fit[i] == best && !are_equal(g->text, &o->m->sources.at[i]) && !is_nearer(g, g->text, &o->m->sources.at[i]))
			g->text = NULL;
	if (g->text && budget_spend(o->b, g->text->text_bytes))
		g->nr_lines = spark_text_lines(g->text->text, g->text->text_bytes, g->prefix, g->nr, g->of_line, LINES_MAX);
	else if (best)
		find_common_lines(o, g, fit, best);
	free(fit);
}

static void put_text(struct output *o, const struct spark_query *q, uint32_t at, const struct generated *g)
{
	const struct trace_span of = span(q->description);
	char name[DETAIL_BYTES + 64];

	if (!is_new(o, LEVEL_JAVA, g->lines_first))
		return;
	snprintf(name, sizeof(name), "%.30s of %.*s", q->nodes.at[at].name, (int)of.bytes, (const char *)of.p);
	TRACE_PUT(o->w, source, o->time_ns, o->pid, o->pid, .level = LEVEL_JAVA, .first_component = g->lines_first,
		  .name = trace_string(name), .text = { g->text->text, g->text->text_bytes });
}

/* Adds an entry for each range of lines that belong to one component. */
static void add_lines(const struct generated *g, struct trace_plan_code_entry *entry, uint32_t *nr)
{
	for (uint32_t i = 0; i < g->nr_lines; i++) {
		uint64_t id = g->of_line[i] ? g->id[g->of_line[i] - 1] : g->other;

		if (i && entry[*nr - 1].component == id)
			entry[*nr - 1].last_line++;
		else
			entry[(*nr)++] = (struct trace_plan_code_entry){ i + 1, i + 1, id, trace_string("") };
	}
}

/* Beginnings of the names of methods that have the code of all operators of a pipeline, although they are named after the operator at
 * its end.  Unless a text shows the operators of their lines, their code is attributed to the WholeStageCodegen. */
static const char *const pipelines[] = { "hashAgg_doAggregateWith", "sortAgg_doAggregateWith", "sort_addToSorter_" };
#define NR_PIPELINES (sizeof(pipelines) / sizeof(pipelines[0]))

/* Writes which code of a WholeStageCodegen belongs to which operator, by line if its text is known.  Otherwise methods whose names begin
 * with an operator's prefix belong to that operator. */
static void put_codegen_stage(struct output *o, const struct spark_query *q, const struct spark_stage *s, uint32_t at)
{
	struct trace_plan_code_entry *entry = malloc((LINES_MAX + NR_PIPELINES + NODES_MAX + 1) * sizeof(*entry));
	struct generated *g = calloc(1, sizeof(*g));
	uint32_t nr = 0;
	char pattern[256];

	if (entry && g) {
		snprintf(pattern, sizeof(pattern), GENERATED "%u", q->nodes.at[at].codegen);
		read_operators(q, at, g);
		find_text(o, q, at, g);
		if (g->text && g->nr_lines) {
			put_text(o, q, at, g);
			o->counts->texts++;
		}
		add_lines(g, entry, &nr);
		for (size_t i = 0; i < NR_PIPELINES; i++)
			entry[nr++] = (struct trace_plan_code_entry){ 0, 0, g->other, trace_string(pipelines[i]) };
		for (uint32_t i = 0; i < g->nr; i++)
			entry[nr++] = (struct trace_plan_code_entry){ 0, 0, g->method_id[i], trace_string(g->rest[i]) };
		entry[nr++] = (struct trace_plan_code_entry){ 0, 0, g->other, trace_string("") };
		TRACE_PUT(o->w, plan_code, o->time_ns, o->pid, o->pid, .context_level = LEVEL_STAGE, .context = s->id,
			  .pattern = trace_string(pattern), .level = LEVEL_OPERATOR, .lines_level = LEVEL_JAVA,
			  .lines_first = g->text ? g->lines_first : 0, .nr_lines = g->text ? g->nr_lines : 0, .entries = { entry, nr });
	}
	free(entry);
	free(g);
}

/* Returns whether the number of a WholeStageCodegen is unique in its plan. Then its class name alone identifies it, and the stage need not
 * have updated its accumulators, which Spark omits if their value is 0 ms. */
static bool codegen_number_is_unique(const struct spark_query *q, uint32_t at)
{
	for (uint32_t i = 0; i < q->nodes.nr; i++)
		if (i != at && q->nodes.at[i].codegen == q->nodes.at[at].codegen)
			return false;
	return true;
}

static uint64_t work_id(const char *what)
{
	return hash_text(what) | 1;
}

static void put_own_work(struct output *o, const struct spark_query *q, const struct spark_stage *s)
{
#define SPARK_WORK_(beginning, rank_, kind_, what_) { beginning, rank_, SPARK_##kind_, what_ },
	static const struct {
		const char *beginning;
		uint32_t rank;
		enum spark_kind kind;
		const char *what;
	} work[] = { SPARK_WORK(SPARK_WORK_) };
#undef SPARK_WORK_

	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++) {
		struct trace_plan_code_entry entry = { 0, 0, work_id(work[i].what), trace_string("") };
		uint32_t node = q ? spark_node_of_kind(q, s, work[i].kind, o->b) : 0;

		if (!q && is_new(o, LEVEL_OPERATOR, entry.component))
			put_component(o, LEVEL_OPERATOR, entry.component, work[i].what, "", JITREG_COMPONENT_RUNTIME);
		if (node)
			entry.component = q->nodes.at[node - 1].id;
		if (!q || node)
			TRACE_PUT(o->w, plan_code, o->time_ns, o->pid, o->pid, .context_level = LEVEL_STAGE, .context = q ? s->id : 0,
				  .pattern = trace_string(work[i].beginning), .rank = work[i].rank, .level = LEVEL_OPERATOR,
				  .entries = { &entry, 1 });
	}
}

static void put_stage(struct output *o, const struct spark_stage *s)
{
	const struct spark_query *q = s->query ? &o->l->queries.at[s->query - 1] : NULL;
	char name[64];

	if (!is_new(o, LEVEL_STAGE, s->id))
		return;
	o->counts->stages++;
	snprintf(name, sizeof(name), "stage %llu", (unsigned long long)s->number);
	put_component(o, LEVEL_STAGE, s->id, name, s->name, 0);
	if (!q)
		return;
	put_link(o, LEVEL_STAGE, s->id, LEVEL_QUERY, q->id);
	for (uint32_t i = 0; i < q->nodes.nr; i++)
		if (q->nodes.at[i].codegen && budget_spend(o->b, 1 + q->nodes.nr / NODES_A_STEP) &&
		    (spark_node_is_in_stage(s, &q->nodes.at[i], "", o->b) || codegen_number_is_unique(q, i)))
			put_codegen_stage(o, q, s, i);
	if (budget_spend(o->b, (uint64_t)NR_SPARK_KINDS * q->nodes.nr))
		put_own_work(o, q, s);
}

/* --------------------------------------------------------------------------------------------------------------- marks */

/* Writes a mark.  t: the thread that the mark covers; NULL: all threads of the application's process. */
static void put_mark(struct output *o, const struct thread *t, uint64_t time_ns, uint32_t action, uint32_t level, uint64_t component,
		     const char *name, uint64_t instance, uint64_t handle, uint64_t parent)
{
	const uint32_t pid = t ? o->m->numbered.at[t->process]->pid : o->pid, tid = t ? t->tid : o->pid;

	TRACE_PUT(o->w, mark, time_ns, pid, tid, .action = action, .level = level, .component = component, .instance = instance,
		  .name = trace_string(name), .mark = handle, .parent = parent,
		  .covers = t ? JITREG_COVERS_THREAD : JITREG_COVERS_PROCESS);
}

static uint64_t time_of_mark(const struct model *m, uint64_t real_ms)
{
	uint64_t time_ns = spark_time_ns(m, real_ms);

	return time_ns < m->begin_ns || time_ns > m->end_ns ? m->end_ns : time_ns;
}

static void put_executions(struct output *o)
{
	for (uint32_t i = 0; i < o->l->queries.nr; i++) {
		const struct spark_query *q = &o->l->queries.at[i];

		put_mark(o, NULL, time_of_mark(o->m, q->begin_ms), JITREG_MARK_BEGIN, LEVEL_QUERY, q->id, "run", q->execution + 1,
			 HANDLE + q->execution, 0);
		put_mark(o, NULL, time_of_mark(o->m, q->end_ms ? q->end_ms : q->begin_ms), JITREG_MARK_END, LEVEL_QUERY, q->id, "run",
			 q->execution + 1, HANDLE + q->execution, 0);
	}
}

/* Returns the handle of the mark for the query execution that a stage belongs to, or 0 if it belongs to none. */
static uint64_t execution_of_stage(const struct output *o, const struct spark_stage *s)
{
	return s && s->query ? HANDLE + o->l->queries.at[s->query - 1].execution : 0;
}

static void put_task(struct output *o, const struct spark_run *run)
{
	const struct spark_task *t = &o->l->tasks.at[run->task];
	const struct spark_stage *s = t->stage ? &o->l->stages.at[t->stage - 1] : NULL;
	const uint64_t id = t->number + 1, parent = execution_of_stage(o, s);
	const struct thread *thread = &o->m->threads.at[run->thread];
	const bool own = o->counts->tasks < SPARK_TASKS_MAX;
	char name[96];

	if (!s)
		return;
	if (own && is_new(o, LEVEL_TASK, id)) {
		snprintf(name, sizeof(name), "task %llu of stage %llu", (unsigned long long)t->number, (unsigned long long)s->number);
		put_component(o, LEVEL_TASK, id, name, s->name, 0);
		put_link(o, LEVEL_TASK, id, LEVEL_STAGE, s->id);
		TRACE_PUT(o->w, counter, o->time_ns, o->pid, o->pid, .level = LEVEL_TASK, .component = id, .value = (int64_t)t->cpu_ns,
			  .name = trace_string("executor cpu ns"));
	}
	o->counts->tasks++;
	o->counts->tasks_without_component += !own;
	put_mark(o, thread, run->from_ns, JITREG_MARK_BEGIN, own ? LEVEL_TASK : LEVEL_STAGE, own ? id : s->id, "task", id,
		 HANDLE_TASK + run->task, parent);
	put_mark(o, thread, run->to_ns < o->m->end_ns ? run->to_ns : o->m->end_ns, JITREG_MARK_END, own ? LEVEL_TASK : LEVEL_STAGE,
		 own ? id : s->id, "task", id, HANDLE_TASK + run->task, parent);
}

static void put_work(struct output *o, const struct spark_work *work, uint32_t number)
{
	const struct spark_stage *s = &o->l->stages.at[work->stage];
	const struct thread *thread = &o->m->threads.at[work->thread];
	const uint64_t id = WORKERS_OF_STAGE + work->stage, parent = execution_of_stage(o, s);
	char name[96];

	if (is_new(o, LEVEL_TASK, id)) {
		snprintf(name, sizeof(name), "Python workers of stage %llu", (unsigned long long)s->number);
		put_component(o, LEVEL_TASK, id, name, s->name, 0);
		put_link(o, LEVEL_TASK, id, LEVEL_STAGE, s->id);
	}
	put_mark(o, thread, work->from_ns, JITREG_MARK_BEGIN, LEVEL_TASK, id, "work", id, HANDLE_WORK + number, parent);
	put_mark(o, thread, work->to_ns, JITREG_MARK_END, LEVEL_TASK, id, "work", id, HANDLE_WORK + number, parent);
}

static uint32_t *find_codegens(const struct model *m)
{
	uint32_t *number = calloc((size_t)m->sources.nr + 1, sizeof(*number));

	for (uint32_t i = 0; number && i < m->sources.nr; i++)
		if (m->sources.at[i].name && strncmp(m->sources.at[i].name, "spark/", 6) == 0)
			number[i] = spark_text_codegen(m->sources.at[i].text, m->sources.at[i].text_bytes);
	return number;
}

/* Returns the pid of the process whose threads without tasks work for queries, too. It is the executor of a local Spark, or the process
 * that started several executors, or the first executor if another process started the second one. Without runs, it is the first process.
 * Returns 0 if the trace has no process. */
static uint32_t find_application(const struct model *m, const struct spark_run *run, uint32_t nr)
{
	const struct process *any = m->numbered.nr ? m->numbered.at[0] : NULL;
	const struct process *first = nr ? m->numbered.at[m->threads.at[run[0].thread].process] : any;

	for (uint32_t i = 1; i < nr; i++) {
		const struct process *p = m->numbered.at[m->threads.at[run[i].thread].process];

		if (p != first)
			return p->parent_pid && p->parent_pid == first->parent_pid ? p->parent_pid : first->pid;
	}
	return first ? first->pid : 0;
}

int spark_write_plan(struct trace_writer *w, const struct model *m, const struct spark_log *l, struct budget *b,
		     const struct spark_run *run, uint32_t nr_runs, const struct spark_works *works, struct spark_counts *counts)
{
	struct output o = { .w = w, .m = m, .l = l, .b = b, .codegen = find_codegens(m), .time_ns = m->begin_ns, .counts = counts };

	if (!o.codegen)
		return -ENOMEM;
	*counts = (struct spark_counts){ 0 };
	o.pid = find_application(m, run, nr_runs);
	put_level(&o, LEVEL_QUERY, "query", 0, 0);
	put_level(&o, LEVEL_STAGE, "stage", LEVEL_QUERY, 0);
	put_level(&o, LEVEL_TASK, "task", LEVEL_STAGE, 0);
	put_level(&o, LEVEL_OPERATOR, "operator", LEVEL_QUERY, JITREG_LEVEL_PLAN);
	put_level(&o, LEVEL_JAVA, "generated line", LEVEL_OPERATOR, 0);
	for (uint32_t i = 0; i < l->queries.nr; i++)
		put_query(&o, &l->queries.at[i]);
	put_rows(&o);
	put_own_work(&o, NULL, NULL);
	for (uint32_t i = 0; i < l->stages.nr; i++)
		put_stage(&o, &l->stages.at[i]);
	put_executions(&o);
	for (uint32_t i = 0; i < nr_runs; i++)
		put_task(&o, &run[i]);
	for (uint32_t i = 0; i < works->nr && budget_spend(b, 1); i++)
		put_work(&o, &works->at[i], i);
	hash_map_fini(&o.said);
	free(o.codegen);
	return budget_spend(b, 0) ? trace_writer_error(w) : -E2BIG;
}
