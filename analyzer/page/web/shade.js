// SPDX-License-Identifier: MIT
/*
 * Many points as a picture: counts per pixel become shades by their rank among all counts, so that single points and the densest places are
 * told apart whatever lies between them (histogram equalization, as datashader does).
 */

// The shade of each count, from 0 (exclusive) to 1; shades[0] is 0.
export function ranks(counts) {
	const seen = new Map();
	let nr = 0;
	for (const count of counts)
		if (count > 0) {
			seen.set(count, (seen.get(count) ?? 0) + 1);
			nr++
		}
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
	for (let x = 0; x < width; x++)
		for (let y = 0; y < height; y++) {
			const cell = x * height + y;
			if (!(counts[cell] > 0))
				continue;
			const at = 4 * ((height - 1 - y) * width + x), [r, g, b] = colour_of(cell);
			data[at] = r;
			data[at + 1] = g;
			data[at + 2] = b;
			data[at + 3] = 255 * (least + (1 - least) * shades.get(counts[cell]));
		}
	return data;
}
