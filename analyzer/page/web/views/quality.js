// SPDX-License-Identifier: MIT
// The view of how far the figures can be trusted has attribution, losses, events and the machine.
import { h, name } from "../dom.js";
import { count, duration, percent } from "../format.js";
import { tablebox } from "../tablebox.js";

let page, tables = [], methodBox, reasonBox, data = {};

// Returns a status of wait(2) as text, which is empty for an attached process, since its status is not known.
function exitText(status) {
	if (status === 0xffffffff) return "";
	return status & 0x7f ? `killed by signal ${status & 0x7f}` : String(status >> 8 & 0xff);
}

const card = (title, ...children) => h("section", { class: "card half" }, h("header", {}, h("h2", {}, title)), ...children);
const facts = list =>
	h("table", { class: "facts" },
		h("tbody", {},
			list
				.filter(([, v]) => v !== null && v !== "")
				.map(([k, v]) =>
					h("tr", {}, h("th", { scope: "row" }, k), h("td", {}, typeof v === "string" ? name(v, 300) : v))
				)
		)
	);

function attribution(id, list, click) {
	const { state, dimensions } = page, sums = state.sums(id, null, [id]), all = sums.totalMeasure || 1, dimension = dimensions.get(id);
	const rows = sums
		.order()
		.map(k => ({
			value: dimension.values[k],
			share: sums.measure(k) / all,
			samples: sums.samples(k),
			name: list[dimension.values[k]][0] || "(attributed)",
			sentence: list[dimension.values[k]][1]
		}))
		.filter(r => id !== "reason" || r.value);
	return {
		rows,
		el: tablebox({
			name: id,
			rows,
			tools: true,
			sort: "share",
			click,
			chosen: r => state.filters[id]?.values.includes(r.value),
			columns: [
				{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
				{ key: "samples", title: "samples", type: "count", value: r => r.samples },
				{ key: "name", title: id, type: "text", value: r => r.name },
				{ key: "sentence", title: "meaning", type: "text", value: r => r.sentence }
			]
		}).el
	};
}

function events() {
	const { facts: f, state } = page, sums = state.sums("event", null, ["event"]);
	return tablebox({
		name: "events",
		rows: f.events.map((e, i) => ({ ...e, i, samples: sums.samples(i), weight: sums.weight(i) })),
		tools: true,
		columns: [
			{ key: "name", title: "event", type: "text", value: e => e.name },
			{ key: "samples", title: "samples", type: "count", value: e => e.samples },
			{ key: "weight", title: "sum", type: "short", value: e => e.weight },
			{ key: "unit", title: "unit", type: "text", value: e => e.unit },
			{ key: "every", title: "period", type: "count", value: e => e.period || null },
			{ key: "rate", title: "rate (1/s)", type: "count", value: e => e.rate || null },
			{ key: "counted", title: "counted", type: "short", value: e => e.counted || null },
			{ key: "lost", title: "lost", type: "count", value: e => e.lost },
			{ key: "running", title: "counting", type: "share", value: e => e.running || null }
		]
	}).el;
}

export const quality = {
	id: "quality",
	title: "Quality",
	mount(el, p) {
		page = p;
		const { facts: f } = page;
		const ends = f.stack_ends.map((n, i) => ({ n, name: i ? f.reasons[i][0] : "complete" })).filter(r => r.n);
		const wall = f.end_ns > f.begin_ns ? f.end_ns - f.begin_ns : f.last_ns - f.first_ns;
		methodBox = h("div");
		reasonBox = h("div");
		const eventBox = h("div");
		tables = [
			() =>
				methodBox.replaceChildren(
					(data.methods = attribution("method", f.methods, (r, e) =>
						page.state.toggle("method", r.value, e.shiftKey)
					)).el
				),
			() =>
				reasonBox.replaceChildren(
					(data.reasons = attribution("reason", f.reasons, (r, e) =>
						page.state.toggle("reason", r.value, e.shiftKey)
					)).el
				),
			() => eventBox.replaceChildren(events())
		];
		el.append(
			card("Attribution methods", methodBox),
			card("Reasons of unattributed samples", reasonBox),
			h("section", { class: "card" }, h("header", {}, h("h2", {}, "Events")), eventBox),
			card(
				"Losses and warnings",
				f.warnings.length
					? h("ul", {},
							f.warnings.map(w =>
								h("li", {}, name(w.sentence, 500), w.count ? ` (${count(w.count)})` : "")
							)
						)
					: h("p", { class: "note" }, "The recorder lost nothing and warned of nothing."),
				f.complete
					? null
					: h("p", { class: "note" },
							"The recording has no end: its recorder was ended, or the file was cut off."
						)
			),
			card(
				"Machine and recording",
				facts([
					["command", f.command],
					["host", f.host],
					["kernel", f.kernel],
					["processors", String(f.cpus)],
					[
						"recorded",
						f.real_ms ? new Date(f.real_ms).toISOString().replace("T", " ").slice(0, 19) + " UTC" : ""
					],
					["duration", duration(wall)],
					["exit status", exitText(f.exit_status)],
					["trace", f.trace],
					["written by", `tailor ${f.version}`]
				])
			),
			card(
				"Overhead of recording",
				facts([
					["recorder's processor time", duration(f.recorder_cpu_ns)],
					["… of the recording's duration", percent(f.recorder_cpu_ns / wall)],
					["samples written", count(f.samples)],
					["per sample", f.samples ? duration(f.recorder_cpu_ns / f.samples) : "–"]
				]),
				h("p", { class: "note" }, "What sampling costs the program itself is measured by tailor overhead.")
			),
			card(
				"Generated code and call stacks",
				facts([
					["samples in generated code", count(f.jit.samples)],
					["… with a name", f.jit.samples ? percent(f.jit.named / f.jit.samples) : "–"],
					["… with a line", f.jit.samples ? percent(f.jit.lines / f.jit.samples) : "–"],
					...ends.map(r => [`stacks: ${r.name}`, count(r.n)])
				])
			)
		);
	},
	draw() {
		for (const t of tables) t();
	},
	drawn: () => ({
		methods: data.methods.rows.map(({ name: n, samples }) => ({ name: n, samples })),
		reasons: data.reasons.rows.map(({ name: n, samples }) => ({ name: n, samples }))
	})
};
