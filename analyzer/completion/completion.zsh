# SPDX-License-Identifier: MIT
# The text above this file has $_tailor_commands and, for each command, a function _tailor_options_NAME that calls _arguments.

_tailor_FILE() { _files "$@" }
_tailor_TRACE() { _files "$@" -g '*.tlr' }
_tailor_TRACE_LIST() { _sequence _files "$@" -g '*.tlr' }
_tailor_PID() { compadd "$@" - /proc/<->(:t) }
_tailor_COMMAND() { _command_names -e "$@" }
_tailor_PID_OR_COMMAND() { _alternative 'processes:process:_tailor_PID' 'commands:command:_command_names -e' }

_tailor() {
	local curcontext=$curcontext
	if ((CURRENT == 2)) || [[ $words[2] = help && $CURRENT = 3 ]]; then
		_describe -t commands 'tailor command' _tailor_commands
		return
	fi
	local command=$words[2]
	(($+functions[_tailor_options_$command])) || return 1
	shift words
	((CURRENT--))
	curcontext=${curcontext%:*}-$command:
	_tailor_options_$command
}

if [[ $funcstack[1] = _tailor ]]; then _tailor "$@"; else compdef _tailor tailor; fi
