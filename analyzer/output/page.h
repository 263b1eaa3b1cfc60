/* SPDX-License-Identifier: MIT */
/*
 * Writes the output of a view, as text for people (as wide as the terminal, UTF-8 or ASCII, with colour on terminals), or as JSON or CSV
 * for programs. A view makes grids (tables) and sentences, without regard to the form, and the page gives them their form.
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

/* This is the version of the keys of all JSON output. It is raised when a key is renamed or removed. New keys may be added without that. */
#define PAGE_SCHEMA 2

#define PAGE_NAMES_MAX 128

enum page_form { PAGE_TEXT, PAGE_JSON, PAGE_CSV };

struct page {
	FILE *to;
	enum page_form form;
	bool colour, utf8, intervals;
	int columns; /* width of lines: $COLUMNS, or that of the terminal; 80 if neither is known, or if it is below 40 */
	int top;     /* most rows of each table in text, or one more if that is the last; 0: all; < 0: the report chooses */
	bool begun;  /* set when something has been written, so that an empty line stands before the next table */
	const char *sort; /* the column that rows are sorted by: its key or its heading; NULL: rows stay in the order of the view */
	bool sorted; /* set when a table had the column to sort by */
	const char *table; /* name of the only table that is shown; NULL: all are shown */
	const char *csv_folder; /* folder of CSV files, one for each table; NULL: CSV goes to `to` */
	int error; /* 0, or -errno of the first file in csv_folder that could not be written */
	char *why; /* reason of that error, on the heap, or NULL */
	struct page_names { /* names that the page had, one of which is suggested if the user gave an unknown one */
		char *name[PAGE_NAMES_MAX];
		uint32_t nr;
	} tables, headings;
	void *json;  /* json_t of the page with PAGE_JSON, or NULL */
};

