// SPDX-License-Identifier: MIT
// Chips show the filters in force, each with a button that removes it.
import { h, shown } from "./dom.js";
import { seconds } from "./format.js";

export const CONTROLS = ["event", "run"]; // These filters have a control of their own, and stay when filters are removed.

export function describe(state, id, filter) {
	const { dimensions } = state.data[0], dimension = dimensions.get(id);
	if (id === "time") return ["time", `${seconds(filter.from)} – ${seconds(filter.to)}`];
	if (id === "search") return ["search", `“${filter.text}”`];
	if (id === "address") return ["addresses", `0x${BigInt(filter.from).toString(16)} – 0x${BigInt(filter.to).toString(16)}`];
	const labels = filter.values.slice(0, 3).map(v => String(dimension.label(v))), more = filter.values.length - labels.length;
	return [dimension.title, (filter.not ? "not " : "") + labels.join(", ") + (more > 0 ? ` and ${more} more` : "")];
}

export function chips(state) {
	const el = h("div", { class: "chips", role: "group", "aria-label": "Filters in force" });
	function draw() {
		const ids = Object.keys(state.filters).filter(id => !CONTROLS.includes(id)), assumed = state.assumedChips?.() ?? [];
		el.replaceChildren(
			...ids.map(id => {
				const [title, text] = describe(state, id, state.filters[id]);
				return h("span", { class: "chip" },
					h("span", { class: "chip-title" }, shown(title, 30)),
					h("bdi", { title: shown(text, 400) }, shown(text, 40)),
					h("button", {
						"aria-label": `Remove the filter ${shown(title, 30)}: ${shown(text, 60)}`,
						title: "Remove this filter",
						onclick: () => state.set(id, null)
					}, "×")
				);
			}),
			...assumed.map(({ title, text, remove }) =>
				h("span", { class: "chip" },
					h("span", { class: "chip-title" }, title),
					h("bdi", {}, shown(text, 60)),
					h("button", {
						"aria-label": `Assume it no more: ${shown(text, 60)}`,
						title: "Assume it no more",
						onclick: remove
					}, "×")
				)
			)
		);
		if (ids.length)
			el.append(
				h("button", { class: "small", onclick: () => state.clear(), title: "Remove all filters (Esc)" }, "Clear")
			);
		if (state.done.length)
			el.append(h("button", { class: "small", onclick: () => state.undo(), title: "Undo (Ctrl+Z)" }, "Undo"));
		if (!ids.length && !assumed.length && !state.done.length)
			el.append(h("span", { class: "hint" }, "No filter. Drag over a time line, or click a name or a box."));
	}
	return { el, draw };
}
