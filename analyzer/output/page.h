/* SPDX-License-Identifier: MIT */
/*
 * The output of a view: text for people (80 columns, UTF-8 or ASCII, colour on terminals), JSON or CSV for programs. A view makes grids
 * (tables) and sentences, once, and the page gives them their form.
 *
 * JSON: { "schema": PAGE_SCHEMA, "view": ..., facts, "tables": { name: [ { key: value } ] }, "notes": [ sentence ] }. Keys are stable.
 * CSV: each table with a line of keys, an empty line between tables, no sentences.
 * Context: thread.
 */
#ifndef TAILOR_PAGE_H
#define TAILOR_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Version of the keys of all JSON. It is raised when a key is renamed. New keys may come at any time. */
#define PAGE_SCHEMA 2

#define PAGE_NAMES_MAX 128

enum page_form { PAGE_TEXT, PAGE_JSON, PAGE_CSV };

struct page {
	FILE *to;
	enum page_form form;
	bool colour, utf8, intervals;
	int columns; /* width of the terminal */
	int top;     /* rows of each table in text; 0: all */
	bool begun;  /* something has been written, so that an empty line stands before the next table */
	const char *sort; /* the column that rows are sorted by: its key, or its heading in text; NULL: rows stay in order */
	bool sorted; /* a table has the column of sort */
	const char *table; /* the only table that is shown; NULL: all */
	const char *csv_folder; /* folder of CSV files, one for each table; NULL: CSV goes to `to` */
	int error; /* -errno of writing to the folder */
	char *why; /* the sentence for that error */
	struct page_names { /* names that the page had, to suggest one instead of an unknown name */
		char *name[PAGE_NAMES_MAX];
		uint32_t nr;
	} tables, headings;
	void *json;  /* json_t of the page */
};

