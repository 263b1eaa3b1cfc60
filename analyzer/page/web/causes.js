// SPDX-License-Identifier: MIT
// This module finds executions, stalls and causes of basic blocks for the samples that pass the filters, by the judge of `tailor report
// --view cpi` and `--view stalls` as WebAssembly (analyzer/listing/wasm).
import wasm from "causes.wasm";

const NUMBERS = 38, CULPRITS = 9, NONE = 0xffffffff; // The layout of a block's numbers is that of analyzer/listing/wasm/causes.c.

// Returns null if the trace has no code bytes of functions with samples.
export async function createCauses(facts) {
	const { causes } = facts;
	if (!causes?.functions.length) return null;
	return new Causes(facts, (await WebAssembly.instantiate(wasm)).instance.exports);
}

function read(list, at) {
	const [cycles, executions, low, high, known, best, floor, simulated, stall, unexplained] = list.subarray(at, at + 10);
	const rest = list.subarray(at + 10, at + NUMBERS), nr = rest[2 * CULPRITS];
	return {
		cycles,
		executions: executions < 0 ? null : executions,
		low,
		high,
		known,
		best,
		floor,
		simulated: simulated > 0,
		stall,
		unexplained,
		least: [...rest.subarray(0, CULPRITS)],
		most: [...rest.subarray(CULPRITS, 2 * CULPRITS)],
		causes: [...rest.subarray(2 * CULPRITS + 1, 2 * CULPRITS + 1 + nr)]
	};
}

class Causes {
	constructor(facts, calls) {
		Object.assign(this, { facts, wasm: calls, functions: facts.causes.functions });
		const nrEvents = Math.min(16, facts.events.length), nr = key => this.functions.reduce((sum, f) => sum + f[key].length, 0);
		this.nr = nr("offset");
		this.nrEvents = nrEvents;
		this.c = calls.causes_create(this.nr, this.functions.reduce((sum, f) => sum + f.classes.count.length, 0), nrEvents) >>> 0;
		if (!this.c) throw new Error("The browser has not enough memory for the blocks of this page.");
		for (let e = 0; e < nrEvents; e++) calls.causes_event(this.c, e, facts.causes.kinds[e]);
		let block = 0, klass = 0;
		for (const f of this.functions) {
			f.first = block;
			f.classes.count.forEach((count, i) => calls.causes_class(this.c, klass + i, count, f.classes.instructions[i]));
			f.offset.forEach((_, i) =>
				calls.causes_block(
					this.c, block++, klass + f.class[i], f.flags?.[i] ?? 0, f.best?.[i] ?? 0,
					f.floor?.[i] ?? 0, f.accesses?.[i] ?? 0, f.loads?.[i] ?? 0,
					f.divisions?.[i] ?? 0, f.lines?.[i] ?? 0, f.latency?.[i] ?? 0
				)
			);
			klass += f.classes.count.length;
		}
		// A place is mapped to the number of its block (0: none).
		const map = Uint32Array.from(facts.causes.place);
		this.key = { column: "place", map, nr: this.nr + 1, toJSON: () => "block" };
		this.mark = calls.memory_mark();
	}

