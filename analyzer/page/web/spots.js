// SPDX-License-Identifier: MIT
// The keyboard goes through the places {x, y, w, h} of a picture, from one to the nearest in the direction of an arrow key.
const ASIDE = 4; // Distance beside the direction counts this many times for left and right, and once for up and down.

/*
 * Returns the number of the next place, or -1 if the key is no arrow, or no place lies there.  If ordered, keys go through all places,
 * one after the other.  at is the present place (-1: none yet).
 */
export function next(spots, at, key, ordered = false) {
	const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
	if (!by || !spots.length) return -1;
	if (!spots[at]) return 0;
	if (ordered) return (at + by[0] + by[1] + spots.length) % spots.length;
	const middle = s => [s.x + s.w / 2, s.y + s.h / 2], [x, y] = middle(spots[at]);
	let found = -1, least = Infinity;
	spots.forEach((spot, i) => {
		const [dx, dy] = [middle(spot)[0] - x, middle(spot)[1] - y];
		const ahead = dx * by[0] + dy * by[1];
		const aside = Math.abs(dx * by[1]) + Math.abs(dy * by[0]);
		const far = ahead + ASIDE * aside * (by[1] ? 0.25 : 1);
		if (ahead > 1 && far < least) [found, least] = [i, far];
	});
	return found;
}
