/* SPDX-License-Identifier: MIT */
/*
 * Prints messages of commands on standard error, as "tailor NAME: sentence".  Sentences may have untrusted text (names in a trace, paths,
 * answers of other programs), which could control the terminal.  So control and invisible characters are escaped here, in the whole
 * sentence, and callers need not do it.  tests/lint/messages.sh refuses other ways to print messages.  Context: thread.
 */
#ifndef TAILOR_MESSAGE_H
#define TAILOR_MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

struct argp_state;

void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_vprint(const char *format, va_list list) __attribute__((format(printf, 1, 0)));
/* Print a sentence as a line to any stream, escaped likewise, without the command's name. */
void message_put(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print the sentence as argp_error() does, with a hint at --help, and exit. */
void usage_fail(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns a copy of text in which control characters, invisible ones and bytes that are not UTF-8 are written as \n, \t or \xNN.  The
 * caller frees it.  Returns NULL if memory runs out. */
char *message_escape(const char *text);

#endif
