// Samples as cells of a grid over time and addresses: how many are in each, and which part most of them belong to.

// An address as an offset from another, as a number: exact as far as both are within 2^53 bytes of each other.
const offset = (low, high, base) => (high - base.high) * 4294967296 + (low - base.low);
export const halvesOf = address => ({ low: Number(address & 0xffffffffn), high: Number(address >> 32n) });

/*
 * rows: {nr, time, halves, part, share} by row number, passes(i); extent: {from, to} of time, {begin, bytes} of addresses; width x height cells, of which
 * cell x * height + y is the one at y from below.  part is the one that has the majority in its cell, if one has.  (R. S. Boyer and J. S. Moore, MJRTY, 1981)
 */
export function rasterize(rows, extent, width, height) {
	const counts = new Float64Array(width * height), part = new Int32Array(width * height).fill(-1), votes = new Int32Array(width * height);
	const base = halvesOf(extent.begin), perX = width / (extent.to - extent.from), perY = height / extent.bytes;
	let samples = 0, cells = 0;
	for (let i = 0; i < rows.nr; i++) {
		const low = rows.halves[2 * i], high = rows.halves[2 * i + 1], t = rows.time[i];
		if (!(low || high) || t < extent.from || t >= extent.to || !rows.passes(i)) continue;
		const y = Math.floor(offset(low, high, base) * perY);
		if (!(y >= 0 && y < height)) continue;
		const cell = Math.floor((t - extent.from) * perX) * height + y, share = rows.share(i), of = rows.part(i);
		cells += counts[cell] === 0 ? 1 : 0;
		counts[cell] += share;
		samples += share;
		if (part[cell] === of) votes[cell]++;
		else if (--votes[cell] < 0) [part[cell], votes[cell]] = [of, 1];
	}
	return { counts, part, samples, cells, width, height };
}
