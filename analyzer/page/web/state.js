// SPDX-License-Identifier: MIT
// The state has all filters of a page.  They change here, are undone, and are applied to the sample tables, and sums under them are kept.
// A filter is {values: [...], not?: true} of a dimension, {from, to} of a range (time in microseconds, addresses as texts), or {text}.
import { addressOf, readAddress } from "./address.js";
import { CONTROLS } from "./chips.js";
import { allowed, inOther, matching } from "./passing.js";
import { Cube, Sums, fold } from "./sums.js";

export class State {
	constructor(data) {
		this.data = data; // {table, dimensions, ...} of each trace
		this.filters = {};
		this.view = "overview";
		this.options = {}; // choices of views, such as the event of a chart
		this.undone = [];
		this.done = [];
		this.listeners = new Set();
		this.memo = new Map(); // sums by what they depend on, without those that the last draw did not use
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
		if (this.snapshot === before && !(remember && this.pending)) return; // A drag ends where it was last.
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

	// Filters by this value only, or by none if it is the only one already.  If more, it is added to the others, or taken from them.
	toggle(dimension, value, more = false) {
		const { rep } = this.data[0].dimensions.get(dimension), old = (this.filters[dimension]?.values ?? []).map(rep);
		value = rep(value);
		const values = more ? old.includes(value) ? old.filter(v => v !== value) : [...old, value] :
			old.length === 1 && old[0] === value ? [] : [value];
		this.set(dimension, values.length ? { values } : null);
	}

	clear() {
		this.replace(Object.fromEntries(Object.entries(this.filters).filter(([id]) => CONTROLS.includes(id))));
	}

	undo() {
		if (this.pending !== undefined) this.done.push(this.pending); // a change that still goes on
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

	// Values of a filter are those of the first trace.
	filterOf(dimensions, id) {
		const filter = this.filters[id], first = this.data[0].dimensions;
		if (!filter?.values || dimensions === first) return filter;
		return inOther(filter, first.get(id), dimensions.like(first, id));
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
			table.filterSets(id, matching(dimensions, filter.text, table.frames));
		}
		else if (dimension && table.columns[dimension.column]) table.filterSets(id, [allowed(dimension, filter, table)]);
	}

	// Addresses and stacks are read when they are needed first, which may be by a filter of the page's address.
	async applyLater(table, dimensions, id, column) {
		await table.load(column);
		this.applyTo(table, dimensions, id);
		this.memo.clear(); // Sums were made without this filter.
		this.changed(false);
	}

	// The frames of call stacks, which a search looks through as well, are read when they are needed first.
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
		return addressOf(this);
	}

	write() {
		if (location.hash !== this.hash) history.pushState(null, "", this.hash);
	}

	read(hash) {
		const { view, options, filters } = readAddress(hash, id => Boolean(this.data[0].dimensions.get(id)));
		this.view = view ?? this.view;
		Object.assign(this.options, options);
		this.replace(filters);
	}

	// ------------------------------------------------------------------------------------------------------------- sums

	// Sums by a dimension or two (or bins: {column, from, to, bins}) under all filters but those of `except`.  trace is 0, or 1 for
	// the second.
	sums(a, b = null, except = [], trace = 0) {
		const open = except.filter(id => this.filters[id]);
		const key = k => typeof k === "string" ? this.data[trace].dimensions.get(k) : k;
		const first = key(a), second = key(b), { table } = this.data[trace];
		if ([first, second].some(k => k?.once && !k.toJSON)) return new Sums(table.sums(first, second, open), first, second);
		return this.remember(["sums", a, b, trace], open, () => {
			// Sums by dimensions of the same column are made of sums by its numbers.
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

	// Sums by three dimensions.
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
