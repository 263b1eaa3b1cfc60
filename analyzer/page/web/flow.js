// SPDX-License-Identifier: MIT
// Execution counts come from the solver of `tailor report --view calls` as WebAssembly (analyzer/flow/wasm),
// on a trace's flows and counters.
import wasm from "flow.wasm";

const STATES = ["", "counted", "assumed", "solved", "estimated"], COUNTED = 1, ASSUMED = 2, ESTIMATED = 4, NONE = 0xffffffff;
// Marks stand where there is no room for the words that tables have.
export const MARKS = { counted: "", assumed: "!", solved: "=", estimated: "≈" };
let compiled;

// Returns null if the page has no flows and counts, or if their lists were cut (html_flow.c).
export async function createFlow(facts) {
	if (!facts.flow?.complete) return null;
	compiled ??= await WebAssembly.compile(wasm);
	return new Flow(facts.flow, facts.components.level.length, (await WebAssembly.instantiate(compiled)).exports);
}

const pairs = list => Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]);

class Flow {
	constructor(flow, nrComponents, wasmCalls) {
		Object.assign(this, {
			flow, nrComponents, wasm: wasmCalls, nr: flow.functions.component.length,
			named: new Map(pairs(flow.named))
		});
		this.mark = wasmCalls.memory_mark();
		this.known = new Map(); // some solutions, by what they assume
		this.components = new Map(); // variable => the components whose executions it is
		for (const [component, variable] of pairs(flow.executions))
			this.components.set(Number(variable), [...this.components.get(Number(variable)) ?? [], component]);
		const free = this.solve(new Map());
		this.has = flow.calls.block.length > 0; // Tables have columns of call sites only where there are any.
		this.any = free.nrKnown > 0 || flow.functions.component.length > 0;
	}

	// assumed maps calls to numbers.  WebAssembly's memory has the last solution only.
	solve(assumed) {
		const id = [...assumed].sort(([a], [b]) => a - b).map(([call, n]) => `${call}:${n}`).join();
		if (!this.known.has(id)) {
			if (this.known.size > 20) this.known.clear();
			this.known.set(id, new Solution(this, this.run(id, assumed), id, assumed));
		}
		return this.known.get(id);
	}

	run(id, assumed) {
		const { wasm: w, flow } = this, { functions, arcs, calls, counted, executions, entries } = flow;
		const need = ok => {
			if (!ok) throw new Error("The browser has not enough memory for the counts of this page.");
			return ok >>> 0;
		};
		w.memory_release(this.mark);
		const f = need(w.flow_create(this.nrComponents));
		let arc = 0, call = 0;
		for (let i = 0; i < this.nr; i++) {
			need(w.flow_function(f, functions.blocks[i], functions.escapes[i]));
			for (const end = arc + functions.arcs[i]; arc < end; arc++) need(w.flow_arc(f, arcs[2 * arc], arcs[2 * arc + 1]));
			for (const end = call + functions.calls[i]; call < end; call++)
				need(w.flow_call(f, calls.block[call], BigInt(calls.site[call]), calls.callee[call]));
		}
		this.nrCalls = w.flow_connect(f) >>> 0;
		for (const [variable, count] of pairs(counted)) w.flow_know(f, variable, COUNTED, BigInt(count));
		const at = need(w.flow_calls(f) || !this.nrCalls), view = new DataView(w.memory.buffer);
		const refused = [...assumed]
			.filter(
				([c, n]) => c >= this.nrCalls || !w.flow_know(f, view.getUint32(at + 24 * c + 20, true), ASSUMED, BigInt(n))
			)
			.map(([c]) => c);
		need(w.flow_solve(f));
		for (const [component, variable] of pairs(executions)) w.flow_execute(f, component, Number(variable));
		for (const [component, count] of pairs(entries)) w.flow_enter(f, component, BigInt(count));
		functions.component.forEach((component, i) => w.flow_is(f, i, component));
		this.last = id;
		return { f, refused };
	}
}

class Solution {
	constructor(owner, { f, refused }, id, assumed) {
		Object.assign(this, { owner, id, assumed, refused });
		const { wasm: w, nr, nrCalls, flow } = owner, view = new DataView(w.memory.buffer), variables = w.flow_variables(f) >>> 0;
		const variable = v => {
			const at = variables + 24 * v, state = view.getUint32(at, true), most = view.getBigUint64(at + 16, true);
			return { state: STATES[state], count: state ? Number(view.getBigInt64(at + 8, true)) : null,
				 most: state === ESTIMATED && most < 2n ** 64n - 1n ? Number(most) : null };
		};
		const none = v => (v === NONE ? -1 : v), list = w.flow_calls(f) >>> 0;
		this.f = f;
		this.calls = Array.from({ length: nrCalls }, (_, call) => {
			const at = list + 24 * call;
			return {
				call,
				caller: none(view.getUint32(at, true)),
				block: view.getUint32(at + 4, true),
				site: Number(view.getBigUint64(at + 8, true)),
				callee: none(view.getUint32(at + 16, true)),
				...variable(view.getUint32(at + 20, true))
			};
		});
		this.functions = Array.from({ length: nr }, (_, i) => ({
			function: i,
			component: flow.functions.component[i],
			by: w.flow_contradiction(f, i),
			...variable(w.flow_entries(f, i))
		}));
		[this.executed, this.in, this.out] = [0, 1, 2].map(which => {
			const at = w.flow_frequencies(f, which) >>> 0;
			return Array.from({ length: owner.nrComponents }, (_, c) => {
				const state = STATES[view.getUint32(at + 16 * c + 8, true)];
				return state ? { count: Number(view.getBigUint64(at + 16 * c, true)), state } : null;
			});
		});
		this.blocks = (i, b) => this.owner.components.get(w.flow_block(this.live(), i, b) >>> 0) ?? [];
		this.nrKnown = this.executed.filter(Boolean).length;
	}

	// Solves this again if another one was solved since, so that it is in memory.
	live() {
		if (this.owner.last !== this.id) this.f = this.owner.run(this.id, this.assumed).f;
		return this.f;
	}

	// Returns a component's executions, {count, state}, or null.
	executions(component) {
		return this.executed[component] ?? null;
	}

	// Takes each function's own time.  Returns {total: each function's time with callees, ofCall: the time that
	// each call's callee took for it}.
	times(own) {
		const { wasm: w, nr, nrCalls } = this.owner, f = this.live(), mark = w.memory_mark();
		const at = w.memory_take(8 * nr + 8) >>> 0;
		new Float64Array(w.memory.buffer, at, nr).set(own);
		const to = w.flow_times(f, at) >>> 0;
		if (!to) throw new Error("The browser has not enough memory for the times of this page.");
		const both = new Float64Array(w.memory.buffer, to, nr + nrCalls).slice();
		w.memory_release(mark);
		return { total: both.subarray(0, nr), ofCall: both.subarray(nr) };
	}
}

// Returns the reader's assumptions, which the page's address has as "8:1000,9:20".
export function assumptions(state) {
	const found = new Map();
	for (const part of String(state.option("assume") ?? "").split(",")) {
		const m = /^(\d{1,9}):(\d{1,15})$/.exec(part);
		if (m) found.set(Number(m[1]), Number(m[2]));
	}
	return found;
}

export function assume(state, call, number) {
	const now = assumptions(state);
	if (number === null) now.delete(call);
	else now.set(call, number);
	state.option("assume", [...now].map(([c, n]) => `${c}:${n}`).join());
}
