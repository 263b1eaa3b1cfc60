// SPDX-License-Identifier: MIT
/*
 * This module chooses the shades of a picture of many points. Counts per pixel become shades by their rank among all counts, so that single
 * points and the densest places can be told apart whatever lies between them (histogram equalization, as in datashader).
 */

const SMALL = 256; // Most cells have counts below this, which are counted in an array.

// Returns the shade of each count that is more than 0, which is above 0 and at most 1.
export function ranks(counts) {
	const seen = new Map(), small = new Uint32Array(SMALL);
	let nr = 0;
	for (let i = 0; i < counts.length; i++) {
		const count = counts[i];
		if (!(count > 0)) continue;
		nr++;
		if (count < SMALL && count === Math.floor(count)) small[count]++;
		else seen.set(count, (seen.get(count) ?? 0) + 1);
	}
	for (let count = 1; count < SMALL; count++) if (small[count]) seen.set(count, small[count]);
	const shades = new Map();
	let below = 0;
	for (const count of [...seen.keys()].sort((a, b) => a - b)) {
		below += seen.get(count);
		shades.set(count, nr === seen.get(count) ? 1 : below / nr);
	}
	return shades;
}

// Returns the pixels (RGBA) of column-major cells, with colour_of(cell) as [r, g, b] and the shade by counts.  least is the faintest
// opacity.
export function pixels(counts, width, height, colour_of, least = 0.35) {
	const data = new Uint8ClampedArray(4 * width * height), shades = ranks(counts);
	let count = 0, opacity = 0; // those of the cell before, which most cells are like
	for (let x = 0, cell = 0; x < width; x++)
		for (let y = 0; y < height; y++, cell++) {
			if (!(counts[cell] > 0))
				continue;
			if (counts[cell] !== count) {
				count = counts[cell];
				opacity = 255 * (least + (1 - least) * shades.get(count));
			}
			const at = 4 * ((height - 1 - y) * width + x), colour = colour_of(cell);
			data[at] = colour[0];
			data[at + 1] = colour[1];
			data[at + 2] = colour[2];
			data[at + 3] = opacity;
		}
	return data;
}
