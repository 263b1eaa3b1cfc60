/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/symbols/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* name NULL: it stays as it is */
static void check(const char *symbol, const char *name)
{
	char *found = demangle(symbol);

	if (name)
		assert_string_equal(found ? found : symbol, name);
	else
		assert_null(found);
	free(found);
}

static void names_are_as_their_authors_wrote_them(void **state)
{
	(void)state;
	check("_ZSt3maxIiERKT_S2_S2_", "std::max<int>(int const&, int const&)");
	check("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
	check("_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar()");
	check("_ZN3FooC1Ev", "Foo::Foo()");
	check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>");
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	check("_D3std5stdio__T7writelnTAyaZQnFNfQjZv", "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
	check("_Dmain", "D main");
}

static void what_stands_behind_a_name_stays_there(void **state)
{
	(void)state;
	check("_ZN3fooEv.part.0", "foo() [clone .part.0]");
	check("_ZN3fooEv.cold", "foo() [clone .cold]");
	check("_ZN3fooEv@plt", "foo()@plt");
	check("_ZN3fooEv@@VERS_1.0", "foo()@@VERS_1.0");
	check("_RNvC7mycrate3foo.llvm.1234", "mycrate::foo");
}

static void other_symbols_stay_as_they_are(void **state)
{
	(void)state;
	check("", NULL);
	check("main", NULL);
	check("_Z", NULL);
	check("_ZN", NULL);
	check("_ZN3foo", NULL);
	check("_ZoneAlloc", NULL);
	check("_Register", NULL);
	check("_Dwarf_Find", NULL);
	check("_R", NULL);
	check("_D", NULL);
	check("memcpy@plt", NULL);
	check("@", NULL);
	check("_ZN3fooEv\n", NULL);
}

static char *repeat(const char *before, const char *unit, size_t bytes)
{
	char *text = calloc(1, bytes + strlen(unit) + strlen(before) + 1);

	assert_non_null(text);
	strcpy(text, before);
	for (size_t at = strlen(before); at < bytes; at += strlen(unit))
		memcpy(text + at, unit, strlen(unit));
	return text;
}

static void hostile_symbols_are_bounded(void **state)
{
	static const char *const before[] = { "_Z1f", "_Z1fI", "_ZN", "_RIC1a", "_RMC0", "_D1a", "_D1aF", "_D1aF1a" };
	static const char *const unit[] = { "P", "F", "1a", "X", "A", "S_", "IB_", "TB0_", "DpT_", "Qa", "D", "__T1a", "HQb" };

	(void)state;
	for (size_t b = 0; b < sizeof(before) / sizeof(before[0]); b++)
		for (size_t u = 0; u < sizeof(unit) / sizeof(unit[0]); u++)
			for (size_t bytes = 100; bytes < 3 * DEMANGLE_SYMBOL_MAX; bytes *= 3) {
				char *symbol = repeat(before[b], unit[u], bytes), *name = demangle(symbol);

				assert_true(!name || strlen(name) <= DEMANGLE_NAME_MAX);
				free(name);
				free(symbol);
			}
}

/* Each argument holds the one before it twice. */
static void a_name_that_doubles_with_each_argument_stays_a_symbol(void **state)
{
	static const char *const seq = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[700] = "_Z1f1AIiiE", *at = symbol + strlen(symbol);

	(void)state;
	for (int i = 1; i < 16; i++)
		at += sprintf(at, "1%cIS%c_S%c_E", 'A' + i, seq[2 * i - 2], seq[2 * i - 2]);
	check(symbol, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_their_authors_wrote_them),
		cmocka_unit_test(what_stands_behind_a_name_stays_there),
		cmocka_unit_test(other_symbols_stay_as_they_are),
		cmocka_unit_test(hostile_symbols_are_bounded),
		cmocka_unit_test(a_name_that_doubles_with_each_argument_stays_a_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
