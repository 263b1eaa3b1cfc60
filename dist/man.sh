#!/bin/bash
# SPDX-License-Identifier: MIT
# Manual pages from `tailor help`: dist/man.sh TAILOR FOLDER writes tailor.1 and a tailor-COMMAND.1 for each command.
set -eu
tailor=$1 folder=$2
mkdir -p "$folder"
version=$("$tailor" --version)
export ARGP_HELP_FMT=rmargin=250,header-col=0,opt-doc-col=50 LC_ALL=C.UTF-8

# `tailor help COMMAND` is: usage, paragraphs, options (indented by two blanks or more, followed by their text; groups of them have a
# heading that ends with a colon), paragraphs.
page() { # COMMAND SUMMARY
	"$tailor" help "$1" | awk -v name="tailor-$1" -v summary="$2" -v version="$version" '
	function clean(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); sub(/^[.\x27]/, "\\\\\\&&", s); return s }
	BEGIN { printf ".TH %s 1 \"\" \"%s\"\n.SH NAME\n%s \\- %s\n", toupper(name), version, clean(name), clean(summary) }
	heading != "" && !/^  +-/ { print ".SH NOTES"; part = "notes"; print clean(heading); heading = "" }
	part == "options" && /^[A-Z][A-Za-z ]*:$/ { heading = $0; sub(/:$/, "", heading); next }
	/^Usage: /     { sub(/^Usage: /, ""); printf ".SH SYNOPSIS\n.B %s\n", clean($0); part = "text"; next }
	/^ +or: /      { sub(/^ +or: /, ""); printf ".br\n.B %s\n", clean($0); next }
	/^Mandatory or optional arguments/ { skip = 1 }
	/^$/           { if (skip) part = "after"; skip = 0; if (part != "options") print ".PP"; next }
	skip           { next }
	/^  +-/        {
		if (part != "options") print ".SH OPTIONS"
		part = "options"
		if (heading != "") printf ".SS %s\n", clean(heading)
		heading = ""
		line = $0; sub(/^ +/, "", line)
		at = match(line, /  +/)
		term = at ? substr(line, 1, at - 1) : line
		text = at ? substr(line, at + RLENGTH) : ""
		printf ".TP\n.B %s\n%s\n", clean(term), clean(text)
		next
	}
	part == "options" && /^ / { sub(/^ +/, ""); print clean($0); next }
	part == "text" { print ".SH DESCRIPTION"; part = "description" }
	part == "after" || part == "options" { print ".SH NOTES"; part = "notes" }
	               { print clean($0) }
	END            { print ".SH SEE ALSO\n.BR tailor (1)" }' >"$folder/tailor-$1.1"
}

commands=$("$tailor" help | sed -n '/^  [a-z]/p; /^Environment/q' | sed 's/^  //')
while read -r command summary; do
	[ "$command" = help ] || page "$command" "$summary"
done <<<"$commands"

{
	echo ".TH TAILOR 1 \"\" \"$version\""
	printf '.SH NAME\ntailor \\- profiler for programs that generate code at run time\n'
	printf '.SH SYNOPSIS\n.B tailor\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n.SH COMMANDS\n'
	while read -r command summary; do
		printf '.TP\n.B %s\n%s\n' "$command" "${summary//-/\\-}"
	done <<<"$commands"
	printf '.SH ENVIRONMENT\nFor programs where libtailor.so is preloaded without \\fBtailor run\\fR:\n'
	"$tailor" help | sed -n '/^Environment/,$ { s/^  \(TAILOR_[A-Z_]*\) *\(.*\)/.TP\n.B \1\n\2/p; s/^    *//p; }' | sed 's/-/\\-/g'
	printf '.SH SEE ALSO\n'
	while read -r command _; do
		[ "$command" = help ] || printf '.BR tailor\\-%s (1),\n' "$command"
	done <<<"$commands" | sed '$ s/,$//'
} >"$folder/tailor.1"
