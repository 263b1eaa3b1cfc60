// Samples that have a function anywhere on their call stack, as `total` of `report --view functions` has them (totals_make() in
// analyzer/query/calltree.c): what is its own, and what it called.
const CUT = 8; // a flag of nodes: callers are unknown from there on

export class Totals {
	constructor(page) {
		this.page = page;
	}

	get possible() {
		return Boolean(this.page.facts.columns.stack);
	}

	// Stacks are read when they are needed first; then the page draws anew.
	load() {
		this.loading ??= this.read();
	}

	async read() {
		const { facts, data, state } = this.page, { table } = data[0], nodes = {};
		await table.need("stack");
		for (const field of ["caller", "function", "flags"]) {
			await table.load(`node-${field}`, facts.nodes);
			nodes[field] = table.numbers(`node-${field}`)?.slice() ?? new Uint8Array(facts.nodes);
		}
		this.caller = nodes.caller;
		// of each node its function, where no node around it has the same
		this.first = new Uint32Array(facts.nodes);
		for (let n = 1; n < facts.nodes; n++) {
			const f = nodes.flags[n] & CUT ? 0 : nodes.function[n];
			let at = f ? nodes.caller[n] : 0;
			while (at && (nodes.flags[at] & CUT || nodes.function[at] !== f)) at = nodes.caller[at];
			this.first[n] = at ? 0 : f;
		}
		this.none = { column: "stack", map: Uint32Array.from({ length: facts.nodes }, (_, n) => (n ? 1 : 0)), nr: 2, toJSON: () => "has stack" };
		state.memo.clear();
		state.changed(false);
	}

	// Under all filters but those: of a function, {samples, weight}; null: not read yet.
	of(except) {
		if (!this.none) return null;
		const { state, dimensions } = this.page, sums = state.sums("stack", null, except), bare = state.sums(this.none, "function", except);
		const below = Float64Array.from(sums.numbers), totals = new Map(), functions = dimensions.get("function");
		const add = (f, samples, weight) => {
			const old = totals.get(f) ?? { samples: 0, weight: 0 };
			totals.set(f, { samples: old.samples + samples, weight: old.weight + weight });
		};
		for (let n = this.caller.length - 1; n > 0; n--) {
			if (this.first[n] && (below[3 * n] > 0 || below[3 * n + 1] > 0)) add(this.first[n], below[3 * n], below[3 * n + 1]);
			for (let i = 0; i < 2; i++) below[3 * this.caller[n] + i] += below[3 * n + i];
		}
		functions.values.forEach((f, key) => f && (bare.samples(0, key) > 0 || bare.weight(0, key) > 0) && add(f, bare.samples(0, key), bare.weight(0, key)));
		return totals;
	}
}
