/* SPDX-License-Identifier: MIT */
/* A terminal that is drawn on: lines of text, and keys.  The one door to ncurses.  Context: thread; one screen a process. */
#ifndef TAILOR_TOP_SCREEN_H
#define TAILOR_TOP_SCREEN_H

#include "jitreg/base/diag.h"

enum screen_style { SCREEN_PLAIN, SCREEN_DIM, SCREEN_BOLD, SCREEN_CHOSEN, SCREEN_NR_STYLES };
enum screen_key {
	SCREEN_NONE = -1, /* none came, or a signal */
	SCREEN_UP = 0x1000, SCREEN_DOWN, SCREEN_PAGE_UP, SCREEN_PAGE_DOWN, SCREEN_HOME, SCREEN_END, SCREEN_ENTER, SCREEN_BACK,
	SCREEN_RESIZED,
	SCREEN_GONE, /* the terminal: its other end is closed, and no more keys come */
};

/* 0 or -errno with a sentence: the terminal is of a kind that is not known.  screen_close() gives it back as it was. */
int screen_open(struct diag *d);
void screen_close(void);
void screen_size(int *lines, int *columns);
/* All lines are empty again; a line's text fits, and has no control characters; what was put is shown. */
void screen_begin(void);
void screen_put(int line, const char *text, enum screen_style style);
void screen_show(void);
/* A key within so many milliseconds: a character, or an enum screen_key. */
int screen_wait_key(int milliseconds);

#endif