/* Does the locale have characters beyond ASCII, such as the bars of tables? */
bool page_locale_is_utf8(void);
/* Begin a page that is written to `to`. Return 0 or -ENOMEM. */
int page_init(struct page *p, FILE *to, enum page_form form);
/* Add a fact about the whole page, which is a key of the JSON. The other forms do not show it. */
void page_fact(struct page *p, const char *key, const char *text);
void page_fact_number(struct page *p, const char *key, double value);
/* Add a time in nanoseconds since 1970, which may have more digits than a double holds. */
void page_fact_time(struct page *p, const char *key, int64_t ns);
/* Add a sentence. In text it is a paragraph whose lines break at blanks, and in JSON it is one of the "notes". CSV leaves it out. */
void page_sentence(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add the text of a struct diag as a sentence, with a capital letter and a full stop. */
void page_reason(struct page *p, const char *text);
/* In text form, write a heading on a line of its own, or a text after `before` (a label or blanks), whose further lines begin at column
 * indent. Do nothing in other forms. */
void page_heading(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_text(struct page *p, const char *before, int indent, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Draw a picture of two by four dots a cell (bits as in Unicode's braille patterns) below a heading. Callers do this in text form only.
 * Without UTF-8 a cell is one character, chosen by how many of its dots are set. */
void page_dots(struct page *p, const unsigned char *cells, int columns, int rows, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Add a name, which is copied. Return false if it was there already. Names beyond PAGE_NAMES_MAX are not stored. */
bool page_note_name(struct page_names *names, const char *name);
/* Return a suggestion for a name that is not among the names, as suggest() makes it in text. */
const char *page_suggest(const struct page_names *names, const char *wanted, char *text, size_t bytes);
/* Write what is left (with JSON, everything), and free what the page holds. Return 0 or -EIO. */
int page_end(struct page *p);

/* Write at most so many columns of foreign text. Characters that cannot be shown become '?', and ends of lines and tabs become blanks. A
 * text that is cut ends with a mark. Return how many columns were written. text may be NULL. */
int page_put(const struct page *p, const char *text, int columns);
/* Write a name in the same way. If it does not fit, it loses its parameters (of C++), then arguments of templates and generics, and then
 * its middle. A path from / loses its beginning. In fewer than 5 columns it loses its end. */
int page_put_name(const struct page *p, const char *text, int columns);
/* Write to the buffer `to` what page_put_name(), or page_put(), would write to the page. A text that does not fit is cut at its end. Return
 * to. */
const char *page_cut_name(const struct page *p, const char *text, int columns, char *to, size_t bytes);
const char *page_cut(const struct page *p, const char *text, int columns, char *to, size_t bytes);
/* Write a text whose lines break at blanks, from column `used` on. Further lines begin at column indent. The text is changed. */
void page_put_words(const struct page *p, char *text, int used, int indent);
/* Write a text as lines of its own, which break at blanks and are indented from the second one on. The text is changed. */
void page_put_wrapped(struct page *p, char *text);
#define PAGE_NAME_LEAST 8 /* columns that a tree's branches leave to the name behind them, if they are shown as a whole */
/* Write a tree's branches in front of a name. Both together have so many columns. If these do not suffice, only the branches next to the
 * name are written, or none. Return how many columns were written. page_branches_width() returns that number without writing. */
int page_put_branches(const struct page *p, const char *branches, int columns);
int page_branches_width(const struct page *p, const char *branches, int columns);
/* Return how many columns a text takes. Only the beginning of a very long text is examined, and the result is more than the page's width
 * then. text may be NULL. */
int page_width(const struct page *p, const char *text);
/* Switch to a style, if the page has colour. sgr: a parameter of ANSI's SGR, such as "1" for bold and "0" for none. */
void page_style(const struct page *p, const char *sgr);

/* ------------------------------------------------------------------------------------------------------------- grids */

enum cell_kind {
	CELL_TEXT,
	CELL_SHARE,    /* share of the column's total; shown in tenths of per cent, which add up unless rows overlap */
	CELL_COUNT,    /* samples, rows or another count, shown as a whole number */
	CELL_NUMBER,   /* shown with at most four digits: 6.00M */
	CELL_DURATION, /* ns */
	CELL_TIMES,    /* a factor: 2.6x */
	CELL_PERCENT,  /* 0..1, shown as 37 % */
	CELL_HEX,      /* 64 bits: an address or an offset, shown in hexadecimal; or, in a hidden column, a time since 1970 */
	CELL_POINTS,	/* a difference of shares (-1..1), or a relative change (-1 or more), shown in per cent with its sign: +3.7 */
	CELL_POINTS_OF, /* the error of such a difference or change, 0 or more, shown in per cent: 0.4 */
};

#define GRID_BAR 1u	  /* with a share: it is also drawn as a bar */
#define GRID_HIDDEN 2u	  /* the column is only for programs */
#define GRID_TEXT_ONLY 4u /* the column is only for people */
#define GRID_SAMPLES 8u	  /* with a count: the samples of the row, for intervals; a row with few (GRID_SMALL) is dim */
#define GRID_REST 16u	  /* with a number: the line "(N more)" shows the sum of the rows that are left out */

#define GRID_FIXED 32u	  /* with a text: it is never cut to make room for other columns */
#define GRID_WRAP 64u	  /* with the last text of a placed grid: its lines break at blanks, and it is not cut */

/* with a share: a row may contain the samples of another, so each share is rounded by itself, and they have no sum */
#define GRID_OVERLAP 256u

#define GRID_NAME 128u	  /* with a text: page_put_name() writes it; grid_column() sets this for keys of names */

#define GRID_DIM 512u	  /* with a text: it is dim, because it is not what the row is about */

#define GRID_SMALL 10 /* samples; a row with fewer is dim, because its share is not reliable */

struct grid;

/* Create a grid. name: the name of the table for programs, which must stay valid. format: the heading for people. Return NULL if memory
 * runs out. All functions that take a grid accept that, and grid_show() then says that a part of the table is missing. */
struct grid *grid_create(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add a column. key and heading are copied. width: the most columns of the page that a text takes (0: as many as are left). Return the
 * column's index, or 0 if there are too many. */
int grid_column(struct grid *g, const char *key, const char *heading, enum cell_kind kind, unsigned flags, int width);
/* Set the total that the shares of a column are of, or the number of all samples of a column with GRID_SAMPLES. */
void grid_set_total(struct grid *g, int column, double total);
/* Show all rows in text, too, whatever p->top is. */
void grid_show_all_rows(struct grid *g);
/* Place this column in text: `gap` blanks behind the one before it, and so wide. All other columns that text shows must be placed, too. */
void grid_place(struct grid *g, int column, int gap, int width);
/* Show the column only to programs, because the text has no room for it. */
void grid_hide(struct grid *g, int column);
/* Set the number of cells of the bars of all shares in text, which is 8 by default. */
void grid_set_bar(struct grid *g, int cells);
/* Let the shares of this column be rounded each by itself, because a row may contain the samples of another. */
void grid_mark_tree_column(struct grid *g, int column);
/* Add a row, whose cells are set next. */
void grid_row(struct grid *g);
/* Set a cell of the row that was added last. A cell that is never set is "-" in text and null in JSON. */
void grid_set(struct grid *g, int column, double value);
void grid_set_address(struct grid *g, int column, uint64_t address); /* Set a cell of a column of kind CELL_HEX. */
void grid_set_text(struct grid *g, int column, const char *text);
/* Set for the interval of a share how many samples of equal weight would be as precise as all samples that it is a share of. Without this,
 * the interval is that of the row's samples among the samples of all rows. */
void grid_set_evidence(struct grid *g, int column, double samples);
/* Set a cell to empty in text, and to null for programs. */
void grid_set_blank(struct grid *g, int column);
/* Set a text in front of a cell's text (a tree's branches), and a second text below it. Programs get no prefix, and the detail under the
 * key with "_detail" in JSON. */
void grid_set_prefix(struct grid *g, int column, const char *prefix);
void grid_set_detail(struct grid *g, int column, const char *detail);
/* Mark the row that was added last as a sum or a remark, which programs do not get. */
void grid_mark_row_text(struct grid *g);
/* Mark the row that was added last as what is left beside the others. It has no bar. */
void grid_mark_row_rest(struct grid *g);
/* Free a grid without showing it. */
void grid_discard(struct grid *g);
/* Show the grid as the page wants, and free it. If the page has a column to sort by and the grid has it, numbers are sorted from the
 * largest, and texts and addresses from the smallest. Trees lose their branches then. */
void grid_show(struct grid *g, struct page *p);

/* Compute Wilson's 95 % interval of the share k of n samples, which is 0 to 1 if n is 0. */
void grid_interval(double k, double n, double *low, double *high);
/* Return a share in per cent, rounded to tenths as it is printed. Only a full share is 100.0, and only an empty one is 0.0. */
double grid_percent(double share);
/* Write a number in few characters: 1234 as "1234", 6001215 as "6.00M". Return text. */
const char *grid_short_number(double v, char text[16]);
/* Write a duration (ns) with its unit, such as "12.3 ms". Return text. */
const char *grid_duration(double ns, char text[16]);

/* Round each value to tenths of per cent of total, by largest remainder, so that the tenths add up to 1000 if the values add up to
 * total. */
void grid_round_to_tenths(const double *values, size_t nr, double total, int *tenths);
/* Return one value in tenths of per cent of total. This function and the one above limit values, which a damaged file may make infinite. */
int grid_tenths(double value, double total);

#endif
