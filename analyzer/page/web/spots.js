// SPDX-License-Identifier: MIT
// Where the keyboard goes in a picture: places {x, y, w, h}, from one to the nearest in the direction of an arrow key.
const ASIDE = 4; // what is beside the direction counts as so many times as far

/*
 * The number of the next one; -1: the key is no arrow, or nothing lies there.  ordered: through all of them, one after the other.
 * at: where it is now (-1: nowhere yet).
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
