#!/bin/bash
# SPDX-License-Identifier: MIT
# What `tailor help --completion` writes completes in bash, and in zsh where that is installed: commands, options, lists of values and
# files; the commands, options and lists are those of `tailor help`.
. tests/live/begin.bash
for shell in bash zsh; do
	"$B/tailor" help --completion $shell >"$dir/$shell" || fail "tailor help --completion $shell: exit $?"
done
"$B/tailor" help --completion fish >"$dir/out" 2>&1
[ $? = 2 ] || fail "tailor help --completion fish: expected exit 2, got $?: $(cat "$dir/out")"
bash -n "$dir/bash" || fail "the script for bash does not parse"

mkdir -p "$dir/files/folder.tlr"
: >"$dir/files/first.tlr"
: >"$dir/files/with blank.tlr"
: >"$dir/files/text.txt"

words() { tr -s ' \n' '\n\n' | sed '/^$/d; s/=$//' | sort -u; }
listed() { # HEADING COMMAND: the values that help lists below a heading
	"$B/tailor" help "$2" | sed -n "/^$1/,/^\$/s/^  \([a-z]*\) .*/\1/p"
}
options() { "$B/tailor" help "$1" | grep -oE '^ +(-[a-zA-Z?], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'; }
commands=$("$B/tailor" help | sed -n '/^  [a-z]/p; /^Environment/q' | awk '{ print $1 }')

# in_bash WORD...: completes the last word
in_bash() {
	(cd "$dir/files" && bash --norc --noprofile -c '. "$1"
	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_tailor
	printf "%s\n" "${COMPREPLY[@]}"' - "$dir/bash" "$@")
}
# zsh completes in a terminal only: one of its own, which types the line and a tab and prints each match
in_zsh() {
	(cd "$dir/files" && timeout 300 zsh -f "$dir/capture" "$dir/zsh-functions" "$*")
}
mkdir "$dir/zsh-functions"
cp "$dir/zsh" "$dir/zsh-functions/_tailor"
cat >"$dir/capture" <<'ZSH'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT= RPROMPT= fpath=($1 \$fpath); autoload -U compinit; compinit -u -D"
zpty -w z 'compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
	builtin compadd -A hits "$@"
	local hit
	for hit in $hits; do echo -E "match:$hit"; done
	return 0
}
ended() { echo done:; exit }
comppostfuncs=(ended)
bindkey "^I" complete-word
zstyle ":completion:*" list-max 0
echo be""gin:'
while zpty -r z line; do [[ $line != *begin:* ]] || break; done
zpty -w -n z "$2"$'\t'
while zpty -r z line; do
	line=${line//$'\r'/}
	case $line in
	*match:*) print -r -- "${line##*match:}" ;;
	*done:*) break ;;
	esac
done
ZSH

# expect SHELL EXPECTED WORD...
expect() {
	local shell=$1 expected=$2 got
	shift 2
	got=$("in_$shell" "$@" | words)
	[ "$got" = "$(words <<<"$expected")" ] ||
		fail "$shell completes '$*': expected $(words <<<"$expected" | tr '\n' ' '), got $(tr '\n' ' ' <<<"$got")"
}
shells=bash
if command -v zsh >/dev/null; then
	zsh -n "$dir/zsh" || fail "the script for zsh does not parse"
	shells="bash zsh"
else
	echo "FIGURE zsh is not here: its script is generated, and not run"
fi
for shell in $shells; do
	expect $shell "$commands" tailor ''
	expect $shell "$commands" tailor help ''
	expect $shell "report" tailor rep
	for command in $commands; do
		[ "$command" = help ] || expect $shell "$(options "$command")" tailor "$command" --
	done
	expect $shell "$(listed Views report)" tailor report --view ''
	expect $shell "$(listed Formats export)" tailor export -f ''
	expect $shell "$(listed Formats export | grep '^p')" tailor export --top 3 --format p
	expect $shell "auto signal timer" tailor run --sampler ''
	expect $shell "components functions queries processes services epochs reasons" tailor db --view ''
	expect $shell "otlp pprof" tailor db --format ''
	expect $shell "service" tailor db --per s
	expect $shell "first.tlr folder.tlr" tailor report --view plan f
	expect $shell "text.txt" tailor report --svg t
	[ "$shell" = zsh ] || expect bash "first.tlr,first.tlr first.tlr,folder.tlr" tailor diff first.tlr,f
	"in_$shell" tailor run -o x.tlr -- tru | grep -qx true || fail "$shell completes 'tailor run -o x.tlr -- tru': expected true"
	"in_$shell" tailor attach '' | grep -qx $$ || fail "$shell completes 'tailor attach': expected process $$"
done
# bash makes words of what stands before and behind a =
expect bash "$(listed Views report)" tailor report --view =
expect bash "plan pipelines processes" tailor report --view = p
expect bash "" tailor report --witn
[ "$(in_bash tailor report with)" = "with blank.tlr" ] || fail "bash completes 'tailor report with': got $(in_bash tailor report with)"
finish