	// Returns {of (each block's numbers), event, unit, stalls (whether they can be found), period (of each event), total (sums by
	// event), all and kernel (weights), measured (the event's measure), measures (sums by mode and event)}.
	judge(state) {
		const { facts, wasm: w, nr, nrEvents } = this;
		const event = state.filters.event?.values[0] ?? 0;
		const sums = state.sums(this.key, "event", ["event"]);
		const total = state.sums("event", null, ["event"]);
		const modes = state.sums("mode", "event", ["event"]);
		const kernelAt = state.data[0].dimensions.get("mode").at.get(1);
		const unit = facts.events[event].unit, stalls = unit === "cycles" && Boolean(this.functions[0].best);
		const period = Float64Array.from(
			{ length: nrEvents },
			(_, e) => facts.events[e].period || (total.samples(e) > 0 ? total.weight(e) / total.samples(e) : 0)
		);
		w.memory_release(this.mark);
		const periods = w.memory_take(8 * nrEvents + 8) >>> 0;
		const to = new Float64Array(w.memory.buffer, w.causes_sums(this.c) >>> 0, 3 * nr * nrEvents);
		for (let b = 0; b < nr; b++) for (let e = 0; e < nrEvents; e++) {
			const at = 3 * (b * nrEvents + e);
			to[at] = sums.samples(b + 1, e);
			to[at + 1] = sums.weight(b + 1, e);
			to[at + 2] = sums.squares(b + 1, e);
		}
		new Float64Array(w.memory.buffer, periods, nrEvents).set(period);
		const instructions = facts.events.findIndex((e, i) => i < nrEvents && e.unit === "instructions");
		const out = w.causes_judge(this.c, event, instructions < 0 ? NONE : instructions, periods, stalls) >>> 0;
		const list = new Float64Array(w.memory.buffer, out, NUMBERS * nr);
		const of = Array.from({ length: nr }, (_, b) => ({
			...read(list, b * NUMBERS),
			samples: sums.samples(b + 1, event),
			measure: sums.measure(b + 1, event)
		}));
		const weight = (s, ...at) => s.weight(...at);
		return { of, event, unit, stalls, period, total, all: weight(total, event), measured: total.measure(event),
			 kernel: kernelAt === undefined ? 0 : modes.weight(kernelAt, event), measures: modes };
	}

	// Returns the sums of the blocks from first to last - 1, after judge().  kernel is the kernel's part, which belongs to no block.
	sum(judged, first = 0, last = this.nr, kernel = 0) {
		const { facts, wasm: w } = this, fault = facts.causes.kinds.findIndex(k => k === facts.causes.fault);
		let low = -1, high = -1;
		if (kernel > 0 && fault >= 0) {
			const { total } = judged;
			const at =
				w.causes_count(
					total.weight(fault),
					total.samples(fault),
					total.squares(fault),
					facts.events[fault].period || 1
				) >>> 0;
			[low, high] = new Float64Array(w.memory.buffer, at, 2);
		}
		const at = w.causes_sum(this.c, first, last, kernel, low, high, judged.unit === "ns") >>> 0;
		return read(new Float64Array(w.memory.buffer, at, NUMBERS), 0);
	}

	// Returns the event that bounds a cause.  Where none does, returns "samples" for the kernel, and else "code".
	evidence(judged, cause) {
		const { culprits } = this.facts.causes, e = culprits[cause].events.find(i => judged.period[i] > 0);
		return e !== undefined ? this.facts.events[e].name : culprits[cause].key === "kernel" ? "samples" : "code";
	}

	// Returns the number of the function that a listing is of, or -1 if that has no blocks.
	find(listing) {
		return this.functions.findIndex(f => f.code === listing.code && f.start === listing.start);
	}
}

/*
 * Returns the arcs {from, to, count}, where count is null if it does not follow from the blocks' executions. A block is left as often as it
 * is entered. executions has a number for each block, or null.
 */
export function arcFrequencies(f, executions) {
	const arcs = Array.from({ length: f.arcs.length / 2 }, (_, i) => ({ from: f.arcs[2 * i], to: f.arcs[2 * i + 1], count: null }));
	for (let round = 0, more = true; more && round < arcs.length + 1; round++) {
		more = false;
		for (const [side, nr] of [["from", f.offset.length], ["to", f.offset.length]])
			for (let b = 0; b < nr; b++) {
				const list = arcs.filter(a => a[side] === b), open = list.filter(a => a.count === null);
				if (executions[b] === null || open.length !== 1) continue;
				open[0].count = Math.max(0, executions[b] - list.reduce((sum, a) => sum + (a.count ?? 0), 0));
				more = true;
			}
	}
	return arcs;
}

// Returns the sentence for an event whose samples are some instructions late, or "" for a precise one.
export function skid(facts, event) {
	const { causes, events } = facts;
	return !causes || causes.precise[event]
		? ""
		: `${events[event].name} is not precise: its samples are some instructions late, ` +
				"so what a single instruction has may be of one before it.";
}
