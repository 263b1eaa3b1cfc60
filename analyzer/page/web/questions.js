// SPDX-License-Identifier: MIT
// Questions to a server and its answers are encoded as words, as analyzer/serve/questions.h says.
const MAGIC = 0x31514c54, NO_TIME = 1 << 16, NO_MAP = 0xffffffff, DENSE = 0xffffffff, TIME_END = 2n ** 64n - 1n;
const SETS = 0, RANGE = 1, SUMS = 0, ROWS = 1, ALL = 0, BY = 1, BINS = 2;

class Writer {
	constructor() {
		this.words = [];
		this.arrays = new Map(); // the number of each array
	}
	put(...words) {
		this.words.push(...words);
	}
	put64(number) {
		const n = BigInt(number);
		this.put(Number(n & 0xffffffffn), Number(n >> 32n & 0xffffffffn));
	}
	putDouble(number) {
		this.put(...new Uint32Array(Float64Array.of(number).buffer));
	}
	array(array) {
		if (!this.arrays.has(array)) this.arrays.set(array, this.arrays.size);
		return this.arrays.get(array);
	}
}

function putKey(to, names, key) {
	if (!key) return to.put(ALL);
	const column = names.indexOf(key.column);
	if (key.bins) {
		to.put(BINS, column);
		to.put64(key.from);
		to.putDouble(1 / (Number(BigInt(key.to) - BigInt(key.from)) / key.bins)); // table.js computes the same.
		return to.put(key.bins);
	}
	return to.put(BY, column, key.map ? to.array(key.map) : NO_MAP, key.nr);
}

function putFilter(to, names, { sets, range }) {
	if (sets) return to.put(SETS, sets.length, ...sets.flatMap(s => [names.indexOf(s.column), to.array(s.allowed)]));
	to.put(RANGE, names.indexOf(range.column));
	to.put64(range.from);
	return to.put64(range.to);
}

// names are those of the columns, filters are [name, {sets} or {range}], range is that of time, or null, and list has {a, b, except} or
// {rows, except}.
export function questions(names, filters, range, list) {
	const head = new Writer(), body = new Writer();
	for (const [, filter] of filters) putFilter(body, names, filter);
	for (const { rows, a, b, except } of list) {
		body.put(rows ? ROWS : SUMS, filters.reduce((bits, [name], i) => bits | (except.includes(name) ? 1 << i : 0),
			except.includes("time") ? NO_TIME : 0));
		if (rows) continue;
		const [outer, inner] = Array.isArray(a) ? a : [a, null];
		for (const key of [outer, inner, b]) putKey(body, names, key);
	}
	head.put(MAGIC, body.arrays.size, filters.length, list.length);
	head.put64(range?.[0] ?? 0);
	head.put64(range?.[1] ?? TIME_END);
	const arrays = [...body.arrays.keys()], bytes = 4 * (head.words.length + body.words.length) +
		arrays.reduce((sum, a) => sum + 4 + Math.ceil(a.byteLength / 4) * 4, 0);
	const out = new Uint8Array(bytes), words = new Uint32Array(out.buffer);
	let at = head.words.length;
	words.set(head.words);
	for (const a of arrays) {
		words[at++] = a.byteLength;
		out.set(new Uint8Array(a.buffer, a.byteOffset, a.byteLength), 4 * at);
		at += Math.ceil(a.byteLength / 4);
	}
	words.set(body.words, at);
	return out;
}

const up = at => Math.ceil(at / 8) * 8;

// The answer to a question has three numbers for each cell, as sums() of table.js.  That to a question for rows has 0 for each row that
// passes, else 1.
export function answers(reply, list) {
	let at = 0;
	return list.map(({ rows }) => {
		const [nr, full] = new Uint32Array(reply, at, 2);
		at += 8;
		if (rows) {
			const bits = new Uint8Array(reply, at, Math.ceil(nr / 8)), fails = new Uint16Array(nr);
			for (let i = 0; i < nr; i++) fails[i] = bits[i >> 3] >> (i & 7) & 1 ^ 1;
			at += up(bits.length);
			return fails;
		}
		if (full === DENSE) {
			const sums = new Float64Array(reply, at, 3 * nr);
			at += sums.byteLength;
			return sums.slice();
		}
		const cells = new Uint32Array(reply, at, full);
		const of = new Float64Array(reply, at += up(4 * full), 3 * full);
		const sums = new Float64Array(3 * nr);
		cells.forEach((cell, i) => {
			for (let n = 0; n < 3; n++) sums[3 * cell + n] = of[3 * i + n];
		});
		at += of.byteLength;
		return sums;
	});
}
