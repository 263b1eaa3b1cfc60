/* SPDX-License-Identifier: MIT */
/*
 * Messages of commands on standard error, as "tailor NAME: sentence".  This is the one place where sentences with untrusted text (names of
 * a trace, paths, answers of other programs) reach a terminal outside of a page.  Control sequences and invisible characters are escaped
 * in the finished sentence, so that no caller has to do it.  tests/lint/messages.sh refuses other ways to print.  Context: thread.
 */
#ifndef TAILOR_MESSAGE_H
#define TAILOR_MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

struct argp_state;

void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_vprint(const char *format, va_list list) __attribute__((format(printf, 1, 0)));
/* Print a sentence to any stream, without the command's name. */
void message_put(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Report that the command was misused, and exit, as argp_error() does. */
void usage_fail(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Escape a text for messages: control characters, invisible ones and bytes that are not UTF-8 become \n, \t or \xNN.  The caller frees the
 * result.  Returns NULL if memory runs out. */
char *message_escape(const char *text);

#endif
