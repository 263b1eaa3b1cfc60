// SPDX-License-Identifier: MIT
// This module makes a table that sorts by any column, colours by one, and can be saved.
import { h, name as nameOf } from "./dom.js";
import { count, percent, duration, short, bytes } from "./format.js";
import { heat } from "./colours.js";
import { save, csv } from "./files.js";
import { formula, offered } from "./formula.js";
import { fitTexts } from "./fitting.js";

const FORMATS = {
	share: v => percent(v),
	points: v => percent(v, 2).replace("-", "−"),
	count,
	duration,
	short,
	bytes,
	number: v => (Number.isFinite(v) ? String(+v.toPrecision(4)) : "–")
};
const FIRST_ROWS = 100, NARROW = 700;

/*
 * A table's spec has:
 *   columns: [{key, title, type: "text" | "share" | "points" | "count" | "duration" | "short" | "bytes" | "number", value(row), bar?: true,
 *   colour?(row), narrow?: true (a text that is short)}]
 *   name, of its file and of what is kept of it, most (rows at first), tools (whether it has formulas and CSV)
 *   rows, of any kind, click(row, event), which choosing a row calls, and chosen(row)
 *   sort, the key of the column that it is sorted by at first, the largest first
 *   formulas, [[formula, meaning]] that it offers before the usual ones, and changed(), which another formula calls
 */
const kept = new Map(); // how tables were sorted and coloured, and their formulas, by name

// A table's formula as a function of its rows, or null if it has none, or none of these columns.
export function formulaOf(name, columns) {
	const text = kept.get(name)?.formula;
	try {
		return text ? formula(text, columns) : null;
	} catch {
		return null;
	}
}

