// SPDX-License-Identifier: MIT
// The sample table has columns in WebAssembly's memory and a bit for each filter and row, and makes sums in one walk
// (analyzer/table/crossfilter.h).
import wasm from "table.wasm";
import { block } from "./data.js";

const KINDS = { plain: 0, delta: 1, keyed: 2 };
const ALWAYS = ["time", "thread", "event", "way", "place", "phase", "weight"];
const BITS = 16;
let compiled;

export class Table {
	static async create(trace, facts) {
		compiled ??= await WebAssembly.compile(wasm);
		const table = new Table(trace, facts, (await WebAssembly.instantiate(compiled)).exports);
		for (const name of ALWAYS) await table.load(name);
		table.ready();
		return table;
	}

	constructor(trace, facts, calls) {
		Object.assign(this, { trace, facts, calls, rows: facts.rows, columns: {}, maps: new Map(), bits: new Map() });
	}

	take(bytes) {
		const at = this.calls.memory_take(bytes);
		if (!at) throw new Error("The browser has not enough memory for the samples of this page.");
		return at >>> 0;
	}

	// The memory that fn takes is released when it returns.
	scratch(fn) {
		const mark = this.calls.memory_mark();
		try {
			return fn();
		} finally {
			this.calls.memory_release(mark);
		}
	}

	put(array) {
		const at = this.take(Math.max(8, array.byteLength));
		new Uint8Array(this.calls.memory.buffer).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
		return at;
	}

	// Reads a column of the table, or of the tree of stacks (nr numbers).  Columns that are 0 everywhere have no block.
	async load(name, nr = this.rows) {
		const about = this.facts.columns[name];
		if (this.columns[name] || !about) return this.columns[name] ?? null;
		const bytes = about.planes ? await block(this.trace, name) : new Uint8Array(0);
		if (!bytes || bytes.length !== about.planes * nr) throw new Error(`The page's column "${name}" is damaged.`);
		if (this.columns[name]) return this.columns[name];
		const data = this.take(nr * about.width + 8);
		this.scratch(() => {
			const key = about.key ? this.columns[about.key] : null, keys = about.key ? this.facts.places.ip.length : 0;
			const last = this.take(8 * keys + 8), wide = key ? this.take(4 * nr + 8) : 0;
			if (key) this.calls.column_widen(key.data, key.width, nr, wide);
			this.calls.column_read(KINDS[about.kind], nr, this.put(bytes), about.planes, data, about.width, wide, keys, last);
		});
		return this.columns[name] = { data, width: about.width, nr };
	}

	// Reads a column that is only summed by, and whose numbers are not looked at.
	need(name) {
		return this.load(name);
	}

	// Returns a column's numbers in WebAssembly's memory, which are valid until the next call of any method.
	numbers(name) {
		const c = this.columns[name];
		if (!c) return null;
		const type = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[c.width];
		return new type(this.calls.memory.buffer, c.data, c.nr);
	}

	ready() {
		const { facts, columns } = this;
		this.fails = this.take(2 * this.rows + 8);
		new Uint16Array(this.calls.memory.buffer, this.fails, this.rows).fill(0);
		const share = facts.ways.share.every(s => s === 1) ? 0 : this.put(Float64Array.from(facts.ways.share));
		const weights = facts.columns.weight.numbers ? 0 : this.put(Float64Array.from(facts.weights));
		const alike = weights && facts.weights.length === 1;
		this.cross = this.calls.cross_create(this.rows, this.fails, columns.way.data, columns.way.width, share,
						     alike ? 0 : columns.weight.data, columns.weight.width, weights);
		this.range = [0, this.rows];
	}

	// ------------------------------------------------------------------------------------------------------ filters

	// Rows are in the order of time, so a range of it is a range of rows.
	filterTime(from, to) {
		const { data, width } = this.columns.time;
		this.range = [from, to].map(t => this.calls.cross_find(data, width, this.rows, BigInt(t)) >>> 0);
	}

