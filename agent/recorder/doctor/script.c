/* SPDX-License-Identifier: MIT */
/*
 * Reads shell scripts without being a shell.  A word is followed if it is a literal, or if the text behind its last slash is one
 * ("$JAVA_HOME/bin/java" is looked for as java).  A variable alone stands for the values that the script assigns to it, and
 * "$(command -v java)" for java.  The text is untrusted, and its size is bounded.
 */
#include "agent/recorder/doctor/script.h"
#include "jitreg/base/regular_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_BYTES (256u << 10)
#define WORD_BYTES 512
#define NESTING_MAX 4 /* maximum number of variables that are followed from one to the next */

struct script {
	char text[SCRIPT_BYTES];
	char folder[PATH_MAX];
	void (*each)(void *context, const char *command, bool is_sourced);
	void *context;
	int nr_commands;
};

bool script_is_shell(const char *interpreter)
{
	static const char *const shells[] = { "sh", "dash", "bash", "ksh", "zsh", "ash" };
	const char *name = strrchr(interpreter, '/');

	name = name ? name + 1 : interpreter;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(name, shells[i]) == 0)
			return true;
	return false;
}

static bool is_shell_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Reads a word as the shell sees it, without its quotes, up to the line's end, or to a blank or an operator outside quotes and
 * substitutions.  The copy is cut at WORD_BYTES.  Returns the end of the word. */
static const char *read_shell_word(const char *at, char word[WORD_BYTES])
{
	size_t n = 0;
	int depth = 0;
	bool is_substitution = false;
	char quote = 0;

	for (; *at && *at != '\n'; at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'') {
			quote = quote ? 0 : *at;
			continue;
		}
		is_substitution ^= *at == '`';
		if (*at == '\\' && at[1] && at[1] != '\n' && quote != '\'')
			at++;
		else if (*at == '$' && (at[1] == '(' || at[1] == '{'))
			depth++;
		else if ((*at == ')' || *at == '}') && depth)
			depth--;
		else if (!quote && !depth && !is_substitution && (isspace((unsigned char)*at) || strchr(";&|()<>", *at)))
			break;
		if (n < WORD_BYTES - 1)
			word[n++] = *at;
	}
	word[n] = 0;
	return at;
}

/* Reads the name of a variable that is the whole word, "$NAME", "${NAME}", "${NAME[@]}" or "${NAME:-else}".  Returns false for other
 * words. */
static bool parse_lone_variable(const char *word, char name[WORD_BYTES])
{
	bool braces = word[0] == '$' && word[1] == '{';
	const char *at = word + (braces ? 2 : 1);
	size_t n = 0;

	if (word[0] != '$')
		return false;
	while (is_shell_name_character(at[n]))
		n++;
	memcpy(name, at, n);
	name[n] = 0;
	return n && (braces ? strchr(at + n, '}') && !strchr(at + n, '}')[1] : !at[n]);
}

static void report_script_command(struct script *s, const char *command, bool is_sourced)
{
	if (*command && s->nr_commands < SCRIPT_COMMANDS_MAX) {
		s->nr_commands++;
		s->each(s->context, command, is_sourced);
	}
}

static void follow_shell_word(struct script *s, const char *word, bool is_sourced, int nesting);

/* Follows the values that the script assigns to a variable. */
static void follow_variable_values(struct script *s, const char *name, bool is_sourced, int nesting)
{
	char word[WORD_BYTES];
	size_t bytes = strlen(name);

	for (const char *at = strstr(s->text, name); at && nesting < NESTING_MAX; at = strstr(at + bytes, name)) {
		const char *value = at + bytes + 1;

		if (at[bytes] != '=' || (at > s->text && (is_shell_name_character(at[-1]) || strchr("${-", at[-1]))))
			continue;
		value += *value == '('; /* it is an array, whose first word is the command */
		value += strspn(value, " \t");
		read_shell_word(value, word);
		if (strncmp(word, "$(", 2) != 0 && word[0] != '`')
			word[strcspn(word, " \t")] = 0; /* drops options in the same text */
		follow_shell_word(s, word, is_sourced, nesting + 1);
	}
}

