/* SPDX-License-Identifier: MIT */
/* Draws lines of text on a terminal, and reads keys. Only screen.c uses ncurses. Context: thread, one screen per process. */
#ifndef TAILOR_TOP_SCREEN_H
#define TAILOR_TOP_SCREEN_H

#include "jitreg/base/diag.h"

enum screen_style { SCREEN_PLAIN, SCREEN_DIM, SCREEN_BOLD, SCREEN_CHOSEN, SCREEN_NR_STYLES };
enum screen_key {
	SCREEN_NONE = -1, /* no key came in time, a signal ended the wait, or the key is unknown */
	SCREEN_UP = 0x1000, SCREEN_DOWN, SCREEN_PAGE_UP, SCREEN_PAGE_DOWN, SCREEN_HOME, SCREEN_END, SCREEN_ENTER, SCREEN_BACK,
	SCREEN_RESIZED,
	SCREEN_GONE, /* the other end of the terminal is closed, so no more keys come */
};

/* Takes over the terminal with curses. Returns 0, or -ENOTTY with the reason in d if curses does not know its kind. screen_close() restores
 * the terminal. */
int screen_open(struct diag *d);
void screen_close(void);
void screen_size(int *lines, int *columns);
/* screen_begin() empties all lines, screen_put() sets a line, and screen_show() shows what was set. text must fit into the line, and
 * must not have control characters. */
void screen_begin(void);
void screen_put(int line, const char *text, enum screen_style style);
void screen_show(void);
/* Waits at most so many milliseconds for a key.  Returns a character or an enum screen_key. */
int screen_wait_key(int milliseconds);

#endif
