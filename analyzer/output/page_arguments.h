/* SPDX-License-Identifier: MIT */
/*
 * Parses the options of commands that print tables (--json, --csv, --table, --top, --color), and begins and ends their pages. Context:
 * thread.
 */
#ifndef TAILOR_PAGE_ARGUMENTS_H
#define TAILOR_PAGE_ARGUMENTS_H

#include "analyzer/output/page.h"

#include <argp.h>

/* These are the results of parsing the options of page_argp. The command sets top to its default before. */
struct page_arguments {
	enum page_form form;
	int top;
	const char *csv_folder, *table;
	enum page_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
};
extern const struct argp page_argp;

/*
 * Begins a page on standard output as the options say, and creates the folder of --csv=DIR unless it exists. The command sets p->top
 * afterwards. Returns 0, or -errno after a message on stderr.
 */
int page_start(struct page *p, const struct page_arguments *a);
/*
 * Ends the page. Returns status, CMD_FAILED if the output failed, or CMD_MISUSED if --table names a table that the page does not have. A
 * message on stderr says so, except for a failed write to standard output.
 */
int page_finish(struct page *p, int status);

#endif
