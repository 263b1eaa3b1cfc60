# SPDX-License-Identifier: MIT
# The text above this file has $_tailor_commands and, for each command, a function _tailor_options_NAME [OPTION], which sets $options
# (those with an argument end with =), $operand (the kind of the operands), and $argument (the kind of the argument of OPTION).

# Completes $cur from a list "one|two three", or from files or processes.
_tailor_complete() { # KIND
	local IFS=$'\n' prefix= cur=$cur
	case $1 in
	*'|'*)
		local value
		for value in ${1//|/$'\n'}; do
			[[ $value != "$cur"* ]] || COMPREPLY+=("$(printf %q "$value")")
		done
		;;
	[a-z]*) COMPREPLY=($(compgen -W "$1" -- "$cur")) ;; # its only value
	FILE) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
	TRACE | TRACE_LIST)
		if [[ $1 = TRACE_LIST && $cur = *,* ]]; then
			prefix=${cur%,*},
			cur=${cur##*,}
		fi
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -P "$prefix" -f -X '!*.tlr' -- "$cur") $(compgen -P "$prefix" -d -- "$cur"))
		;;
	PID) COMPREPLY=($(cd /proc && compgen -W "$(printf '%s\n' [0-9]*)" -- "$cur")) ;;
	COMMAND) COMPREPLY=($(compgen -c -- "$cur")) ;;
	PID_OR_COMMAND) COMPREPLY=($(cd /proc && compgen -W "$(printf '%s\n' [0-9]*)" -- "$cur") $(compgen -c -- "$cur")) ;;
	esac
}

_tailor() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options operand argument='' before='' i
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$_tailor_commands" -- "$cur"))
		return
	fi
	if [[ $command = help ]]; then
		((COMP_CWORD > 2)) || COMPREPLY=($(compgen -W "$_tailor_commands" -- "$cur"))
		return
	fi
	[[ " $_tailor_commands " = *" $command "* ]] || return
	# the words before the cursor; i is behind it afterwards if it is at the argument of an option
	for ((i = 2; i < COMP_CWORD; i++)); do
		local word=${COMP_WORDS[i]}
		argument=
		_tailor_options_"$command" "$word"
		if [[ $word = -- ]]; then
			before=--
		elif [[ -z $before && $word = -* ]]; then
			[[ ${COMP_WORDS[i + 1]} != '=' ]] || ((i++)) # bash splits --view=plan into three words
			[[ -z $argument ]] || ((i++))
			continue
		fi
		[[ $operand = COMMAND ]] || continue
		[[ $word != -- ]] || ((i++))
		if declare -F _command_offset >/dev/null; then
			_command_offset "$i"
		elif ((i < COMP_CWORD)); then
			_tailor_complete FILE
		else
			_tailor_complete COMMAND
		fi
		return
	done
	_tailor_options_"$command" ''
	if ((i > COMP_CWORD)); then
		[[ $cur != '=' ]] || cur=
		_tailor_complete "$argument"
	elif [[ -z $before && $cur = -* ]]; then
		compopt -o nospace 2>/dev/null
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} = *= ]] || COMPREPLY[0]+=' '
	else
		_tailor_complete "$operand"
	fi
}

complete -F _tailor tailor
