// SPDX-License-Identifier: MIT
// This module makes a scale for distances between an access and the one before of the same component in the same thread.  The scale is
// linear up to a cache line and logarithmic from there on, in both directions, so that runs lie in the middle and random accesses far
// out.
import { bytes } from "./format.js";

const LINE = 64;
const TICKS = [2 ** 12, 2 ** 20, 2 ** 30, 2 ** 40];

export const scale = by => Math.sign(by) * Math.log2(1 + Math.abs(by) / LINE);
export const unscale = at => Math.sign(at) * (2 ** Math.abs(at) - 1) * LINE;
export const signed = by => `${by > 0 ? "+" : by < 0 ? "−" : ""}${bytes(Math.round(Math.abs(by)))}`;

/*
 * Turns points, which are addresses in the order of time, into distances from the access before.  who(i) is the number that tells whose
 * access point i is.  First accesses have no distance and are left out.  Returns the middle of the scale, which begins at 0.
 */
export function becomeDistances(points, who) {
	const { time, at, share, part } = points, last = new Map();
	let most = scale(2 * LINE), nr = 0;
	for (let i = 0; i < points.nr; i++) {
		const key = who(i), address = at[i], before = last.get(key);
		last.set(key, address);
		if (before === undefined) continue;
		at[nr] = scale(address - before);
		most = Math.max(most, Math.abs(at[nr]));
		time[nr] = time[i];
		share[nr] = share[i];
		part[nr++] = part[i];
	}
	points.nr = nr;
	most *= 1.02;
	for (let i = 0; i < nr; i++) at[i] += most;
	return most;
}

// Marks of the axis are pairs of a place from below, as a part of the whole, and a text.
export const ticks = most => [0, ...TICKS.flatMap(t => [t, -t])].filter(t => Math.abs(scale(t)) <= most)
	.map(t => [(scale(t) + most) / (2 * most), t ? signed(t) : "0"]);
