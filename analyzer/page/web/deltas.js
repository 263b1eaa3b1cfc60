// SPDX-License-Identifier: MIT
// Distances between an access and the one before of the same component in the same thread, on a scale that is linear up to a cache line and
// logarithmic from there on, in both directions: runs lie in the middle, random accesses far out.
import { bytes } from "./format.js";

const LINE = 64;
const TICKS = [2 ** 12, 2 ** 20, 2 ** 30, 2 ** 40];

export const scale = by => Math.sign(by) * Math.log2(1 + Math.abs(by) / LINE);
export const unscale = at => Math.sign(at) * (2 ** Math.abs(at) - 1) * LINE;
export const signed = by => `${by > 0 ? "+" : by < 0 ? "−" : ""}${bytes(Math.round(Math.abs(by)))}`;

// each(take): calls take(time, address, share, part, thread), in the order of time.  Returns the points that have one before, and how far
// they go: the scale's ends are -most and most.
export function deltas(each) {
	const last = new Map(), points = [];
	let most = scale(2 * LINE);
	each((time, address, share, part, thread) => {
		const key = part * 65536 + thread, before = last.get(key);
		last.set(key, address);
		if (before === undefined) return;
		const at = scale(address - before);
		most = Math.max(most, Math.abs(at));
		points.push(time, at, share, part);
	});
	return { most: most * 1.02, nr: points.length / 4, each: take => {
		for (let i = 0; i < points.length; i += 4) take(points[i], points[i + 1] + most * 1.02, points[i + 2], points[i + 3]);
	} };
}

// Marks of the axis: [place from below, as a part of the whole; text].
export const ticks = most => [0, ...TICKS.flatMap(t => [t, -t])].filter(t => Math.abs(scale(t)) <= most)
	.map(t => [(scale(t) + most) / (2 * most), t ? signed(t) : "0"]);
