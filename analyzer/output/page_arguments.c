/* SPDX-License-Identifier: MIT */
#include "analyzer/output/page_arguments.h"

#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_JSON = 0x300, KEY_CSV, KEY_TABLE, KEY_TOP, KEY_COLOUR };

static const struct argp_option page_options[] = {
	{ "json", KEY_JSON, NULL, 0, "write JSON", 0 },
	{ "csv", KEY_CSV, "DIR", OPTION_ARG_OPTIONAL, "write CSV; with =DIR a file for each table into this folder", 0 },
	{ "table", KEY_TABLE, "NAME", 0, "only this table, by its name in JSON", 0 },
	{ "color", KEY_COLOUR, "WHEN", 0, "colour text: auto (on a terminal, where NO_COLOR is not set), always or never (default: auto)",
	  0 },
	{ "top", KEY_TOP, "N", 0, "rows per table; 0: all (default: 10, of a store 20; 4 or 5 in the default report)", 0 },
	{ 0 },
};

static error_t parse_page_option(int key, char *arg, struct argp_state *state)
{
	struct page_arguments *a = state->input;
	enum page_form form = key == KEY_JSON ? PAGE_JSON : PAGE_CSV;
	char *end;

	switch (key) {
	case KEY_JSON:
	case KEY_CSV:
		if (a->form != PAGE_TEXT && a->form != form)
			usage_fail(state, "--csv and --json cannot be combined");
		a->form = form;
		a->csv_folder = form == PAGE_CSV && arg ? arg : a->csv_folder;
		break;
	case KEY_TABLE:
		a->table = arg;
		break;
	case KEY_COLOUR:
		a->colour = strcmp(arg, "always") == 0 ? COLOUR_ALWAYS : strcmp(arg, "never") == 0 ? COLOUR_NEVER : COLOUR_AUTO;
		if (a->colour == COLOUR_AUTO && strcmp(arg, "auto") != 0)
			usage_fail(state, "--color must be auto, always or never, not '%s'", arg);
		break;
	case KEY_TOP:
		a->top = (int)strtoul(arg, &end, 10);
		if (end == arg || *end || a->top < 0 || *arg == '-')
			usage_fail(state, "--top must be a number, not '%s'", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int page_start(struct page *p, const struct page_arguments *a)
{
	if (a->csv_folder && mkdir(a->csv_folder, 0700) && errno != EEXIST) {
		message_print("cannot create the folder '%s': %s", a->csv_folder, strerror(errno));
		return -errno;
	}
	if (page_init(p, stdout, a->form)) {
		message_print("out of memory");
		return -ENOMEM;
	}
	if (a->colour != COLOUR_AUTO)
		p->colour = a->form == PAGE_TEXT && a->colour == COLOUR_ALWAYS;
	p->table = a->table;
	p->csv_folder = a->csv_folder;
	return 0;
}

int page_finish(struct page *p, int status)
{
	char near[400];

	for (uint32_t i = 0; p->table && i < p->tables.nr; i++)
		if (strcmp(p->tables.name[i], p->table) == 0)
			p->table = NULL;
	if (p->table) {
		message_print("there is no table '%s'%s", p->table, page_suggest(&p->tables, p->table, near, sizeof(near)));
		status = CMD_MISUSED;
	}
	if (p->error) {
		message_print("%s", p->why ? p->why : strerror(-p->error));
		status = CMD_FAILED;
	}
	return page_end(p) ? CMD_FAILED : status;
}

const struct argp page_argp = { page_options, parse_page_option, NULL, NULL, NULL, NULL, NULL };
