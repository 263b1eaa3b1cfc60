// SPDX-License-Identifier: MIT
import { allowed, inOther, matching } from '../../../analyzer/page/web/passing.js'
import { run, same } from '../cases.mjs'

// Values whose names end in "#number" where a number tells them apart.
const names_of = (...names) => ({
	values: names.map((_, v) => v), plain: (v) => names[v], bare: (v) => names[v].replace(/#.*/, ''), rep: (v) => v
})

// Two functions, two lines and two components of one level; a stack of main (node 1), which calls sort (2), which calls a component (3).
const FUNCTIONS = ['', 'main', 'Sort'], COMPONENTS = ['', 'scan', 'join', 'pipeline']
const dimensions = (links = []) => ({
	facts: {
		places: { ip: [0, 0, 0] }, ways: { mode: [0, 0] }, levels: [{}],
		functions: { name: FUNCTIONS }, components: { links }
	},
	component: (c) => COMPONENTS[c],
	get: (id) => ({
		function: { ...names_of(...FUNCTIONS), map: [0, 1, 2] },
		line: { ...names_of('', 'a.c:10', 'sort.c:20'), map: [0, 1, 2] },
		'level:0': { ...names_of('', 'scan'), map: [0, 1] }
	})[id]
})
const frames = { caller: [0, 0, 1, 2], function: [0, 1, 2, 0], component: [0, 0, 0, 2] }
const sets = (text, stacks, links) =>
	Object.fromEntries(matching(dimensions(links), text, stacks).map((set) => [set.column, [...set.allowed]]))

run('passing', {
	'the chosen values pass, or all others'() {
		const dimension = { column: 'thread', nr: 3, values: [10, 20, 30], rep: (v) => v }
		same('chosen', [0, 1, 0], [...allowed(dimension, { values: [20] }).allowed])
		same('not', [1, 0, 1], [...allowed(dimension, { values: [20], not: true }).allowed])
	},
	'a set is of the numbers of the column'() {
		const dimension = { column: 'place', nr: 2, values: [5, 6], map: [1, 0, 1, 1], rep: (v) => v }
		const set = allowed(dimension, { values: [6] })
		same('set', ['place', [1, 0, 1, 1]], [set.column, [...set.allowed]])
	},
	'a value passes with those that it is summed up with'() {
		const dimension = { column: 'way', nr: 2, values: [5, 6], map: [0, 1, 1], rep: (v) => (v === 7 ? 6 : v) }
		same('set', [0, 1, 1], [...allowed(dimension, { values: [7] }).allowed])
	},
	'a search finds names whatever their case is'() {
		same('of functions and lines', { place: [0, 0, 1], way: [0, 0] }, sets('sORT'))
		same('of components', { place: [0, 0, 0], way: [0, 1] }, sets('scan'))
	},
	'a search finds what calls stand in: those around them do not count, those below do'() {
		same('a function', [0, 1, 1, 1], sets('main', frames).stack)
		same('its callee', [0, 0, 1, 1], sets('sort', frames).stack)
		same('a component', [0, 0, 0, 1], sets('join', frames).stack)
	},
	'a search follows links of components, and ends where they are a circle'() {
		same('by a link', [0, 0, 0, 1], sets('pipeline', frames, [[], [], [3]]).stack)
		same('in a circle', [0, 0, 0, 0], sets('nowhere', frames, [[], [], [3], [2]]).stack)
	},
	'values of the other trace go by their names'() {
		const own = names_of('scan', 'join#1', 'join#2', 'sort'), other = names_of('sort', 'join#7', 'join#1', 'scan')
		const found = (...values) => inOther({ values, not: true }, own, other)
		same('of one name', [3], found(0).values)
		same('one of several of a name: that number', [2], found(1).values)
		same('all of a name: with any number', [1, 2], found(1, 2).values)
		same('the filter is of the same kind', true, found(0).not)
		same('without the dimension', [], inOther({ values: [0] }, own, undefined).values)
	}
})
