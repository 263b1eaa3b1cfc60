// SPDX-License-Identifier: MIT
// All filters, in one place: what changes them, what undoes it, and how they stand in the page's address.
// A filter is {values: [...], not?: true} of a dimension, {from, to} of a range (time in microseconds, addresses as texts), or {text}.
import { CONTROLS } from "./chips.js";

export class State {
	constructor(data) {
		this.data = data; // {table, dimensions}, or a list of both traces'
		this.filters = {};
		this.view = "overview";
		this.options = {}; // of views: which event a chart shows, which level is in front
		this.undone = [];
		this.done = [];
		this.listeners = new Set();
		this.memo = new Map(); // sums, by what they depend on; those that the last drawing had no use for go
		this.round = 0;
		addEventListener("hashchange", () => location.hash !== this.hash && this.read(location.hash));
	}

	onChange(listener) {
		this.listeners.add(listener);
	}

	// ------------------------------------------------------------------------------------------------------ changes

	get snapshot() {
		return JSON.stringify(this.filters);
	}

	set(dimension, filter, { remember = true } = {}) {
		const before = this.snapshot;
		if (filter) this.filters[dimension] = filter;
		else delete this.filters[dimension];
		if (this.snapshot === before && !(remember && this.pending)) return; // the end of a drag is what it was last
		if (remember) {
			this.done.push(this.pending ?? before);
			this.pending = undefined;
			this.undone = [];
		} else {
			this.pending ??= before;
		}
		this.apply(dimension);
		this.changed(remember);
	}

	// Only this value; the same one again: no filter.  more: beside those that there are.
	toggle(dimension, value, more = false) {
		const old = this.filters[dimension]?.values ?? [];
		const values = more ? old.includes(value) ? old.filter(v => v !== value) : [...old, value] :
			old.length === 1 && old[0] === value ? [] : [value];
		this.set(dimension, values.length ? { values } : null);
	}

	clear() {
		this.replace(Object.fromEntries(Object.entries(this.filters).filter(([id]) => CONTROLS.includes(id))));
	}

	undo() {
		if (this.pending !== undefined) this.done.push(this.pending); // a change that goes on still
		this.pending = undefined;
		if (!this.done.length) return;
		this.undone.push(this.snapshot);
		this.replace(JSON.parse(this.done.pop()), false);
	}

	redo() {
		if (!this.undone.length) return;
		this.done.push(this.snapshot);
		this.replace(JSON.parse(this.undone.pop()), false);
	}

	replace(filters, remember = true) {
		if (remember) {
			this.done.push(this.snapshot);
			this.undone = [];
		}
		const all = new Set([...Object.keys(this.filters), ...Object.keys(filters)]);
		this.filters = filters;
		for (const d of all) this.apply(d);
		this.changed();
	}

	show(view) {
		if (this.view === view) return;
		this.view = view;
		this.changed();
	}

	option(key, value) {
		if (value === undefined) return this.options[key];
		if (this.options[key] === value) return value;
		this.options[key] = value;
		this.changed();
		return value;
	}

	changed(write = true) {
		for (const [id, entry] of this.memo) if (entry.used < this.round) this.memo.delete(id);
		this.round++;
		if (write) this.write();
		for (const listener of this.listeners) listener();
	}

	// ------------------------------------------------------------------------------------------------- the table's bits

	apply(id) {
		for (const { table, dimensions } of this.data) this.applyTo(table, dimensions, id);
	}

	// Values are those of the first trace; in the second one they are what has the same names: as --component means them, the name alone
	// where all components of that name are chosen, which may have numbers in one of both.
	filterOf(dimensions, id) {
		const filter = this.filters[id];
		const first = this.data[0].dimensions;
		const dimension = dimensions.like(first, id);
		const own = first.get(id);
		if (!filter?.values || dimensions === first) return filter;
		const chosen = new Set(filter.values), wanted = new Set(filter.values.map(v => own.plain(v)));
		const apart = new Set(own.values.filter(v => !chosen.has(v)).map(v => own.bare(v)));
		const whole = new Set(filter.values.map(v => own.bare(v)).filter(name => !apart.has(name)));
		return {
			...filter,
			values: (dimension?.values ?? []).filter(v => wanted.has(dimension.plain(v)) || whole.has(dimension.bare(v)))
		};
	}

