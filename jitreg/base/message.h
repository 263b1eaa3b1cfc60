/* SPDX-License-Identifier: MIT */
/*
 * Messages of commands on standard error, as "tailor NAME: sentence".  This is the one place where sentences with foreign text (names of a
 * trace, paths, answers of other programs) reach a terminal outside of a page: what a terminal would obey, or would not show, is escaped in
 * the finished sentence.  So no caller has to think of it; tests/lint/messages.sh refuses other ways.  Context: thread.
 */
#ifndef TAILOR_MESSAGE_H
#define TAILOR_MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

struct argp_state;

void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_vprint(const char *format, va_list list) __attribute__((format(printf, 1, 0)));
/* Without the command's name, to any stream. */
void message_put(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As argp_error(): the command was misused. */
void usage_fail(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text as messages show it: control characters, invisible ones and bytes that are no UTF-8 become \n, \t or \xNN.  free(3) it; NULL: no
 * memory. */
char *message_escape(const char *text);

#endif
