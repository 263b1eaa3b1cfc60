// SPDX-License-Identifier: MIT
// The view of predictions shows what bounds the run, what would help, and where the threads' time went.  Predictions and vectors are
// those of `tailor whatif`, `--view resources` and `--view critical`, of the whole trace.
import { h, name, shown } from "../dom.js";
import { chart, fit } from "../chart.js";
import { drawLegend } from "../activity.js";
import { criticalTables } from "../criticalpath.js";
import { NONE_DARK, NONE_LIGHT, dark, paletteAt } from "../colours.js";
import { duration, percent, ticks } from "../format.js";

const ROW = 22, AXIS = 26, NOW = 16, LEFT = 230, LEGEND = 22, MOST_ROWS = 40, SWEEP = 220, MARGIN = 64;
const RESOURCES = [
	["core", "processor"], ["kernel", "kernel"], ["fault", "page faults"], ["run_queue", "run queue"],
	["throttled", "throttled"], ["lock", "lock"], ["disk_read", "disk read"], ["disk_write", "disk write"],
	["network", "network"], ["sleep", "sleep"], ["child", "child"], ["sibling", "other threads"],
	["unknown", "unknown"]
];
const parts = RESOURCES.map(([key, label], i) => ({
	key: `${key}_ns`, label, colour: () => (key === "unknown" ? (dark() ? NONE_DARK : NONE_LIGHT) : paletteAt(i))
}));

let page, facts, helps, sweep, vectors, path, by, said, about;

const rowsOf = (part, table) => facts[part]?.tables?.[table] ?? [];
const notes = part => facts[part]?.notes ?? [];
const left = width => Math.min(LEFT, width / 3);

// ---------------------------------------------------------------------------------------------------------- what would help

const now = () => facts.verdict.measured_ns;
const predictions = () => rowsOf("verdict", "predictions").slice(0, MOST_ROWS);
const farthest = () => Math.max(now(), ...predictions().map(r => r.high_ns)) * 1.03;

function drawAxis(pen, { x, y, width, top, most }) {
	const axis = ticks(0, most, width / 90);
	for (const t of axis.at) {
		const at = x + t / most * width;
		pen.line(at, top, at, y, pen.theme.line);
		pen.text(at, y + 12, t ? duration(t) : "0", { size: 11, fill: pen.theme.quiet, align: "center" });
	}
}

function drawHelps(pen, width, height) {
	const x = left(width), wide = width - x - 12, most = farthest(), at = ns => x + ns / most * wide;
	drawAxis(pen, { x, y: height - AXIS, width: wide, top: NOW, most });
	predictions().forEach((r, i) => {
		const y = NOW + i * ROW + ROW / 2;
		pen.text(x - 8, y, shown(r.if, 120), { align: "right", most: x - 12 });
		pen.line(at(r.low_ns), y, at(r.high_ns), y, pen.theme.accent, 2);
		for (const end of [r.low_ns, r.high_ns]) pen.line(at(end), y - 4, at(end), y + 4, pen.theme.accent, 1.5);
		pen.path(`M${at(r.completion_ns) - 5},${y}a5,5 0 1,0 10,0a5,5 0 1,0 -10,0`, {
			fill: pen.theme.accent, stroke: pen.theme.card
		});
	});
	pen.line(at(now()), NOW, at(now()), height - AXIS, pen.theme.hot, 1.5, [5, 3]);
	pen.text(at(now()), NOW / 2, `recorded: ${duration(now())}`, { size: 11, align: at(now()) > width - 70 ? "right" : "center" });
}

const interval = r => `${duration(r.low_ns)} to ${duration(r.high_ns)}`;
const tipHelps = (x, y) => {
	const r = predictions()[Math.floor((y - NOW) / ROW)];
	return (
		r && [
			r.if,
			`${duration(r.completion_ns)}, ${percent(r.change)} of ${duration(now())}`,
			`95 %: ${interval(r)}`,
			`then bound by ${r.then_bound_by}`
		]
	);
};

const helpColumns = [
	{ key: "completion_ns", title: "completion", type: "duration", value: r => r.completion_ns },
	{ key: "change", title: "change", type: "points", value: r => r.change },
	{ key: "low_ns", title: "at least", type: "duration", value: r => r.low_ns },
	{ key: "high_ns", title: "at most", type: "duration", value: r => r.high_ns },
	{ key: "then_bound_by", title: "then bound by", type: "text", narrow: true, value: r => r.then_bound_by },
	{ key: "if", title: "if", type: "text", value: r => r.if }
];

// --------------------------------------------------------------------------------------------------------------- processors

