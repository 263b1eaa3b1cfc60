// SPDX-License-Identifier: MIT
// The tables of the critical path show what the end of a run waited for, the work on it, the slack of the other threads, and skew.
import { h } from "./dom.js";
import { tablebox } from "./tablebox.js";

// Returns the tables that there are, each in a box.  tables: those of the view `critical`, by name.
export function criticalTables(tables) {
	const on = tables.critical_path ?? [];
	const of = tables.path_components ?? [];
	const slack = tables.slack ?? [];
	const skew = tables.path_skew ?? [];
	const box = (title, table) => h("div", {}, h("h3", {}, title), tablebox({ tools: true, ...table }).el);
	return [
		on.length
			? box("What the end waited for", {
					name: "critical-path",
					rows: on,
					sort: "share",
					columns: [
						{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
						{ key: "time_ns", title: "time", type: "duration", value: r => r.time_ns },
						{ key: "resource", title: "resource", type: "text", value: r => r.resource }
					]
				})
			: null,
		of.length
			? box("Work on it", {
					name: "work-on-the-path",
					rows: of,
					sort: "path",
					most: 20,
					columns: [
						{ key: "path", title: "of the path", type: "share", value: r => r.path, bar: true },
						{ key: "work", title: "of all work", type: "share", value: r => r.work },
						{ key: "time_ns", title: "time", type: "duration", value: r => r.time_ns },
						{ key: "name", title: "name", type: "text", value: r => r.name }
					]
				})
			: null,
		slack.length
			? box("Threads: how much later they could end", {
					name: "slack",
					rows: slack,
					sort: "path_ns",
					most: 20,
					columns: [
						{ key: "work_ns", title: "work", type: "duration", value: r => r.work_ns },
						{ key: "path_ns", title: "on the path", type: "duration", value: r => r.path_ns },
						{ key: "slack_ns", title: "slack", type: "duration", value: r => r.slack_ns },
						{ key: "name", title: "thread", type: "text", value: r => r.name }
					]
				})
			: null,
		skew.length
			? box("Skew", {
					name: "skew",
					rows: skew,
					sort: "skew",
					columns: [
						{ key: "skew", title: "largest part of mean", type: "number", value: r => r.skew },
						{ key: "threads", title: "threads", type: "count", value: r => r.threads },
						{ key: "name", title: "of", type: "text", value: r => r.name }
					]
				})
			: null
	];
}
