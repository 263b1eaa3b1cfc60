// SPDX-License-Identifier: MIT
// The page reads its data, shows a view, and draws anew when a filter changes.  An error becomes a sentence above the plain tables.
import { h, shown } from "./dom.js";
import { facts } from "./data.js";
import { Table } from "./table.js";
import { served, servedFacts } from "./server.js";
import { ServedTable, Unanswered, answered } from "./served.js";
import { createJudge } from "./judge.js";
import { createFlow } from "./flow.js";
import { assumedChips } from "./counts.js";
import { createCauses } from "./causes.js";
import { Dimensions } from "./dimensions.js";
import { hasRunPhase } from "./phase.js";
import { State } from "./state.js";
import { Colours } from "./colours.js";
import { keepingFocus } from "./focus.js";
import { useLanguageLines } from "./texts.js";
import { fitTexts } from "./fitting.js";
import { chips } from "./chips.js";
import { keys } from "./keys.js";
import { overview } from "./views/overview.js";
import { threads } from "./views/threads.js";
import { events } from "./views/events.js";
import { memory } from "./views/memory.js";
import { code } from "./views/code.js";
import { calls } from "./views/calls.js";
import { causesView } from "./views/causes.js";
import { stacks } from "./views/stacks.js";
import { compareView } from "./views/compare.js";
import { whatif } from "./views/whatif.js";
import { quality } from "./views/quality.js";

const VIEWS = [overview, threads, events, memory, code, calls, causesView, stacks, whatif, compareView, quality];

function complain(sentence) {
	document.documentElement.classList.remove("running");
	document.getElementById("app").hidden = true;
	document.body.prepend(h("p", { class: "say", role: "alert" }, shown(sentence, 400)));
}

async function load() {
	const data = [];
	for (let trace = 0; trace < 2; trace++) {
		const f = await (served ? servedFacts : facts)(trace);
		if (!f) break;
		if (f.format !== 1)
			throw new Error("These data are of a newer version of tailor: rebuild the page with its `tailor html`.");
		useLanguageLines(f);
		data.push({
			facts: f,
			table: await (served ? ServedTable : Table).create(trace, f),
			dimensions: new Dimensions(f),
			flow: await createFlow(f),
			causes: await createCauses(f)
		});
	}
	if (!data.length) throw new Error("The page has no data.");
	// Lines of two traces are paired by component, so these stay as they are.
	if (data.length === 1) data[0].dimensions.tellProcesses(false);
	return { data, judge: data.length > 1 ? await createJudge() : null };
}

function eventSelect(state) {
	const { events } = state.data[0].facts;
	const select = h("select", { "aria-label": "Event", onchange: () => state.set("event", { values: [Number(select.value)] }) },
		events.map((e, i) => h("option", { value: String(i) }, shown(e.name, 40))));
	return {
		el: h("label", { hidden: events.length < 2 }, "event ", select),
		draw: () => (select.value = String(state.filters.event?.values[0] ?? 0))
	};
}

function phaseSelect(state) {
	const select = h("select", { "aria-label": "Phase", onchange: () =>
		state.set("run", select.value === "" ? null : { values: [Number(select.value)] }) },
		[["1", "run phase"], ["", "whole recording"], ["0", "outside of it"]].map(([value, text]) => h("option", { value }, text)));
	return {
		el: h("label", { hidden: !hasRunPhase(state.data[0].facts) }, "phase ", select),
		draw: () => (select.value = String(state.filters.run?.values[0] ?? ""))
	};
}

// Tells components of one label in several processes apart, as --per=process does.  The page's address has the choice.
function processSwitch(state, page) {
	const { dimensions } = state.data[0];
	const wanted = () => state.option("per") === "process";
	const box = h("input", { type: "checkbox", onchange: () => state.option("per", box.checked ? "process" : "") });
	return {
		el: h("label", {
			hidden: state.data.length > 1 || !dimensions.alike.size, title: "Rows for each process, as --per=process"
		}, box, " per process"),
		draw() {
			box.checked = wanted();
			if (state.data.length > 1 || dimensions.perProcess === wanted()) return;
			dimensions.tellProcesses(wanted());
			page.colours.order.clear();
			state.memo.clear();
			for (const id of Object.keys(state.filters)) if (id.startsWith("level:")) state.apply(id);
		}
	};
}

const hasRuns = state => state.data.every(({ facts }) => hasRunPhase(facts));

function searchBox(state) {
	const input = h("input", {
		type: "search",
		placeholder: "Search names ( / )",
		"aria-label": "Search in names of functions, lines and components, and in call stacks",
		oninput: () => search(false),
		onchange: () => search(true)
	});
	// The filter follows what is typed, and the whole text is one step to undo.
	const search = remember => state.set("search", input.value.trim() ? { text: input.value.trim() } : null, { remember });
	return { el: input, draw: () => document.activeElement !== input && (input.value = state.filters.search?.text ?? "") };
}

