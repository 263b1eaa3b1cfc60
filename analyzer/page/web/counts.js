// SPDX-License-Identifier: MIT
// This module makes columns of execution counts for tables of other views, as the command's reports have them (analyzer/view/calls.c).
// There are none where the host does not count.
import { MARKS, assume, assumptions } from "./flow.js";
import { count, duration, short } from "./format.js";

// Returns the counts under the reader's assumptions, or null.  trace is 0, or 1 for the second of two, to which assumptions do not apply.
export function countsOf(page, trace = 0) {
	const { flow } = page.data[trace];
	return flow?.any ? flow.solve(trace ? new Map() : assumptions(page.state)) : null;
}

export const unitOf = page => page.facts.events[page.state.filters.event?.values[0] ?? 0]?.unit ?? "samples";
export const perTitle = page => `${unitOf(page) === "ns" ? "time" : unitOf(page)}/exec`;
export const perType = page => (unitOf(page) === "ns" ? "duration" : "number");

// Returns the component whose executions a dimension's value has, or 0.
export function countedAs(page, id, value, trace = 0) {
	return id.startsWith("level:") ? value : id === "function" ? page.data[trace].flow?.named.get(value) ?? 0 : 0;
}

// componentOf(row) is the row's component.  weightOf(row) is of the samples that pass the filters, executions are of the whole recording.
export function countColumns(page, componentOf, weightOf, { calls = false } = {}) {
	const now = countsOf(page), of = row => now.executions(componentOf(row));
	if (!now?.nrKnown) return [];
	const per = row => (of(row)?.count > 0 && weightOf(row) > 0 ? weightOf(row) / of(row).count : null);
	return [
		{ key: "executions", title: "executions", type: "count", value: row => of(row)?.count ?? null },
		{ key: "executions_state", title: "by", type: "text", narrow: true, value: row => of(row)?.state ?? "" },
		{ key: "per_execution", title: perTitle(page), type: perType(page), value: per },
		...(calls && page.data[0].flow.has
			? [
					{
						key: "calls_in", title: "calls in", type: "count",
						value: row => now.in[componentOf(row)]?.count ?? null
					},
					{
						key: "calls_out", title: "calls out", type: "count",
						value: row => now.out[componentOf(row)]?.count ?? null
					}
				]
			: [])
	];
}

// Returns a line of a tooltip, such as "executions: 3,798 (solved), 79.0 µs each", or null where nothing is counted.
export function countLine(page, component, weight) {
	const f = countsOf(page)?.executions(component);
	if (!f) return null;
	const each = f.count > 0 && weight > 0 ? weight / f.count : 0;
	return (
		`executions: ${count(f.count)} (${f.state})` +
		(each ? `, ${unitOf(page) === "ns" ? duration(each) : `${short(each)} ${unitOf(page)}`} each` : "")
	);
}

// Returns a count that is as short as a listing's column is wide, such as "≈ 1.65 k".
export const marked = f => (f ? `${MARKS[f.state]}${MARKS[f.state] ? " " : ""}${short(f.count)}` : "");

// Returns chips of the assumptions, which all counts depend on.
export function assumedChips(page) {
	const now = countsOf(page);
	return !now
		? []
		: [...now.assumed]
				.filter(([call]) => now.calls[call])
				.map(([call, number]) => ({
					title: "assumed",
					text: `${callText(page, now, now.calls[call])} = ${count(number)}`,
					remove: () => assume(page.state, call, null)
				}));
}

export const functionName = (page, now, i, none) =>
	i < 0 || !now.functions[i]?.component ? none : page.dimensions.component(now.functions[i].component);
export const callText = (page, now, c) =>
	`${functionName(page, now, c.caller, "(elsewhere)")}${c.caller < 0 ? "" : `.${c.site}`} → ` +
	functionName(page, now, c.callee, "(unknown)");
