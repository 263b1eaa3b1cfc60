// SPDX-License-Identifier: MIT
/*
 * A tree of calls whose shape filters do not change.  It is made once for a way of looking at the stacks, and then filled with sums.
 *
 * Frames are a tree as well: arrays of caller (0: none; frame 0 is no frame, and callers have smaller numbers), key (a small number of what
 * the frame is of) and kind.  A stack is its innermost frame.  A frame with the key of the one around it is part of that one.  In an
 * inverted tree, the root's children are innermost frames, and callers are below.
 */
export const FUNCTION = 0, COMPONENT = 1, LINE = 2;

class Shape {
	constructor(key = -1, kind = -1) { // The root has neither.
		this.parent = [-1];
		this.key = [key];
		this.kind = [kind];
		this.depth = [0];
		this.known = new Map();
	}
	// Returns the call itself if it has that key and kind, else its child with them, which is made if there is
	// none.  There are fewer than 8 kinds.
	go(call, key, kind) {
		if (this.key[call] === key && this.kind[call] === kind)
			return call;
		const name = `${call} ${key * 8 + kind}`;
		let next = this.known.get(name);
		if (next === undefined) {
			next = this.parent.push(call) - 1;
			this.key.push(key);
			this.kind.push(kind);
			this.depth.push(this.depth[call] + 1);
			this.known.set(name, next);
		}
		return next;
	}
}

// stacks has the innermost frame of each stack (0: it has none).
export function shape(frames, stacks, inverted) {
	const made = new Shape(), end = new Int32Array(stacks.length);
	if (inverted) {
		stacks.forEach((frame, stack) => {
			for (let at = frame; at; at = frames.caller[at])
				end[stack] = made.go(end[stack], frames.key[at], frames.kind[at]);
		});
	} else {
		const call = new Int32Array(frames.caller.length);
		for (let at = 1; at < call.length; at++)
			call[at] = made.go(call[frames.caller[at]], frames.key[at], frames.kind[at]);
		stacks.forEach((frame, stack) => { end[stack] = call[frame] });
	}
	return finish(made, end);
}

function finish(made, end) {
	const children = made.parent.map(() => []);
	for (let call = 1; call < children.length; call++)
		children[made.parent[call]].push(call);
	return { nr: children.length, parent: made.parent, key: made.key, kind: made.kind, depth: made.depth, end, children };
}

// Adds up the sums of stacks: self is that of stacks that end in the call, total also that of all below.  Stacks
// that end at -1 are in no call.
export function fill(tree, sums) {
	const self = new Float64Array(tree.nr);
	for (let stack = 0; stack < tree.end.length; stack++)
		if (tree.end[stack] >= 0) self[tree.end[stack]] += sums[stack];
	const total = Float64Array.from(self);
	for (let call = tree.nr - 1; call > 0; call--)
		total[tree.parent[call]] += total[call];
	return { self, total };
}

// Sorts children by these totals, the largest first.  Totals of everything keep boxes in their order under all filters.
export function order(tree, total) {
	for (const list of tree.children)
		list.sort((a, b) => total[b] - total[a] || a - b);
}

// Returns boxes of at least that width, which are the call `top`, which is as wide as the picture, the calls around it, and those in it.
export function layout(tree, total, top, width, least) {
	const boxes = [];
	for (let call = tree.parent[top]; call >= 0; call = tree.parent[call])
		boxes.unshift({ call, x: 0, width, depth: tree.depth[call], around: true });
	const waiting = total[top] > 0 ? [{ call: top, x: 0, width }] : [];
	while (waiting.length) {
		const { call, x, width: w } = waiting.pop();
		boxes.push({ call, x, width: w, depth: tree.depth[call], around: false });
		let at = x;
		for (const child of tree.children[call]) {
			const part = w * total[child] / total[call];
			if (part >= least)
				waiting.push({ call: child, x: at, width: part });
			at += part;
		}
	}
	return boxes;
}

/*
 * Makes frames of a trace's tree of calls (node => caller, function, component).  If functions is set, functions are frames.  Where a
 * function is the first of another component than that of its caller, this component is a frame of its own. levels has a function for each
 * level that is shown, from above, which returns a component's number in that level (0: it has none there). The result's `of` has each
 * node's innermost frame.
 */
export function framesOf(nodes, levels, functions) {
	const nr = nodes.caller.length, frames = { caller: [0], key: [0], kind: [0] }, of = new Int32Array(nr),
		around = levels.map(() => new Int32Array(nr));
	const add = (caller, key, kind) => {
		frames.key.push(key);
		frames.kind.push(kind);
		return frames.caller.push(caller) - 1;
	}
	for (let node = 1; node < nr; node++) {
		const caller = nodes.caller[node];
		let other = false; // Levels below one whose component changed begin anew.
		of[node] = of[caller];
		levels.forEach((at, l) => {
			const component = at(nodes.component[node]), before = other ? 0 : around[l][caller];
			around[l][node] = component || before;
			if (!component || component === before) return;
			other = true;
			of[node] = add(of[node], component, COMPONENT);
		});
		if (functions)
			of[node] = add(of[node], nodes.function[node], FUNCTION);
	}
	return { frames, of };
}

/*
 * Makes two trees around the calls that have this key, each with it as the root. They are the calls from its outermost call of each stack
 * inwards, and the callers from there outwards.  Stacks without it end nowhere (-1).
 */
export function sandwich(frames, stacks, key, kind) {
	const nr = frames.caller.length, top = new Int32Array(nr), below = new Shape(key, kind), above = new Shape(key, kind);
	const inner = new Int32Array(nr).fill(-1), outer = new Int32Array(nr).fill(-1);
	for (let at = 1; at < nr; at++) {
		const caller = frames.caller[at], first = !top[caller];
		top[at] = top[caller] || (frames.key[at] === key && frames.kind[at] === kind ? at : 0);
		if (!top[at]) continue;
		inner[at] = first ? 0 : below.go(inner[caller], frames.key[at], frames.kind[at]);
		if (first) {
			outer[at] = 0;
			for (let up = caller; up; up = frames.caller[up]) outer[at] = above.go(outer[at], frames.key[up], frames.kind[up]);
		}
	}
	const tree = (made, end) => finish(made, Int32Array.from(stacks, frame => (frame ? end(frame) : -1)));
	return { callees: tree(below, at => inner[at]), callers: tree(above, at => (top[at] ? outer[top[at]] : -1)) };
}
