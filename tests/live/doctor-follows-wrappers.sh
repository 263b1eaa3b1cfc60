#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor doctor COMMAND: scripts are followed to the program that they become, whatever they do before, and without being run; and what a
# program has is not promised where the agent would not hear it.
. tests/live/begin.bash
bin=$dir/bin
mkdir -p "$bin" "$dir/home/bin"
export PATH=$bin:$PATH

doctor() { "$B/tailor" doctor "$@" 2>&1; }
expect() { # NAME TEXT COMMAND...: it is in what doctor says
	local said
	said=$(doctor "${@:3}") || fail "$1: exit $?"
	tr -s ' \n' ' ' <<<"$said" | grep -qF -- "$2" || fail "$1: expected \"$2\", got $(sed -n '/JIT interfaces/,$p' <<<"$said")"
	[ ! -e "$dir/ran" ] || fail "$1: it was run"
}
script() { # FILE: from stdin
	cat >"$1"
	chmod +x "$1"
}

# a launcher of Java, by the library that it needs
echo 'int main(void) { return 0; }' >"$dir/main.c"
gcc -shared -o "$bin/libjli.so" -x c /dev/null &&
	gcc -o "$bin/java" "$dir/main.c" -Wl,--no-as-needed "$bin/libjli.so" || fail "gcc cannot build them"

script "$bin/raku" <<END
#!/bin/sh
touch $dir/ran
exec $bin/java --libpath=x "\$@"
END
expect "a literal" JVMTI raku
expect "arguments of the command" JVMTI raku -e 'say 1' --json
expect "-- before it" JVMTI -- raku -e 1

script "$dir/home/bin/groovy" <<'END'
#!/bin/sh
# exec nothing
DIRNAME=`dirname "$0"`
. "$DIRNAME/startGroovy"
startGroovy groovy.ui.GroovyMain "$@"
END
cat >"$dir/home/bin/startGroovy" <<'END'
if [ -z "$JAVACMD" ] ; then
    if [ -n "$JAVA_HOME" ] ; then
        if [ -x "$JAVA_HOME/jre/sh/java" ] ; then
            JAVACMD="$JAVA_HOME/jre/sh/java"
        else
            JAVACMD="$JAVA_HOME/bin/java"
        fi
    fi
fi
startGroovy ( ) {
    exec 3>&1
    exec "$JAVACMD" $JAVA_OPTS \
        -classpath "$STARTER_CLASSPATH" "$@"
}
END
ln -s ../home/bin/groovy "$bin/groovy"
expect "a sourced file, a variable" JVMTI groovy

script "$bin/jruby" <<'END'
#!/usr/bin/env bash
java_cmd="$(command -v java)"
jvm_command=("$java_cmd" "${java_args[@]}")
if true; then exec "${jvm_command[@]}" "$@"; fi
END
expect "an array, a substitution" JVMTI jruby
script "$bin/outer" <<'END'
#!/bin/sh
LC_ALL=C exec jruby "$@"
END
expect "a wrapper of a wrapper" JVMTI outer

script "$bin/a" <<'END'
#!/bin/sh
A=$B B=$A
exec b || exec a
"$A"
. "${0%/*}/a"
END
cp "$bin/a" "$bin/b"
expect "scripts that execute each other" "no known JIT interface" a
{ printf '#!/bin/sh\n'; head -c 300000 /dev/urandom; } | script "$bin/noise"
doctor noise >/dev/null || fail "noise: exit $?"

# what is promised
echo 'int luaJIT_setmode(void) { return 0; }' >"$dir/lua.c"
gcc -rdynamic -o "$bin/static_lua" "$dir/main.c" "$dir/lua.c" || fail "gcc cannot build them"
expect "LuaJIT inside of a program" "none: LuaJIT is linked statically" static_lua
expect "... that is its own command" "traces, named by the line" "$(cp "$bin/static_lua" "$bin/luajit"; echo luajit)"
gcc -shared -fPIC -o "$bin/libluajit-5.1.so.2" "$dir/lua.c" -Wl,-soname,"$bin/libluajit-5.1.so.2" &&
	gcc -o "$bin/linked" "$dir/main.c" -Wl,--no-as-needed "$bin/libluajit-5.1.so.2" || fail "gcc cannot build them"
expect "LuaJIT as a library" "traces, named by the line" linked
echo 'const char *flag = "perf_basic_prof";' | gcc -o "$bin/embedder" "$dir/main.c" -x c - || fail "gcc cannot build them"
expect "V8 without its interface" "V8 does not export its interface here" embedder
command -v clang-repl >/dev/null && expect clang-repl "if the program registers its code" clang-repl
doctor 1 2 >/dev/null && fail "two PIDs: exit 0"
doctor raku --json | /usr/bin/python3 -m json.tool >/dev/null || fail "--json behind the command is no JSON"
finish
