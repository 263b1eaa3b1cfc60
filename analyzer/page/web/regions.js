// SPDX-License-Identifier: MIT
// This module finds the regions of memory that samples touched.  A region is memory that the host named, or a run of other addresses
// that are no further apart than 64 MiB.  Addresses are pairs of 32-bit halves (low, high), as in a column of 64-bit numbers.
const RUN_BITS = 20; // low bits of an address that do not tell runs apart
const GAP = 64; // MiB between two runs
export const PAGE = 4096;
const HALF = 4294967296;

const whole = (low, high) => BigInt(high) << 32n | BigInt(low);
const offset = (low, high, base) => (high - base.high) * HALF + (low - base.low);
export const hex = address => `0x${address.toString(16)}`;

function findRuns(halves, nr, memory, named) {
	const runs = new Map(), list = []; // samples by megabyte, for each named memory
	for (let i = 0; i < nr; i++) {
		const low = halves[2 * i], high = halves[2 * i + 1];
		if (!low && !high) continue;
		const of = memory(i), at = high * (1 << 32 - RUN_BITS) + (low >>> RUN_BITS);
		let own = runs.get(of);
		if (!own) runs.set(of, own = new Map());
		own.set(at, (own.get(at) ?? 0) + 1);
	}
	for (const [of, own] of runs) {
		let run = null;
		for (const at of [...own.keys()].sort((a, b) => a - b)) {
			if (!run || named[of]?.kind !== "named" && at - run.last > GAP) list.push(run = { memory: of, first: at,
				samples: 0 });
			run.last = at;
			run.samples += own.get(at);
		}
	}
	return list.sort((a, b) => b.samples - a.samples || a.first - b.first).slice(0, 0xffff);
}

/*
 * halves is a Uint32Array of 2 * nr numbers.  memory(i) is the number of the named memory that row i touched (0: none), and named is a
 * list of {name, kind} or null.
 * Returns the regions, the busiest first, and the rows with an address: their numbers, and the region, the offset in it and the page
 * (numbers without gaps) of each.
 */
export function regions(halves, nr, memory, named) {
	const list = findRuns(halves, nr, memory, named), nrRows = list.reduce((sum, r) => sum + r.samples, 0);
	const rows = { row: new Uint32Array(nrRows), region: new Uint16Array(nrRows), offset: new Float64Array(nrRows),
		page: new Uint32Array(nrRows), nrPages: 0 };
	const of = new Map();
	list.forEach((r, k) => {
		r.base = { low: r.first % (1 << 32 - RUN_BITS) * (1 << RUN_BITS), high: Math.floor(r.first / (1 << 32 - RUN_BITS)) };
		Object.assign(r, { least: Infinity, most: 0 });
		of.set(r.memory, [...(of.get(r.memory) ?? []), k]);
	});
	let n = 0;
	for (let i = 0; i < nr; i++) {
		const low = halves[2 * i], high = halves[2 * i + 1];
		if (!low && !high) continue;
		const at = high * (1 << 32 - RUN_BITS) + (low >>> RUN_BITS),
			k = of.get(memory(i))?.find(k => at >= list[k].first && at <= list[k].last);
		if (k === undefined) continue;
		const r = list[k], from = offset(low, high, r.base);
		r.least = Math.min(r.least, from);
		r.most = Math.max(r.most, from);
		rows.row[n] = i;
		rows.region[n] = k;
		rows.offset[n++] = from;
	}
	const pages = new Map();
	for (let i = 0; i < n; i++) {
		const r = list[rows.region[i]], id = rows.region[i] * 2 ** 36 + Math.floor(rows.offset[i] / PAGE);
		let page = pages.get(id);
		if (page === undefined) pages.set(id, page = pages.size);
		rows.page[i] = page;
		rows.offset[i] -= r.least;
	}
	rows.nr = n;
	rows.nrPages = pages.size;
	for (const r of list) {
		r.begin = whole(r.base.low, r.base.high) + BigInt(r.least);
		r.bytes = r.most - r.least + 1;
		r.end = r.begin + BigInt(r.bytes);
		const name = named[r.memory]?.name;
		r.name = !name ? `${hex(r.begin)} to ${hex(r.end - 1n)}` : of.get(r.memory).length > 1 ? `${name}, ${hex(r.begin)}` : name;
		r.kind = named[r.memory]?.kind ?? "";
	}
	return { list, rows };
}
