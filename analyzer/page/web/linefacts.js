// SPDX-License-Identifier: MIT
// This module shows facts of a line of a text, which are its operator, its pipeline, and its cost by every event.  A basic block has
// costs operator by operator (A. Beischl et al., EuroSys 2021, figure 6b).
import { shown } from "./dom.js";
import { count, percent } from "./format.js";
import { only } from "./hottest.js";

const CELLS_MAX = 4e6, OWNERS_SHOWN = 3, BLOCK = /^(define |[\w.$-]+:)/, LEAST = 0.0005;

const known = new WeakMap(); // the owners of components, for each trace's facts

// Returns the components of other levels that a component's links lead to: [[level, [component, ...]], ...], the plan's level first.
export function ownersOf({ facts, dimensions }, component) {
	if (!known.has(facts)) known.set(facts, new Map());
	const of = known.get(facts);
	if (!of.has(component)) of.set(component, findOwners(facts, dimensions, component));
	return of.get(component);
}

function findOwners(facts, dimensions, component) {
	const { links = {}, level } = facts.components, seen = new Set([component]), found = new Map();
	for (const at of seen) for (const up of links[at] ?? []) seen.add(up);
	for (const at of seen)
		if (at !== component && dimensions.component(at)) found.set(level[at], [...(found.get(level[at]) ?? []), at]);
	return [...found].sort((a, b) => place(facts, dimensions, a[0]) - place(facts, dimensions, b[0]) || a[0] - b[0]);
}
const place = (facts, dimensions, level) => (level === dimensions.ownerLevel ? -1 : facts.levels[level].rank);

// Returns the levels that a text's lines lead to, in the same order.
export function levelsAbove(page, lines) {
	const found = new Set();
	for (const v of lines) if (v) for (const [level] of ownersOf(page, v)) found.add(level);
	return [...found].sort((a, b) => place(page.facts, page.dimensions, a) - place(page.facts, page.dimensions, b) || a - b);
}

// Returns owners as a text, such as "join1" or "scan a, join1 and 2 more".
export function ownersText(page, list) {
	const names = list.slice(0, OWNERS_SHOWN).map(v => shown(page.dimensions.component(v), 60));
	return names.join(", ") + (list.length > names.length ? ` and ${list.length - names.length} more` : "");
}

// Returns lines of a tooltip for a line, which is a value of the dimension id, or null if it has neither samples nor owners.
export function lineTip(page, id, value, text) {
	const { state, facts, dimensions } = page, dimension = dimensions.get(id), key = dimension.at.get(value);
	const owners = id.startsWith("level:")
		? ownersOf(page, value).map(([level, list]) => `${facts.levels[level].name}: ${ownersText(page, list)}`)
		: [];
	if (key === undefined) return owners.length ? [text, ...owners, "no samples"] : null;
	const open = ["event", id];
	const all = state.sums("event", null, open);
	const own = state.sums("event", only(dimensions, [[id, key]])[0], open);
	return [
		text,
		...owners,
		...facts.events
			.map(
				(event, e) =>
					all.samples(e) > 0 &&
					`${shown(event.name, 40)}: ${percent(own.measure(e) / (all.measure(e) || 1))}, ` +
						`${count(own.samples(e))} samples`
			)
			.filter(Boolean)
	];
}

/*
 * Returns basic blocks of a text that have at least LEAST of the samples: line's number => {share, parts: [{value, share}]}, with parts by
 * the main dimension. source is {lines, of} of the facts, and id is the lines' dimension. LLVM's labels, and heads of functions, begin
 * blocks.
 */
export function blocksOf(page, source, id, event) {
	const { state, dimensions } = page, lines = dimensions.get(id), main = dimensions.get(dimensions.main), blocks = new Map();
	if (id === main.id || lines.nr * main.nr > CELLS_MAX) return blocks;
	const open = ["event", id], key = dimensions.get("event").at.get(event), [of] = only(dimensions, [["event", key]]);
	const sums = state.cube(of, lines.id, main.id, open), total = state.sums("event", null, open).measure(key) || 1;
	let at = null;
	source.lines.forEach((text, i) => {
		if (BLOCK.test(text)) blocks.set(i, at = new Map());
		const line = source.of[i] ? lines.at.get(source.of[i]) : undefined;
		for (let k = 0; at && line !== undefined && k < main.nr; k++) {
			const measure = sums.measure(0, line, k);
			if (measure > 0) at.set(k, (at.get(k) ?? 0) + measure / total);
		}
		if (text.startsWith("}")) at = null;
	});
	for (const [i, parts] of blocks) {
		const list = [...parts].map(([k, share]) => ({ value: main.values[k], share })).sort((a, b) => b.share - a.share);
		if (list.reduce((sum, p) => sum + p.share, 0) >= LEAST)
			blocks.set(i, { share: list.reduce((sum, p) => sum + p.share, 0), parts: list });
		else blocks.delete(i);
	}
	return blocks;
}

// Returns a block's parts as a text, such as "(tablescan 2.4 %, hash join 45.7 %)".
export const blockText = (page, { parts }) => `(${parts.filter(p => p.share >= LEAST).slice(0, 4).map(({ value, share }) =>
	`${shown(page.dimensions.get(page.dimensions.main).label(value), 40)} ${percent(share)}`).join(", ")})`;
