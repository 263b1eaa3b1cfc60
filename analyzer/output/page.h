/* SPDX-License-Identifier: MIT */
/*
 * Where a view's output goes: text for people (80 columns, UTF-8 or ASCII, colour on terminals), JSON or CSV for programs.
 * A view makes grids (tables) and sentences, once, and the page gives them their form.
 *
 * JSON: { "schema": PAGE_SCHEMA, "view": ..., facts, "tables": { name: [ { key: value } ] }, "notes": [ sentence ] }.  Keys are stable.
 * CSV: each table with a line of keys, an empty line between tables; no sentences.
 * Context: thread.
 */
#ifndef TAILOR_PAGE_H
#define TAILOR_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Version of the keys of all JSON: raised when a key is renamed; new keys may come at any time. */
#define PAGE_SCHEMA 2

#define PAGE_NAMES_MAX 128

enum page_form { PAGE_TEXT, PAGE_JSON, PAGE_CSV };

struct page {
	FILE *to;
	enum page_form form;
	bool colour, utf8, intervals;
	int columns; /* of the terminal */
	int top;     /* rows of each table in text; 0: all */
	bool begun;  /* something has been written: before the next table there is an empty line */
	const char *sort; /* the column that rows are sorted by: its key, or its heading in text; NULL: as they come */
	bool sorted; /* a table has that column */
	const char *table; /* the only one to be shown; NULL: all */
	const char *csv_folder; /* where CSV goes, a file for each table; NULL: to `to` */
	int error; /* of that folder: -errno */
	char *why; /* the sentence of that error */
	struct page_names { /* of what there was, for who asked for others */
		char *name[PAGE_NAMES_MAX];
		uint32_t nr;
	} tables, headings;
	void *json;  /* json_t of the page */
};

