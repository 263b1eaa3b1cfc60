// SPDX-License-Identifier: MIT
// The run phase is the part of a recording in which the host runs queries.  A report is of that phase alone if the host marks it and
// announces no plans as objects, because workers of such a host run parts of a query outside of its marks.

// Returns whether the report of a trace is of the run phase.  Data of an older page do not say it, so the marks decide there.
export const hasRunPhase = facts => facts.run_phase ?? facts.marks.name.includes("run");
