/* SPDX-License-Identifier: MIT */
#include "jitreg/hosts/jit_hosts.h"

#include <ctype.h>
#include <string.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define V8_VERSIONS "V8 " TEXT(JIT_HOST_V8_OLDEST) " to " TEXT(JIT_HOST_V8_NEWEST)
#define UNDER_RUN "Record with `tailor run -- COMMAND`"

const char jit_host_other_remedy[] = "Enable its perf map or jitdump if it has one; an engine of your own calls jitreg_code_load()";

const struct jit_host jit_hosts[] = {
	{ "GDB JIT interface", "__jit_debug_register_code", "libLLVM", "names, lines and frames of code registered for debuggers", "LLVM",
	  "libLLVM", UNDER_RUN ", or let the program add JITEventListener::createGDBRegistrationListener()" },
	{ "V8's code events", "_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE", "libnode.so",
	  "names and lines of " V8_VERSIONS " under `tailor run` and by `tailor attach --inject`; otherwise with --perf-prof or "
	  "--perf-basic-prof", "Node",
	  "node libnode nodejs", "Run node with --perf-basic-prof" },
	{ "JVMTI", "JNI_CreateJavaVM", "libjli.so",
	  "names and lines under `tailor run`; names by `tailor attach` (Java 17 or later), or with -XX:+UnlockDiagnosticVMOptions "
	  "-XX:+DumpPerfMapAtExit", "OpenJDK", "libjvm java", "Run java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ "jit.attach", "luaJIT_setmode", "libluajit", "traces, named by the line where they start, under `tailor run`", "LuaJIT",
	  "libluajit luajit", UNDER_RUN "; a LuaJIT that is linked statically is not heard" },
	{ "Mono's profiler events", "mono_profiler_set_jit_done_callback", "libmonosgen",
	  "names, and lines with --debug, under `tailor run`; otherwise names with --jitmap", "Mono", "libmonosgen libmono mono",
	  "Run mono with --jitmap" },
	{ "opcache.jit_debug", "php_module_startup", "libphp",
	  "names under `tailor run`; otherwise with -d opcache.jit_debug=0x100", "PHP", "opcache php libphp",
	  "Run php with -d opcache.jit_debug=0x100" },
	{ "jit_debugging_support", "_PG_jit_provider_init", "llvmjit.so",
	  "names under `tailor run`; otherwise with the setting of that name", "PostgreSQL", "llvmjit postgres",
	  "Start the server with -c jit_debugging_support=1" },
	{ "JSC_useJITDump", "JSGlobalContextCreate", "libjavascriptcoregtk",
	  "names under `tailor run`; otherwise with JSC_useJITDump=1 JSC_jitDumpDirectory=/tmp in the environment", "JavaScriptCore",
	  "libjavascriptcoregtk", "Set JSC_useJITDump=1 JSC_jitDumpDirectory=/tmp" },
	{ "BUN_JSC_useJITDump", NULL, "BUN_JSC_", "names with BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=/tmp in the environment", "bun",
	  "bun", "Set BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=/tmp" },
	{ "deno's --v8-flags", NULL, "deno_core",
	  "names and lines under `tailor run`; otherwise with --v8-flags=--perf-prof,--perf-prof-delete-file", "deno", "deno",
	  "Run deno with --v8-flags=--perf-prof,--perf-prof-delete-file" },
	{ "YJIT, MJIT", "ruby_init", "libruby",
	  "names of YJIT's code, and lines of Ruby 3.1's, under `tailor run`; libraries written by MJIT; RJIT has none", "Ruby",
	  "libruby ruby", UNDER_RUN ", which names YJIT's code (not Ruby 3.2's, nor RJIT's), or run ruby with --yjit-perf" },
	{ "Erlang's GDB JIT", NULL, "erlexec", "names and lines of code that beam.smp registers for debuggers", "Erlang", "beam",
	  "Run erl with +JPperf true" },
	{ "GUILE_JIT_LOG", "scm_boot_guile", "libguile", "names with GUILE_JIT_LOG=1 in the environment", "Guile", "libguile guile",
	  "Set GUILE_JIT_LOG=1" },
	{ "NUMBA_DEBUGINFO", "LLVMPY_CreateMCJITCompiler", "libllvmlite", "source lines with NUMBA_DEBUGINFO=1 in the environment",
	  "llvmlite", "libllvmlite", "Let it link by RuntimeDyld, its default: create_lljit_compiler() without use_jit_link" },
	{ "pocl's libraries", "POclGetPlatformInfo", "libOpenCL", "kernels, named as in the libraries that pocl writes", "pocl",
	  "libpocl", UNDER_RUN },
	{ "SpiderMonkey", "_Z13JS_NewContextjP9JSRuntime", "libmozjs", "no JIT interface; its code appears as an anonymous executable "
	  "region", "SpiderMonkey", "libmozjs js102 gjs", "It has no JIT interface; `tailor report --view asm` lists its instructions" },
	{ "PyPy's loops", "pypy_main_startup", "libpypy", "names by the line where they start, under `tailor run`", "PyPy",
	  "libpypy pypy", UNDER_RUN },
	{ "MVM_JIT_PERF_MAP", "MVM_vm_create_instance", "libmoar.so",
	  "names under `tailor run`; otherwise with MVM_JIT_PERF_MAP=1 in the environment", "MoarVM", "libmoar moar",
	  "Set MVM_JIT_PERF_MAP=1" },
	{ "QV4_PROFILE_WRITE_PERF_MAP", "_ZN9QJSEngineC1Ev", "libQt5Qml.so",
	  "names under `tailor run`; otherwise with QV4_PROFILE_WRITE_PERF_MAP=1 in the environment", "Qt QML", "libQt5Qml libQt6Qml",
	  "Set QV4_PROFILE_WRITE_PERF_MAP=1" },
	{ "PCRE2's JIT", "pcre2_jit_compile_8", "libpcre2-8.so", "patterns, named under `tailor run`", "PCRE2", "libpcre2", UNDER_RUN },
	{ NULL, NULL, NULL, NULL, "wasmtime", "_libwasmtime libwasmtime",
	  "Give its Config the profiler \"perfmap\" (in Rust: ProfilingStrategy::PerfMap)" },
	{ NULL, NULL, NULL, NULL, "wasmer", "wasmer.cpython",
	  "PyPI's has no JIT interface; `tailor report --view asm` lists its instructions" },
	{ NULL, NULL, NULL, NULL, "ORC", "liborc orcexec", "It has no JIT interface; with ORC_CODE=backup its programs run as compiled C" },
	{ NULL, NULL, NULL, NULL, "QEMU", "qemu", "Run QEMU 8 or later with -perfmap; 7.2 registers one buffer for all guest code" },
	{ NULL, NULL, NULL, NULL, "SBCL", "sbcl", "It has no JIT interface; its own profiler names functions: (require :sb-sprof)" },
	{ NULL, NULL, NULL, NULL, "Racket", "racket", "It has no JIT interface; its own profiler names functions: `raco profile FILE`" },
	{ NULL, NULL, NULL, NULL, "Chez Scheme", "chezscheme scheme petite",
	  "It has no JIT interface; its own profiler names functions: (compile-profile #t), (profile-dump-html)" },
	{ NULL, NULL, NULL, NULL, "Poly/ML", "libpolyml poly",
	  "It has no JIT interface; its own profiler names functions: PolyML.Profiling.profile" },
	{ NULL, NULL, NULL, NULL, "Standard ML of New Jersey", "run.x86-linux run.amd64-linux",
	  "It has no JIT interface; `tailor report --view asm` lists its instructions" },
};
const size_t nr_jit_hosts = sizeof(jit_hosts) / sizeof(jit_hosts[0]);

