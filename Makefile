# SPDX-License-Identifier: MIT
# tailor.  `make help` lists the targets.  Parts first, rules after; everything built goes under $B.

B ?= build
CC = gcc
PYTHON = /usr/bin/python3
SAN ?=
WERROR ?=
VERSION := 1.0.0

# ---------------------------------------------------------------------------------------------------------- flags
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	$(if $(WERROR),-Werror) -fno-omit-frame-pointer -D_GNU_SOURCE -DTAILOR_VERSION='"$(VERSION)"' $(CFLAGS)
SAN_FLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined)

# What differs from one distribution to another, found at each start (dist/configure.sh); LLVM_CONFIG=... takes that LLVM.
$(shell dist/configure.sh $B '$(CC)' '$(LLVM_CONFIG)')
include $B/config.mk
export PATH := $(abspath $B)/tools:$(PATH)

# ---------------------------------------------------------------------------------------------------------- parts
# name_SRC: sources; name_FLAGS: extra flags; name_LIBS: libraries.  One third-party library, one door (docs/architecture.md).
trace_SRC    := $(wildcard jitreg/base/*.c jitreg/hosts/*.c jitreg/output/*.c jitreg/trace/*.c)
protocol_SRC := $(wildcard jitreg/protocol/*.c)
confine_SRC  := $(wildcard jitreg/confine/*.c)
engines_SRC  := $(wildcard jitreg/engines/*.c)
guest_SRC    := $(wildcard agent/guest/*.c shim/*.c shim/announce/*.c shim/engines/*.c shim/hosts/*.c shim/libraries/*.c)
recorder_SRC := $(filter-out agent/recorder/main_record.c,$(wildcard agent/recorder/*.c agent/recorder/*/*.c))
analyzer_SRC := $(filter-out analyzer/main.c,$(wildcard analyzer/*.c analyzer/*/*.c))
engine_SRC   := $(filter-out tests/engine/runtime%.c,$(wildcard tests/engine/*.c))
runtime_SRC  := $(wildcard tests/engine/runtime*.c)
unit_SRC     := $(wildcard tests/unit/test_*.c)
fuzz_SRC     := $(wildcard tests/fuzz/fuzz_*.c)

INCLUDES = -I.

recorder_LIBS = -lpfm $(MSGPACK_LIB) -lzstd -llzma -lseccomp -ldl
record_LIBS   = $(RECORD_LIBS) -lpthread
analyzer_LIBS = -ldw -lelf -lunwind-x86_64 -lunwind $(MSGPACK_LIB) -lzstd -ljansson -lz -lsqlite3 $(CURSES_LIB) -lZydis -l:libiberty.a -lm
tailor_LIBS   = $(recorder_LIBS) $(analyzer_LIBS) -lpthread

objects = $(patsubst %.c,$B/%.o,$($(1)_SRC))
# Engines' memory is read by both halves: compiled for each.
guest_OBJ   := $(call objects,guest) $(patsubst %.c,$B/in_guest/%.o,$(engines_SRC))
engine_OBJ  := $(call objects,engine)
runtime_OBJ := $(call objects,runtime)
tailor_OBJ  := $(call objects,protocol) $(call objects,confine) $(call objects,engines) $(call objects,recorder) $(call objects,analyzer)
unit_BIN    := $(patsubst tests/unit/%.c,$B/unit/%,$(unit_SRC))
fuzz_BIN    := $(patsubst tests/fuzz/%.c,$B/fuzz/%,$(fuzz_SRC))

PRODUCTS := $B/tailor $B/tailor-record $B/libtailor.so $B/libtailor-intel.so $(if $(engine_SRC),$B/engine)

.PHONY: all
all: $(PRODUCTS) ## build the command, the agent and the test engine

# ---------------------------------------------------------------------------------------------------------- rules
# The stamp changes when the flags do, and everything depends on it.
FLAGS_NOW := $(CC) $(ALL_CFLAGS) $(SAN_FLAGS) $(MSGPACK_LIB) $(LLVM_CFLAGS) $(LLVM_LIBS)
$(shell echo '$(FLAGS_NOW)' | cmp -s - $B/flags || echo '$(FLAGS_NOW)' > $B/flags)

# Without the libraries' headers nothing is compiled: a sentence says which packages have them.
.PHONY: libraries llvm cmocka
$B/flags: | libraries
refuse_without = @$(if $1,tests/deps.sh --missing $1)
libraries:
	$(call refuse_without,$(filter-out llvm-c/% cmocka.h,$(MISSING_HEADERS)))
llvm:
	$(call refuse_without,$(filter llvm-c/%,$(MISSING_HEADERS)))
cmocka:
	$(call refuse_without,$(filter cmocka.h,$(MISSING_HEADERS)))

define compile
@mkdir -p $(@D)
$(CC) $(ALL_CFLAGS) $(SAN_FLAGS) $(INCLUDES) $(PART_FLAGS) -MMD -MP -c $< -o $@
endef

$B/%.o: %.c $B/flags
	$(compile)
$B/in_guest/%.o: %.c $B/flags
	$(compile)

# The guest runs in other people's processes: hidden symbols, initial-exec TLS, no sanitizer, no stack protector that
# would need more than libc.
$(guest_OBJ): PART_FLAGS = -include agent/guest/old_libc.h -DJITREG_AGENT -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-sanitize=all -fno-stack-protector -fno-plt
# The engine is a host, and hosts are not sanitized: an agent that is preloaded comes before the sanitizer's own library.
$(engine_OBJ): PART_FLAGS = $(LLVM_CFLAGS) -fno-sanitize=all
$(engine_OBJ): | llvm
# The engine's shared runtime keeps the tag register: gcc only, clang has no -ffixed-r13.
$(runtime_OBJ): override CC = gcc
$(runtime_OBJ): PART_FLAGS = -ffixed-r13 -DJITREG_FIXED_R13 -fno-sanitize=all -fno-lto

# The file format, both ways: what the recorder writes with and the analyzer reads with.
$B/libtrace.a: $(call objects,trace)
	@rm -f $@
	$(AR) qcs $@ $^

$B/tailor: $B/analyzer/main.o $(tailor_OBJ) $B/libtrace.a
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $^ -o $@ $(tailor_LIBS)

# tailor with a fault in each parser that has a place for one (tests/plant): these files are compiled anew, the rest is tailor's.
planted_SRC := $(shell grep -l '"jitreg/base/planted.h"' $(analyzer_SRC) $(recorder_SRC) $(trace_SRC))
planted_OBJ := $(patsubst %.c,$B/planted/%.o,$(planted_SRC) tests/plant/plant.c)
$(planted_OBJ): PART_FLAGS = -DTAILOR_PLANT
$B/planted/%.o: %.c $B/flags
	$(compile)
$B/planted/tailor: $B/analyzer/main.o $(planted_OBJ) $(filter-out $(patsubst %.c,$B/%.o,$(planted_SRC)),$(tailor_OBJ)) $B/libtrace.a
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $^ -o $@ $(tailor_LIBS)

# What a preloaded agent starts, and its host waits for: only what that needs, and little for the loader to do.
$B/tailor-record: $B/agent/recorder/main_record.o $B/parts.a $B/libtrace.a
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $^ -o $@ $(record_LIBS)

$B/libtailor.so: $(guest_OBJ) agent/guest/exports.map
	$(CC) -shared $(LDFLAGS) -Wl,--version-script=agent/guest/exports.map -Wl,-z,defs -Wl,-z,now -Wl,-soname,libtailor.so \
		$(guest_OBJ) -o $@ -ldl -lpthread

# Its script is a file of its own, taken in as it is (.incbin).
$B/analyzer/export/flamegraph.o: analyzer/export/flamegraph.js

# What `tailor html` writes around its data: built by esbuild out of web/, and empty (with a sentence) where that cannot be.
PAGE_WEB := $(wildcard analyzer/page/web/*.js analyzer/page/web/views/*.js analyzer/page/web/*.css analyzer/page/web/*.html)
PAGE_WASM := $(wildcard analyzer/table/*.[ch] analyzer/table/wasm/*.[ch] analyzer/compare/*.[ch] analyzer/compare/wasm/*.[ch] \
	analyzer/flow/*.[ch] analyzer/flow/wasm/*.[ch] analyzer/listing/culprits.[ch] analyzer/listing/sampled_executions.h analyzer/listing/wasm/*.[ch] \
	analyzer/accesses/access_order.[ch] analyzer/accesses/wasm/*.[ch] jitreg/base/grow.h jitreg/base/sorted.h)
$B/page/head.html: analyzer/page/build.sh $(PAGE_WEB) $(PAGE_WASM)
	@analyzer/page/build.sh $B/page $(if $(WERROR),-Werror)
$B/analyzer/page/html_page.o: PART_FLAGS = -DPAGE_FOLDER='"$B/page"'
$B/analyzer/page/html_page.o: $B/page/head.html

# `tailor serve` needs a header that not every machine has: compiled anew when it comes or goes.
$(shell echo '$(wildcard /usr/include/microhttpd.h)' | cmp -s - $B/microhttpd || echo '$(wildcard /usr/include/microhttpd.h)' > $B/microhttpd)
$B/analyzer/serve/http.o: $B/microhttpd

# Likewise.
$B/analyzer/completion/completion.o: analyzer/completion/completion.bash analyzer/completion/completion.zsh

$(guest_OBJ) $B/shim/intel/collector.o: agent/guest/old_libc.h

# What INTEL_JIT_PROFILER64 names: a host of the agent's, as far as that is concerned.  Before glibc 2.34, dlsym is in libdl.so.2, of which
# later ones keep an empty one, though not for linkers.
$B/shim/intel/collector.o: PART_FLAGS = -include agent/guest/old_libc.h -DTAILOR_OLD_DLSYM -fPIC -fvisibility=hidden -fno-sanitize=all -fno-stack-protector
$B/libtailor-intel.so: $B/shim/intel/collector.o
	$(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-soname,libtailor-intel.so $^ -o $@ -Wl,--no-as-needed -l:libdl.so.2

$B/engine: $(engine_OBJ) $(runtime_OBJ)
	$(CC) $(LDFLAGS) -rdynamic $^ -o $@ $(LLVM_LIBS) -lpthread -lm -ldl

$(patsubst %.c,$B/%.o,$(unit_SRC)): | cmocka

# Archives, so that a test gets only the files that it calls: a guest's constructor has no place in most of them.
$B/parts.a: $(tailor_OBJ)
	@rm -f $@
	$(AR) qcs $@ $^
# (and what stands in front of libc's own functions in none)
$B/guest.a: $(filter-out %/threads.o %/signals.o %/confine.o %/exec.o %/memory_limit.o %/shim.o %/images.o %/eh_frame.o %/exec_memory.o,$(guest_OBJ))
	@rm -f $@
	$(AR) qcs $@ $^

$B/unit/%: $B/tests/unit/%.o $B/parts.a $B/guest.a $B/libtrace.a
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $^ -o $@ -lcmocka $(tailor_LIBS) -ldl

# The sample table for a page: the same sources, as wasm32, with nothing else in it.  Debian's clang-15 would take wasm-ld-15 and no other.
WASM_FLAGS := --target=wasm32 -fuse-ld=$$(command -v wasm-ld) -O2 -std=gnu11 -Wall -Wextra -Wshadow $(if $(WERROR),-Werror) \
	-ffreestanding -fno-builtin -nostdlib -isystem analyzer/table/wasm -I. -Wl,--no-entry -Wl,--strip-all
$B/table.wasm: $(wildcard analyzer/table/*.[ch] analyzer/table/wasm/*.[ch])
	@mkdir -p $(@D)
	clang $(WASM_FLAGS) $(filter %.c,$^) -o $@

# The engine without a word to the profiler.
SILENT := $(ALL_CFLAGS) $(INCLUDES) -w -include tests/bench/silent.h -r -nostdlib
$B/bench/engine-silent: $(engine_SRC) $(runtime_SRC) tests/bench/silent.h jitreg/jitreg.h
	@mkdir -p $(@D)
	$(CC) $(SILENT) $(LLVM_CFLAGS) $(engine_SRC) -o $(@D)/silent-engine.o
	gcc $(SILENT) -ffixed-r13 -DJITREG_FIXED_R13 $(runtime_SRC) -o $(@D)/silent-runtime.o
	$(CC) $(LDFLAGS) -rdynamic $(@D)/silent-engine.o $(@D)/silent-runtime.o -o $@ $(LLVM_LIBS) -lpthread -lm -ldl

# Programs that the benchmarks need.
$B/bench/%: $B/tests/bench/%.o $B/parts.a $B/libtrace.a
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $^ -o $@ $(tailor_LIBS)

# libFuzzer is clang's (FUZZER=1); elsewhere the same targets replay their corpus through tests/fuzz/replay.c.
$B/fuzz/%: $B/tests/fuzz/%.o $(if $(FUZZER),,$B/tests/fuzz/replay.o) $B/parts.a $B/libtrace.a
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(if $(FUZZER),-fsanitize=fuzzer) $(LDFLAGS) $^ -o $@ $(tailor_LIBS)

-include $(shell find $B -name suites -prune -o -name '*.d' -print 2>/dev/null)

# --------------------------------------------------------------------------------------------------------- set-up
# Debian's packages that the build, the demo and the checks need.  a|b: by release; a?: where the release has it (tests/deps.sh).
PACKAGES_BUILD := gcc make pkg-config libunwind-dev libdw-dev libelf-dev libpfm4-dev 'libmsgpack-c-dev|libmsgpack-dev' libzstd-dev liblzma-dev \
	libjansson-dev zlib1g-dev libsqlite3-dev libncurses-dev libseccomp-dev libzydis-dev libiberty-dev 'llvm-14-dev|llvm-dev'
# What `tailor html` and `tailor serve` are built with; without them the build leaves these out, and says so.
PACKAGES_PAGE := esbuild clang lld libmicrohttpd-dev
PACKAGES_CHECK := git libcmocka-dev clang lld binutils python3-msgpack python3-jsonschema 'python3-numba?' llvm sqlite3 g++ \
	'libclang-rt-14-dev|libclang-rt-dev' gcc-multilib procps strace \
	'libpython3.11-testsuite|libpython3.13-testsuite|libpython3.14-testsuite?' linux-perf
# the page's tests: a browser, and what drives it (tests/page/fetch.py)
PACKAGES_CHECK += 'dwz?' 'libdebuginfod1?' 'protobuf-compiler?'
PACKAGES_CHECK += nodejs chromium-headless-shell curl ca-certificates 'musl-tools?' 'libcap2-bin?'
# libraries that the examples of jitreg/GUIDE.md generate code with
PACKAGES_CHECK += "libgccjit-$$(gcc -dumpversion)-dev?" 'libasmjit-dev?'
# hosts with a JIT that tests profile: small ones (make check-hosts fetches the others)
PACKAGES_CHECK += luajit libluajit-5.1-dev 'php8.2-cli|php-cli' 'mono-runtime?' 'mono-mcs?' erlang-base guile-3.0 \
	'libjavascriptcoregtk-4.0-bin|libjavascriptcoregtk-bin?' 'pypy3?' 'gunicorn?'
# the hosts that README names first (a JDK may be there by other means than Debian's packages)
PACKAGES_CHECK += postgresql $(shell command -v javac >/dev/null || echo "'default-jdk-headless?'")
PACKAGES_POSTGRES := postgresql 'postgresql-server-dev-15|postgresql-server-dev-all'
# npm, Go and a JDK may be there by other means than Debian's packages
PACKAGES_EVERYDAY = postgresql 'apache2-utils?' 'libh2-java?' 'python3-numpy?' 'python3-venv?' \
	$(shell command -v npm >/dev/null || echo "'npm?'") $(shell command -v go >/dev/null || echo "'golang-go?'") \
	$(shell command -v javac >/dev/null || echo "'default-jdk-headless?'")
PACKAGES_LONG := $(PACKAGES_POSTGRES) tcl8.6 'golang-1.19-go|golang-go' 'clickhouse-server?'

.PHONY: deps deps-check
deps: ## install the Debian packages that the build needs (silent when nothing is missing)
	@tests/deps.sh $(PACKAGES_BUILD)
	@tests/deps.sh $(PACKAGES_PAGE) || echo "make: tailor is built without its page (tailor html), or without its server (tailor serve)" >&2
# All at once, so that one sentence says all that will be installed.
deps-check: ## ... and those that the checks need
	@tests/deps.sh $(PACKAGES_BUILD) $(patsubst %,'%?',$(PACKAGES_PAGE)) $(PACKAGES_CHECK)

# --------------------------------------------------------------------------------------------------------- targets
.PHONY: demo check check-quick check-long check-hosts check-hardware bench tune table clean help
demo: deps ## profile a compiled query by operator, from a clean machine on
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@tests/demo.sh $B

# What the tests named by T (layers, or layer/name) need to be built, and nothing else; without T: all.
T = $(TESTS)
needs_unit = $(foreach u,$(unit_BIN),$(if $(findstring $(notdir $1),$u),$u))
needs_fuzz = $(fuzz_BIN) $(if $(findstring replay,$1),,libfuzzer)
needs_lint = all
needs_golden = all table
needs_page = all table
needs_live = all hosts $B/planted/tailor
needs_long = all hosts $B/planted/tailor
needs_hardware = all
needs = $(sort $(if $(T),$(foreach t,$(T),$(call needs_$(firstword $(subst /, ,$t)),$t)),all $(unit_BIN) $(fuzz_BIN) table hosts $B/planted/tailor))

check: $(if $(T),,deps-check) ## run all tests (T="unit live/attach ..." for some: builds what they need, installs nothing)
	$(if $(needs),@$(MAKE) --no-print-directory -s -j$$(nproc) $(needs))
	@SAN=$(SAN) tests/run.sh $B $(T)

check-quick: ## ... those that take a minute: unit, lint and golden, without what builds the tree again (on each save)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all $(unit_BIN) table
	@SAN=$(SAN) QUICK=1 tests/run.sh $B unit lint golden

check-long: PACKAGES_CHECK += $(PACKAGES_LONG)
check-long: deps-check ## ... and those that take long
	@$(MAKE) --no-print-directory -s -j$$(nproc) FUZZ_TARGETS="$(all_FUZZ)" $(needs) libfuzzer
	@FUZZ_ROUNDS=20000 FUZZ_SECONDS=600 FUZZ_JOBS=$$(nproc) FUZZ_TARGETS="$(all_FUZZ)" LONG=1 TEST_SECONDS=10800 tests/run.sh $B

check-hosts: deps-check ## profile every host with a JIT that Debian has, 5 s each; prints a table (HOSTS="node php:gdb ..." for some)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/hosts/jits.py $B --install --stacks $(HOSTS)

.PHONY: check-packages
check-packages: deps ## profile hosts with a JIT as pip, npm, cargo and Maven install them; prints a table (HOSTS="node wasmtime ..." for some)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/hosts/packages.py $B $(HOSTS)

.PHONY: check-newest
check-newest: deps portable ## the newest of each host from PyPI, npm, Maven and Debian unstable, recorded in three ways (HOSTS="php node", TABLE=docs/newest.md)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/hosts/newest.py $B --portable $(PORTABLE) $(if $(TABLE),--table $(TABLE)) $(HOSTS)

check-hardware: deps-check ## what only this machine's own counters can show: every rung, where samples point, how far apart
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@tests/run.sh $B hardware

.PHONY: check-whatif
check-whatif: PACKAGES_CHECK += zstd xz-utils 'postgresql?'
check-whatif: deps-check ## predictions of tailor whatif beside what is measured later; prints a table (CORES="1 2 4", ROUNDS=5: tests/whatif/predict.py)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all hosts
	@$(PYTHON) tests/whatif/predict.py $B/tailor $B/hosts/tasks $B/whatif $B/engine

.PHONY: check-distros
check-distros: ## README's two commands on Debian 12, 13 and testing, as root and as a user with sudo (T=..., DISTROS=..., USERS=root: tests/distros.sh)
	@tests/distros.sh $B $(T)

.PHONY: check-portable
check-portable: portable ## the portable folder on Debian 11, 12, 13 and testing; prints a table (DISTROS=..., ROOTS=FOLDER: tests/portable.sh)
	@tests/portable.sh $B $(PORTABLE)

.PHONY: check-postgres
check-postgres: PACKAGES_CHECK += $(PACKAGES_POSTGRES)
check-postgres: deps-check ## plan nodes of a PostgreSQL server in TPC-H, beside other means (QUERIES="q01 q18", WAYS=agent, ...: tests/postgres/README.md)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/postgres/check.py $B

.PHONY: check-python
check-python: deps ## functions of Debian unstable's newest CPython, with and without its JIT, by run, attach and --inject (as root)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/hosts/python_newest.py $(abspath $B)

.PHONY: check-duckdb
check-duckdb: deps-check ## operators of DuckDB's library, fetched from npm, in TPC-H (QUERIES=all, THREADS=4, ...: tests/duckdb/README.md)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/duckdb/check.py $(abspath $B)

.PHONY: check-spark
check-spark: ## operators of an unmodified Spark, fetched from PyPI, in nineteen statements (SPARK_VERSIONS="4.0.1 3.5.6", SPARK_ROWS=...)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@tests/spark/check.sh $(abspath $B)

.PHONY: check-everyday
check-everyday: PACKAGES_CHECK += $(PACKAGES_EVERYDAY)
check-everyday: deps-check ## which of my functions, of fourteen programs as people have them, in two commands (JOBS="express go": tests/everyday/README.md)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/everyday/check.py $B $(JOBS)

.PHONY: check-perf-data
check-perf-data: PACKAGES_CHECK += linux-perf
check-perf-data: deps-check ## perf.data files as `perf script` lists them: those of FILES=FOLDER, or forty forms that are recorded here (ONLY=TEXT)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/perf_data.py $B/tailor $(if $(FILES),$(FILES),--make $B/perf-data)

.PHONY: check-doors
check-doors: PACKAGES_CHECK += $(PACKAGES_EVERYDAY) linux-perf
check-doors: deps-check ## hosts x ways of recording x ways of reading, the same planted work in each (HOSTS="node", WAYS=..., READERS=..., FULL=1, TABLE=FILE)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/doors/check.py $B $(if $(FULL),--full) $(HOSTS:%=--host %) $(WAYS:%=--way %) $(READERS:%=--reader %) $(if $(TABLE),--table $(TABLE))

.PHONY: check-namespaces
check-namespaces: PACKAGES_CHECK += $(PACKAGES_EVERYDAY)
check-namespaces: deps-check ## time, PID, mount, user, control group namespaces x run, attach, watch x hosts, as root; prints a table (HOSTS="node", WAYS=...)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/namespaces/check.py $B $(HOSTS:%=--host %) $(WAYS:%=--way %)

.PHONY: bench-watch
bench-watch: deps-check ## what tailor watch costs programs, beside perf record, with the rows of DCPI's tables (MINUTES=20)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/bench/watch.py $B $(or $(MINUTES),20)

.PHONY: bench-jvm
bench-jvm: ## what profiling costs a warm Java machine and Spark, beside perf and async-profiler (from Maven Central), and pauses (PROGRAMS="java spark heap", ROUNDS=5)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/bench/jvm.py $B $(or $(ROUNDS),5) $(PROGRAMS)

.PHONY: bench-postgres
bench-postgres: PACKAGES_CHECK += postgresql
bench-postgres: deps-check ## what profiling costs a PostgreSQL server, beside perf, EXPLAIN (ANALYZE) and auto_explain (ROUNDS=7)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/bench/postgres.py $B $(or $(ROUNDS),7)
	@$(PYTHON) tests/bench/postgres.py $B $(or $(ROUNDS),7) pgbench

bench: deps-check ## measure speed and size beside perf
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/bench/bench.py $B
	@$(PYTHON) tests/bench/stacks.py $B
	@$(PYTHON) tests/bench/cost.py $B
	@$(PYTHON) tests/bench/real_programs.py $B
	@$(PYTHON) tests/bench/scopes.py $B
	@$(PYTHON) tests/bench/size.py $B
	@$(PYTHON) tests/bench/start.py $B
	@$(MAKE) --no-print-directory -s $B/bench/calls $B/bench/engine-silent
	@$(PYTHON) tests/bench/calls.py $B
	@$(PYTHON) tests/bench/counts.py $B
	@$(PYTHON) tests/bench/diff.py $B
	@$(PYTHON) tests/bench/frequencies.py $B
	@$(PYTHON) tests/bench/month.py $B
	@$(MAKE) --no-print-directory -s $B/bench/synthetic
	@$(PYTHON) tests/bench/analysis.py $B

.PHONY: bench-page
bench-page: deps-check table ## how soon pages are complete, how long filters take, how much memory they need (RECORDINGS=FOLDER: of UmbraPerf's, too)
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@RECORDINGS=$(RECORDINGS) tests/bench/page.sh $B

.PHONY: paper
paper: deps ## figures of "Tailored Profiling" for the test engine, measured now, into build/paper.md
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(PYTHON) tests/paper/paper.py $B

tune: ## let the kernel allow 100,000 samples a second on this machine until it restarts (as root); says what it changed
	@tests/tune.sh

table: $B/table.wasm $B/bench/columns $B/bench/synthetic ## the sample table as wasm32, and what compares it with this build's
unit: $(unit_BIN)
fuzz: $(fuzz_BIN)
# The fuzz targets as libFuzzer runs them: instrumented, in a folder of their own; nothing where clang is not.  FUZZ_TARGETS: those that
# tests/fuzz/search.sh searches in a check (each takes seconds to link); in check-long it is all.
FUZZ_TARGETS ?= trace perf_data jitdump perf_map unwind cfi code go question store
all_FUZZ     := $(patsubst tests/fuzz/fuzz_%.c,%,$(fuzz_SRC))
.PHONY: fuzz libfuzzer hosts
hosts:
	@tests/hosts/build.sh $B
libfuzzer:
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -x c -fsanitize=fuzzer,address - -o $B/libfuzzer-works 2>/dev/null; \
	then $(MAKE) --no-print-directory -s CC=clang FUZZER=1 B=$B/libfuzzer CFLAGS='-O1 -gline-tables-only' \
		SAN=fuzzer-no-link,address,undefined $(foreach t,$(FUZZ_TARGETS),$B/libfuzzer/fuzz/fuzz_$(firstword $(subst =, ,$t))); fi
# ----------------------------------------------------------------------------------------------------------- tools
# What finds faults without running a test takes minutes, so no check waits for it.
PACKAGES_TOOLS := clang clang-tidy clang-tools clang-format
product_SRC := $(foreach part,trace protocol confine guest recorder analyzer,$($(part)_SRC)) analyzer/main.c agent/recorder/main_record.c shim/intel/collector.c

.PHONY: tidy scan format-diff ci-matrix coverage compile_commands.json
compile_commands.json: ## how each file is compiled, for editors and clang-tidy
	+@tests/compile_commands.sh $B all >$B/compile_commands.json
	@cmp -s $B/compile_commands.json $@ || cp $B/compile_commands.json $@

# An object knows its headers: only files that changed are looked at again.
$B/tidy/%.ok: $B/%.o .clang-tidy | compile_commands.json
	@mkdir -p $(@D)
	@clang-tidy -quiet -p . $*.c 2>/dev/null && touch $@
tidy: ## clang-tidy over the product (.clang-tidy: what is switched off, and why); only what changed since the last time
	@tests/deps.sh $(PACKAGES_TOOLS)
	@$(MAKE) --no-print-directory -s -k -j$$(nproc) $(sort $(product_SRC:%.c=$B/tidy/%.ok))
	@echo "clang-tidy finds nothing in $(words $(sort $(product_SRC))) files"

scan: ## clang's static analyzer over the product
	@tests/deps.sh $(PACKAGES_TOOLS)
	@rm -rf $B/scan
	@scan-build --status-bugs -o $B/scan-report sh -c '$(MAKE) --no-print-directory -s -j$$(nproc) B=$B/scan CC="$$CC" product'

format-diff: ## how clang-format would write the lines that changed since BASE (origin/main)
	@tests/deps.sh $(PACKAGES_TOOLS)
	@git clang-format --diff $(or $(BASE),origin/main) -- '*.c' '*.h'

ci-matrix: ## build and test with each compiler and sanitizer; prints a table (ONLY="clang-14 thread", T="unit golden")
	@tests/ci-matrix.sh $B $T

coverage: ## lines and functions that tests reach, room by room (T="unit golden"; adds to the runs before: remove build/coverage)
	-@$(MAKE) --no-print-directory -s B=$B/coverage CFLAGS='-O1 -g --coverage' LDFLAGS=--coverage check T='$(or $T,unit golden)'
	@tests/coverage.py $B/coverage

# -------------------------------------------------------------------------------------------------------- elsewhere
prefix ?= /usr/local
PORTABLE := $B/tailor-$(VERSION)-x86_64
PACKAGES_DEB := build-essential debhelper dpkg-dev fakeroot

bash_completions ?= $(prefix)/share/bash-completion/completions
zsh_completions ?= $(prefix)/share/zsh/site-functions

.PHONY: product man completion install uninstall portable deb
product: $B/tailor $B/tailor-record $B/libtailor.so $B/libtailor-intel.so ## only what is installed: the command and the agent
man: $B/tailor ## manual pages, from what `tailor help` says
	@dist/man.sh $B/tailor $B/man

completion: $B/tailor ## completion for bash and zsh, from the option tables of all commands
	@mkdir -p $B/completion
	@$B/tailor help --completion bash >$B/completion/tailor
	@$B/tailor help --completion zsh >$B/completion/_tailor

install: product man completion ## into prefix=/usr/local (and DESTDIR)
	install -d $(DESTDIR)$(prefix)/bin $(DESTDIR)$(prefix)/lib/tailor $(DESTDIR)$(prefix)/include \
		$(DESTDIR)$(prefix)/share/pkgconfig $(DESTDIR)$(prefix)/share/man/man1 \
		$(DESTDIR)$(bash_completions) $(DESTDIR)$(zsh_completions)
	install $B/tailor $(DESTDIR)$(prefix)/bin/
	install $B/libtailor.so $B/libtailor-intel.so $B/tailor-record $(DESTDIR)$(prefix)/lib/tailor/
	install -m 644 jitreg/jitreg.h jitreg/jitreg.hpp jitreg/jitreg_place.h $(DESTDIR)$(prefix)/include/
	sed 's|@PREFIX@|$(prefix)|; s|@VERSION@|$(VERSION)|' dist/jitreg.pc.in >$(DESTDIR)$(prefix)/share/pkgconfig/jitreg.pc
	install -m 644 $B/man/*.1 $(DESTDIR)$(prefix)/share/man/man1/
	install -m 644 $B/completion/tailor $(DESTDIR)$(bash_completions)/
	install -m 644 $B/completion/_tailor $(DESTDIR)$(zsh_completions)/
uninstall: ## and out of it again
	rm -rf $(DESTDIR)$(prefix)/bin/tailor $(DESTDIR)$(prefix)/lib/tailor $(DESTDIR)$(prefix)/include/jitreg.h \
		$(DESTDIR)$(prefix)/include/jitreg.hpp $(DESTDIR)$(prefix)/include/jitreg_place.h \
		$(DESTDIR)$(prefix)/share/pkgconfig/jitreg.pc $(DESTDIR)$(prefix)/share/man/man1/tailor*.1 \
		$(DESTDIR)$(bash_completions)/tailor $(DESTDIR)$(zsh_completions)/_tailor

# Linked against this machine's libraries, which lie in lib/ beside it wherever it is copied, with glibc and its loader (dist/own_loader.c).
# RPATH, since the libraries do not inherit RUNPATH, and LD_LIBRARY_PATH must not come before it.
OWN_LOADER := $B/dist/own_loader.o
OWN_LOADER_LINK = -pie -Wl,-e,own_loader_start -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib'
$(OWN_LOADER): PART_FLAGS = -fPIE -O2 -ffreestanding -fno-builtin -fno-stack-protector -fno-sanitize=all -fno-tree-loop-distribute-patterns
$B/portable: $B/analyzer/main.o $(OWN_LOADER) $(tailor_OBJ) $B/libtrace.a
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $(OWN_LOADER_LINK) $^ -o $@ $(tailor_LIBS)
$B/portable-record: $B/agent/recorder/main_record.o $(OWN_LOADER) $B/parts.a $B/libtrace.a
	$(CC) $(SAN_FLAGS) $(LDFLAGS) $(OWN_LOADER_LINK) $^ -o $@ $(record_LIBS)
portable: $B/portable $B/portable-record $B/libtailor.so $B/libtailor-intel.so ## one folder, and a .tar.gz of it, for any x86-64 Linux (programs with glibc 2.28 or later)
	@dist/portable.sh $B $(PORTABLE)

.PHONY: dist release site
dist: ## the source archive, of what is committed
	@mkdir -p $B
	@dist/source.sh $B $(VERSION)

deb: dist ## Debian packages, source included, in build/deb
	@tests/deps.sh $(PACKAGES_BUILD) $(PACKAGES_PAGE) $(PACKAGES_DEB)
	@dist/deb.sh $(abspath $B) $(VERSION)

site: ## the documents as web pages, in build/site, whose links all lead somewhere
	@tests/deps.sh python3 cmark-gfm
	@$(PYTHON) dist/site.py $B/site

release: dist ## all of these, built from that archive, and their checksums, in build/release; the same source gives the same bytes
	@tests/deps.sh $(PACKAGES_BUILD) $(PACKAGES_PAGE) $(PACKAGES_DEB)
	@dist/release.sh $(abspath $B) $(VERSION)

clean: ## remove everything that was built
	rm -rf $B

help: ## this list
	@awk -F ':.*## ' '/^[a-z_.-]+:.*## / { line = sprintf("  %-20s", $$1); n = split($$2, word, " "); \
		for (i = 1; i <= n; i++) { \
			if (length(line) + length(word[i]) > 79) { print line; line = sprintf("%22s", "") } \
			line = line " " word[i] } \
		print line }' Makefile