const steps = () => rowsOf("verdict", "sweep");
const sweepPlace = (width, height) => {
	const rows = steps(), most = Math.max(...rows.map(r => r.high_ns)) * 1.05, wide = width - MARGIN - 16, low = height - AXIS;
	return { most, low, x: i => MARGIN + (rows.length > 1 ? i / (rows.length - 1) : 0) * wide, y: ns => low - ns / most * (low - 8) };
};

function drawSweep(pen, width, height) {
	const rows = steps(), { most, low, x, y } = sweepPlace(width, height);
	const line = get => rows.map((r, i) => `${i ? "L" : "M"}${x(i)},${y(get(r))}`).join("");
	for (const t of ticks(0, most, 4).at) {
		pen.line(MARGIN, y(t), width - 16, y(t), pen.theme.line);
		pen.text(MARGIN - 6, y(t), duration(t), { size: 11, align: "right", fill: pen.theme.quiet });
	}
	pen.path(
		`${line(r => r.high_ns)}${rows
			.map((r, i) => [i, r])
			.reverse()
			.map(([i, r]) => `L${x(i)},${y(r.low_ns)}`)
			.join("")}Z`,
		{ fill: pen.theme.accent, opacity: 0.18 }
	);
	for (const bound of ["graham_low_ns", "graham_high_ns"])
		rows.forEach(
			(r, i) =>
				i &&
				pen.line(
					x(i - 1), y(Math.min(most, rows[i - 1][bound])), x(i),
					y(Math.min(most, r[bound])), pen.theme.quiet, 1, [3, 4]
				)
		);
	pen.path(line(r => r.completion_ns), { stroke: pen.theme.accent, width: 2 });
	let free = -Infinity;
	rows.forEach((r, i) => {
		const open = r.verifiable === "beyond";
		pen.path(`M${x(i) - 4},${y(r.completion_ns)}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0`, {
			fill: open ? pen.theme.card : pen.theme.accent, stroke: pen.theme.accent
		});
		if (x(i) < free) return;
		pen.text(x(i), low + 12, String(r.cores), { size: 11, align: "center", fill: pen.theme.quiet });
		free = x(i) + 26;
	});
}

const nearest = x => {
	const rows = steps(), place = sweepPlace(sweep.canvas.clientWidth, SWEEP);
	return rows[rows.reduce((best, _, i) => (Math.abs(place.x(i) - x) < Math.abs(place.x(best) - x) ? i : best), 0)];
};
const processors = r => `${r.cores} processor${r.cores > 1 ? "s" : ""}${r.verifiable === "beyond" ? ", more than were there" : ""}`;
const tipSweep = x => {
	const r = nearest(x);
	return (
		r && [
			processors(r),
			duration(r.completion_ns),
			`95 %: ${interval(r)}`,
			`Graham's bounds: ${duration(r.graham_low_ns)} to ${duration(r.graham_high_ns)}`
		]
	);
};
const sweepColumns = [
	{ key: "cores", title: "processors", type: "count", value: r => r.cores },
	...helpColumns.filter(c => /_ns$/.test(c.key)),
	{ key: "efficiency", title: "efficiency", type: "share", value: r => r.efficiency },
	{ key: "graham_low_ns", title: "Graham from", type: "duration", value: r => r.graham_low_ns },
	{ key: "graham_high_ns", title: "to", type: "duration", value: r => r.graham_high_ns }
];

// ------------------------------------------------------------------------------------------------------------------ vectors

const groups = () => Object.keys(facts.resources.tables ?? {}).filter(t => rowsOf("resources", t).length);
const group = () => (groups().includes(page.state.option("resourcesBy")) ? page.state.option("resourcesBy") : groups()[0]);
const threads = () => rowsOf("resources", group()).slice(0, MOST_ROWS);
const used = rows => parts.filter(part => rows.some(r => r[part.key] > 0));

