// SPDX-License-Identifier: MIT
// The view of where the time goes has figures, the time line, the plan, and costs by any dimension.
import { h, shown } from "../dom.js";
import { count, duration, percent, measure } from "../format.js";
import { timeline } from "../timeline.js";
import { planChart } from "../plan.js";
import { bars } from "../bars.js";
import { lanes } from "../lanes.js";
import { sunburst } from "../sunburst.js";

let page, parts = [], figures;
const note = h("p", { class: "note" }), first = h("ul", { class: "first" });

function keyFigures() {
	const { state, facts } = page, sums = state.sums("mode"), methods = state.sums("method"), { dimensions } = page;
	const [samples, weight] = sums.total;
	const at = (id, s, v) => dimensions.get(id).at.get(v) === undefined ? 0 : s.measure(dimensions.get(id).at.get(v));
	const event = facts.events[state.filters.event?.values[0] ?? 0], range = state.filters.time;
	const all = sums.totalMeasure || 1, wide = range ? (range.to - range.from) * facts.time_ns : facts.last_ns - facts.first_ns;
	return [
		["samples", count(samples)],
		[event?.unit === "ns" ? "time on processors" : event?.name ?? "weight", weight > 0 ? measure(weight, event.unit) : "–"],
		["time range", duration(wide)],
		...facts.levels.length ? [["attributed", samples > 0 ? percent(1 - at("method", methods, 0) / all) : "–"]] : [],
		["in the kernel", samples > 0 ? percent(at("mode", sums, 1) / all) : "–"],
		["in generated code", samples > 0 ? percent(at("generated", state.sums("generated"), 1) / all) : "–"],
		["lost", count(facts.lost)],
	];
}

export const overview = {
	id: "overview",
	title: "Overview",
	mount(el, p) {
		page = p;
		figures = h("dl", { class: "figures" });
		const time = timeline(page), plan = page.facts.plans.length ? planChart(page) : null, cost = bars(page);
		// A build runs few programs again and again, and their command lines say on what, as in the report.
		const commands = page.dimensions.main === "program" && page.dimensions.get("command")
			? bars(page, { title: "Command lines", option: "commands", first: "command", ids: ["command"] }) : null;
		// A single lane, or a ring of one part, would say nothing.
		const { dimensions } = page, lane = dimensions.get(dimensions.main).nr > 1 ? lanes(page) : null;
		const levels = page.facts.levels.some((_, i) => dimensions.get(`level:${i}`).nr > 1) ? sunburst(page) : null;
		this.parts = { time, plan, cost, commands, lanes: lane, levels };
		// A plan that does not lead has few of the samples, and comes last.
		const small = plan && !dimensions.main.startsWith("level:") && dimensions.planId !== dimensions.main;
		parts = (small ? [time, cost, commands, lane, levels, plan] : Object.values(this.parts)).filter(Boolean);
		if (plan) plan.el.classList.add(small ? "all" : "two-thirds");
		if (plan && !small) cost.el.classList.add("third");
		lane?.el.classList.add(levels ? "two-thirds" : "all");
		levels?.el.classList.add(lane ? "third" : "all");
		el.append(h("section", { class: "card", "aria-label": "Key figures" }, first, figures, note), ...parts.map(p => p.el));
	},
	draw() {
		first.replaceChildren(...page.facts.first.map(sentence => h("li", {}, shown(sentence, 700))));
		first.hidden = !page.facts.first.length;
		note.textContent = page.facts.rows
			? ""
			: "The trace has no samples: nothing was recorded, or the filters that the page was written with pass nothing.";
		note.hidden = Boolean(page.facts.rows);
		figures.replaceChildren(...keyFigures().map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
		for (const part of parts) part.draw();
	},
	drawn() {
		return {
			first: page.facts.first,
			figures: Object.fromEntries(keyFigures()),
			...Object.fromEntries(
				Object.entries(this.parts)
					.filter(([, p]) => p)
					.map(([k, p]) => [k, p.drawn()])
			)
		};
	},
};
