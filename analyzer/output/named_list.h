/* SPDX-License-Identifier: MIT */
/* Lists an option's values by name, such as views and formats, in the help, and in suggestions after a wrong value. Context: thread. */
#ifndef TAILOR_NAMED_LIST_H
#define TAILOR_NAMED_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * This is a help filter of argp (key, text: its arguments), which puts a list of an option's values and an example behind the options.
 * entry(i, &name, &summary) returns false after the last value. Returns the new text on the heap, which argp frees, or text itself for
 * other parts of the help. Returns NULL if memory runs out.
 */
char *named_list_help(int key, const char *text, const char *heading,
		      bool (*entry)(int i, const char **name, const char **summary), const char *example);

/*
 * Writes a part of a sentence to text[bytes] that suggests values of such a list instead of a wrong one (suggest()). Only the first 64
 * values are considered. Returns text.
 */
const char *named_list_suggest(const char *wanted, bool (*entry)(int i, const char **name, const char **summary), char *text,
			       size_t bytes);

#endif
