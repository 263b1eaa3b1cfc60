// SPDX-License-Identifier: MIT
// This module has sums of samples by the keys of dimensions, as the sample table makes them, their shares, and how certain these are.

// Returns sums by the keys of dimensions from sums by the numbers of their column, whose keys are in the maps of the dimensions.
export function fold(numbers, a, b) {
	const to = new Float64Array(3 * a.nr * (b?.nr ?? 1));
	for (let i = 0; i < a.map.length; i++) {
		const at = 3 * (b ? a.map[i] * b.nr + b.map[i] : a.map[i]);
		for (let n = 0; n < 3; n++) to[at + n] += numbers[3 * i + n];
	}
	return to;
}

// This class has three numbers for each pair of keys of one or two dimensions, which are samples, weight, and the sum of squared weights.
export class Sums {
	constructor(numbers, a, b) {
		Object.assign(this, { numbers, a, b, nr: a ? a.bins ?? a.nr : 1, nrB: b ? b.bins ?? b.nr : 1 });
	}
	samples(i, j = 0) {
		return this.numbers[3 * (i * this.nrB + j)];
	}
	weight(i, j = 0) {
		return this.numbers[3 * (i * this.nrB + j) + 1];
	}
	squares(i, j = 0) {
		return this.numbers[3 * (i * this.nrB + j) + 2];
	}
	// Shares are parts of this, which is the weight if samples have one, and else the number of samples.
	measure(i, j = 0) {
		return this.weight(i, j) > 0 ? this.weight(i, j) : this.samples(i, j);
	}
	get total() {
		if (!this.all) {
			this.all = [0, 0, 0];
			this.numbers.forEach((n, i) => (this.all[i % 3] += n));
		}
		return this.all;
	}
	get totalMeasure() {
		return this.total[1] > 0 ? this.total[1] : this.total[0];
	}
	// Returns the keys of the first dimension with samples, the largest first.
	order() {
		const keys = [];
		for (let i = 0; i < this.nr; i++) if (this.samples(i) > 0) keys.push(i);
		return keys.sort((x, y) => this.measure(y) - this.measure(x) || x - y);
	}
	// Returns the number of samples of equal weight that would say as much of the share.  (W. G. Cochran, Sampling Techniques, 1977,
	// 6.4)
	evidence(i, j = 0) {
		const [, w, q] = this.total, part = this.weight(i, j), squares = this.squares(i, j), p = part / w;
		if (!(w > 0) || !(part > 0) || p >= 1) return this.total[0];
		const variance = (squares * (1 - 2 * p) + p * p * q) / (w * w);
		return variance > 0 ? p * (1 - p) / variance : this.total[0];
	}
}

const sizeOf = key => key.bins ?? key.nr;

// These are sums by three dimensions, of which the first two are one whose keys are pairs.
export class Cube {
	constructor(numbers, a, b, c) {
		Object.assign(this, { sums: new Sums(numbers, { nr: sizeOf(a) * sizeOf(b) }, c), nrB: sizeOf(b) });
	}
	samples(i, j, k) {
		return this.sums.samples(i * this.nrB + j, k);
	}
	measure(i, j, k) {
		return this.sums.measure(i * this.nrB + j, k);
	}
}
