#!/bin/bash
# SPDX-License-Identifier: MIT
# A message has foreign text in it (names of a trace, paths, answers): it leaves by jitreg/base/message.h only, which escapes what a
# terminal would obey.  Here stand the files that print on standard error by themselves, each with what it prints: no foreign text is in
# it.
set -u
prints='agent/recorder/images/debuginfod.c         a line of progress, whose name is escaped
agent/recorder/session/progress.c          a line of progress: numbers
analyzer/cmd_overhead.c                    a line of progress: numbers
analyzer/reading/reading_command.c         a line of progress: numbers
analyzer/completion/completion.c           a sentence without a name
analyzer/main.c                            the list of commands
jitreg/base/large_stack.c                  a sentence without a name
jitreg/base/message.c                      the one place'
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
# Calls, outside of comments, that write to standard error, and those of argp and libc that print a text of ours as it is.
to_stderr='\b(v?fprintf|fputs|fputc|putc|fwrite|dprintf|vdprintf|print_[a-z]*)\(([^;]*, ?)?(stderr|STDERR_FILENO)\b'
of_libc='\b(perror|psignal|v?warnx?|v?errx?|error|argp_error|argp_failure)\('
found=$(git grep -nE "$to_stderr|$of_libc" -- 'agent/recorder/*.[ch]' 'analyzer/*.[ch]' 'jitreg/base/*.[ch]' 'jitreg/trace/*.[ch]' |
	grep -vE '^[^:]*:[0-9]+:[[:space:]]*(\*|/\*|//)|message_put\(|"[^"]*\b(perror|warnx?|errx?|error|argp_error)\(')
bad=0
while IFS=: read -r file line text; do
	[ -n "$file" ] || continue
	grep -q "^$file " <<<"$prints" || { echo "$file:$line: not by jitreg/base/message.h: $text"; bad=1; }
done <<<"$found"
# Errors of reading are sentences in a struct diag, so nothing here catches its own descriptor 2.  analyzer/top/follow.c does in its child.
caught=$(git grep -nE '\bdup[23]\([^;]*, ?(STDERR_FILENO|2)[,)]' -- 'analyzer/*.c' | grep -v '^analyzer/top/follow.c:')
[ -z "$caught" ] || { echo "$caught: redirects its own standard error"; bad=1; }
while read -r file what; do
	grep -q "^$file:" <<<"$found" || { echo "$file prints nothing by itself any more ($what): take it off the list"; bad=1; }
done <<<"$prints"
exit $bad
