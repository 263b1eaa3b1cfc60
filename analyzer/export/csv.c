/* SPDX-License-Identifier: MIT */
/* Writes the formats csv and json. csv has one line per sample (or share of one), with the columns of the sample table, and is written
 * while the trace is read. json is the report without --view, whose keys are stable. */
#include "analyzer/export/export.h"

#include "analyzer/attribute/rows.h"
#include "analyzer/output/escape.h"
#include "analyzer/report/default_report.h"

#include <stdio.h>

static void write_csv_field(FILE *to, const char *text)
{
	fputc(',', to);
	escape_csv(to, text);
}

static int write_csv_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	static const char *const modes[] = { "user", "kernel", "other" };
	const struct export *e = context;
	const struct model *m = a->model;
	FILE *to = e->each;
	char spare[32];

	for (uint32_t i = 0; i < nr && !ferror(to); i++) { /* the error is reported when the output is closed */
		uint32_t row = rows[i], mode = t->column[TABLE_MODE][row], event = t->column[TABLE_EVENT][row];
		const struct function *f = &a->function[t->column[TABLE_FUNCTION][row]];
		const struct line *l = &a->line[t->column[TABLE_LINE][row]];
		const struct thread *thread = &m->threads.at[t->column[TABLE_THREAD][row]];

		fprintf(to, "%llu,%.6g,%u,%u,%u", (unsigned long long)t->time_ns[row], t->share[row], m->numbered.at[thread->process]->pid,
			thread->tid, t->column[TABLE_CPU][row]);
		write_csv_field(to, event < m->nr_events && m->event[event].name ? m->event[event].name : "");
		fprintf(to, ",%llu,%s,%#llx,%#llx", (unsigned long long)t->weight[row], modes[mode < 2 ? mode : 2],
			(unsigned long long)t->ip[row], (unsigned long long)t->address[row]);
		write_csv_field(to, a->image[t->column[TABLE_IMAGE][row]].path);
		write_csv_field(to, f->name);
		write_csv_field(to, t->column[TABLE_LINE][row] ? l->file : "");
		fprintf(to, ",%u,%s,%s,%u", l->number, method_names[t->column[TABLE_METHOD][row]],
				reason_names[t->column[TABLE_REASON][row]],
			t->column[TABLE_PHASE][row]);
		write_csv_field(to, t->column[TABLE_MEMORY][row] ? m->areas.at[t->column[TABLE_MEMORY][row]]->name : "");
		for (uint32_t level = 0; level < t->nr_levels; level++) {
			uint32_t c = t->column[TABLE_LEVEL_0 + level][row];

			write_csv_field(to, c ? report_component_name(e->report, c, spare) : "");
		}
		fputc('\n', to);
	}
	return 0;
}

static void prepare_csv(struct export *e)
{
	char spare[SAMPLE_COLUMN_BYTES];

	e->report->addresses = true;
	report_add_callback(e->report, write_csv_rows, e);
	fputs(CSV_SAMPLE_COLUMNS, e->each);
	for (uint32_t i = 0; i < e->report->model->dictionary.nr_levels; i++)
		write_csv_field(e->each, sample_column_of_level(report_level_name(e->report, i), spare));
	fputc('\n', e->each);
}

static int write_csv(struct export *e, FILE *to)
{
	(void)e;
	(void)to;
	return 0; /* write_csv_rows() has written the rows to e->each */
}

const struct exporter exporter_csv = {
	"csv", ".csv", "one line per sample, with all columns of the sample table",
	false, prepare_csv, write_csv, false,
};

static void prepare_json(struct export *e)
{
	e->state = report_add_state(e->report, sizeof(struct default_report), NULL);
	if (e->state)
		default_report_ask(e->state, e->report, true);
}

static int write_json(struct export *e, FILE *to)
{
	int ret = default_report_settle(e->state, e->report);

	return ret ? ret : default_report_json(e->state, e->report, to);
}

const struct exporter exporter_json = {
	"json", ".json", "the report, as of `tailor report --json`",
	false, prepare_json, write_json, false,
};
