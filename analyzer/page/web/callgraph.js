// SPDX-License-Identifier: MIT
// A procedure stands between the call sites that lead to it and those in it.  Boxes are procedures, ellipses are call sites, and numbers
// say how often each ran.
import { chart } from "./chart.js";
import { functionName, marked } from "./counts.js";
import { percent } from "./format.js";
import { heat } from "./colours.js";
import { shown } from "./dom.js";

const ROW = 46, NODE = 36, SITE = 66, BOX = 176, MARGIN = 8, SHOWN = 9, NARROW = 640;

const CERTAINTY = ["counted", "assumed", "solved", "estimated"];

// Returns the call sites of these calls, the most frequent site first.
export function sitesOf(calls) {
	const sites = new Map();
	for (const c of calls) {
		const id = `${c.caller} ${c.block} ${c.site}`;
		if (!sites.has(id)) sites.set(id, { id, caller: c.caller, site: c.site, block: c.block, calls: [], count: 0, state: "" });
		const s = sites.get(id);
		s.calls.push(c);
		if (c.count === null) continue;
		s.count += c.count;
		// A sum is as certain as its least certain part.
		s.state = CERTAINTY[Math.max(CERTAINTY.indexOf(s.state), CERTAINTY.indexOf(c.state))];
	}
	return [...sites.values()].sort((a, b) => b.count - a.count);
}

/*
 * now() returns {counts (a solution), procedure, times ({share, total} of functions, or null), site (its id, or null)}.
 * A click calls walk(function) or choose(site).
 */
