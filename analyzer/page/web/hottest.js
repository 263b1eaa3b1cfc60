// SPDX-License-Identifier: MIT
// This module shows the hottest lines of the thing that the pointer is at.  They are lines of the text that code was generated from,
// else source lines, else functions.
import { shown } from "./dom.js";
import { percent } from "./format.js";
import { languageLines } from "./texts.js";

const LINES = 5, CELLS_MAX = 4e6;

// Returns the dimension of these lines.
export function lineDimension({ facts, dimensions }) {
	const level = facts.sources.find(s => s.level >= 0)?.level ?? languageLines(facts);
	return dimensions.get(level >= 0 ? `level:${level}` : facts.lines.file.length > 1 ? "line" : "function");
}

// Returns keys for sums that keep the samples with all of [[dimension's id, key], ...].  Each column of these dimensions has one key.
export function only(dimensions, parts) {
	const columns = new Map();
	for (const [id, key] of parts) {
		const { column } = dimensions.get(id);
		columns.set(column, [...(columns.get(column) ?? []), [dimensions.get(id), key]]);
	}
	return [...columns].map(([column, list]) => ({ column, nr: 1, once: true,
		map: Uint32Array.from({ length: list[0][0].map?.length ?? list[0][0].nr }, (_, n) =>
			(list.every(([d, key]) => (d.map ? d.map[n] : n) === key) ? 0 : 1)),
		toJSON: () => ["only", ...list.flatMap(([d, key]) => [d.id, key])] }));
}

/*
 * Returns lines of the samples that have all parts, the hottest first: [{value, label, measure, samples}].  The parts are of at most two
 * columns.  Lines themselves have no hottest lines.  The filters in `except` are left aside.
 */
export function hottestLines(page, parts, { except = [], most = LINES } = {}) {
	const { state, dimensions } = page, lines = lineDimension(page);
	if (!lines || parts.some(([id]) => id === lines.id) || lines.nr > CELLS_MAX) return [];
	const [a, b] = only(dimensions, parts), sums = b ? state.cube(a, b, lines.id, except) : state.sums(a, lines.id, except), found = [];
	const of = b ? j => [sums.measure(0, 0, j), sums.samples(0, 0, j)] : j => [sums.measure(0, j), sums.samples(0, j)];
	for (let j = 0; j < lines.nr; j++) {
		const [measure, samples] = lines.values[j] ? of(j) : [0, 0];
		if (measure > 0) found.push({ value: lines.values[j], label: lines.label(lines.values[j]), measure, samples });
	}
	return found.sort((x, y) => y.measure - x.measure || x.value - y.value).slice(0, most);
}

// Returns the hottest lines as lines of a tooltip, with their shares of a whole.
export function hottestTip(page, parts, whole, options) {
	return hottestLines(page, parts, options).map(({ label, measure }) => `${percent(measure / (whole || 1))}  ${shown(label, 70)}`);
}
