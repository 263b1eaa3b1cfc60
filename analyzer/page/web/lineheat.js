// SPDX-License-Identifier: MIT
// The heat of lines: the event or the count that colours them, sums for it, and the plan's component that a line leads to.
export const COUNTS = ["executions", "per_execution"]; // Lines are coloured by these as well as by events, where the host counts.
export const heatBy = page => page.state.option("heat") ?? "";
export const heatEvent = page =>
	Number((COUNTS.includes(heatBy(page)) ? null : page.state.option("heat")) ?? page.state.filters.event?.values[0] ?? 0);

// Returns the number that decides a line's colour, which is its executions, its cost an execution, or its cost.
export function heatOf(page, ran, measure, weight) {
	if (heatBy(page) === "executions") return ran ?? 0;
	return heatBy(page) === "per_execution" ? (ran > 0 ? weight / ran : 0) : measure;
}

export const lineId = source => source.level >= 0 ? `level:${source.level}` : "line";

// Returns the sums of a dimension's values for the event of heatEvent(), under all filters but those of events and of `except`. of(value)
// is [measure, samples, weight], and total is the measure of all values.
export function sumsBy(page, id, except = [id]) {
	const sums = page.state.sums("event", id, ["event", ...except]), e = heatEvent(page), dimension = page.dimensions.get(id);
	let total = 0;
	for (let j = 0; j < sums.nrB; j++) total += sums.measure(e, j);
	return { total, of(value) {
		const j = dimension.at.get(value);
		return j === undefined ? [0, 0, 0] : [sums.measure(e, j), sums.samples(e, j), sums.weight(e, j)];
	} };
}

// Returns the plan's component that a line's component leads to by its links upwards.
const owners = new Map();
export function lineOwner(page, component) {
	if (owners.has(component)) return owners.get(component);
	owners.set(component, 0);
	const { components } = page.facts, level = page.dimensions.ownerLevel;
	let found = components.level[component] === level ? component : 0;
	for (const up of components.links[component] ?? []) found ||= lineOwner(page, up);
	owners.set(component, found);
	return found;
}
