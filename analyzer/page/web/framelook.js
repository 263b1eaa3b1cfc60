// SPDX-License-Identifier: MIT
// Names and colours of frames: those of a component are its own, and those of a function say what kind of code it is.
import { COMPONENT } from "./calltree.js";
import { CUT, JIT, KERNEL } from "./stackframes.js";
import { dark } from "./colours.js";

export function frameLabel(page, call, of) {
	if (of.key[call] < 0) return "all";
	const { facts, dimensions } = page, key = of.key[call];
	return of.kind[call] === COMPONENT
		? dimensions.component(key) + dimensions.processOf(key)
		: facts.functions.name[key] || "(no name)";
}

// main: the component of the main level above a component.  flags: what is known of a function's code.
export function frameColour(page, call, of, { main, flags }) {
	if (of.key[call] < 0) return dark() ? "#3a404b" : "#d5dae2";
	if (of.kind[call] === COMPONENT) {
		const at = main(of.key[call]);
		return at ? page.colours.of(page.dimensions.main, at) : dark() ? "#5d6f8c" : "#b4c2d9";
	}
	const known = flags(of.key[call]);
	if (known & CUT) return dark() ? "#4b4f57" : "#cfd2d8";
	if (known & KERNEL) return dark() ? "#41618f" : "#a9c4ea";
	if (known & JIT) return dark() ? "#3f7350" : "#a5d6b0";
	return dark() ? "#7d5a3c" : "#f1cda6";
}
