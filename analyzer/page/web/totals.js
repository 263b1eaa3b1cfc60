// SPDX-License-Identifier: MIT
// Totals count samples that have a function, line, image or component anywhere on their call stack, as `total` of `report` (totals_make()
// in analyzer/query/calltree.c): its own samples, and those of its callees.
const CUT = 8; // a node's flag: its callers are unknown
const CELLS_MAX = 4e6;

// Returns a function from a component of any level to one of that level, by the first of its links that lead there.
export function climb(dimensions, level) {
	const { level: levels, links = {} } = dimensions.facts.components, known = new Map();
	return function at(component) {
		if (!component) return 0;
		if (levels[component] === level) return dimensions.merged(component);
		if (!known.has(component)) {
			known.set(component, 0); // The answer for now ends a circle of links.
			known.set(component, (links[component] ?? []).map(at).find(Boolean) ?? 0);
		}
		return known.get(component);
	};
}

const isLevel = id => id.startsWith("level:");

export class Totals {
	constructor(page) {
		this.page = page;
		this.on = new Map(); // results of onNodes() by dimension, and by whether processes are told apart
	}

	possible(id) {
		const { facts, dimensions } = this.page;
		return (
			Boolean(facts.columns.stack) &&
			(["function", "line", "image"].includes(id) || (isLevel(id) && facts.nodes * dimensions.get(id).nr <= CELLS_MAX))
		);
	}

	// Stacks are read when they are needed first.  The page draws anew after that.
	load() {
		this.loading ??= this.read();
	}

	async read() {
		const { facts, data, state } = this.page, { table } = data[0], nodes = {};
		await table.need("stack");
		for (const field of ["caller", "function", "line", "component", "flags"]) {
			await table.load(`node-${field}`, facts.nodes);
			nodes[field] = table.numbers(`node-${field}`)?.slice() ?? new Uint8Array(facts.nodes);
		}
		this.nodes = nodes;
		const cut = nodes.flags; // A stack that is cut at once has no frame.
		this.none = {
			column: "stack",
			map: Uint32Array.from({ length: facts.nodes }, (_, n) => (n && !(cut[n] & CUT) ? 1 : 0)),
			nr: 2,
			toJSON: () => "has stack"
		};
		state.memo.clear();
		state.changed(false);
	}

	// Returns {value: each node's function (line, ...), or 0; first: the same, but 0 where a node around it has that value as well}.
	onNodes(id) {
		const made = `${id} ${this.page.dimensions.perProcess}`;
		if (!this.on.has(made)) {
			const { facts, dimensions } = this.page;
			const { caller, flags, ...fields } = this.nodes;
			const up = isLevel(id) ? climb(dimensions, Number(id.slice(6))) : null;
			const at = n =>
				up ? up(fields.component[n]) : id === "image" ? facts.functions.image[fields.function[n]] : fields[id][n];
			const value = Uint32Array.from(caller, (_, n) => (n && !(flags[n] & CUT) ? at(n) : 0));
			this.on.set(made, { value, first: value.map((v, n) => (v && this.has(value, caller[n], v) ? 0 : v)) });
		}
		return this.on.get(made);
	}

	// Returns whether that node, or one around it, has the value.
	has(value, node, v) {
		while (node && value[node] !== v) node = this.nodes.caller[node];
		return Boolean(node);
	}

	// Returns the share of samples with truncated call stacks, under all filters but those of `except`.  Totals of outer callers lack
	// them (totals_truncated_share() in analyzer/query/calltree.c).
	truncated(except) {
		if (!this.nodes) return 0;
		const { state, facts } = this.page;
		const { caller, flags, function: names } = this.nodes;
		const sums = state.sums("stack", null, except);
		const cut = new Uint8Array(caller.length);
		let part = 0;
		for (let n = 1; n < caller.length; n++) {
			cut[n] = caller[n]
				? cut[caller[n]]
				: flags[n] & CUT && facts.functions.name[names[n]].startsWith("[truncated")
					? 1
					: 0;
			if (cut[n]) part += sums.measure(n);
		}
		return part / (sums.totalMeasure || 1);
	}

	// Returns the totals of each value of a dimension, {samples, weight}, under all filters but those of `except`, or null until stacks
	// were read.
	of(id, except) {
		if (!this.nodes) return null;
		const { state, dimensions } = this.page;
		const { caller } = this.nodes;
		const { value, first } = this.onNodes(id);
		const dimension = dimensions.get(id);
		const below = Float64Array.from(state.sums("stack", null, except).numbers), totals = new Map();
		const add = (v, samples, weight) => {
			const old = totals.get(v) ?? { samples: 0, weight: 0 };
			totals.set(v, { samples: old.samples + samples, weight: old.weight + weight });
		};
		for (let n = caller.length - 1; n > 0; n--) {
			if (first[n] && (below[3 * n] > 0 || below[3 * n + 1] > 0)) add(first[n], below[3 * n], below[3 * n + 1]);
			for (let i = 0; i < 2; i++) below[3 * caller[n] + i] += below[3 * n + i];
		}
		// Adds the values that samples have and their stacks do not, which are components by a tag, and other values of samples
		// without a stack.
		const own = isLevel(id) ? state.sums("stack", id, except) : state.sums(this.none, id, except);
		const nr = isLevel(id) ? caller.length : 1;
		for (let n = 0; n < nr; n++)
			dimension.values.forEach(
				(v, key) =>
					v &&
					(own.samples(n, key) > 0 || own.weight(n, key) > 0) &&
					!this.has(value, n, v) &&
					add(v, own.samples(n, key), own.weight(n, key))
			);
		return totals;
	}
}