bool jit_host_is_buffer(const char *symbol)
{
	return strcmp(symbol, "code_gen_buffer") == 0;
}

/* Is name the word, perhaps with a version or an ending behind it: "php8.2", "libLLVM-14.so.1", "sbcl.core", but not "nodemon"? */
static bool is_called(const char *name, const char *word, size_t bytes)
{
	return strncmp(name, word, bytes) == 0 && !isalpha((unsigned char)name[bytes]) && name[bytes] != '_';
}

/* A word of a host's objects, of so many bytes: may it be what a library is called? */
static bool is_of_library(const char *word, size_t bytes)
{
	return strncmp(word + (*word == '_'), "lib", 3) == 0 || memmem(word, bytes, ".cpython", 8);
}

static const struct jit_host *find(const char *path, bool libraries_only)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; *name && i < nr_jit_hosts; i++)
		for (const char *word = jit_hosts[i].objects; *word;) {
			size_t bytes = strcspn(word, " ");

			if (is_called(name, word, bytes) && (!libraries_only || is_of_library(word, bytes)))
				return &jit_hosts[i];
			word += bytes + (word[bytes] == ' ');
		}
	return NULL;
}

const struct jit_host *jit_host_of_object(const char *path)
{
	return find(path, false);
}

const struct jit_host *jit_host_of_library(const char *path)
{
	return find(path, true);
}

bool jit_host_serves_others(const struct jit_host *host)
{
	return strcmp(host->name, "LLVM") == 0 || strcmp(host->name, "PCRE2") == 0 || strcmp(host->name, "ORC") == 0;
}
