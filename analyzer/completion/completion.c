/* SPDX-License-Identifier: MIT */
/*
 * The option table of a command is visible only to its call of argp_parse(), which passes it to argp_program_version_hook.  So each
 * command is called with --version, in a child process, which argp ends after the hook.
 *
 * A script consists of a function with the table of each command, written here, and the code of completion.bash or completion.zsh.
 */
#include "analyzer/completion/completion.h"

#include "analyzer/export/export.h"
#include "analyzer/model/host_levels.h"
#include "analyzer/report/views.h"
#include "analyzer/top/rows.h"
#include "jitreg/base/message.h"

#include <argp.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The files completion.bash and completion.zsh become a part of the program here. They are the constant parts of the scripts. */
__asm__(".pushsection .rodata\n"
	"completion_bash: .incbin \"analyzer/completion/completion.bash\"\n.byte 0\n"
	"completion_zsh: .incbin \"analyzer/completion/completion.zsh\"\n.byte 0\n"
	".popsection\n");
extern const char completion_bash[] __attribute__((visibility("hidden")));
extern const char completion_zsh[] __attribute__((visibility("hidden")));

/*
 * Returns the i-th value of an option, or NULL after the last. Only options with a fixed list of values that their argument in the help
 * does not name (a|b) have any here.
 */
static const char *listed_value(const struct argp_option *o, int i)
{
#define LEVEL_NAME_(NAME, text) text,
	static const char *const levels[] = { HOST_LEVELS(LEVEL_NAME_) };
#undef LEVEL_NAME_

	if (o->arg && strchr(o->arg, '|'))
		return NULL;
	if (strcmp(o->name, "view") == 0)
		return view_at(i) ? view_at(i)->name : NULL;
	if (strcmp(o->name, "format") == 0)
		return export_at(i) ? export_at(i)->name : NULL;
	if (strcmp(o->name, "level") == 0) /* levels of hosts that declare none */
		return i < NR_HOST_LEVELS ? levels[i] : NULL;
	if (strcmp(o->name, "by") == 0)
		return i < TOP_NR_LEVELS ? top_level_names[i] : NULL;
	return NULL;
}

/* Prints the values of an option as "plan|pipelines|...", or, if there are none, its argument in the help, such as FILE or auto|stack. */
static void print_argument_values(FILE *to, const struct argp_option *o)
{
	if (!listed_value(o, 0))
		fputs(o->arg, to);
	for (int i = 0; listed_value(o, i); i++)
		fprintf(to, "%s%s", i ? "|" : "", listed_value(o, i));
}

/* These are names of the kinds of operands, by which completion.bash and completion.zsh complete each kind. */
#define OPERAND_NAME_(NAME) #NAME,
static const char *const operand_names[NR_CMD_OPERANDS] = { COMMAND_OPERANDS(OPERAND_NAME_) };
#undef OPERAND_NAME_

/* This variable has the operands of the command whose table is printed, because argp passes nothing else to the hook. */
static enum cmd_operands operands;

/* Parses the name of an option's argument in the help.  Returns CMD_TAKES_NOTHING for those that are not completed. */
static enum cmd_operands parse_argument_name(const char *name)
{
	for (int i = CMD_TAKES_NOTHING + 1; name && i < NR_CMD_OPERANDS; i++)
		if (strcmp(name, operand_names[i]) == 0)
			return (enum cmd_operands)i;
	return CMD_TAKES_NOTHING;
}

static bool option_has_short_name(const struct argp_option *o)
{
	return o->key > 0 && o->key < 0x80 && isalpha(o->key);
}

/* Calls put() for each option that `help` lists, of a table and of its children. */
static void call_for_each_option(const struct argp *argp, void (*put)(const struct argp_option *o))
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc || o->group); o++)
		if (o->name && !(o->flags & (OPTION_HIDDEN | OPTION_ALIAS | OPTION_DOC)))
			put(o);
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		call_for_each_option(c->argp, put);
}

/* --------------------------------------------------------------------------------------------------------------- bash */

static void print_bash_option_name(const struct argp_option *o)
{
	printf(" --%s%s", o->name, o->arg ? "=" : "");
}

static void print_bash_argument_case(const struct argp_option *o)
{
	if (!o->arg)
		return;
	fputs("\t", stdout);
	if (option_has_short_name(o))
		printf("-%c | ", o->key);
	printf("--%s) argument='", o->name);
	print_argument_values(stdout, o);
	fputs("' ;;\n", stdout);
}

