// SPDX-License-Identifier: MIT
// This is the sample table of a server (`tailor serve`), which takes the place of the one in table.js.  A draw that wants sums which
// the server has not been asked for is given up by throwing Unanswered.  The sums are fetched, with those that the view's last draw
// had, and the page draws anew.
import { get, post } from "./server.js";
import { questions, answers } from "./questions.js";

const BITS = 16, KEPT = 4; // An answer that no draw uses is kept for this many rounds.

export class Unanswered extends Error {
	constructor() {
		super("The server has not answered yet.");
	}
}

export class ServedTable {
	static async create(trace, facts) {
		return new ServedTable(trace, facts);
	}

	constructor(trace, facts) {
		Object.assign(this, { trace, facts, rows: facts.rows, columns: facts.columns, names: Object.keys(facts.columns) });
		this.filters = new Map(); // the sets or the range of each filter, by name
		this.range = null; // the range of time
		this.loaded = new Map();
		this.known = new Map(); // answers by their questions
		this.wanted = new Map();
		this.lists = new Map(); // the questions of each view's last draw
		this.asked = [];
		this.round = 0;
		this.busy = null;
		this.same = new WeakMap();
		this.arrays = new Map();
	}

	// ------------------------------------------------------------------------------------------------------ columns

	async load(name, nr = this.rows) {
		const about = this.columns[name];
		if (!about || this.loaded.has(name)) return about ?? null;
		const type = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[about.width];
		const bytes = about.planes ? await get(`column/${this.trace}/${name}`) : new ArrayBuffer(nr * about.width);
		if (bytes.byteLength !== nr * about.width) throw new Error(`The column "${name}" is damaged.`);
		this.loaded.set(name, new type(bytes));
		return about;
	}

	async need() {} // The server has all columns.

	numbers(name) {
		return this.loaded.get(name) ?? null;
	}

	// ------------------------------------------------------------------------------------------------------ filters

	set(filter, what) {
		if (!this.filters.has(filter) && this.filters.size === BITS)
			throw new Error(`At most ${BITS} filters can be in force at once.`);
		this.filters = new Map(this.filters).set(filter, what); // Questions keep the filters that they were asked under.
	}
	filterTime(from, to) {
		this.range = [from, to];
	}
	filterSets(filter, sets) {
		this.set(filter, { id: sets.map(s => `${s.column}:${this.idOf(s.allowed)}`).join(), sets });
	}
	filterRange(filter, column, from, to) {
		this.set(filter, { id: `${column} ${from} ${to}`, range: { column, from, to } });
	}
	clear(filter) {
		if (filter === "time") this.range = null;
		this.filters = new Map(this.filters);
		this.filters.delete(filter);
	}
	get filterNames() {
		return [...this.filters.keys()];
	}

	// --------------------------------------------------------------------------------------------------------- sums

	// The number of an array's content.  Maps are made anew for each draw.
	idOf(array) {
		if (this.same.has(array)) return this.same.get(array);
		let hash = array.length | 0;
		for (let i = 0; i < array.length; i++) hash = Math.imul(hash ^ array[i], 0x9e3779b1);
		const alike = this.arrays.get(hash) ?? [];
		const found = alike.find(a => a.constructor === array.constructor && a.length === array.length &&
		a.every((v, i) => v === array[i]));
		if (!found) {
			alike.push(array);
			this.arrays.set(hash, alike);
		}
		const id = found ? this.same.get(found) : this.next = (this.next ?? 0) + 1;
		this.same.set(array, id);
		return id;
	}

	idOfKey(key) {
		if (Array.isArray(key)) return key.map(k => this.idOfKey(k)).join("×");
		return !key ? "-" : key.bins ? `${key.column} ${key.from} ${key.to} ${key.bins}` :
			`${key.column} ${key.map ? this.idOf(key.map) : ""} ${key.nr}`;
	}

	idOfQuestion({ rows, a, b, except }) {
		const filters = [...this.filters].filter(([name]) => !except.includes(name)).map(([name, f]) => `${name}=${f.id}`).sort();
		return [
			rows ? "rows" : `${this.idOfKey(a)}|${this.idOfKey(b)}`,
			except.includes("time") ? "" : this.range,
			...filters
		].join(";");
	}

	answer(question) {
		const id = this.idOfQuestion(question), found = this.known.get(id);
		this.asked.push(question);
		if (found) {
			found.used = this.round;
			return found.value;
		}
		this.wanted.set(id, question);
		this.ask();
		throw new Unanswered();
	}

	sums(a, b, except = []) {
		return this.answer({ a, b, except });
	}

	passing(except = []) {
		return { fails: this.answer({ rows: true, except }), mask: 1, first: 0, end: this.rows };
	}

	// -------------------------------------------------------------------------------------------------------- draws

	// Begins a draw of a view.  The sums that earlier draws wanted are no longer wanted.
	begin(view) {
		this.view = view;
		this.asked = [];
		this.wanted.clear();
	}
	done() {
		this.lists.set(this.view, [...this.asked]);
	}

	// Sends one request at a time.  The next one asks for everything that is wanted when the answer arrives.
	ask() {
		this.busy ??= Promise.resolve().then(() => this.fetch()).finally(() => {
			this.busy = null;
			if (this.wanted.size) this.ask();
		});
	}

	async fetch() {
		for (const q of this.lists.get(this.view) ?? []) {
			const id = this.idOfQuestion(q);
			if (!this.known.has(id)) this.wanted.set(id, q);
		}
		const batch = [...this.wanted], list = batch.map(([, q]) => q);
		this.wanted.clear();
		if (!batch.length) return;
		const reply = await post(`sums/${this.trace}`, questions(this.names, [...this.filters], this.range, list));
		this.round++;
		for (const [id, entry] of this.known) if (entry.used < this.round - KEPT) this.known.delete(id);
		if (this.arrays.size > 1000) this.arrays.clear();
		answers(reply, list).forEach((value, i) => this.known.set(batch[i][0], { value, used: this.round }));
		this.onAnswer?.();
	}
}

// Returns fn's result as soon as the server has answered everything that it asks for.  tables are those of the page.
export async function answered(tables, fn) {
	for (;;) {
		try {
			return fn();
		} catch (error) {
			if (!(error instanceof Unanswered)) throw error;
		}
		while (tables.some(t => t.busy)) await Promise.all(tables.map(t => t.busy));
	}
}
