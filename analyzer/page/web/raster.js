// SPDX-License-Identifier: MIT
// Samples as cells of a grid over time and addresses: how many are in each, and which part most of them belong to.

/*
 * each(take): calls take(time, offset, share, part); extent: {from, to} of time, {low, bytes} of offsets; cell x * height + y is the one at
 * y from below.
 * part: the one with the majority in its cell, if one has it.  (R. S. Boyer and J. S. Moore, MJRTY: A Fast Majority Vote Algorithm, 1981)
 */
export function rasterize(each, extent, width, height) {
	const counts = new Float64Array(width * height), part = new Int32Array(width * height).fill(-1),
		votes = new Int32Array(width * height);
	const perX = width / (extent.to - extent.from), perY = height / extent.bytes;
	let samples = 0, cells = 0;
	each((time, offset, share, of) => {
		const at = offset - extent.low;
		if (!(at >= 0 && at < extent.bytes) || time < extent.from || time >= extent.to) return;
		const cell = Math.min(width - 1, Math.floor((time - extent.from) * perX)) * height + Math.min(height - 1,
			Math.floor(at * perY));
		cells += counts[cell] === 0 ? 1 : 0;
		counts[cell] += share;
		samples += share;
		if (part[cell] === of) votes[cell]++;
		else if (--votes[cell] < 0) [part[cell], votes[cell]] = [of, 0];
	});
	return { counts, part, samples, cells, width, height };
}

// ... of each part by itself: [{part, counts, samples, width, height}], the ones with most samples first.
export function rasterizeParts(each, extent, width, height) {
	const parts = new Map(), perX = width / (extent.to - extent.from), perY = height / extent.bytes;
	each((time, offset, share, part) => {
		const at = offset - extent.low;
		if (!(at >= 0 && at < extent.bytes) || time < extent.from || time >= extent.to) return;
		let own = parts.get(part);
		if (!own) parts.set(part, own = { part, counts: new Float64Array(width * height), samples: 0, width, height });
		own.counts[Math.min(width - 1, Math.floor((time - extent.from) * perX)) * height + Math.min(height - 1, Math.floor(at * perY))] += share;
		own.samples += share;
	});
	return [...parts.values()].sort((a, b) => b.samples - a.samples || a.part - b.part);
}