	bit(filter) {
		if (!this.bits.has(filter)) {
			const used = new Set(this.bits.values());
			let i = 0;
			while (used.has(1 << i)) i++;
			if (i === BITS) throw new Error(`At most ${BITS} filters can be in force at once.`);
			this.bits.set(filter, 1 << i);
		}
		return this.bits.get(filter);
	}

	clear(filter) {
		if (filter === "time") this.range = [0, this.rows];
		if (!this.bits.has(filter)) return;
		this.calls.cross_clear(this.fails, this.rows, this.bits.get(filter));
		this.bits.delete(filter);
	}

	// A row passes if one of at most three sets has its number.  A set's `allowed` has a byte for each number of the column.
	filterSets(filter, sets) {
		const bit = this.bit(filter);
		this.scratch(() => {
			const args = sets.flatMap(s => [
				this.columns[s.column].data,
				this.columns[s.column].width,
				this.put(s.allowed),
				s.allowed.length
			]);
			if (sets.length === 1) this.calls.cross_set(this.fails, this.rows, bit, ...args);
			else this.calls.cross_sets(this.fails, this.rows, bit, ...args, ...(sets.length === 2 ? [0, 4, 0, 0] : []));
		});
	}

	get filterNames() {
		return [...this.bits.keys()];
	}

	filterRange(filter, column, from, to) {
		const c = this.columns[column];
		this.calls.cross_range(this.fails, this.rows, this.bit(filter), c.data, c.width, BigInt(from), BigInt(to));
	}

	// --------------------------------------------------------------------------------------------------------- sums

	map(array) {
		if (!this.maps.has(array)) this.maps.set(array, this.put(array));
		return this.maps.get(array);
	}

	// A key is {column, map?, nr} or {column, from, to, bins}, null (all rows are one), or [outer, inner] of two such.  If once, the
	// map is copied for this call alone, else it is kept for later calls.
	key(key) {
		if (Array.isArray(key)) return this.calls.key_pair(this.key(key[0]), this.key(key[1]));
		if (!key) return this.calls.key_create(0, 4, 0, 0, 1, 0n, 0, 0);
		const c = this.columns[key.column];
		if (key.bins) {
			const width = Number(BigInt(key.to) - BigInt(key.from)) / key.bins;
			return this.calls.key_create(c.data, c.width, 0, 0, key.bins, BigInt(key.from), 1 / width, key.column === "time");
		}
		return this.calls.key_create(
			c.data,
			c.width,
			key.map ? (key.once ? this.put(key.map) : this.map(key.map)) : 0,
			key.map?.length ?? 0,
			key.nr,
			0n,
			0,
			0
		);
	}

	// Walks over rows need this. Rows in [first, end) without any bit of the mask pass all filters but `except`.  Valid until the next
	// call of any method.
	passing(except = []) {
		const [first, end] = except.includes("time") ? [0, this.rows] : this.range;
		const open = except.reduce((bits, f) => bits | (this.bits.get(f) ?? 0), 0);
		return { fails: new Uint16Array(this.calls.memory.buffer, this.fails, this.rows), mask: ~open & 0xffff, first, end };
	}

	// Returns samples, weight and squared weights of the rows that pass all filters but those of `except`: three numbers for each pair
	// of keys.
	sums(a, b, except = []) {
		const keys = [a, b].flat(), nr = keys.reduce((all, k) => all * (k ? k.bins ?? k.nr : 1), 1);
		const open = except.reduce((bits, f) => bits | (this.bits.get(f) ?? 0), 0);
		for (const k of keys) if (k?.map && !k.once) this.map(k.map);
		return this.scratch(() => {
			const sum = this.take(24 * nr + 8);
			const [first, end] = except.includes("time") ? [0, this.rows] : this.range;
			this.calls.cross_sums(this.cross, first, end, open, this.key(a), this.key(b), sum);
			return new Float64Array(this.calls.memory.buffer, sum, 3 * nr).slice();
		});
	}
}