/* Return 0 or -ENOMEM. */
int page_init(struct page *p, FILE *to, enum page_form form);
/* Add a fact of the whole page, which is a key of the JSON. Text shows it only if a heading or sentence says it. */
void page_fact(struct page *p, const char *key, const char *text);
void page_fact_number(struct page *p, const char *key, double value);
/* Add a time in nanoseconds since 1970, which a double does not hold. */
void page_fact_time(struct page *p, const char *key, int64_t ns);
/* Add one sentence, with its full stop if it has one. Its lines break at blanks in text. */
void page_sentence(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add the text of a diag as a sentence, with a capital letter and a full stop. */
void page_reason(struct page *p, const char *text);
/* Only in text form: write a heading on a line of its own, and a text behind before (a label or blanks). Further lines of the text begin at
 * column indent. */
void page_heading(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_text(struct page *p, const char *before, int indent, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Only in text form: draw a picture of two by four dots a cell (bits as in Unicode's braille patterns). Without UTF-8 a cell is one
 * character, chosen by how many of its dots are set. */
void page_dots(struct page *p, const unsigned char *cells, int columns, int rows, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Add a name. Return false if it was there already. */
bool page_note_name(struct page_names *names, const char *name);
/* Return the suggestion of suggest() among the names. */
const char *page_suggest(const struct page_names *names, const char *wanted, char *text, size_t bytes);
/* Write all that is left. Return 0, or -EIO. */
int page_end(struct page *p);

/* Only in text form: write at most columns characters of foreign text, without control characters and half UTF-8. Return how many columns
 * it took. */
int page_put(const struct page *p, const char *text, int columns);
/* Write a name in the same way. A name that does not fit loses its parameters, and then its middle. A path loses its front. */
int page_put_name(const struct page *p, const char *text, int columns);
/* Write the output of page_put_name() or page_put() into to. Return to. */
const char *page_cut_name(const struct page *p, const char *text, int columns, char *to, size_t bytes);
const char *page_cut(const struct page *p, const char *text, int columns, char *to, size_t bytes);
/* Write a text whose lines break at blanks, from column used on. Further lines begin at column indent. The function changes text. */
void page_put_words(const struct page *p, char *text, int used, int indent);
/* Write a text as lines of its own, which break at blanks. The function changes text. */
void page_put_wrapped(struct page *p, char *text);
#define PAGE_NAME_LEAST 8 /* columns that branches leave to the name behind them */
/* Write a tree's branches in front of a name that has so many columns together with them. If these do not suffice, only the branches next
 * to the name are written. page_branches_width() returns the columns that the branches take. */
int page_put_branches(const struct page *p, const char *branches, int columns);
int page_branches_width(const struct page *p, const char *branches, int columns);
/* Return how many columns a text takes. For one that is far too long for the page the number only tells that it does not fit. */
int page_width(const struct page *p, const char *text);
void page_style(const struct page *p, const char *sgr); /* "1", "2", "36", "0"; nothing without colour */

/* ------------------------------------------------------------------------------------------------------------- grids */

enum cell_kind {
	CELL_TEXT,
	CELL_SHARE,    /* share of the column's total; shown in tenths of per cent that add up */
	CELL_COUNT,    /* samples or rows: a whole number */
	CELL_NUMBER,   /* shown with three or four digits: 6.00M */
	CELL_DURATION, /* ns */
	CELL_TIMES,    /* a factor: 2.6x */
	CELL_PERCENT,  /* 0..1, shown as 37 % */
	CELL_HEX,      /* an address or an offset, or hidden a time since 1970: all 64 bits */
	CELL_POINTS,	/* -1..1: a difference of shares: +3.7 (in per cent) */
	CELL_POINTS_OF, /* the error of a difference of shares: 0.4 */
};

#define GRID_BAR 1u	  /* with a share: also draw it as a bar */
#define GRID_HIDDEN 2u	  /* only for programs */
#define GRID_TEXT_ONLY 4u /* only for people */
#define GRID_SAMPLES 8u	  /* with a count: the samples of the row, for intervals and for greying small numbers */
#define GRID_REST 16u	  /* with a number: adds up in the line for the rows that are not shown */

#define GRID_FIXED 32u	  /* with a text: never cut to make room */
#define GRID_WRAP 64u	  /* with the last text of a placed grid: its lines break at blanks */

#define GRID_OVERLAP 256u /* with a share: rows hold parts of others, so each is rounded by itself, and they have no sum */

#define GRID_NAME 128u	  /* with a text: page_put_name() writes it; grid_column() sets this for keys of names */

#define GRID_DIM 512u	  /* with a text: dim, because it is not what the row is about */

#define GRID_SMALL 10 /* fewer samples than this say little */

struct grid;

/* Create a grid. name: for programs. heading: for people. This never fails: without memory the grid shows nothing, and grid_show() says
 * so. */
struct grid *grid_create(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add a column. width: the most columns that a text takes (0: as many as are left). Return the column's number. */
int grid_column(struct grid *g, const char *key, const char *heading, enum cell_kind kind, unsigned flags, int width);
void grid_set_total(struct grid *g, int column, double total);
/* Show all rows, however many there are. */
void grid_show_all_rows(struct grid *g);
/* Place this column in text: gap blanks behind the one before it, and so wide. All other columns must be placed, too. */
void grid_place(struct grid *g, int column, int gap, int width);
/* Show the column only to programs from now on, because the text has no room for it. */
void grid_hide(struct grid *g, int column);
/* Set the number of cells of its bars in text (8). */
void grid_set_bar(struct grid *g, int cells);
/* Rows hold parts of others, so the shares of this column are rounded each by itself. */
void grid_mark_tree_column(struct grid *g, int column);
void grid_row(struct grid *g);
/* Set a cell of the last row. A cell that is never set is "-" in text and null in JSON. */
void grid_set(struct grid *g, int column, double value);
void grid_set_address(struct grid *g, int column, uint64_t address); /* only for CELL_HEX */
void grid_set_text(struct grid *g, int column, const char *text);
/* Set how many samples of equal weight are as precise as all the samples that the share is a share of, for its interval. Without it, the
 * interval is that of the row's samples among all samples. */
void grid_set_evidence(struct grid *g, int column, double samples);
/* Set a cell to empty in text, and to null for programs. */
void grid_set_blank(struct grid *g, int column);
/* Set a few words before a text (a tree's branches), and a second line below it. Only people get them. */
void grid_set_prefix(struct grid *g, int column, const char *prefix);
void grid_set_detail(struct grid *g, int column, const char *detail);
/* Mark the last row as a sum or a remark. Programs do not get it. */
void grid_mark_row_text(struct grid *g);
/* Mark the last row as what the others leave over. It has no bar. */
void grid_mark_row_rest(struct grid *g);
/* Free a grid without showing it. */
void grid_discard(struct grid *g);
/* Show and free a grid. If the page has a column to sort by, numbers are sorted from the largest, texts from the first, and a tree becomes
 * a list. */
void grid_show(struct grid *g, struct page *p);

/* Compute the 95 % interval (Wilson) of a share of k of n samples. */
void grid_interval(double k, double n, double *low, double *high);
/* Round a share to tenths of a per cent, as it is printed. Only a full share is 100.0, and only an empty one is 0.0. */
double grid_percent(double share);
/* 1234 -> "1234", 6001215 -> "6.00M". */
const char *grid_short_number(double v, char text[16]);
const char *grid_duration(double ns, char text[16]);

/* Round each value to tenths of per cent of total, by largest remainder, so that the tenths add up to 1000 if the values add up to
 * total. */
void grid_round_to_tenths(const double *values, size_t nr, double total, int *tenths);
/* Round one value. Both functions bound the values of a damaged file. */
int grid_tenths(double value, double total);

#endif