export function tablebox({
	name,
	columns: given,
	rows,
	click,
	sort,
	chosen,
	most = FIRST_ROWS,
	tools = false,
	changed = null,
	formulas = []
}) {
	const was = kept.get(name) ?? { down: true };
	const columns = [...given];
	kept.set(name, was);
	try {
		if (was.formula) addFormula(was.formula);
	} catch {
		was.formula = ""; // The table has other columns now.
	}
	const find = key => columns.find(c => c.key === key);
	let by = find(was.by ?? sort) ?? null;
	let down = was.down;
	let shownRows = most;
	let coloured = find(was.coloured) ?? null;
	const body = h("tbody");
	const head = h("tr");
	const more = h("button", { class: "small", onclick: () => ((shownRows = Infinity), fill()) });
	const problem = h("span", { class: "hint", role: "status" });
	const offers = tools ? offered(given, formulas) : [];
	const menu = h(
		"select",
		{
			class: "formula",
			hidden: !was.formula || !offers.length,
			"aria-label": "Formulas to choose from",
			onchange: () => {
				input.value = menu.value;
				input.dispatchEvent(new Event("change"));
				menu.value = "";
			}
		},
		h("option", { value: "" }, "formulas"),
		offers.map(([text, meaning]) => h("option", { value: text }, `${text}: ${meaning}`))
	);
	const input = h("input", {
		class: "formula",
		hidden: !was.formula,
		value: was.formula ?? "",
		placeholder: "samples / share",
		"aria-label": "Formula of a new column, of other columns' names",
		onchange: () => {
			while (columns.length > given.length) columns.pop();
			was.formula = input.value.trim();
			problem.textContent = "";
			try {
				if (was.formula) addFormula(was.formula);
				if (was.formula) ((by = coloured = columns[columns.length - 1]), (down = true));
			} catch (error) {
				was.formula = "";
				problem.textContent = error.message;
			}
			if (!columns.includes(by)) by = find(sort) ?? null;
			if (!columns.includes(coloured)) coloured = null;
			fill();
			changed?.();
		}
	});

	const el = h("div", { class: "tablebox" },
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, h("table", {}, h("thead", {}, head), body)),
		h("footer", {},
			more,
			tools
				? [
						h("button", {
							class: "small",
							title: "A column by a formula of others: samples / share",
							onclick: () => {
								input.hidden = !input.hidden;
								menu.hidden = input.hidden || !offers.length;
								if (!input.hidden) input.focus();
							}
						}, "Formula"),
						input,
						menu,
						problem
					]
				: null,
			tools
				? h("button", {
						class: "small",
						title: "Save this table as CSV",
						onclick: () => save(`${name}.csv`, "text/csv", csv({ columns, rows: sorted() }))
					}, "CSV")
				: null
		)
	);

	function addFormula(text) {
		columns.push({ key: "formula", title: text, type: "number", value: formula(text, given) });
	}
	// On narrow screens a row's name or last text comes first, and the other columns scroll beside it.
	const inOrder = () => {
		const main = find("name") ?? columns.findLast(c => c.type === "text" && !c.narrow);
		const numbers = columns.filter(c => c.key !== "formula");
		const added = find("formula");
		if (added)
			numbers.splice(Math.max(1, numbers.findIndex(c => c.type === "text")), 0, added);
		return innerWidth < NARROW && main ? [main, ...numbers.filter(c => c !== main)] : numbers;
	};
	function sorted() {
		if (!by) return rows;
		const sign = down ? -1 : 1;
		const get = by.value;
		return [...rows].sort((x, y) => {
			const a = get(x);
			const b = get(y);
			if (typeof a === "string" || typeof b === "string") return -sign * String(a).localeCompare(String(b));
			return sign * ((Number.isFinite(a) ? a : -Infinity) - (Number.isFinite(b) ? b : -Infinity));
		});
	}
	function heading(c) {
		const order = by === c ? (down ? "descending" : "ascending") : "none";
		return h("th", { class: c.type === "text" ? null : "n", "aria-sort": order, scope: "col" },
			h(
				"button",
				{
					title: "Sort by this column; shift: colour by it",
					onclick: e => {
						if (e.shiftKey && c.type !== "text") coloured = coloured === c ? null : c;
						else {
							down = by === c ? !down : c.type !== "text" || true;
							by = c;
						}
						fill();
					}
				},
				c.title,
				h("span", { class: "arrow", "aria-hidden": "true" }, by === c ? (down ? " ▾" : " ▴") : "")
			)
		);
	}
	function cell(c, row, top) {
		const value = c.value(row);
		if (c.type === "text") {
			const text = h("td", { class: c.narrow ? "s" : "t" },
				c.colour ? h("i", { class: "dot", style: { background: c.colour(row) } }) : null,
				c.prefix ? h("span", { class: "branch", "aria-hidden": "true" }, c.prefix(row)) : null,
				nameOf(value, 160)
			);
			return text;
		}
		const td = h("td", { class: "n" }, value === null || value === undefined ? "" : FORMATS[c.type](value));
		if (c.bar && value > 0) {
			const bar = h("span", { class: "bar" });
			bar.style.width = `${Math.min(100, (100 * value) / (top || 1))}%`;
			td.append(bar);
		}
		if (c === coloured && value > 0) td.style.background = heat(value / (top || 1));
		return td;
	}
	function fill() {
		Object.assign(was, {
			by: by?.key === sort ? undefined : by?.key, // A table without a choice may get another order of its own.
			down,
			coloured: coloured?.key
		});
		const list = sorted();
		const top = new Map(
			columns
				.filter(c => c.bar || c === coloured)
				.map(c => [c, Math.max(0, ...list.slice(0, 5000).map(r => +c.value(r) || 0))])
		);
		head.replaceChildren(...inOrder().map(heading));
		body.replaceChildren(
			...list.slice(0, shownRows).map(row => {
				const tr = h("tr", {
					class: [click ? "choose" : "", chosen?.(row) ? "chosen" : ""].join(" ").trim() || null,
					tabindex: click ? 0 : null,
					"aria-selected": click && chosen ? String(Boolean(chosen(row))) : null
				}, inOrder().map(c => cell(c, row, top.get(c))));
				if (click) {
					tr.addEventListener("click", e => click(row, e));
					tr.addEventListener(
						"keydown",
						e => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), click(row, e))
					);
				}
				return tr;
			})
		);
		if (!list.length)
			body.append(h("tr", {}, h("td", { colSpan: columns.length, class: "empty" }, "No samples pass the filters.")));
		fitTexts(body, "td.t > bdi");
		more.hidden = list.length <= shownRows;
		more.textContent = `Show all ${count(list.length)} rows`;
	}
	fill();
	el.table = { name, columns, rows }; // Tests read it.
	return { el, fill };
}