export function callGraph(page, { now, walk, choose }) {
	let nodes = [], arcs = [], height = 100, rest = [0, 0];

	function place(w) {
		const { counts, procedure } = now(), narrow = w < NARROW, box = Math.min(BOX, w * (narrow ? 0.28 : 0.2));
		const into = counts.calls.filter(c => c.callee === procedure), sites = sitesOf(into);
		const made = sitesOf(counts.calls.filter(c => c.caller === procedure));
		const rows = made.flatMap(s => s.calls.map(c => ({ s, c })));
		const shownSites = sites.slice(0, SHOWN);
		const shownRows = rows.slice(0, SHOWN);
		const most = Math.max(1, shownSites.length, shownRows.length);
		rest = [sites.length - shownSites.length, rows.length - shownRows.length];
		height = 2 * MARGIN + most * ROW + (rest.some(Boolean) ? 16 : 0);
		const y = (i, nr) => MARGIN + (i + (most - nr) / 2) * ROW + ROW / 2;
		const middle = w / 2;
		const leftSite = (box + middle - box / 2) / 2;
		const own = { function: procedure, x: middle, y: MARGIN + most * ROW / 2, w: box, own: true };
		nodes = procedure < 0 ? [] : [own];
		arcs = [];
		if (procedure < 0) return;
		shownSites.forEach((s, i) => {
			const caller = { function: s.caller, x: box / 2, y: y(i, shownSites.length), w: box };
			const e = { site: s, x: leftSite, y: caller.y, w: SITE };
			nodes.push(caller);
			if (!narrow) {
				nodes.push(e);
				arcs.push({ from: caller, to: e });
			}
			arcs.push({ from: narrow ? caller : e, to: own, call: s.calls[0], label: narrow ? `${s.site}: ` : "" });
		});
		const placed = new Map();
		shownRows.forEach(({ s, c }, i) => {
			const callee = { function: c.callee, x: w - box / 2, y: y(i, shownRows.length), w: box };
			nodes.push(callee);
			if (narrow) return void arcs.push({ from: own, to: callee, call: c, label: `${s.site}: ` });
			if (!placed.has(s)) {
				const rowsOf = shownRows.map((r, n) => (r.s === s ? y(n, shownRows.length) : null)).filter(v => v !== null);
				const e = { site: s, x: w - leftSite, y: (rowsOf[0] + rowsOf[rowsOf.length - 1]) / 2, w: SITE };
				placed.set(s, e);
				nodes.push(e);
				arcs.push({ from: own, to: e });
			}
			arcs.push({ from: placed.get(s), to: callee, call: c, label: "" });
		});
	}

	function draw(pen, w) {
		place(w);
		const { counts, times, site } = now();
		for (const a of arcs) {
			const x1 = a.from.x + a.from.w / 2, x2 = a.to.x - a.to.w / 2, m = (x1 + x2) / 2;
			const n = a.call?.count ?? a.from.site?.count ?? a.to.site?.count ?? 0;
			pen.path(`M${x1},${a.from.y}C${m},${a.from.y} ${m},${a.to.y} ${x2},${a.to.y}`, {
				stroke: n ? pen.theme.quiet : pen.theme.line,
				width: 1 + Math.min(3, Math.log10(1 + n) / 2),
				opacity: 0.6
			});
		}
		for (const a of arcs.filter(x => x.call)) {
			// Arcs come together at one end, so their numbers stand at the other.
			const x1 = a.from.x + a.from.w / 2;
			const x2 = a.to.x - a.to.w / 2;
			const text = a.label + (marked(a.call) || "–");
			const wide = pen.width(text, 11);
			const [t, bend] = a.to.own ? [0.297, 0.156] : [0.703, 0.844];
			const x = x1 + (x2 - x1) * t;
			const y = a.from.y + (a.to.y - a.from.y) * bend; // a point of the curve, a quarter from its end
			if (wide + 8 > (x2 - x1) * 0.59) continue;
			pen.rect(x - wide / 2 - 3, y - 8, wide + 6, 16, pen.theme.card, { opacity: 0.92 });
			pen.text(x, y, text, { size: 11, align: "center" });
		}
		for (const n of nodes) {
			const x = n.x - n.w / 2, y = n.y - NODE / 2;
			if (n.site) {
				const path = `M${x},${n.y}a${n.w / 2},${NODE / 2} 0 1,0 ${n.w},0a${n.w / 2},${NODE / 2} 0 1,0 ${-n.w},0Z`;
				pen.path(path, {
					fill: pen.theme.card,
					stroke: n.site.id === site ? pen.theme.accent : pen.theme.quiet,
					width: n.site.id === site ? 2 : 1
				});
				pen.text(n.x, n.y - 7, n.site.caller < 0 ? "–" : `site ${n.site.site}`, {
					size: 10.5, align: "center", fill: pen.theme.quiet, most: n.w - 12
				});
				pen.text(n.x, n.y + 7, marked(n.site) || "–", { size: 11, align: "center", most: n.w - 10 });
				continue;
			}
			pen.rect(x, y, n.w, NODE, pen.theme.card, { stroke: n.own ? pen.theme.accent : pen.theme.line });
			if (n.function >= 0 && times) pen.rect(x, y, n.w, NODE, heat(times.total[n.function] / (times.all || 1)));
			if (n.own) pen.rect(x - 1, y - 1, n.w + 2, NODE + 2, null, { stroke: pen.theme.accent });
			const f = counts.functions[n.function];
			pen.text(
				x + 7,
				y + 12,
				shown(functionName(page, counts, n.function, n.x < w / 2 ? "(elsewhere)" : "(unknown)"), 60),
				{ size: 12, bold: true, most: n.w - 12 }
			);
			if (f)
				pen.text(
					x + 7,
					y + 26,
					`${f.state ? marked(f) : "–"} ×` +
						(times && n.w > 110
							? `  ${percent(times.total[n.function] / (times.all || 1))} total`
							: ""),
					{ size: 11, fill: pen.theme.quiet, most: n.w - 12 }
				);
		}
		rest.forEach(
			(nr, i) =>
				nr > 0 &&
				pen.text(i ? w - 4 : 4, height - 9, `${nr} more in the table`, {
					size: 11, fill: pen.theme.quiet, align: i ? "right" : "left"
				})
		);
	}
	const hit = (x, y) => nodes.find(n => Math.abs(x - n.x) <= n.w / 2 && Math.abs(y - n.y) <= NODE / 2);
	function tip(x, y) {
		const n = hit(x, y), { counts, times } = now();
		if (!n) return null;
		if (n.site)
			return [
				`${functionName(page, counts, n.site.caller, "(elsewhere)")}, call site ${n.site.site}`,
				...n.site.calls.map(
					c =>
						`${functionName(page, counts, c.callee, "(unknown)")}: ` +
						(c.state ? `${c.count.toLocaleString("en-US")} (${c.state})` : "not known")
				)
			];
		const f = counts.functions[n.function];
		return f
			? [
					functionName(page, counts, n.function, "(unnamed)"),
					f.state ? `${f.count.toLocaleString("en-US")} executions (${f.state})` : "executions are not known",
					times &&
						`${percent(times.own[n.function] / (times.all || 1))} self, ` +
							`${percent(times.total[n.function] / (times.all || 1))} with what it calls`
				].filter(Boolean)
			: ["callers that no flow has"];
	}
	const view = chart({
		title: "Calls around",
		name: "calls-around",
		height: w => (place(w), height),
		draw,
		tip,
		click: (x, y) => {
			const n = hit(x, y);
			if (n?.site) choose(n.site);
			else if (n?.function >= 0) walk(n.function);
		},
		table: () => ({
			columns: [
				{ key: "calls", title: "calls", type: "count", value: a => a.call.count },
				{ key: "by", title: "by", type: "text", narrow: true, value: a => a.call.state },
				{
					key: "caller", title: "caller", type: "text",
					value: a => functionName(page, now().counts, a.call.caller, "(elsewhere)")
				},
				{ key: "site", title: "site", type: "count", value: a => (a.call.caller < 0 ? null : a.call.site) },
				{
					key: "callee", title: "callee", type: "text",
					value: a => functionName(page, now().counts, a.call.callee, "(unknown)")
				}
			],
			rows: arcs.filter(a => a.call)
		})
	});
	return {
		...view,
		drawn: () =>
			arcs
				.filter(a => a.call)
				.map(a => ({
					caller: functionName(page, now().counts, a.call.caller, "(elsewhere)"),
					site: a.call.site,
					callee: functionName(page, now().counts, a.call.callee, "(unknown)"),
					calls: a.call.count,
					state: a.call.state
				}))
	};
}
