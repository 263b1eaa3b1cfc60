// SPDX-License-Identifier: MIT
// This module draws stacked activity over time for lanes, which are threads, two events or two traces.
import { seconds, ticks } from "./format.js";

export const BOTTOM = 20, PARTS = 11;

// Returns a trace's whole duration, in the unit of its time column.
export const endOf = facts => Math.max(1, Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns) + 1);

// Returns parts of the main dimension by their sums under all filters but those of `except`. The largest keys are parts of their own, the
// others are one part.
export function partsOf(page, trace = 0, except = ["time"]) {
	const { dimensions } = page.data[trace], order = page.state.sums(dimensions.main, null, except, trace).order();
	const alone = order.length > PARTS + 1 ? PARTS : order.length; // A single remaining key is shown by its name.
	const parts = order.slice(0, alone).map(key => ({ keys: [key], value: dimensions.get(dimensions.main).values[key] }));
	if (order.length > alone) parts.push({ keys: order.slice(alone), value: null });
	for (const part of parts) {
		part.label = part.value === null ? `${part.keys.length} others` : dimensions.get(dimensions.main).label(part.value);
		part.colour = () => page.colours.of(dimensions.main, part.value ?? 0);
	}
	return parts;
}

// Returns a key for sums, which is the number of the part.
export function partKey(page, parts, trace = 0) {
	const { main } = page.data[trace].dimensions;
	return groupKey(page.data[trace].dimensions.get(main), parts.map(part => part.keys), [main, trace]);
}

// Returns a key for sums by lists of a dimension's keys, in which a list is one number, and keys of no list have none.  Under the same
// filters, the same name must mean the same lists.
export function groupKey(dimension, lists, name) {
	const group = new Uint32Array(dimension.nr).fill(lists.length);
	lists.forEach((keys, g) => keys.forEach(key => { group[key] = g; }));
	return { column: dimension.column, map: dimension.map ? dimension.map.map(key => group[key]) : group, nr: lists.length, once: true,
		toJSON: () => [...name, ...lists.map(keys => keys[0])] };
}

// Returns the bins of one lane for each part, from value(part, bin).
export function stack(parts, bins, value) {
	const of = parts.map((_, p) => Float64Array.from({ length: bins }, (_, b) => value(p, b)));
	const all = Float64Array.from({ length: bins }, (_, b) => of.reduce((sum, list) => sum + list[b], 0));
	return { of, all, most: all.reduce((a, b) => Math.max(a, b), 0) };
}

// Draws a lane from its base line upwards or downwards.  If relative, each bin is as high as the lane.
export function drawLane(pen, lane, parts, { x, y, width, height, most, down = false, relative = false, opacity = 1 }) {
	const bins = lane.all.length, step = width / bins;
	for (let b = 0; b < bins; b++) {
		const scale = relative ? lane.all[b] : most;
		let at = down ? y : y + height;
		for (let p = 0; p < parts.length && scale > 0; p++) {
			const high = lane.of[p][b] / scale * height;
			if (!(high > 0)) continue;
			pen.rect(x + b * step, down ? at : at - high, step + 0.3, high, parts[p].colour(), { opacity });
			at += down ? high : -high;
		}
	}
}

export function drawTime(pen, { x, y, width, from = 0, end }) {
	const axis = ticks(from, end, width / 90), at = t => x + (t - from) / (end - from) * width;
	pen.line(x, y + 0.5, x + width, y + 0.5, pen.theme.line);
	for (const t of axis.at) {
		const align = at(t) < x + 24 ? "left" : at(t) > x + width - 24 ? "right" : "center";
		pen.line(at(t), y, at(t), y + 4, pen.theme.line);
		pen.text(at(t), y + BOTTOM / 2 + 3, seconds(t, axis.step), { size: 11, fill: pen.theme.quiet, align });
	}
}

// Makes everything outside of the chosen range of time paler.
export function drawRange(pen, range, { x, y, width, height, end }) {
	if (!range) return;
	const at = t => x + t / end * width, a = at(Math.min(range.from, range.to)), z = at(Math.max(range.from, range.to));
	pen.rect(x, y, Math.max(0, a - x), height, pen.theme.card, { opacity: 0.72 });
	pen.rect(z, y, Math.max(0, x + width - z), height, pen.theme.card, { opacity: 0.72 });
	for (const edge of [a, z]) pen.line(edge, y, edge, y + height, pen.theme.accent, 1.5);
}

// Writes colours and their meanings in one line, as far as there is room.
export function drawLegend(pen, parts, { x, y, width }) {
	let at = x;
	for (const part of parts) {
		const wide = 18 + Math.min(150, pen.width(part.label, 11.5));
		if (at + wide > x + width) return;
		pen.rect(at, y - 5, 10, 10, part.colour());
		pen.text(at + 14, y, part.label, { size: 11.5, most: 150 });
		at += wide + 10;
	}
}

// Sets a filter from a dragged range of time.  If done, undo goes back to before it.
export function chooseTime(state, end, from, to, done) {
	const low = Math.max(0, Math.floor(Math.min(from, to))), high = Math.min(end, Math.ceil(Math.max(from, to)));
	state.set("time", low <= 0 && high >= end ? null : { from: low, to: Math.max(high, low + 1) }, { remember: done });
	if (done) state.changed();
}

// Handles the keys that move a time line's range.  Returns true if the key is one of them.
export function timeKey(state, end, e) {
	const range = state.filters.time ?? { from: 0, to: end }, wide = range.to - range.from;
	const by = { ArrowLeft: [-wide / 10, -wide / 10], ArrowRight: [wide / 10, wide / 10], "+": [wide / 8, -wide / 8],
		"-": [-wide / 6, wide / 6] }[e.key];
	if (!by) return false;
	let from = range.from + by[0], to = range.to + by[1];
	if (from < 0) [from, to] = [0, Math.min(end, to - from)];
	if (to > end) [from, to] = [Math.max(0, from - (to - end)), end];
	chooseTime(state, end, from, to, true);
	return true;
}