// Draws a bar of parts for each row of `--view resources`, as long as the row's time.
function drawVectors(pen, width, height) {
	const rows = threads(), x = left(width), wide = width - x - 12, most = Math.max(1, ...rows.map(r => r.wall_ns));
	drawLegend(pen, used(rows), { x: 0, y: LEGEND / 2, width });
	drawAxis(pen, { x, y: height - AXIS, width: wide, top: LEGEND, most });
	rows.forEach((r, i) => {
		let at = x;
		pen.text(x - 8, LEGEND + i * ROW + ROW / 2, fit(pen, shown(r.name, 80), x - 12), { align: "right" });
		for (const part of parts) {
			const w = (r[part.key] ?? 0) / most * wide;
			if (w > 0) pen.rect(at, LEGEND + i * ROW + 3, w, ROW - 6, part.colour());
			at += w;
		}
	});
}
const tipVectors = (x, y) => {
	const r = threads()[Math.floor((y - LEGEND) / ROW)];
	return r && [r.name, `${duration(r.wall_ns)} together`, ...parts.filter(part => r[part.key] > 0).sort((a, b) => r[b.key] - r[a.key])
		.map(part => `${percent(r[part.key] / r.wall_ns)}  ${part.label}: ${duration(r[part.key])}`)];
};
const vectorColumns = rows => [
	{ key: "wall_ns", title: "all", type: "duration", value: r => r.wall_ns },
	...used(rows).map(part => ({ key: part.key, title: part.label, type: "duration", value: r => r[part.key] })),
	{ key: "name", title: group(), type: "text", value: r => r.name }
];

const list = sentences => h("ul", {}, sentences.map(s => h("li", {}, name(s, 600))));

export const whatif = {
	id: "whatif",
	title: "What if",
	when: p => Boolean(p.facts.whatif),
	mount(el, p) {
		page = p;
		facts = p.facts.whatif;
		about = h("p", { class: "note" },
			"Of the whole trace: the page's filters do not change it. ",
			h("code", {}, "tailor whatif --help"),
			" has other changes and combinations."
		);
		by = h("select", { "aria-label": "Resources by", onchange: () => page.state.option("resourcesBy", by.value) },
			groups().map(g => h("option", { value: g }, shown(g, 40)))
		);
		helps = predictions().length
			? chart({
					title: "What would help, each alone",
					name: "what-would-help",
					height: () => NOW + predictions().length * ROW + AXIS,
					draw: drawHelps,
					tip: tipHelps,
					ordered: true,
					spots: () =>
						predictions().map((_, i) => ({
							x: 0, y: NOW + i * ROW, w: helps.canvas.clientWidth - 2, h: ROW
						})),
					table: () => ({ columns: helpColumns, rows: rowsOf("verdict", "predictions") })
				})
			: null;
		sweep =
			steps().length > 1
				? chart({
						title: "Processors",
						name: "processors",
						height: SWEEP,
						draw: drawSweep,
						tip: tipSweep,
						ordered: true,
						spots: () =>
							steps().map((r, i) => ({
								x: sweepPlace(sweep.canvas.clientWidth, SWEEP).x(i) - 5,
								y: sweepPlace(sweep.canvas.clientWidth, SWEEP).y(r.completion_ns) - 5,
								w: 10,
								h: 10
							})),
						table: () => ({ columns: sweepColumns, rows: steps() })
					})
				: null;
		vectors = chart({
			title: "Where the threads' time went",
			name: "resources",
			controls: [h("label", {}, "by ", by)],
			height: () => LEGEND + Math.max(1, threads().length) * ROW + AXIS,
			draw: drawVectors,
			tip: tipVectors,
			ordered: true,
			spots: () => threads().map((_, i) => ({ x: 0, y: LEGEND + i * ROW, w: vectors.canvas.clientWidth - 2, h: ROW })),
			table: () => ({ columns: vectorColumns(rowsOf("resources", group())), rows: rowsOf("resources", group()) })
		});
		said = list(notes("verdict"));
		path = h("section", { class: "card" },
			h("header", {}, h("h2", {}, "Critical path")),
			notes("critical").length ? list(notes("critical")) : null,
			h("div", { class: "beside" }, criticalTables(facts.critical?.tables ?? {}))
		);
		el.append(
			h("section", { class: "card" }, h("header", {}, h("h2", {}, "What bounds the run")), said, about),
			...[helps, sweep, vectors].filter(Boolean).map(c => c.el),
			notes("resources").length
				? h("section", { class: "card" },
						h("header", {}, h("h2", {}, "What the kernel says")),
						list(notes("resources"))
					)
				: "",
			path
		);
	},
	draw() {
		by.value = group();
		for (const picture of [helps, sweep, vectors]) picture?.draw();
	},
	drawn: () => ({
		said: notes("verdict"),
		helps: rowsOf("verdict", "predictions").map(r => ({
			if: r.if, completion: r.completion_ns, low: r.low_ns, high: r.high_ns
		})),
		sweep: steps().map(r => ({ cores: r.cores, completion: r.completion_ns })),
		by: group(),
		rows: threads().map(r => ({ name: r.name, wall: r.wall_ns })),
		path: rowsOf("critical", "critical_path").map(r => ({ resource: r.resource, time: r.time_ns }))
	})
};
