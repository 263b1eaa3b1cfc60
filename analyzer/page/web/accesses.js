// SPDX-License-Identifier: MIT
// This module finds the orders and strides of the accesses that pass the filters. Its code is that of `tailor report --view memory` as
// WebAssembly (analyzer/accesses/wasm).
import wasm from "accesses.wasm";

// The numbers of columns are those of analyzer/accesses/wasm/accesses.c.
const COLUMNS = {
	address: [0, Float64Array], share: [1, Float64Array], sample: [2, Uint32Array], stream: [3, Uint32Array],
	page: [4, Uint32Array], phase: [5, Uint32Array], region: [6, Uint32Array], part: [7, Uint32Array],
	list: [8, Uint32Array], granule: [9, Uint8Array]
};
const SUM = 9;
let compiled;

/*
 * nr is the number of rows with an address, and shared says whether some of them are parts of samples.  The caller fills each column (share
 * and sample only if some are shared), and then calls ready().
 */
export async function createAccesses({ nr, streams, pages, shared }) {
	compiled ??= await WebAssembly.compile(wasm);
	return new Accesses((await WebAssembly.instantiate(compiled)).exports, nr, streams, pages, shared);
}

class Accesses {
	constructor(calls, nr, streams, pages, shared) {
		Object.assign(this, { calls, nr, streams, shared });
		this.at = this.need(calls.accesses_create(nr, streams, pages, shared));
	}

	need(ok) {
		if (!ok) throw new Error("The browser has not enough memory for the addresses of this page.");
		return ok >>> 0;
	}

	// Returns a column's numbers in WebAssembly's memory, one for each row with an address, or, of granule, for each stream.  They are
	// valid until the next call of anything here.
	column(name) {
		const [number, type] = COLUMNS[name], at = this.calls.accesses_column(this.at, number) >>> 0;
		return at ? new type(this.calls.memory.buffer, at, name === "granule" ? this.streams : this.nr) : null;
	}

	ready() {
		this.calls.accesses_ready(this.at);
		this.mark = this.calls.memory_mark();
	}

	// Follows the first nr rows in the column "list".  The results of the call before are gone.
	follow(nr) {
		this.calls.memory_release(this.mark);
		this.need(this.calls.accesses_follow(this.at, nr));
		this.followed = this.calls.memory_mark();
	}

	numbers(at, nr) {
		const list = new Float64Array(this.calls.memory.buffer, this.need(at), nr);
		this.calls.memory_release(this.followed);
		return list;
	}

	/*
	 * Returns the results of follow() by the numbers of the column "region" or "part", as a list of {key, samples, sequential, strided,
	 * random (parts of the samples whose order is known, or null), stride (the most frequent one, or null), low, high (addresses),
	 * pages}. Numbers without samples are left out.
	 */
	sums(column, nr) {
		const list = this.numbers(this.calls.accesses_sums(this.at, COLUMNS[column][0], nr), SUM * nr), sums = [];
		for (let key = 0; key < nr; key++) {
			const [samples, , sequential, strided, random, stride, low, high, pages] = list.subarray(
				SUM * key,
				SUM * (key + 1)
			);
			const known = sequential + strided + random, part = n => (known > 0 ? n / known : null);
			if (high >= low)
				sums.push({
					key, samples, sequential: part(sequential), strided: part(strided),
					random: part(random), stride: stride || null, low, high, pages
				});
		}
		return sums;
	}

	// Returns samples by stride, upwards, as [[stride (0: not known), samples]].  Wide strides are summed by powers of two.
	strides() {
		const at = this.calls.accesses_strides(this.at), [nr] = this.numbers(at, 1), list = this.numbers(at, 1 + 2 * nr);
		return Array.from({ length: nr }, (_, i) => [list[1 + 2 * i], list[2 + 2 * i]]);
	}
}

// Numbers the streams of nr rows.  Rows with the same numbers in all columns ([number(row), how many there are at most]) are one stream.
export function numberStreams(nr, columns, to) {
	const known = new Map();
	for (let n = 0; n < nr; n++) {
		let key = 0;
		for (const [number, most] of columns) key = key * most + number(n);
		let stream = known.get(key);
		if (stream === undefined) known.set(key, stream = known.size);
		to[n] = stream;
	}
	return known.size;
}

// Numbers the samples that rows are parts of.  Parts of one sample follow each other, and their shares add up to 1.
export function numberSamples(nr, share) {
	const of = new Uint32Array(nr);
	let sample = 0, sum = 0;
	for (let i = 0; i < nr; i++) {
		of[i] = sample;
		sum += share(i);
		if (sum > 1 - 1e-6) {
			sample++;
			sum = 0;
		}
	}
	return of;
}
