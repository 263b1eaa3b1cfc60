// SPDX-License-Identifier: MIT
// Samples are counted in the cells of a grid over time and addresses.  Each cell has their number, and the
// part that most of them belong to.

// Points are columns: {nr, time, at, share, part}.  A column has nr numbers, and may have room for more.
export class Points {
	constructor(room) {
		Object.assign(this, { nr: 0, room: 0 });
		this.clear(room);
	}

	clear(room) {
		this.nr = 0;
		if (room <= this.room) return this;
		this.room = room;
		Object.assign(this, {
			time: new Float64Array(room),
			at: new Float64Array(room),
			share: new Float64Array(room),
			part: new Uint32Array(room)
		});
		return this;
	}
}

/*
 * The points' `at` are offsets.  The extent is {from, to} of time and {low, bytes} of offsets.  size(nr) returns [width, height] of the
 * grid for nr points in it.  Cell x * height + y is the one at y from below.
 * A cell's part is the one with the majority in it, if one has that.  (R. S. Boyer and J. S. Moore, MJRTY: A Fast Majority Vote
 * Algorithm, 1981)
 */
export function rasterize({ nr, time, at, share, part: partOf }, { from, to, low, bytes }, size) {
	let inside = 0, samples = 0, cells = 0;
	for (let i = 0; i < nr; i++) if (time[i] >= from && time[i] < to && at[i] >= low && at[i] - low < bytes) inside++;
	const [width, height] = size(inside), perX = width / (to - from), perY = height / bytes;
	const counts = new Float64Array(width * height);
	const part = new Int32Array(width * height).fill(-1);
	const votes = new Int32Array(width * height);
	for (let i = 0; i < nr; i++) {
		const y = at[i] - low, x = time[i] - from;
		if (!(y >= 0 && y < bytes) || x < 0 || time[i] >= to) continue;
		const cell = Math.min(width - 1, Math.floor(x * perX)) * height + Math.min(height - 1, Math.floor(y * perY));
		if (counts[cell] === 0) cells++;
		counts[cell] += share[i];
		samples += share[i];
		if (part[cell] === partOf[i]) votes[cell]++;
		else if (--votes[cell] < 0) {
			part[cell] = partOf[i];
			votes[cell] = 0;
		}
	}
	return { counts, part, samples, cells, width, height };
}

// Returns grids of at most so many parts by themselves, as [{part, counts, samples, width, height}], those with the most samples first.
export function rasterizeParts({ nr, time, at, share, part }, { from, to, low, bytes }, width, height, most, nrParts) {
	const perX = width / (to - from);
	const perY = height / bytes;
	const sums = new Float64Array(nrParts);
	const number = new Int32Array(nrParts).fill(-1);
	const inside = i => time[i] >= from && time[i] < to && at[i] >= low && at[i] - low < bytes;
	for (let i = 0; i < nr; i++) if (inside(i)) sums[part[i]] += share[i];
	const found = [...sums.keys()].filter(p => sums[p] > 0).sort((a, b) => sums[b] - sums[a] || a - b).slice(0, most);
	const panels = found.map(p => ({ part: p, counts: new Float64Array(width * height), samples: sums[p], width, height }));
	found.forEach((p, i) => { number[p] = i; });
	for (let i = 0; i < nr; i++) {
		if (number[part[i]] < 0 || !inside(i)) continue;
		const cell =
			Math.min(width - 1, Math.floor((time[i] - from) * perX)) * height +
			Math.min(height - 1, Math.floor((at[i] - low) * perY));
		panels[number[part[i]]].counts[cell] += share[i];
	}
	return panels;
}
