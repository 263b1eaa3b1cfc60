// SPDX-License-Identifier: MIT
// The choice of frames: which levels and functions are frames of the Stacks view, whether they come from call stacks, and the buttons
// that change both.
import { h, shown } from "./dom.js";
import { FUNCTIONS } from "./stackframes.js";

const toggle = (text, title, pressed, fn) => h("button", { class: "small", title, "aria-pressed": String(pressed), onclick: fn }, text);

// A host may call one of its levels "function".
export const levelName = (facts, level) => (facts.levels[level].name === "function" ? "function (level)" : facts.levels[level].name);

// sources: returns the frames from stacks (null: the trace has none), those from levels, and which of the two is best.
export function frameChoice(page, sources) {
	const { state, facts } = page;
	const fromStacks = () => Boolean(sources().stacks) && (state.option("from") ?? sources().best) !== "levels";

	// Returns the levels that can be frames, from above, and functions.
	const all = () => [...(fromStacks() ? sources().stacks.levels : sources().levels.levels).map(String), FUNCTIONS];
	function frames() {
		const can = all();
		const wanted = String(state.option("frames") ?? "").split(".").filter(id => can.includes(id));
		if (wanted.length) return can.filter(id => wanted.includes(id));
		const { mainLevel } = page.dimensions;
		return fromStacks() ? can.filter(id => id === FUNCTIONS || Number(id) === mainLevel) : can;
	}

	// Makes a button for each level, one for functions, and one for whether stacks count at all.
	function drawButtons(el) {
		const now = frames(), can = all();
		const flip = id => {
			const next = now.includes(id)
				? now.filter(other => other !== id)
				: can.filter(other => other === id || now.includes(other));
			if (next.length) state.option("frames", next.join("."));
		};
		const turn = () => {
			delete state.options.frames;
			state.option("from", fromStacks() ? "levels" : "stacks");
		};
		el.replaceChildren(
			"frames:",
			...can.map(id =>
				toggle(
					id === FUNCTIONS ? "function" : shown(levelName(facts, Number(id)), 24),
					"Whether these are frames",
					now.includes(id),
					() => flip(id)
				)
			),
			...(sources().stacks && facts.levels.length
				? [
						toggle(
							"call stacks",
							"Frames of call stacks, or each sample's levels and function alone",
							fromStacks(),
							turn
						)
					]
				: [])
		);
		el.hidden = can.length < 2 && el.childElementCount < 2;
	}
	return { fromStacks, frames, drawButtons };
}