/* 0 or -ENOMEM. */
int page_init(struct page *p, FILE *to, enum page_form form);
/* A fact of the whole page: a key of the JSON; text shows it only where a heading or sentence says it. */
void page_fact(struct page *p, const char *key, const char *text);
void page_fact_number(struct page *p, const char *key, double value);
/* Of nanoseconds since 1970, which a double does not hold. */
void page_fact_time(struct page *p, const char *key, int64_t ns);
/* One sentence, with its full stop if it has one; in text its lines break at blanks. */
void page_sentence(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a diag says, as one: with a capital letter and a full stop. */
void page_reason(struct page *p, const char *text);
/* Of text form alone: a heading in a line, and a text behind before (a label; blanks), with further lines at column indent. */
void page_heading(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_text(struct page *p, const char *before, int indent, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A picture of two by four dots a cell (bits as Unicode's braille patterns have them), in text form; without UTF-8 a character a cell, by
 * how many of its dots are set. */
void page_dots(struct page *p, const unsigned char *cells, int columns, int rows, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* One more that was there; false: it was there already. */
bool page_note_name(struct page_names *names, const char *name);
/* What suggest() says of them. */
const char *page_suggest(const struct page_names *names, const char *wanted, char *text, size_t bytes);
/* Everything is out, or -EIO. */
int page_end(struct page *p);

/* Text form only: at most columns characters of foreign text, no control characters, no half UTF-8; returns how many
 * columns it took. */
int page_put(const struct page *p, const char *text, int columns);
/* Likewise a name: what does not fit loses its parameters, then its middle; of a path the front. */
int page_put_name(const struct page *p, const char *text, int columns);
/* What page_put_name() and page_put() would write, into to; returns to. */
const char *page_cut_name(const struct page *p, const char *text, int columns, char *to, size_t bytes);
const char *page_cut(const struct page *p, const char *text, int columns, char *to, size_t bytes);
/* A text whose lines break at blanks, from column used on; further lines begin at column indent.  Writes into text. */
void page_put_words(const struct page *p, char *text, int used, int indent);
/* Likewise, as lines of their own. */
void page_put_wrapped(struct page *p, char *text);
#define PAGE_NAME_LEAST 8 /* columns that branches leave to the name behind them */
/* A tree's branches in front of a name that has so many columns with them; where that is not enough, the ones next to the name. */
int page_put_branches(const struct page *p, const char *branches, int columns);
int page_branches_width(const struct page *p, const char *branches, int columns);
/* How many columns a text takes; of one that is far too long for the page, only that it does not fit. */
int page_width(const struct page *p, const char *text);
void page_style(const struct page *p, const char *sgr); /* "1", "2", "36", "0"; nothing without colour */

/* ------------------------------------------------------------------------------------------------------------- grids */

enum cell_kind {
	CELL_TEXT,
	CELL_SHARE,    /* of the column's total; shown in tenths of per cent that add up */
	CELL_COUNT,    /* samples, rows: a whole number */
	CELL_NUMBER,   /* shown with three or four digits: 6.00M */
	CELL_DURATION, /* ns */
	CELL_TIMES,    /* a factor: 2.6x */
	CELL_PERCENT,  /* 0..1, shown as 37 % */
	CELL_HEX,      /* an address or an offset, or hidden a time since 1970: all 64 bits */
	CELL_POINTS,	/* -1..1: a difference of shares: +3.7 (in per cent) */
	CELL_POINTS_OF, /* the error of a difference of shares: 0.4 */
};

#define GRID_BAR 1u	  /* of a share: draw it too */
#define GRID_HIDDEN 2u	  /* only for programs */
#define GRID_TEXT_ONLY 4u /* only for people */
#define GRID_SAMPLES 8u	  /* of a count: the samples behind the row, for intervals and for greying small numbers */
#define GRID_REST 16u	  /* of a number: adds up in the line for the rows that are not shown */

#define GRID_FIXED 32u	  /* of a text: never cut to make room */
#define GRID_WRAP 64u	  /* of the last text, in a grid whose columns are placed: its lines break at blanks */

#define GRID_OVERLAP 256u /* of a share: rows hold parts of others, so each is rounded by itself, and they have no sum */

#define GRID_NAME 128u	  /* of a text: page_put_name(); set by grid_column() for keys that names have */

#define GRID_DIM 512u	  /* of a text: beside what the row is about */

#define GRID_SMALL 10 /* fewer samples than this say little */

struct grid;

/* name: for programs; heading: for people.  Never fails: without memory it shows nothing and grid_show() says so. */
struct grid *grid_create(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* width: of text: the most that it takes (0: what is left).  Returns the column's number. */
int grid_column(struct grid *g, const char *key, const char *heading, enum cell_kind kind, unsigned flags, int width);
void grid_set_total(struct grid *g, int column, double total);
/* Show all rows, however many. */
void grid_show_all_rows(struct grid *g);
/* This column, and each other one, has its place in text: so many columns behind the one before it, and so wide. */
void grid_place(struct grid *g, int column, int gap, int width);
/* From now on only for programs: people's page has no room for it. */
void grid_hide(struct grid *g, int column);
/* Cells of its bars in text (8). */
void grid_set_bar(struct grid *g, int cells);
/* Rows hold parts of others, so the shares of this column are rounded each by itself. */
void grid_mark_tree_column(struct grid *g, int column);
void grid_row(struct grid *g);
/* Cells of the last row; one that is never set is "-" and null. */
void grid_set(struct grid *g, int column, double value);
void grid_set_address(struct grid *g, int column, uint64_t address); /* CELL_HEX, and nothing else */
void grid_set_text(struct grid *g, int column, const char *text);
/* Of a share, for its interval: how many samples of equal weight say as much as all the samples it is a share of.  Not set: the
 * interval is that of the row's samples among all. */
void grid_set_evidence(struct grid *g, int column, double samples);
/* Nothing to say: empty for people, null for programs. */
void grid_set_blank(struct grid *g, int column);
/* A few words before a text, for people (a tree's branches), and a second line below it. */
void grid_set_prefix(struct grid *g, int column, const char *prefix);
void grid_set_detail(struct grid *g, int column, const char *detail);
/* The last row is a sum or a remark: programs do not get it. */
void grid_mark_row_text(struct grid *g);
/* The last row is what the others leave over: no bar. */
void grid_mark_row_rest(struct grid *g);
/* Free without showing. */
void grid_discard(struct grid *g);
/* Show and free.  Where the page says so, sorted by a column: numbers from the largest, texts from the first; a tree becomes a list. */
void grid_show(struct grid *g, struct page *p);

/* 95 % interval of a share (Wilson): k of n samples. */
void grid_interval(double k, double n, double *low, double *high);
/* A share as it is printed: in tenths of a percent; 100.0 only of all, 0.0 only of nothing. */
double grid_percent(double share);
/* 1234 -> "1234", 6001215 -> "6.00M". */
const char *grid_short_number(double v, char text[16]);
const char *grid_duration(double ns, char text[16]);

/* Tenths of per cent of each value, by largest remainder, so that they add up to 1000 when the values add up to total. */
void grid_round_to_tenths(const double *values, size_t nr, double total, int *tenths);
/* Of one value, rounded.  Both bound what a damaged file says. */
int grid_tenths(double value, double total);

#endif
