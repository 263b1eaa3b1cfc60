// SPDX-License-Identifier: MIT
// How accesses follow each other, as `report --view memory` says it (analyzer/query/accesses.h): by streams, that is what one instruction of
// one thread touches in one region.  Addresses that keep their direction for RUN samples are walked through in order, and all differences
// within a stream are multiples of its stride.  A run ends with the phase that it is in.
const RUN = 6, LINE = 64, PAGE = 4096;
const SEQUENTIAL = 1, STRIDED = 2, RANDOM = 3; // 0: too few samples to know

// The stream of each of nr rows: what has the same numbers in all columns ([number(row), how many there are at most]).
export function findStreams(nr, columns) {
	const of = new Uint32Array(nr), known = new Map();
	for (let n = 0; n < nr; n++) {
		let key = 0;
		for (const [number, most] of columns) key = key * most + number(n);
		let stream = known.get(key);
		if (stream === undefined) known.set(key, stream = known.size);
		of[n] = stream;
	}
	return { of, nr: known.size };
}

function commonDivisor(a, b) {
	for (let rest; b; b = rest) {
		rest = a % b;
		a = b;
	}
	return a;
}

// Page faults are of pages, and the kernel maps 2, 4 or 16 of them at a fault; where a part of the faults is sampled, nothing is known.
// faults: their period; 0: the event is another one.
function strideOf(first, end, place, faults) {
	let stride = 0;
	for (let i = first + 1, now, last = place(first); i < end && stride !== 1; i++, last = now) {
		now = place(i);
		if (now !== last) stride = commonDivisor(stride, Math.abs(now - last));
	}
	return !faults ? stride : faults > 1 || Number.isInteger(Math.log2(stride)) ? 0 : stride * PAGE;
}

function markRuns(order, first, end, place, kind) {
	if (end - first < RUN) return;
	order.fill(RANDOM, first, end);
	for (let begin = first, last; begin + 1 < end; begin = last) {
		let way = Math.sign(place(begin + 1) - place(begin));
		for (last = begin + 1; last < end; last++) {
			const next = Math.sign(place(last) - place(last - 1));
			if (next && way && next !== way) break;
			way ||= next;
		}
		if (last - begin >= RUN) order.fill(kind, begin, last);
	}
}

/*
 * list: rows, in the order of time; place(row): an address, or its distance from its region's page; phase(row); faults(row).
 * Returns {rows, sorted by streams; of each of these its order and its stream; stride: of each stream, 0: not known}.
 */
export function follow(list, streams, { place, phase, faults }) {
	const ends = new Uint32Array(streams.nr + 1), rows = new Uint32Array(list.length), order = new Uint8Array(list.length), stride = new Float64Array(streams.nr);
	for (const n of list) ends[streams.of[n] + 1]++;
	for (let s = 0; s < streams.nr; s++) ends[s + 1] += ends[s];
	for (const n of list) rows[ends[streams.of[n]]++] = n;
	for (let first = 0, end; first < rows.length; first = end) {
		const s = streams.of[rows[first]], period = faults(rows[first]), at = i => place(rows[i]);
		end = ends[s];
		if (end - first < RUN) continue;
		stride[s] = strideOf(first, end, period ? i => Math.floor(at(i) / PAGE) : at, period);
		for (let from = first, to; from < end; from = to) {
			for (to = from + 1; to < end && phase(rows[to]) === phase(rows[from]);) to++;
			markRuns(order, from, to, at, stride[s] > LINE ? STRIDED : SEQUENTIAL);
		}
	}
	return { rows, order, stride, of: streams.of };
}

/*
 * What accesses are of, by key(row): Map of {samples, sequential, strided, random: parts of those whose order is known; stride: the most
 * frequent one, or null; pages: how many, where page(row) says which}.
 */
export function ordersBy({ rows, order, stride, of }, key, share, page = null) {
	const sums = new Map();
	let at, sum, now, of_stride;
	for (let i = 0; i < rows.length; i++) {
		const n = rows[i], by = key(n), s = stride[of[n]], weight = share(n);
		if (by !== at || !sum) {
			sum = sums.get(at = by);
			if (!sum) sums.set(by, sum = { samples: 0, orders: [0, 0, 0, 0], strides: new Map(), seen: new Set() });
			now = undefined;
		}
		if (s !== now) of_stride = sum.strides.get(now = s) ?? sum.strides.set(s, { n: 0 }).get(s);
		of_stride.n += weight;
		sum.samples += weight;
		sum.orders[order[i]] += weight;
		if (page) {
			const one = page(n);
			if (one !== sum.last) sum.seen.add(sum.last = one);
		}
	}
	for (const sum of sums.values()) {
		const known = sum.samples - sum.orders[0], part = kind => (known > 0 ? sum.orders[kind] / known : null);
		const [found = [0]] = [...sum.strides].filter(([by]) => by).sort((a, b) => b[1].n - a[1].n || a[0] - b[0]);
		Object.assign(sum, { sequential: part(SEQUENTIAL), strided: part(STRIDED), random: part(RANDOM), stride: found[0] || null, ...(page ? { pages: sum.seen.size } : {}) });
	}
	return sums;
}

// Samples by stride, the widest ones by powers of two: [[stride (0: not known), samples]], upwards.
export function strides({ rows, stride, of }, share) {
	const sums = new Map();
	for (const n of rows) {
		const by = stride[of[n]], bucket = by > PAGE ? 2 ** Math.floor(Math.log2(by)) : by;
		sums.set(bucket, (sums.get(bucket) ?? 0) + share(n));
	}
	return [...sums].sort((a, b) => a[0] - b[0]);
}
