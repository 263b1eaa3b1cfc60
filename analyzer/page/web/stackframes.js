// SPDX-License-Identifier: MIT
/*
 * This module has frames for flame graphs, from call stacks or from each sample's levels and function.  Either source is:
 *   keys, one or two dimensions whose sums are those of stacks
 *   levels that can be frames, from above, and flags(function)
 *   frames(chosen), which returns {frames, stacks} for calltree.js, where chosen has numbers of levels as texts, and FUNCTIONS
 */
import { COMPONENT, FUNCTION, framesOf } from "./calltree.js";
import { climb } from "./totals.js";

export const FUNCTIONS = "f"; // This stands for functions among the chosen frames, which are otherwise numbers of levels.
export const JIT = 1, KERNEL = 2, CUT = 8; // a node's flags
const PAIRS_MAX = 1 << 20; // Above this many pairs of ways (html_rows.h) and functions, functions are no frames.

const inOrder = facts => facts.levels.map((l, i) => [l.rank, i]).sort((a, b) => a[0] - b[0]).map(([, i]) => i);

// Reads the frames of call stacks.
export async function framesFromStacks(table, dimensions) {
	const { facts } = dimensions;
	const nodes = { component: null, function: null, caller: null, flags: null };
	await table.need("stack");
	for (const field of Object.keys(nodes)) await table.load(`node-${field}`, facts.nodes);
	for (const field of Object.keys(nodes)) nodes[field] = Array.from(table.numbers(`node-${field}`) ?? new Uint8Array(facts.nodes));
	const flags = new Map();
	nodes.function.forEach((f, i) => flags.set(f, (flags.get(f) ?? 0) | nodes.flags[i]));
	// This array has the number of frames of each stack, up to 2, without the mark of unknown callers.
	const deep = new Uint8Array(nodes.caller.length);
	for (let i = 1; i < deep.length; i++) deep[i] = Math.min(2, deep[nodes.caller[i]] + (nodes.flags[i] & CUT ? 0 : 1));
	return {
		keys: ["stack"],
		flags: f => flags.get(f) ?? 0,
		deep,
		levels: inOrder(facts).filter(l => nodes.component.some(climb(dimensions, l))),
		frames: chosen => {
			const { frames, of } = framesOf(
				nodes,
				chosen.filter(id => id !== FUNCTIONS).map(id => climb(dimensions, Number(id))),
				chosen.includes(FUNCTIONS)
			);
			return { frames, stacks: of };
		}
	};
}

// Without stacks, frames are a sample's components level by level from above, and its function.
export function framesFromLevels({ facts, dimensions, state }) {
	const functions = dimensions.get("function"), nrWays = facts.ways.mode.length;
	const levels = inOrder(facts).filter(l => dimensions.get(`level:${l}`).nr > 1);
	const deep = nrWays * functions.nr <= PAIRS_MAX;
	return {
		keys: deep ? ["way", "function"] : ["way"],
		flags: f => (facts.functions.generated[f] ? JIT : 0),
		levels,
		frames: chosen => {
			const made = { caller: [0], key: [0], kind: [0] }, stacks = [], known = new Map();
			const add = (caller, key, kind) => {
				const id = `${caller} ${key} ${kind}`;
				if (!known.has(id)) {
					made.key.push(key);
					made.kind.push(kind);
					known.set(id, made.caller.push(caller) - 1);
				}
				return known.get(id);
			};
			for (let way = 0; way < nrWays; way++) {
				let at = 0;
				for (const level of levels.filter(l => chosen.includes(String(l)))) {
					const component = dimensions.merged(facts.ways.level[level][way]);
					if (component) at = add(at, component, COMPONENT);
				}
				for (let key = 0; key < (deep ? functions.nr : 1); key++)
					stacks.push([at, (deep && chosen.includes(FUNCTIONS) && functions.values[key]) || 0]);
			}
			// Pairs without samples get no frame.
			const any = state.sums(...(deep ? ["way", "function"] : ["way", null]), Object.keys(state.filters));
			const innermost = ([at, f], i) => (f && any.numbers[3 * i] > 0 ? add(at, f, FUNCTION) : at);
			return { frames: made, stacks: stacks.map(innermost) };
		}
	};
}
