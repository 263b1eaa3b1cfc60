/* SPDX-License-Identifier: MIT */
#include "jitreg/hosts/jit_hosts.h"

#include "jitreg/hosts/host_versions.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define V8_VERSIONS "V8 " HOST_TEXT(HOST_V8_OLDEST) " to " HOST_TEXT(HOST_V8_NEWEST)
#define CPYTHON_VERSIONS "CPython 3." HOST_TEXT(HOST_CPYTHON_OLDEST) " to 3." HOST_TEXT(HOST_CPYTHON_NEWEST)
#define INSTRUCTIONS "`tailor report --view asm` lists its instructions"
#define OWN_PROFILER "It has no JIT interface; its own profiler names functions: "

/* This stands for hosts that are not in the list, in jit_host_advise(). */
static const struct jit_host other = {
	.heard = JIT_BY_AGENT, .option = "enable its perf map or jitdump if it has one; an engine of your own calls jitreg_code_load()",
};

const struct jit_host jit_hosts[] = {
	{ "GDB JIT interface", "__jit_debug_register_code", "libLLVM", "names, lines and frames of code registered for debuggers", "LLVM",
	  "libLLVM", JIT_BY_ALL | JIT_SERVES_OTHERS, "let the program link by RuntimeDyld, or register its code for debuggers", NULL,
	  NULL },
	{ "V8's code events", "_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE", "libnode.so",
	  "names and lines of " V8_VERSIONS, "Node",
	  "node libnode nodejs", JIT_BY_AGENT | JIT_BY(INJECT), "run node with --perf-basic-prof", "--perf-basic-prof --perf-prof", NULL },
	{ "JVMTI", "JNI_CreateJavaVM", "libjli.so",
	  "names and lines (by attach of Java 17 or later)", "OpenJDK", "libjvm java", JIT_BY_ALL,
	  "set JAVA_TOOL_OPTIONS='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'", "-XX:+DumpPerfMapAtExit", NULL },
	{ "jit.attach", "luaJIT_setmode", "libluajit", "traces, named by the line where they start", "LuaJIT", "libluajit luajit",
	  JIT_BY_ALL, NULL, NULL, "A LuaJIT that is linked statically is not heard; " INSTRUCTIONS },
	{ "Mono's profiler events", "mono_profiler_set_jit_done_callback", "libmonosgen",
	  "names, and lines with --debug", "Mono", "libmonosgen libmono mono",
	  JIT_BY_AGENT, "run mono with --jitmap", "--jitmap", NULL },
	{ "frame evaluation (PEP 523)", "_PyEval_EvalFrameDefault", "libpython3.",
	  "functions of " CPYTHON_VERSIONS " with its global lock, by file and first line (3.14: without its JIT)",
	  JIT_HOST_OF_PYTHON, "", JIT_BY_AGENT | JIT_BY(INJECT) | JIT_IS_PYTHON,
	  "run python 3.12 or later with -X perf", "-Xperf", NULL },
	{ "opcache.jit_debug", "php_module_startup", "libphp",
	  "names", "PHP", "opcache php libphp", JIT_BY_AGENT,
	  "run php with -d opcache.jit_debug=0x100", "opcache.jit_debug= -dopcache.jit_debug=", NULL },
	{ "jit_debugging_support", "_PG_jit_provider_init", "llvmjit.so",
	  "names", "PostgreSQL", "llvmjit postgres", JIT_BY_AGENT,
	  "start the server with -c jit_debugging_support=1", "jit_debugging_support=1 jit_debugging_support=on", NULL },
	{ "JSC_useJITDump", "JSGlobalContextCreate", "libjavascriptcoregtk",
	  "names", "JavaScriptCore",
	  "libjavascriptcoregtk jsc", JIT_BY_AGENT, "set JSC_useJITDump=1 JSC_jitDumpDirectory=/tmp", "JSC_useJITDump=1", NULL },
	{ "BUN_JSC_useJITDump", NULL, "BUN_JSC_", "names", "bun",
	  "bun", 0, "set BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=/tmp", "BUN_JSC_useJITDump=1", NULL },
	{ "deno's --v8-flags", NULL, "deno_core",
	  "names and lines", "deno", "deno", JIT_BY_AGENT,
	  "run deno with --v8-flags=--perf-prof,--perf-prof-delete-file", "--perf-prof --perf-basic-prof", NULL },
	{ "YJIT, MJIT", "ruby_init", "libruby",
	  "names of YJIT's code, and lines of Ruby 3.1's; libraries written by MJIT; RJIT has none", "Ruby",
	  "libruby ruby", JIT_BY_AGENT, "run ruby 3.3 or later with --yjit --yjit-perf (Ruby 3.2's YJIT and RJIT have no JIT interface)",
	  "--yjit-perf", NULL },
	{ "Erlang's GDB JIT", NULL, "erlexec", "names and lines of code that beam.smp registers for debuggers (OTP 29: none)",
	  "Erlang", "beam", JIT_BY_AGENT, "run erl with +JPperf true", "JPperf", NULL },
	{ "GUILE_JIT_LOG", "scm_boot_guile", "libguile", "names", "Guile", "libguile guile", 0,
	  "set GUILE_JIT_LOG=1", "GUILE_JIT_LOG=", NULL },
	{ "NUMBA_DEBUGINFO", "LLVMPY_CreateMCJITCompiler", "libllvmlite", "source lines with NUMBA_DEBUGINFO=1 in the environment",
	  "llvmlite", "libllvmlite", 0, "call create_lljit_compiler() without use_jit_link=True", NULL, NULL },
	{ "pocl's libraries", "POclGetPlatformInfo", "libOpenCL", "kernels, named as in the libraries that pocl writes", "pocl",
	  "libpocl", JIT_BY_ALL, NULL, NULL, NULL },
	{ "SpiderMonkey", "_Z13JS_NewContextjP9JSRuntime", "libmozjs", "no JIT interface; its code appears as an anonymous executable "
	  "region", "SpiderMonkey", "libmozjs js102 gjs", 0, NULL, NULL, "It has no JIT interface; " INSTRUCTIONS },
	{ "PyPy's loops", "pypy_main_startup", "libpypy", "names by the line where they start", "PyPy",
	  "libpypy pypy", JIT_BY_AGENT, NULL, NULL, NULL },
	{ "MVM_JIT_PERF_MAP", "MVM_vm_create_instance", "libmoar.so",
	  "names", "MoarVM", "libmoar moar", JIT_BY_AGENT,
	  "set MVM_JIT_PERF_MAP=1", "MVM_JIT_PERF_MAP=", NULL },
	{ "QV4_PROFILE_WRITE_PERF_MAP", "_ZN9QJSEngineC1Ev", "libQt5Qml.so",
	  "names", "Qt QML", "libQt5Qml libQt6Qml",
	  JIT_BY_AGENT, "set QV4_PROFILE_WRITE_PERF_MAP=1", "QV4_PROFILE_WRITE_PERF_MAP=", NULL },
	{ "PCRE2's JIT", "pcre2_jit_compile_8", "libpcre2-8.so", "patterns, named", "PCRE2", "libpcre2",
	  JIT_BY_AGENT | JIT_SERVES_OTHERS, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, "wasmtime", "_libwasmtime libwasmtime", 0,
	  "give its Config the profiler \"perfmap\" (in Rust: ProfilingStrategy::PerfMap)", NULL, NULL },
	{ NULL, NULL, NULL, NULL, "wasmer", "wasmer.cpython", 0, NULL, NULL, "PyPI's has no JIT interface; " INSTRUCTIONS },
	{ NULL, NULL, NULL, NULL, "ORC", "liborc orcexec", JIT_SERVES_OTHERS, NULL, NULL,
	  "It has no JIT interface; with ORC_CODE=backup its programs run as compiled C" },
	{ NULL, NULL, NULL, NULL, "QEMU", "qemu", 0, "run QEMU 8 or later with -perfmap; 7.2 registers one buffer for all guest code",
	  "-perfmap", NULL },
	{ NULL, NULL, NULL, NULL, "SBCL", "sbcl", 0, NULL, NULL, OWN_PROFILER "(require :sb-sprof)" },
	{ NULL, NULL, NULL, NULL, "Racket", "racket", 0, NULL, NULL, OWN_PROFILER "`raco profile FILE`" },
	{ NULL, NULL, NULL, NULL, "Chez Scheme", "chezscheme scheme petite", 0, NULL, NULL,
	  OWN_PROFILER "(compile-profile #t), (profile-dump-html)" },
	{ NULL, NULL, NULL, NULL, "Poly/ML", "libpolyml poly", 0, NULL, NULL, OWN_PROFILER "PolyML.Profiling.profile" },
	{ NULL, NULL, NULL, NULL, "Standard ML of New Jersey", "run.x86-linux run.amd64-linux", 0, NULL, NULL,
	  "It has no JIT interface; " INSTRUCTIONS },
};
const size_t nr_jit_hosts = sizeof(jit_hosts) / sizeof(jit_hosts[0]);