static void print_bash_table(FILE *to, struct argp_state *state)
{
	(void)to;
	printf("\toperand=%s options='", operands == CMD_TAKES_NOTHING ? "" : operand_names[operands]);
	call_for_each_option(state->root_argp, print_bash_option_name);
	fputs("'\n\tcase $1 in\n", stdout);
	call_for_each_option(state->root_argp, print_bash_argument_case);
	fputs("\tesac\n", stdout);
}

/* ---------------------------------------------------------------------------------------------------------------- zsh */

/* Prints a text as it must stand inside single quotes, in the explanation of an option for _arguments. */
static void print_zsh_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void print_zsh_option(const struct argp_option *o)
{
	bool is_list = o->arg && (islower((unsigned char)*o->arg) || strchr(o->arg, '|') || listed_value(o, 0));

	for (int is_long = !option_has_short_name(o); is_long < 2; is_long++) {
		printf("\t\t'%s", o->arg ? "*" : "");
		if (!o->arg && option_has_short_name(o))
			printf("(-%c --%s)", o->key, o->name);
		if (is_long)
			printf("--%s%s[", o->name, o->arg ? "=" : "");
		else
			printf("-%c%s[", o->key, o->arg ? "+" : "");
		print_zsh_quoted(o->doc ? o->doc : "");
		fputs("]", stdout);
		if (o->arg) {
			fputs(":", stdout);
			print_zsh_quoted(is_list ? o->name : o->arg);
			fputs(":", stdout);
		}
		if (is_list) {
			putchar('(');
			for (const char *s = listed_value(o, 0) ? NULL : o->arg; s && *s; s++)
				putchar(*s == '|' ? ' ' : *s);
			for (int i = 0; listed_value(o, i); i++, putchar(' '))
				for (const char *s = listed_value(o, i); *s; s++)
					printf(*s == ' ' ? "\\%c" : "%c", *s);
			putchar(')');
		} else if (parse_argument_name(o->arg) != CMD_TAKES_NOTHING) {
			printf("_tailor_%s", o->arg);
		}
		fputs("' \\\n", stdout);
	}
}

static void print_zsh_table(FILE *to, struct argp_state *state)
{
	(void)to;
	fputs("\t_arguments -s -S : \\\n", stdout);
	call_for_each_option(state->root_argp, print_zsh_option);
	if (operands == CMD_TAKES_COMMAND)
		fputs("\t\t'(-)1:command:_command_names -e' '*::argument:_normal'\n", stdout);
	else if (operands != CMD_TAKES_NOTHING)
		printf("\t\t'*:operand:_tailor_%s'\n", operand_names[operands]);
	else
		fputs("\t\t&& return 0\n", stdout);
}

/* ------------------------------------------------------------------------------------------------------------- scripts */

static void print_command_table(const struct completion_command *command, completion_run *run)
{
	const struct cmd *cmd = command->cmd;
	char *version[] = { NULL, (char[]){ "--version" }, NULL };
	pid_t child;

	operands = command->operands;
	printf("_tailor_options_%s() {\n", cmd->name);
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(run(cmd, 2, version)); /* argp has ended the child in run() before that */
	if (child > 0)
		waitpid(child, NULL, 0);
	fputs("}\n", stdout);
}

int completion_print(const char *shell, const struct completion_command *commands, int nr, completion_run *run)
{
	bool zsh = strcmp(shell, "zsh") == 0;

	if (!zsh && strcmp(shell, "bash") != 0) {
		message_put(stderr, "tailor help: --completion must be bash or zsh, not '%s'", shell);
		return CMD_MISUSED;
	}
	argp_program_version_hook = zsh ? print_zsh_table : print_bash_table;
	fputs(zsh ? "#compdef tailor\n" : "", stdout);
	printf("# %s completion for tailor; generated by `tailor help --completion %s`\n", shell, shell);
	for (int i = 0; i < nr; i++)
		print_command_table(&commands[i], run);
	fputs(zsh ? "_tailor_commands=(\n" : "_tailor_commands='", stdout);
	for (int i = 0; i < nr && zsh; i++) {
		printf("\t'%s:", commands[i].cmd->name);
		print_zsh_quoted(commands[i].cmd->summary);
		fputs("'\n", stdout);
	}
	for (int i = 0; i < nr && !zsh; i++)
		printf("%s ", commands[i].cmd->name);
	fputs(zsh ? "\t'help:show the options of a command'\n)\n" : "help'\n", stdout);
	fputs(zsh ? completion_zsh : completion_bash, stdout);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("tailor help: cannot write the output\n", stderr);
		return CMD_FAILED;
	}
	return CMD_DONE;
}
