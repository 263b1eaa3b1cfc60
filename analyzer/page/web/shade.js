// SPDX-License-Identifier: MIT
/*
 * Many points as a picture: counts per pixel become shades by their rank among all counts, so that single points and the densest places are
 * told apart whatever lies between them (histogram equalization, as datashader does).
 */

const SMALL = 256; // counts that most cells have

// The shade of each count, from 0 (exclusive) to 1; shades[0] is 0.
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

// Pixels (RGBA) of colours given per column-major cell: colour_of(cell) => [r, g, b], shade by counts; least: the faintest opacity.
export function pixels(counts, width, height, colour_of, least = 0.35) {
	const data = new Uint8ClampedArray(4 * width * height), shades = ranks(counts);
	let count = 0, opacity = 0; // of the cell before, which most are like
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
