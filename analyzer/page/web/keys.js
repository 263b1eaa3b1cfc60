// SPDX-License-Identifier: MIT
// One list has all keys, and `?` shows it.
import { h } from "./dom.js";

export function keys(page) {
	const { state, views } = page;
	const list = [
		["1 – 9, 0", "views, in their order", null],
		["/", "search", () => page.search.focus()],
		["Esc", "leave this window or the search; else remove all filters", () => page.escape()],
		["Ctrl+Z, Ctrl+Shift+Z", "undo, redo", null],
		["e", "next event", () => page.nextEvent(1)],
		["← →", "move the time range (time line in focus)", null],
		["← → ↑ ↓, Enter", "go from part to part of a picture, and choose one (plan, rings, lanes, stacks in focus)", null],
		["+ −", "narrow or widen the time range, zoom a plan (the picture in focus)", null],
		["t", "light or dark", () => page.switchTheme()],
		["Tab, Enter", "next control or row; choose it (Shift+Enter: beside the others)", null],
		["?", "this list", () => help.showModal()],
	];
	const help = h("dialog", { class: "help", "aria-labelledby": "help-title" },
		h("h2", { id: "help-title" }, "Keyboard"),
		h("dl", {},
			list.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])
		),
		h("p", {},
			"Click an operator, row or box: only that. Shift+click: that, beside the others. Drag over a time line: that range."
		),
		h("form", { method: "dialog" }, h("button", {}, "Close"))
	);
	addEventListener("keydown", e => {
		if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "z") {
			e.preventDefault();
			return e.shiftKey ? state.redo() : state.undo();
		}
		if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.key !== "Escape") return;
		if (/^[0-9]$/.test(e.key) && views[(Number(e.key) || 10) - 1]) return state.show(views[(Number(e.key) || 10) - 1].id);
		const found = list.find(([key, , fn]) => fn && (key === e.key || key === "Esc" && e.key === "Escape"));
		if (found && !(document.querySelector("dialog[open]") && e.key !== "?")) {
			e.preventDefault();
			found[2]();
		}
	});
	return help;
}
