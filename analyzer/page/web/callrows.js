// SPDX-License-Identifier: MIT
// The rows and boxes of trees of calls, from trees and their sums alone: one row for each function, the callers and callees of one, and
// the places of both around it.
import { FUNCTION, fill, layout } from "./calltree.js";

// A function that is called in several ways has one row.  A call below another of the same is in the outer one's total already.
export function callRows(tree, sums) {
	const by = new Map(), on = call => {
		for (let at = tree.parent[call]; at > 0; at = tree.parent[at]) if (tree.key[at] === tree.key[call] &&
			tree.kind[at] === tree.kind[call]) return true;
		return false;
	};
	for (let call = 1; call < tree.nr; call++) {
		if (!(sums.measure.total[call] > 0)) continue;
		const id = `${tree.kind[call]} ${tree.key[call]}`, row = by.get(id) ?? { call, of: tree, total: 0, self: 0, samples: 0 };
		row.self += sums.measure.self[call];
		if (!on(call)) {
			row.total += sums.measure.total[call];
			row.samples += sums.samples.total[call];
		}
		by.set(id, row);
	}
	return [...by.values()];
}

// Returns the direct callers and callees of the middle.
export function sideRows(both, filled) {
	return [["caller", both.callers, filled.callers], ["callee", both.callees, filled.callees]].flatMap(([side, of, sums]) =>
		of.children[0].filter(call => sums.measure.total[call] > 0).map(call => ({ side, of, call, total: sums.measure.total[call],
			self: side === "callee" ? sums.measure.self[call] : NaN, samples: sums.samples.total[call] })));
}

// Lays out both sides, with at most so many rows of callers above the middle, and callees below it.  bar: the middle's row.
export function layoutSides(both, filled, { width, least, callers }) {
	const side = (of, sums, down) =>
		layout(of, sums.measure.total, 0, width, least)
			.map(b => ({ ...b, of, sums, depth: down ? b.depth : -b.depth }))
			.filter(b => b.depth >= -callers);
	const above = side(both.callers, filled.callers, false).filter(b => b.depth), below = side(both.callees, filled.callees, true);
	const bar = -above.reduce((lowest, b) => Math.min(lowest, b.depth), 0);
	return { bar, boxes: [...above, ...below].map(b => ({ ...b, depth: b.depth + bar })) };
}

// Returns the key with the most samples of its own, of functions or, unless they are frames, of all.
export function hottestKey(tree, samples, functions) {
	const { self } = fill(tree, samples), by = new Map();
	for (let call = 1; call < tree.nr; call++)
		if (tree.kind[call] === FUNCTION || !functions)
			by.set(tree.key[call], (by.get(tree.key[call]) ?? 0) + self[call]);
	const [found = 0] = [...by].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [];
	return found;
}

// Returns what can stand in the middle as [id, call], the largest first, at most so many and the present one.
export function middlesOf(tree, total, now, most) {
	const names = new Map();
	for (let call = 1; call < tree.nr; call++) {
		const id = `${tree.kind[call]}:${tree.key[call]}`;
		names.set(id, { call, most: Math.max(total[call], names.get(id)?.most ?? 0) });
	}
	const sorted = [...names].sort((a, b) => b[1].most - a[1].most).slice(0, most);
	if (!sorted.some(([id]) => id === now) && names.has(now)) sorted.push([now, names.get(now)]);
	return sorted.map(([id, { call }]) => [id, call]);
}