	applyTo(table, dimensions, id) {
		const filter = this.filterOf(dimensions, id), dimension = dimensions.like(this.data[0].dimensions, id);
		const column = id === "address" ? id : dimension?.column;
		if (!filter) table.clear(id);
		else if (column && !table.columns[column] && table.facts.columns[column]) this.applyLater(table, dimensions, id, column);
		else if (id === "time") table.filterTime(Math.max(0, Math.round(filter.from)), Math.max(0, Math.round(filter.to)));
		else if (id === "address") table.columns.address && table.filterRange(id, "address", filter.from, filter.to);
		else if (id === "search") {
			if (table.facts.columns.stack && !table.frames) this.reading = this.readFrames(table, dimensions);
			table.filterSets(id, search(dimensions, filter.text, table.frames));
		}
		else if (dimension && table.columns[dimension.column]) table.filterSets(id, [allowed(dimension, filter, table)]);
	}

	// Addresses and stacks are read when they are needed first: by a filter out of the page's address, too.
	async applyLater(table, dimensions, id, column) {
		await table.load(column);
		this.applyTo(table, dimensions, id);
		this.memo.clear(); // sums of the time before
		this.changed(false);
	}

	// Likewise the frames of call stacks, which a search is in, too.
	async readFrames(table, dimensions) {
		const frames = {}, { nodes } = table.facts;
		await table.need("stack");
		for (const field of ["caller", "function", "component"]) {
			await table.load(`node-${field}`, nodes);
			frames[field] = table.numbers(`node-${field}`)?.slice() ?? new Uint8Array(nodes);
		}
		table.frames = frames;
		this.applyTo(table, dimensions, "search");
		this.memo.clear();
		this.changed(false);
	}

	// -------------------------------------------------------------------------------------------------- the page's address

	get hash() {
		const parts = new URLSearchParams({ view: this.view });
		for (const [id, f] of Object.entries(this.filters))
			parts.set(id, f.values ? (f.not ? "!" : "") + f.values.join(".") : f.text ?? `${f.from}-${f.to}`);
		for (const [key, value] of Object.entries(this.options)) parts.set("_" + key, value);
		return "#" + parts;
	}

	write() {
		if (location.hash !== this.hash) history.pushState(null, "", this.hash);
	}

	read(hash) {
		const filters = {}, dimensions = this.data[0].dimensions;
		for (const [id, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
			const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text), set = /^(!?)(\d+(?:\.\d+)*)$/.exec(text);
			if (id === "view") this.view = text;
			else if (id.startsWith("_")) this.options[id.slice(1)] = text;
			else if (id === "search" && text) filters.search = { text };
			else if (id === "time" && range) filters.time = { from: Number(range[1]), to: Number(range[2]) };
			else if (id === "address" && range) filters.address = { from: range[1], to: range[2] };
			else if (dimensions.get(id) && set)
				filters[id] = { values: set[2].split(".").map(Number), ...(set[1] ? { not: true } : {}) };
		}
		this.replace(filters);
	}

	// ------------------------------------------------------------------------------------------------------------- sums

	// Sums by a dimension or two (or bins: {column, from, to, bins}) under all filters but those of `except`.  trace: 0, or 1 of two.
	sums(a, b = null, except = [], trace = 0) {
		const open = except.filter(id => this.filters[id]);
		const key = k => typeof k === "string" ? this.data[trace].dimensions.get(k) : k;
		const first = key(a), second = key(b), { table } = this.data[trace];
		if ([first, second].some(k => k?.once && !k.toJSON)) return new Sums(table.sums(first, second, open), first, second);
		return this.remember(["sums", a, b, trace], open, () => {
			// dimensions of the same column are sums of its sums
			const same =
				first?.map &&
				!first.once &&
				!first.bins &&
				first.column !== "phase" &&
				(!second || (second.map && second.column === first.column));
			return new Sums(
				same ? fold(this.columnSums(first.column, open, trace), first, second) : table.sums(first, second, open),
				first,
				second
			);
		});
	}

	columnSums(column, open, trace) {
		return this.remember(["column", column, trace], open, () => {
			const { table, dimensions } = this.data[trace];
			return table.sums([...dimensions.list.values()].find(d => d.column === column && !d.map), null, open);
		});
	}

	remember(what, open, make) {
		const id = JSON.stringify([what, Object.entries(this.filters).filter(([d]) => !open.includes(d)), open.length > 0]);
		let entry = this.memo.get(id);
		if (!entry) this.memo.set(id, entry = { value: make() });
		entry.used = this.round;
		return entry.value;
	}

