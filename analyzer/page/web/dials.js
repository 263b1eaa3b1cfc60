// SPDX-License-Identifier: MIT
// The calls that counts leave open have a dial each, by which the reader assumes how often they were made.
import { h, name, shown } from "./dom.js";
import { assume } from "./flow.js";
import { callText } from "./counts.js";
import { count } from "./format.js";

const DIALS = 12;

// The calls that the counts leave open, or that the reader has assumed, with those of the chosen procedure first.
function openCalls(counts, i) {
	const near = c => (c.caller === i || c.callee === i ? 1 : 0);
	return counts.calls.filter(c => c.state === "estimated" || counts.assumed.has(c.call))
		.sort((a, b) => near(b) - near(a) || (b.count ?? 0) - (a.count ?? 0)).slice(0, DIALS);
}

function dial(page, counts, c) {
	const { flow } = page.data[0];
	const others = new Map([...counts.assumed].filter(([call]) => call !== c.call));
	const most = flow.solve(others).calls[c.call].most;
	const label = callText(page, counts, c);
	const set = v => assume(page.state, c.call, Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(v)))));
	const range =
		most === null
			? null
			: h("input", {
					type: "range",
					min: "0",
					max: String(Math.max(1, most, c.count ?? 0)),
					step: "1",
					"aria-label": `Assume calls: ${shown(label)}`,
					oninput: () => set(range.value)
				});
	const number = h("input", {
		type: "number",
		min: "0",
		step: "1",
		class: "assumed",
		"aria-label": `Assumed calls: ${shown(label)}`,
		onchange: () => number.value !== "" && set(number.value),
		onkeydown: e => e.key === "Enter" && number.value !== "" && set(number.value)
	});
	if (range) range.value = String(c.count ?? 0);
	number.value = String(c.count ?? "");
	return h("div", { class: "dial" },
		h("span", { class: "dial-name" }, name(label, 80)),
		range,
		number,
		h("span", { class: "note" }, `${c.state}${most === null ? "" : `, at most ${count(most)}`}`),
		counts.assumed.has(c.call)
			? h("button", {
					class: "small",
					title: "Assume nothing of this call",
					onclick: () => assume(page.state, c.call, null)
				}, "Reset")
			: null
	);
}

// Makes a card of dials.  draw(counts, procedure) draws it anew, with the calls of the procedure first.
export function dialCard(page) {
	const box = h("div"), el = h("section", { class: "card" },
		h("header", {}, h("h2", {}, "What the counts leave open")),
		h("p", { class: "note" },
			"Several counts are possible for these calls. What you know better is assumed, and all counts and times follow."
		),
		box
	);
	function draw(counts, procedure) {
		const list = openCalls(counts, procedure), focus = document.activeElement?.getAttribute?.("aria-label");
		el.hidden = !list.length;
		box.replaceChildren(...list.map(c => dial(page, counts, c)));
		// A dial that is being turned keeps the focus.
		const turned = [...box.querySelectorAll("input")].find(x => focus && x.getAttribute("aria-label") === focus);
		turned?.focus({ preventScroll: true });
		const said = [...counts.assumed]
			.filter(([c]) => counts.calls[c])
			.map(([c, n]) => `--assume '${callText(page, counts, counts.calls[c]).replace(" → ", "->")}=${n}'`);
		if (said.length)
			box.append(h("p", { class: "note" }, "The same in a terminal: ", h("code", {}, shown(said.join(" "), 2000))));
	}
	return { el, draw };
}
