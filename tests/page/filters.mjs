// SPDX-License-Identifier: MIT
// Random filters, as the page and as the command have them.

// What samples can be filtered by, and how both are asked: [the page's dimension, its values, the command's options].
export function conditions(facts) {
	const { components, threads, processes, functions } = facts, found = []
	const same = (names, name, ok = () => true) => names.map((n, i) => n === name && ok(i) ? i : -1).filter((i) => i >= 0)
	const some = (list, each) => { // of long lists some
		for (let i = 0; i < list.length; i += Math.ceil(list.length / 40))
			each(list[i], i)
	}
	for (const l of facts.levels.keys()) {
		const own = components.level.map((of, i) => of === l && i && components.name[i] ? i : 0).filter(Boolean)
		some(own, (i) => found.push([`level:${l}`, same(components.name, components.name[i], (c) => components.level[c] === l),
			['--component', `${facts.levels[l].name}:${components.name[i]}`]]))
	}
	some(threads.tid, (tid) => found.push(['thread', same(threads.tid, tid), ['--thread', String(tid)]]))
	some(processes.pid, (pid) => found.push(['process', same(processes.pid, pid), ['--process', String(pid)]]))
	some(functions.name, (name, i) => i && name && !/^[[(]/.test(name) &&
		found.push(['function', same(functions.name, name), ['--function', name]]))
	return found
}

export function combination(facts, all, random) {
	const pick = (list) => list[random(list.length)]
	const last_us = Math.max(1, Math.floor((facts.last_ns - facts.first_ns) / facts.time_ns))
	const events = facts.events.map((event, i) => [event.name, i]).filter(([name, i]) => name !== 'switch' && facts.event_rows[i])
	const [event, number] = pick(events), filters = { event: { values: [number] } }, options = ['--event', event]
	if (random(2)) {
		const from = random(Math.ceil(last_us / 2)), to = from + 1 + random(last_us - from)
		filters.time = { from, to }
		options.push('--from', (from * facts.time_ns / 1e9).toFixed(9), '--to', (to * facts.time_ns / 1e9).toFixed(9))
	}
	for (let more = Math.max(0, random(4) - 1); more > 0 && all.length; more--) {
		const [dimension, values, option] = pick(all)
		if (filters[dimension])
			continue
		filters[dimension] = { values }
		options.push(...option)
	}
	const { marks } = facts, runs = [...marks.name.keys()].filter((i) => facts.phase_rows[i + 1])
	if (runs.length && random(5) === 0) {
		const run = pick(runs)
		filters.phase = { values: runs.filter((i) => marks.name[i] === marks.name[run] &&
			marks.instance[i] === marks.instance[run]).map((i) => i + 1) }
		options.push('--mark', `${marks.name[run]}#${marks.instance[run]}`)
	} else {
		options.push('--mark', 'all')
	}
	return { filters, options }
}

// A page's facts, with how many samples events and phases have.
export async function facts_of(page) {
	return page.evaluate(() => {
		const { state } = window.tailor, { facts } = state.data[0].dimensions
		state.replace({})
		const rows = (id, nr) => {
			const sums = state.sums(id)
			return Array.from({ length: nr }, (_, key) => sums.samples(key))
		}
		return window.tailor.answered(() => ({ ...facts, event_rows: rows('event', facts.events.length),
			phase_rows: rows('phase', facts.marks.name.length + 1) }))
	})
}
