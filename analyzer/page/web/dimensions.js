// SPDX-License-Identifier: MIT
// Samples are grouped and filtered by dimensions.  A dimension has the numbers of a column, or what these stand for.  Values that
// no number stands for are left out, so that a dimension's keys are 0, 1, 2, ..., and values[key] is the trace's number.
import { baseName } from "./texts.js";

function compact(map) {
	const values = [...new Set(map)].sort((x, y) => x - y), at = new Map(values.map((v, i) => [v, i]));
	return { values, at, map: Uint32Array.from(map, v => at.get(v)) };
}

const plain = nr => ({ values: Array.from({ length: nr }, (_, i) => i), at: { get: v => v < nr ? v : undefined }, map: null });

// Programs are called by the names of their files, or by their paths where two files have one name.
function programName(names, v) {
	if (!v) return "(unknown)";
	const short = baseName(names[v - 1]) || names[v - 1];
	return names.filter(other => baseName(other) === short).length > 1 ? names[v - 1] : short;
}

export class Dimensions {
	constructor(facts) {
		this.facts = facts;
		this.list = new Map();
		this.perProcess = true; // Components of several processes that have one label are told apart.
		const { ways, places, threads, processes, components, functions, lines, images, marks } = facts;
		// A plain name is the trace's, for comparisons.  A bare one lacks the number that tells components of one name apart.
		// The value `rep` stands for a value in sums.
		const add = (id, title, column, keys, label, plain = label, bare = plain) =>
			this.list.set(id, { id, title, column, ...keys, nr: keys.values.length, label, plain, bare, rep: v => v });

		add("event", "event", "event", plain(facts.events.length), v => facts.events[v].name);
		add("thread", "thread", "thread", plain(threads.tid.length),
		    v => `${threads.comm[v] || processes.comm[threads.process[v]]} ${threads.tid[v]}`);
		add("process", "process", "thread", compact(threads.process), v => `${processes.comm[v]} ${processes.pid[v]}`);
		for (const [id, title, list, label] of [["program", "program", facts.programs, v => programName(facts.programs.name, v)],
			["command", "command line", facts.command_lines, v => v ? facts.command_lines.name[v - 1] : "(unknown)"]])
			if (list?.name.length > 1) add(id, title, "thread", compact(threads.process.map(p => list.of[p])), label);
		add("way", "", "way", plain(ways.mode.length), v => String(v));
		add("mode", "mode", "way", compact(ways.mode), v => ["user", "kernel", "other"][v] ?? `mode ${v}`);
		add("method", "method", "way", compact(ways.method), v => facts.methods[v][0]);
		add("generated", "code", "way", compact(ways.generated), v => v ? "generated code" : "other code");
		add("reason", "reason", "way", compact(ways.reason), v => v ? facts.reasons[v][0] : "(attributed)");
		facts.levels.forEach((level, i) =>
			add(
				`level:${i}`,
				level.name,
				"way",
				compact(ways.level[i]),
				v => this.component(v) + this.processOf(v),
				v => this.component(v),
				v => (v && components.name[v]) || this.component(v)
			)
		);
		// Plans have boxes of each process, whatever is told apart elsewhere.
		facts.levels.forEach((_, i) => {
			this.list.set(`each:${i}`, { ...this.list.get(`level:${i}`), id: `each:${i}` });
		});
		add("place", "address", "place", plain(places.ip.length), v => "0x" + places.ip[v].toString(16));
		add("function", "function", "place", compact(places.function), v => v ? functions.name[v] : "(none)");
		add("line", "source line", "place", compact(places.line), v =>
			v ? `${baseName(lines.file[v])}:${lines.number[v]}` : "(no line)"
		);
		add("image", "image", "place", compact(places.image), v => v ? images[v] : "(generated)");
		add("code", "code object", "place", compact(places.code), v => v ? facts.code.name[v - 1] || `code ${v}` : "(none)");
		add("phase", "run", "phase", plain(marks.name.length + 1),
		    v => v ? `${marks.name[v - 1]} #${marks.instance[v - 1]}` : "(outside of runs)");
		add("run", "phase", "phase", { values: [0, 1], at: new Map([[0, 0], [1, 1]]),
					       map: Uint32Array.from({ length: marks.name.length + 1 }, (_, i) => i ? 1 : 0) },
		    v => v ? "run phase" : "outside of the run phase");
		if (facts.columns.memory)
			add("memory", "memory", "memory", plain(facts.memory.length), v => facts.memory[v]?.name || "(unknown)");
		if (facts.columns.stack) add("stack", "stack", "stack", plain(facts.nodes), v => `node ${v}`);
		this.functionNames = functions.name;
		this.componentNames = components.name;
		// These are the components whose label a component of another process has.
		this.alike = new Set(Object.entries(components.same ?? {}).flatMap(([v, first]) => [Number(v), first]));
		this.namesProcesses = false;
	}

	// From now on, components of several processes that have one label are one, as in reports, or are shown with their process.
	tellProcesses(apart) {
		this.perProcess = this.namesProcesses = apart;
		this.facts.levels.forEach((_, i) => {
			const keys = compact(this.facts.ways.level[i].map(v => this.merged(v)));
			Object.assign(this.list.get(`level:${i}`), keys, {
				at: { get: v => keys.at.get(this.merged(v)) }, nr: keys.values.length, rep: v => this.merged(v)
			});
		});
	}

	// Returns the component that a component is summed up with.
	merged(v) {
		return this.perProcess ? v : this.facts.components.same?.[v] ?? v;
	}

	processOf(v) {
		const { processes, components } = this.facts, p = components.process[v];
		return this.namesProcesses && this.alike.has(v) ? ` · ${processes.comm[p]} ${processes.pid[p]}` : "";
	}

	get(id) {
		return this.list.get(id);
	}

	// Returns the dimension that another trace calls by that id.  Levels go by their names.
	like(other, id) {
		if (other === this || !id.startsWith("level:")) return this.get(id);
		const name = other.facts.levels[Number(id.slice(6))]?.name;
		return this.get(`level:${this.facts.levels.findIndex(l => l.name === name)}`);
	}

	component(v) {
		const c = this.facts.components;
		return v ? c.label?.[v] || c.name[v] || `component ${c.id[v] ?? v}` : "(unattributed)";
	}

	// Returns the plan's level, or the topmost one, or -1 if the trace has no levels.
	get mainLevel() {
		const { plan_level: plan, levels } = this.facts;
		return plan >= 0 ? plan : levels.length ? levels.findIndex(l => l.rank === Math.min(...levels.map(x => x.rank))) : -1;
	}

	// Returns the level that pictures of plans show.
	get planId() {
		const { plan_level: plan } = this.facts;
		return plan >= 0 ? `level:${plan}` : this.main;
	}

	// Returns the level whose component a line is said to be a part of.
	get ownerLevel() {
		return this.main.startsWith("level:") ? Number(this.main.slice(6)) : this.mainLevel;
	}

	// Charts are coloured by what leads (analyzer/leading): the plan's level, functions of a language, programs, or functions.  Data of
	// older pages do not say it.
	get main() {
		const { plan_level: plan, host_levels: host, lead_level: lead = -1, leads } = this.facts;
		if (leads === "programs") return this.get("program") ? "program" : "process";
		if (leads === "functions") return "function";
		if ((leads || plan < 0) && lead >= 0) return `level:${lead}`;
		return this.mainLevel >= 0 && (plan >= 0 || !host) ? `level:${this.mainLevel}` : "function";
	}
}
