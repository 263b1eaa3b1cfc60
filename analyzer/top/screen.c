/* SPDX-License-Identifier: MIT */
#include "analyzer/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ESCAPE_MS 25 /* time after which an Escape is a key by itself; the bytes of other keys follow at once */

static SCREEN *screen;

int screen_open(struct diag *d)
{
	const char *term = getenv("TERM");

	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return diag_fail(d, ENOTTY, "terminals of kind '%s' are not known here (TERM); `tailor top … | cat` prints lines",
				 term ? term : "");
	set_term(screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	return 0;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void screen_size(int *lines, int *columns)
{
	getmaxyx(stdscr, *lines, *columns);
}

void screen_begin(void)
{
	erase();
}

void screen_put(int line, const char *text, enum screen_style style)
{
	static const attr_t attributes[] = { A_NORMAL, A_DIM, A_BOLD, A_REVERSE };

	attrset((int)attributes[style < SCREEN_NR_STYLES ? style : SCREEN_PLAIN]);
	mvaddstr(line, 0, text);
	attrset(A_NORMAL);
}

void screen_show(void)
{
	refresh();
}

/* Returns whether the other end of the terminal is closed. SIGHUP reports this only for the controlling terminal. */
static bool is_gone(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

int screen_wait_key(int milliseconds)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	int key;

	timeout(0);
	key = getch(); /* a key that ncurses has read already */
	if (key == ERR) { /* poll() waits, since getch() checks the size twice per wait and goes on after a signal */
		poll(&p, 1, milliseconds);
		key = getch();
	}
	switch (key) {
	case ERR:
		return is_gone() ? SCREEN_GONE : SCREEN_NONE;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
	case KEY_RIGHT:
		return SCREEN_ENTER;
	case KEY_BACKSPACE:
	case KEY_LEFT:
	case 127:
	case 27:
	case '\b':
		return SCREEN_BACK;
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	default:
		return key < 256 ? key : SCREEN_NONE;
	}
}