function start({ data, judge }) {
	const root = document.getElementById("app"), state = new State(data), first = data[0], tables = data.map(d => d.table);
	const page = {
		state, data, judge, colours: new Colours(first.dimensions, first.table), facts: first.facts,
		dimensions: first.dimensions
	};
	const views = VIEWS.filter(v => !v.when || v.when(page)), mounted = new Map();
	const main = h("main", { id: "view", tabindex: -1 }), nav = h("nav", { "aria-label": "Views" });
	const controls = [eventSelect(state), phaseSelect(state), processSwitch(state, page), searchBox(state)], chipRow = chips(state);
	page.views = views;
	state.assumedChips = () => assumedChips(page);
	page.search = controls[3].el;
	page.escape = () => document.activeElement === page.search ? page.search.blur() : state.clear();
	page.nextEvent = by => {
		const nr = first.facts.events.length;
		state.set("event", { values: [((state.filters.event?.values[0] ?? 0) + by + nr) % nr] });
	};
	page.switchTheme = () => {
		const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
		document.documentElement.dataset.theme = dark ? "light" : "dark";
		draw();
	};
	const help = keys(page);
	nav.append(
		...views.map((v, i) =>
			h("button", { "data-view": v.id, title: `${v.title} (${i + 1})`, onclick: () => state.show(v.id) }, v.title)
		)
	);
	root.append(
		h("div", { class: "top" },
			h("div", { class: "bar1" },
				h("h1", { title: shown(first.facts.command, 1000) }, h("bdi", {}, shown(document.title, 120))),
				nav,
				h("span", { class: "spring" }),
				h("div", { class: "controls" },
					page.search,
					h(
						"button",
						{ title: "Light or dark (t)", "aria-label": "Light or dark", onclick: page.switchTheme },
						"◐"
					),
					h("button", {
						title: "Keyboard (?)",
						"aria-label": "Keyboard shortcuts",
						onclick: () => help.showModal()
					}, "?")
				)
			),
			h("div", { class: "bar2" },
				h("div", { class: "controls" },
					controls.slice(0, 3).map(c => c.el)
				),
				chipRow.el
			)
		),
		main,
		help
	);

	function draw() {
		const view = views.find(v => v.id === state.view) ?? views[0];
		const from = performance.now();
		for (const c of [...controls, chipRow]) c.draw();
		fitTexts(root, "h1 > bdi, .chip > bdi");
		for (const b of nav.children)
			b.dataset.view === view.id ? b.setAttribute("aria-current", "page") : b.removeAttribute("aria-current");
		if (!mounted.has(view.id)) {
			const el = h("div", { class: "view" });
			el.style.display = "contents";
			mounted.set(view.id, el);
			main.append(el);
			view.mount(el, page);
		}
		for (const [id, el] of mounted) el.style.display = id === view.id ? "contents" : "none";
		for (const table of tables) table.begin?.(view.id);
		try {
			keepingFocus(main, () => view.draw());
		} catch (error) {
			if (error instanceof Unanswered) return void main.setAttribute("aria-busy", "true");
			complain(`The view could not be drawn: ${error.message}. The figures of the whole recording follow.`);
			throw error;
		}
		for (const table of tables) table.done?.();
		main.removeAttribute("aria-busy");
		page.drawn = { view: view.id, ms: performance.now() - from };
		if (page.ready) return;
		performance.mark("tailor-drawn");
		page.ready = performance.now();
	}
	for (const table of tables) table.onAnswer = () => state.changed(false);
	window.tailor = { state, views, page, sums: (...a) => state.sums(...a),
			  answered: async fn => (await state.reading, answered(tables.filter(t => "busy" in t), fn)) };
	document.documentElement.classList.add("running");
	root.hidden = false;
	state.filters = {};
	if (location.hash.length > 1) state.read(location.hash);
	if (!state.filters.event) {
		state.filters.event = { values: [first.facts.event] };
		state.apply("event");
	}
	if (location.hash.length <= 1 && hasRuns(state)) {
		state.filters.run = { values: [1] };
		state.apply("run");
		if (!served && !(state.sums(null).total[0] > 0)) state.set("run", null); // No sample is in the run phase.
	}
	state.done = [];
	state.onChange(draw);
	draw();
	let wait, width = main.clientWidth;
	new ResizeObserver(() => {
		if (main.clientWidth === width) return;
		width = main.clientWidth;
		clearTimeout(wait);
		wait = setTimeout(draw, 60);
	}).observe(main);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

// A view may ask for sums outside of its draws, to point at something, say.  It is drawn once the server has answered.
const later = error => error instanceof Unanswered;
addEventListener("error", e =>
	later(e.error) ? e.preventDefault() : complain(`The page failed: ${e.message}. The figures of the whole recording follow.`)
);
addEventListener("unhandledrejection", e =>
	later(e.reason)
		? e.preventDefault()
		: complain(`The page failed: ${e.reason?.message ?? e.reason}. The figures of the whole recording follow.`)
);
if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function")
	complain(
		"This browser cannot run the page: it lacks WebAssembly or DecompressionStream. The figures of the whole recording follow."
	);
else load().then(start);
