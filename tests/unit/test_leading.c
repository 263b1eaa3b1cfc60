/* SPDX-License-Identifier: MIT */
/* What an answer begins with. */
#include "tests/unit/unit.h"

#include "analyzer/leading/leading.h"

/* One program, all of whose samples are in the run phase. */
static struct leading_facts one(double on_plan, double in_language)
{
	return (struct leading_facts){ .has_plan = on_plan >= 0, .on_plan = on_plan, .in_language = in_language, .in_phase = 1,
				       .nr_processes = 1, .nr_programs = 1 };
}

static struct leading_facts machine(double on_plan, double in_language)
{
	struct leading_facts f = one(on_plan, in_language);

	f.of_machine = true;
	f.nr_processes = 100;
	f.nr_programs = 30;
	return f;
}

static struct leading_facts build(double on_plan, double in_language)
{
	struct leading_facts f = machine(on_plan, in_language);

	f.of_machine = false;
	return f;
}

#define leads(facts, what) assert_string_equal(leading_names[leading_choose(&(struct leading_facts[]){ facts }[0])], what)

static void a_plan_leads_from_a_fifth_of_the_samples_on(void **state)
{
	(void)state;
	leads(one(0.2, 0.8), "plan");
	leads(one(0.19, 0.8), "language");
	leads(machine(0.2, 0.8), "plan");
	leads(machine(0.003, 0), "programs");
	leads(build(0.2, 0), "plan");
	leads(build(0.19, 0), "programs");
}

static void of_several_programs_the_run_phase_is_a_part_of_all_samples(void **state)
{
	struct leading_facts f = machine(0.9, 0);

	(void)state;
	f.in_phase = 0.1;
	leads(f, "programs");
	f.in_phase = 0.5;
	leads(f, "plan");
	f = one(0.9, 0);
	f.in_phase = 0.1;
	leads(f, "plan");
}

static void programs_lead_of_a_whole_machine_and_in_builds(void **state)
{
	struct leading_facts f = machine(-1, 0.9);

	(void)state;
	leads(f, "programs");
	leads(build(-1, 0.1), "programs");
	leads(build(-1, 0.2), "language");
	f.nr_processes = f.nr_programs = 2;
	leads(f, "programs");
	f.of_machine = false; /* a shell and what it started are no build */
	leads(f, "language");
	f = machine(-1, 0.9);
	f.nr_programs = 1; /* workers of one program */
	leads(f, "language");
}

static void a_single_program_begins_with_its_language_or_its_functions(void **state)
{
	(void)state;
	leads(one(-1, 0.2), "language");
	leads(one(-1, 0.1), "functions");
	leads(one(-1, 0), "functions");
}

static void the_plan_of_a_single_program_leads_with_any_share(void **state)
{
	(void)state;
	leads(one(0, 0), "plan");
	leads(one(0.1, 0.1), "plan");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_leads_from_a_fifth_of_the_samples_on),
		cmocka_unit_test(of_several_programs_the_run_phase_is_a_part_of_all_samples),
		cmocka_unit_test(programs_lead_of_a_whole_machine_and_in_builds),
		cmocka_unit_test(a_single_program_begins_with_its_language_or_its_functions),
		cmocka_unit_test(the_plan_of_a_single_program_leads_with_any_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
