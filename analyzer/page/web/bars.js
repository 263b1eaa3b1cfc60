// SPDX-License-Identifier: MIT
// This module shows a table of sums by any dimension with bars, the largest first.  A click on a row is a filter.
import { h } from "./dom.js";
import { tablebox } from "./tablebox.js";
import { interval, percent } from "./format.js";
import { Totals } from "./totals.js";
import { countColumns, countedAs } from "./counts.js";

const TRUNCATED_WORTH = 0.02; // share of truncated stacks that headings mention, as in the report

export function bars(page, { title = "Cost by", option = "by", first, ids } = {}) {
	const { state, dimensions, colours, facts } = page;
	const choices = (
		ids ?? [
			...facts.levels.map((_, i) => `level:${i}`),
			"function",
			"line",
			"image",
			"program",
			"command",
			"thread",
			"process",
			"mode",
			"method",
			"reason"
		]
	).filter(id => dimensions.get(id));
	const select = h("select", { "aria-label": "Sum by", onchange: () => state.option(option, select.value) },
		choices.map(id => h("option", { value: id }, dimensions.get(id).title)));
	select.hidden = choices.length < 2;
	const totals = new Totals(page);
	const button = h("button", { class: "small", title: "Samples with it anywhere on their call stack", onclick: () => {
		totals.load();
		state.option("total", wanted() === "1" ? "0" : "1");
	} }, "With callees");
	const box = h("div"), note = h("p", { class: "note", hidden: true });
	const el = h("section", { class: "card" },
		h("header", {}, h("h2", {}, title), select, button, h("span", { class: "spring" })),
		note,
		box
	);
	let rows = [], shown;

	const chosen = () => choices.includes(state.option(option)) ? state.option(option) : first ?? dimensions.main;
	function list() {
		const id = chosen(), dimension = dimensions.get(id), sums = state.sums(id, null, [id]), all = sums.totalMeasure || 1;
		const total = withTotals(id) ? totals.of(id, [id]) : null, of = v => total?.get(v);
		// A value whose callees alone have samples has a row as well.
		const others = total ? [...total.keys()].filter(v => !(sums.samples(dimension.at.get(v) ?? -1) > 0)) : [];
		return [
			...sums.order().map(k => {
				const share = sums.measure(k) / all;
				const [low, high] = interval(share, sums.evidence(k));
				return {
					value: dimension.values[k],
					name: dimension.label(dimension.values[k]),
					share,
					samples: sums.samples(k),
					weight: sums.weight(k),
					half: (high - low) / 2,
					total: total
						? (of(dimension.values[k])?.[sums.total[1] > 0 ? "weight" : "samples"] ?? 0) / all
						: null,
					total_samples: of(dimension.values[k])?.samples ?? null
				};
			}),
			...others.map(v => ({
				value: v,
				name: dimension.label(v),
				share: 0,
				samples: 0,
				weight: 0,
				half: null,
				total: of(v)[sums.total[1] > 0 ? "weight" : "samples"] / all,
				total_samples: of(v).samples
			}))
		];
	}
	// Functions of a language call each other, so their totals are shown at first, as in the report.
	const wanted = () => state.option("total") ?? (chosen() === `level:${facts.lead_level}` && facts.plan_level < 0 ? "1" : "0");
	const withTotals = id => totals.possible(id) && wanted() === "1";
	function draw() {
		const id = chosen();
		button.hidden = !totals.possible(id);
		button.setAttribute("aria-pressed", String(withTotals(id)));
		if (withTotals(id)) totals.load();
		select.value = id;
		rows = list();
		const truncated = withTotals(id) ? totals.truncated([id]) : 0;
		note.hidden = !(truncated > TRUNCATED_WORTH);
		note.textContent = note.hidden ? "" : `${percent(truncated)} of the stacks truncated`;
		shown = {
			name: `cost-by-${dimensions.get(id).title}`,
			tools: true,
			rows,
			most: 60,
			sort: rows.some(r => r.total) ? "total" : "share",
			chosen: row => state.filters[id]?.values.includes(row.value),
			click: (row, e) => state.toggle(id, row.value, e.shiftKey),
			columns: [
				...(rows.some(r => r.total !== null && r.total !== undefined)
					? [{ key: "total", title: "total", type: "share", value: r => r.total, bar: true }]
					: []),
				{
					key: "share", title: rows.some(r => r.total) ? "self" : "share",
					type: "share", value: r => r.share, bar: true
				},
				{ key: "half", title: "± 95 %", type: "share", value: r => r.half },
				{ key: "samples", title: "samples", type: "count", value: r => r.samples },
				...countColumns(
					page,
					r => countedAs(page, id, r.value),
					r => r.weight,
					{ calls: true }
				).filter(c => rows.some(r => ![null, ""].includes(c.value(r)))),
				{
					key: "name", title: dimensions.get(id).title, type: "text",
					value: r => r.name, colour: r => colours.of(id, r.value)
				}
			]
		};
		box.replaceChildren(tablebox(shown).el);
	}
	return { el, draw, table: () => shown, drawn: () => rows.map(({ name, share, samples }) => ({ name, share, samples })) };
}