	// Sums by three.
	cube(a, b, c, except = [], trace = 0) {
		const { table, dimensions } = this.data[trace];
		const keys = [a, b, c].map(k => (typeof k === "string" ? dimensions.get(k) : k));
		const [x, y, z] = keys;
		const make = () => new Cube(table.sums([x, y], z, except), x, y, z);
		return keys.some(k => k.once && !k.toJSON)
			? make()
			: this.remember(["cube", a, b, c, trace], except.filter(id => this.filters[id]), make);
	}
}

function fold(numbers, a, b) {
	const to = new Float64Array(3 * a.nr * (b?.nr ?? 1));
	for (let i = 0; i < a.map.length; i++) {
		const at = 3 * (b ? a.map[i] * b.nr + b.map[i] : a.map[i]);
		for (let n = 0; n < 3; n++) to[at + n] += numbers[3 * i + n];
	}
	return to;
}

// Three numbers per pair of keys.
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
	// What shares are made of: periods where samples have them, else their number.
	measure(i, j = 0) {
		return this.weight(i, j) > 0 ? this.weight(i, j) : this.samples(i, j);
	}
	get total() {
		return this.all ??= this.numbers.reduce((all, n, i) => (all[i % 3] += n, all), [0, 0, 0]);
	}
	get totalMeasure() {
		return this.total[1] > 0 ? this.total[1] : this.total[0];
	}
	// Keys of the first dimension with samples, the largest first.
	order() {
		const keys = [];
		for (let i = 0; i < this.nr; i++) if (this.samples(i) > 0) keys.push(i);
		return keys.sort((x, y) => this.measure(y) - this.measure(x) || x - y);
	}
	// As many samples of equal weight would say as much of the share.  (W. G. Cochran, Sampling Techniques, 1977, 6.4)
	evidence(i, j = 0) {
		const [, w, q] = this.total, part = this.weight(i, j), squares = this.squares(i, j), p = part / w;
		if (!(w > 0) || !(part > 0) || p >= 1) return this.total[0];
		const variance = (squares * (1 - 2 * p) + p * p * q) / (w * w);
		return variance > 0 ? p * (1 - p) / variance : this.total[0];
	}
}

const sizeOf = key => key.bins ?? key.nr;

class Cube {
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

function allowed(dimension, filter, table) {
	const wanted = new Set(filter.values), keys = new Uint8Array(dimension.nr);
	dimension.values.forEach((v, key) => keys[key] = wanted.has(v) !== Boolean(filter.not) ? 1 : 0);
	return { column: dimension.column, allowed: dimension.map ? Uint8Array.from(dimension.map, key => keys[key]) : keys, table };
}

// Samples with the text in the name of their function, source line, or of a component, or of those in their call stack.
function search(dimensions, text, frames) {
	const wanted = text.toLowerCase(), hit = label => String(label).toLowerCase().includes(wanted);
	const { facts } = dimensions, names = id => dimensions.get(id).values.map(v => v && hit(dimensions.get(id).plain(v)));
	const marked = (column, nr, ids) => {
		const out = new Uint8Array(nr);
		for (const id of ids) {
			const found = names(id), { map } = dimensions.get(id);
			for (let i = 0; i < nr; i++) out[i] |= found[map[i]] ? 1 : 0;
		}
		return { column, allowed: out };
	};
	const sets = [marked("place", facts.places.ip.length, ["function", "line"]),
		      marked("way", facts.ways.mode.length, facts.levels.map((_, i) => `level:${i}`))];
	return frames ? [...sets, { column: "stack", allowed: below(dimensions, hit, frames) }] : sets;
}

// Which stacks contain a function, or a component of any level, that is a hit: callers have smaller numbers.
function below(dimensions, hit, frames) {
	const { functions, components } = dimensions.facts, on = new Uint8Array(frames.caller.length), known = [false];
	const named = functions.name.map(name => hit(name));
	const leads = c => {
		if (known[c] === undefined) {
			known[c] = hit(dimensions.component(c)); // links that lead in a circle
			known[c] ||= (components.links?.[c] ?? []).some(leads);
		}
		return known[c];
	};
	for (let i = 1; i < on.length; i++)
		on[i] = on[frames.caller[i]] || named[frames.function[i]] || leads(frames.component[i]) ? 1 : 0;
	return on;
}