#define WAY_TEXT(NAME, text) [JIT_WAY_##NAME] = text,
static const char *const ways[NR_JIT_WAYS] = { [JIT_WAY_UNKNOWN] = "", JIT_WAYS(WAY_TEXT) };
#undef WAY_TEXT

const char *jit_way_text(enum jit_way way)
{
	return (unsigned)way < NR_JIT_WAYS ? ways[way] : "";
}

enum jit_way jit_way_of_text(const char *text)
{
	for (int i = JIT_WAY_UNKNOWN + 1; text && i < NR_JIT_WAYS; i++)
		if (strcmp(ways[i], text) == 0)
			return (enum jit_way)i;
	return JIT_WAY_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------------------- advice */

/* List at most two ways of recording by which code of the host gets more names than by the one that was used. Those that change less in
 * the host come first. */
static void list_other_ways(const struct jit_host *h, enum jit_way taken, const char *way[2], int *nr)
{
	/* the agent was there from the start, so another way gets no more */
	bool by_agent = taken == JIT_WAY_RUN || taken == JIT_WAY_PRELOAD;
	bool was_alive = taken == JIT_WAY_ATTACH || taken == JIT_WAY_IMPORT;

	*nr = 0;
	if (taken == JIT_WAY_IMPORT && h->heard & JIT_BY(ATTACH))
		way[(*nr)++] = "`tailor attach PID`";
	else if (was_alive && h->heard & JIT_BY(INJECT) && !(h->heard & JIT_BY(ATTACH)))
		way[(*nr)++] = "`tailor attach --inject PID`";
	if (!by_agent && h->heard & JIT_BY(RUN))
		way[(*nr)++] = "`tailor run -- COMMAND`";
}

void jit_host_advise(const struct jit_host *host, const struct jit_recording *how, char advice[JIT_ADVICE_BYTES])
{
	const struct jit_host *h = host ? host : &other;
	const char *way[2], *option = how->in_force ? NULL : h->option;
	int nr = 0;

	if (how->no_adapt && how->way < NR_JIT_WAYS && h->heard & 1u << how->way) {
		snprintf(advice, JIT_ADVICE_BYTES, "Record without --no-adapt");
		return;
	}
	list_other_ways(h, how->way, way, &nr);
	if (nr)
		snprintf(advice, JIT_ADVICE_BYTES, "Record with %s%s%s%s%s", way[0], nr > 1 ? " or " : "", nr > 1 ? way[1] : "",
			 option ? ", or " : "", option ? option : "");
	else if (option)
		snprintf(advice, JIT_ADVICE_BYTES, "%c%s", toupper((unsigned char)*option), option + 1);
	else
		snprintf(advice, JIT_ADVICE_BYTES, "%s", h->otherwise ? h->otherwise : INSTRUCTIONS);
}

void jit_host_list_ways(const struct jit_host *h, char text[JIT_ADVICE_BYTES])
{
	static const struct {
		uint32_t by;
		const char *command;
	} ways_by_change[] = { { JIT_BY(ATTACH), "`tailor attach PID`" }, { JIT_BY(INJECT), "`tailor attach --inject PID`" },
			       { JIT_BY(RUN), "`tailor run -- COMMAND`" } };
	int at = 0;

	*text = 0;
	for (size_t i = 0; i < sizeof(ways_by_change) / sizeof(ways_by_change[0]); i++)
		if (h->heard & ways_by_change[i].by && !(i == 1 && h->heard & JIT_BY(ATTACH))) /* attach is enough */
			at += snprintf(text + at, JIT_ADVICE_BYTES - (size_t)at, "%s%s", at ? ", " : "", ways_by_change[i].command);
	if (h->option)
		snprintf(text + at, JIT_ADVICE_BYTES - (size_t)at, "%s%s", at ? "; or " : "", h->option);
	else if (!at)
		snprintf(text, JIT_ADVICE_BYTES, "%s", h->otherwise ? h->otherwise : INSTRUCTIONS);
}

/* Does a word begin at `at`, that is, the argument itself, or the text behind a separator of options? */
static bool is_at_word_begin(const char *argument, const char *at)
{
	return at == argument || strchr(" =,:;+\t", at[-1]);
}

void jit_host_each_option_in(const char *argument, void (*each)(void *context, const char *option), void *context)
{
	char word[64];

	for (size_t i = 0; i < nr_jit_hosts; i++)
		for (const char *text = jit_hosts[i].in_force; text && *text;) {
			size_t bytes = strcspn(text, " ");
			const char *at = argument;

			snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
			while ((at = strstr(at, word)) && !is_at_word_begin(argument, at))
				at++;
			if (at)
				each(context, word);
			text += bytes + (text[bytes] == ' ');
		}
}

bool jit_host_is_code_buffer(const char *symbol)
{
	return strcmp(symbol, "code_gen_buffer") == 0;
}

/* Is the file name equal to the word, or does a version or an extension follow it, as in "php8.2", "libLLVM-14.so.1" and "sbcl.core", but
 * not "nodemon"? */
static bool file_is_named(const char *name, const char *word, size_t bytes)
{
	return strncmp(name, word, bytes) == 0 && !isalpha((unsigned char)name[bytes]) && name[bytes] != '_';
}

/* Is a word of struct jit_host's objects the beginning of a library's name? */
static bool may_be_library_name(const char *word, size_t bytes)
{
	return strncmp(word + (*word == '_'), "lib", 3) == 0 || memmem(word, bytes, ".cpython", 8);
}

static bool path_is_of_objects(const char *path, const char *objects, bool libraries_only)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (const char *word = objects; *name && *word;) {
		size_t bytes = strcspn(word, " ");

		if (file_is_named(name, word, bytes) && (!libraries_only || may_be_library_name(word, bytes)))
			return true;
		word += bytes + (word[bytes] == ' ');
	}
	return false;
}

bool jit_host_path_is_of_objects(const char *path, const char *objects)
{
	return path_is_of_objects(path, objects, false);
}

static const struct jit_host *find_jit_host(const char *path, bool libraries_only)
{
	for (size_t i = 0; i < nr_jit_hosts; i++)
		if (path_is_of_objects(path, jit_hosts[i].objects, libraries_only))
			return &jit_hosts[i];
	return NULL;
}

const struct jit_host *jit_host_of_object(const char *path)
{
	return find_jit_host(path, false);
}

const struct jit_host *jit_host_of_library(const char *path)
{
	return find_jit_host(path, true);
}

bool jit_host_serves_others(const struct jit_host *host)
{
	return host->heard & JIT_SERVES_OTHERS;
}

bool jit_host_is_python(const struct jit_host *host)
{
	return host->heard & JIT_IS_PYTHON;
}