/* Reads the command of "$(command -v java)" or "`which java`".  Returns false for other words. */
static bool parse_command_substitution(const char *word, char command[WORD_BYTES])
{
	const char *last = strrchr(word, ' ');

	if (strncmp(word, "$(", 2) != 0 && word[0] != '`')
		return false;
	snprintf(command, WORD_BYTES, "%s", last ? last + 1 : "");
	command[strcspn(command, ")`")] = 0;
	return true;
}

static void follow_shell_word(struct script *s, const char *word, bool is_sourced, int nesting)
{
	char name[WORD_BYTES], path[PATH_MAX + WORD_BYTES];
	const char *slash = strrchr(word, '/');

	if (parse_command_substitution(word, name)) {
		if (!strpbrk(name, "$`"))
			report_script_command(s, name, is_sourced);
	} else if (parse_lone_variable(word, name)) {
		follow_variable_values(s, name, is_sourced, nesting);
	} else if (!strpbrk(word, "$`")) {
		report_script_command(s, word, is_sourced);
	} else if (slash && !strpbrk(slash, "$`")) {
		/* a file of this name in the script's own folder has precedence over PATH */
		snprintf(path, sizeof(path), "%s%s", s->folder, slash);
		report_script_command(s, access(path, R_OK) == 0 ? path : slash + 1, is_sourced);
	}
}

/* Follows `exec [-cl] [-a NAME] COMMAND`.  Without a command, exec only changes descriptors. */
static void follow_exec_command(struct script *s, const char *at)
{
	char word[WORD_BYTES];

	for (;;) {
		at = read_shell_word(at + strspn(at, " \t"), word);
		if (word[0] != '-')
			break;
		if (strcmp(word, "-a") == 0)
			at = read_shell_word(at + strspn(at, " \t"), word);
	}
	if (*at != '<' && *at != '>' && !isdigit((unsigned char)word[0]))
		follow_shell_word(s, word, false, 0);
}

/* Is it a word that another command follows? */
static bool is_shell_prefix_word(const char *word)
{
	static const char *const prefixes[] = { "then", "else", "do", "if", "elif", "while", "!", "{", "command", "nohup" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strcmp(word, prefixes[i]) == 0)
			return true;
	return false;
}

static void follow_script_line(struct script *s, const char *at)
{
	char word[WORD_BYTES], name[WORD_BYTES];
	bool is_command = true;

	while (*at && *at != '\n' && *at != '#') {
		const char *begin;

		if (strchr(";&|(){}", *at)) {
			is_command = true;
			at++;
			continue;
		}
		begin = at += strspn(at, " \t");
		at = read_shell_word(at, word);
		if (at == begin) { /* it is a < or > */
			at += *at && *at != '\n';
			continue;
		}
		if (!is_command || is_shell_prefix_word(word))
			continue;
		is_command = strchr(word, '=') && is_shell_name_character(word[0]); /* an assignment may precede a command */
		if (strcmp(word, "exec") == 0) {
			follow_exec_command(s, at);
		} else if (strcmp(word, ".") == 0 || strcmp(word, "source") == 0) {
			read_shell_word(at + strspn(at, " \t"), word);
			follow_shell_word(s, word, true, 0);
		} else if (parse_lone_variable(word, name)) {
			follow_shell_word(s, word, false, 0);
		}
	}
}

void script_each_command(const char *path, void (*each)(void *context, const char *command, bool is_sourced), void *context)
{
	struct script *s = calloc(1, sizeof(*s));
	int fd = regular_file_open(path);
	char real[PATH_MAX], *slash;
	ssize_t n = 0;

	if (s && fd >= 0)
		n = read(fd, s->text, sizeof(s->text) - 1);
	if (fd >= 0)
		close(fd);
	if (n > 0 && realpath(path, real)) {
		s->each = each;
		s->context = context;
		slash = strrchr(real, '/');
		snprintf(s->folder, sizeof(s->folder), "%.*s", (int)(slash - real), real);
		for (char *c = s->text; (c = strstr(c, "\\\n")); c += 2) /* joins continued lines */
			c[0] = c[1] = ' ';
		for (char *line = s->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			follow_script_line(s, line);
	}
	free(s);
}
