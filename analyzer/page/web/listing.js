// SPDX-License-Identifier: MIT
// This module lists lines of text with a share each.  Only the rows on the screen are elements, whatever the text's length.
import { h, shown } from "./dom.js";
import { percent } from "./format.js";
import { heat } from "./colours.js";
import { tooltip } from "./chart.js";

const ROW = 19, AROUND = 20, MOST_EMPTY = 4; // A listing is as high as its rows, but at least this many.

/*
 * set(spec) shows a text.  spec has:
 *   nr (rows), runs (whether rows have theirs)
 *   row(i), which returns {number, text, arrows?, share, part (of the hottest row, for its colour), tag? (a colour), title?,
 *   owners? (texts), note?, runs (a text of how often it ran)}
 *   choose(i, event), hover(i or -1), and tip?(i), which returns lines of a tooltip
 * Rows that are pointed at are marked.
 */
export function listing(label) {
	const all = h("div", { class: "all" }), el = h("div", { class: "listing", tabindex: 0, role: "listbox", "aria-label": label }, all);
	let spec = { nr: 0 }, pick = -1, marks = new Set(), rows = [];

	function draw() {
		const first = Math.max(0, Math.floor(el.scrollTop / ROW) - AROUND);
		const last = Math.min(spec.nr, first + Math.ceil((el.clientHeight || 600) / ROW) + 2 * AROUND);
		all.style.height = `${spec.nr * ROW}px`;
		rows = [];
		for (let i = first; i < last; i++) rows.push(make(i));
		all.replaceChildren(...rows);
	}
	function make(i) {
		const r = spec.row(i);
		const share = h("span", { class: "share" }, r.share > 0 ? r.share < 0.0005 ? "<0.1 %" : percent(r.share) : "");
		if (r.part > 0) share.style.background = heat(r.part);
		const tag = h("span", { class: "tag" });
		if (r.tag) tag.style.background = r.tag;
		const el = h(
			"div",
			{
				class: "row" + (marks.has(i) ? " mark" : "") + (i === pick ? " pick" : ""),
				role: "option",
				"aria-selected": String(i === pick),
				"data-i": String(i),
				title: r.title
			},
			share,
			tag,
			spec.runs ? h("span", { class: "runs" }, r.runs) : null,
			r.owners ? r.owners.map(text => h("span", { class: "owner" }, shown(text, 17))) : null,
			h("span", { class: "number" }, r.number),
			r.arrows ? h("span", { class: "arrows", "aria-hidden": "true" }, r.arrows) : null,
			h("span", {}, shown(r.text, 400)),
			r.note ? h("span", { class: "blocknote" }, r.note) : null
		);
		el.style.top = `${i * ROW}px`;
		return el;
	}
	const of = e => Number(e.target.closest?.(".row")?.dataset.i ?? -1);
	function move(to, e) {
		pick = Math.max(0, Math.min(spec.nr - 1, to));
		see(pick);
		spec.hover?.(pick, e);
		const box = rows.find(r => Number(r.dataset.i) === pick)?.getBoundingClientRect();
		if (box) about(pick, { clientX: Math.max(0, box.left) + 180, clientY: box.bottom - 8 });
	}
	const about = (i, e) => tooltip(i < 0 ? null : spec.tip?.(i) ?? null, e);
	function see(i) {
		if (i * ROW < el.scrollTop || (i + 1) * ROW > el.scrollTop + el.clientHeight)
			el.scrollTop = Math.max(0, i * ROW - el.clientHeight / 2);
		draw();
	}
	el.addEventListener("scroll", () => draw(), { passive: true });
	el.addEventListener("click", e => { const i = of(e); if (i >= 0) { pick = i; spec.choose?.(i, e); draw(); } });
	el.addEventListener("pointerover", e => { if (of(e) >= 0) spec.hover?.(of(e)), about(of(e), e); });
	el.addEventListener("pointerleave", () => { spec.hover?.(-1); about(-1); });
	el.addEventListener("blur", () => about(-1));
	el.addEventListener("keydown", e => {
		const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
		if (by) move(pick + by, e);
		else if (e.key === "Home") move(0, e);
		else if (e.key === "End") move(spec.nr - 1, e);
		else if ((e.key === "Enter" || e.key === " ") && pick >= 0) spec.choose?.(pick, e);
		else return;
		e.preventDefault();
	});
	return { el, draw, see, set(next, keep, at = 0) {
			spec = next;
			el.style.setProperty("--rows", String(Math.max(MOST_EMPTY, spec.nr)));
			draw();
			if (keep) return;
			pick = -1;
			el.scrollTop = Math.max(0, at - 6) * ROW;
			draw();
		 },
		 mark(set) {
			marks = set;
			for (const r of rows) r.classList.toggle("mark", marks.has(Number(r.dataset.i)));
		 } };
}
