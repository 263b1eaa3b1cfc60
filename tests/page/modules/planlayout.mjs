// SPDX-License-Identifier: MIT
import { BOX_H, BOX_W, HEAD, WHOLE, layoutPlans, viewed, withChildren, zoomed } from '../../../analyzer/page/web/planlayout.js'
import { close, random_numbers, run, same, that } from '../cases.mjs'

// Facts of plans, as a page has them.  A plan: {nodes: [[component, parent (from 1; 0: none), depth, column], ...], roots, process}.
const facts_of = (plans, edges = []) => ({
	plans: plans.map((plan) => ({ process: -1, roots: [], ...plan })),
	edges,
	processes: { comm: ['server', 'worker'], pid: [10, 20] },
	components: { name: ['', 'query 1', 'query 2'], detail: ['', 'select 1', ''] }
})

// A chain of operators, the consumer first.
const chain = (...components) => ({ nodes: components.map((component, i) => [component, i, i, 0]) })

// Every component costs its number, or what it has in costs; null: it has no sample.
const cost_of = (costs = {}) => (component) => {
	const measure = component in costs ? costs[component] : component
	return measure === null
		? { key: undefined, measure: 0, weight: 0, samples: 0 }
		: { key: component, measure, weight: 10 * measure, samples: measure }
}

const layout = (plans, { costs, edges, width = 1200 } = {}) => layoutPlans(facts_of(plans, edges), cost_of(costs), width)
const box = (found, component) => found.boxes.find((b) => b.component === component)
const overlap = (a, b) => a.x < b.x + BOX_W && b.x < a.x + BOX_W && a.y < b.y + BOX_H && b.y < a.y + BOX_H

// A plan of nr operators in the order of its tree, whose leaves have a column each, as analyzer/page/html_plan.c lays it out.
function random_plan(random, first, nr) {
	const parent = [], depth = [], column = []
	for (let i = 0; i < nr; i++) {
		depth.push(i ? 1 + random(depth[i - 1] + 1) : 0)
		parent.push(i ? 1 + depth.lastIndexOf(depth[i] - 1, i - 1) : 0)
	}
	let columns = 0
	for (let i = 0; i < nr; i++) if (!parent.includes(i + 1)) column[i] = columns++
	for (let i = nr - 1; i >= 0; i--) {
		const children = column.filter((_, child) => parent[child] === i + 1)
		if (children.length) column[i] = (Math.min(...children) + Math.max(...children)) / 2
	}
	return { nodes: parent.map((up, i) => [first + i, up, depth[i], column[i]]) }
}

run('planlayout', {
	'a consumer stands above its producers, with an edge from each'() {
		const found = layout([{ nodes: [[1, 0, 0, 0.5], [2, 1, 1, 0], [3, 1, 1, 1]] }])
		that('both below', box(found, 1).y + BOX_H < box(found, 2).y && box(found, 2).y === box(found, 3).y)
		close('in their middle', 2 * box(found, 1).x, box(found, 2).x + box(found, 3).x)
		same('edges', [[2, 1], [3, 1]], found.edges.map((e) => [e.from.component, e.to.component]))
	},
	'a box has the cost of its operator, or none'() {
		const { boxes } = layout([chain(4, 5)], { costs: { 5: null } })
		same('with samples', [4, 4, 40, 4], [boxes[0].key, boxes[0].measure, boxes[0].weight, boxes[0].samples])
		same('without samples', [0, 0, 0], [boxes[1].measure, boxes[1].weight, boxes[1].samples])
		that('its key is not defined', boxes[1].key === undefined)
	},
	'the most expensive plan comes first'() {
		const found = layout([chain(1, 2), chain(30, 40), chain(5, 6)])
		same('from the left', [30, 5, 1], [30, 5, 1].sort((a, b) => box(found, a).x - box(found, b).x))
		same('on one line', 1, new Set([1, 5, 30].map((v) => box(found, v).y)).size)
	},
	'plans that would be too small to read stand in rows'() {
		const plans = Array.from({ length: 4 }, (_, i) => chain(10 * i + 1, 10 * i + 2))
		const found = layout(plans, { width: 300 })
		same('two in a row', 2, new Set(found.boxes.map((b) => b.x)).size)
		that('and not narrower than the picture may become', found.wide <= 300 / 0.65 + BOX_W, found.wide)
		const narrow = layout(plans, { width: 10 })
		same('at least one in a row', 1, new Set(narrow.boxes.map((b) => b.x)).size)
	},
	'six plans are shown, the others counted'() {
		const found = layout(Array.from({ length: 9 }, (_, i) => chain(10 * i + 1, 10 * i + 2)))
		same('of all', [6, 9, 12], [found.nrShown, found.nrPlans, found.boxes.length])
		that('the cheapest ones are left out', !box(found, 1) && !box(found, 21) && box(found, 31))
	},
	'operators of no plan stand below each other beside plans, if they have samples'() {
		const found = layout([chain(1, 2), chain(7), chain(8), chain(9)], { costs: { 8: null } })
		that('the one without samples is left out', !box(found, 8))
		that('right of the plan', box(found, 9).x >= box(found, 1).x + BOX_W)
		same('in one column', box(found, 9).x, box(found, 7).x)
		that('the expensive one above', box(found, 9).y + BOX_H < box(found, 7).y)
	},
	'operators without any plan stand in rows of four, at most twelve'() {
		const found = layout(Array.from({ length: 15 }, (_, i) => chain(i + 1)), { costs: { 14: null } })
		same('boxes, columns, rows', [12, 4, 3],
			[found.boxes.length, ...['x', 'y'].map((of) => new Set(found.boxes.map((b) => b[of])).size)])
		that('the one without samples is among the cheapest', !box(found, 14))
	},
	'an edge beside the tree is marked, and one of the tree is drawn once'() {
		const found = layout([chain(1, 2, 3)], { edges: [[3, 1], [2, 1], [1, 99]] })
		same('edges', [[2, 1, false], [3, 2, false], [3, 1, true]],
			found.edges.map((e) => [e.from.component, e.to.component, Boolean(e.extra)]))
	},
	'a head names the query, and the process where several have plans'() {
		const heads = (...plans) => layout(plans).heads.map((head) => head.text)
		same('a text on one line', ['query 1: select 1'], heads({ ...chain(3, 4), process: 0, roots: [{ node: 0, of: 1 }] }))
		same('the text of the root before the detail', ['query 1: select 2'],
			heads({ ...chain(3, 4), roots: [{ node: 0, of: 1, text: ' select\n\t2 ' }] }))
		same('of processes', ['worker 20: query 2', 'server 10'],
			heads({ ...chain(3, 4), process: 0 }, { ...chain(5, 6), process: 1, roots: [{ node: 0, of: 2 }] }))
		same('none', [], heads(chain(3, 4)))
	},
	'a head ends before the next one, and boxes are below it'() {
		const named = (...components) => ({ ...chain(...components), roots: [{ node: 0, of: 1 }] })
		const found = layout([named(1, 2), named(3, 4), named(5, 6)])
		found.heads.forEach((head, i) => {
			const end = found.heads[i + 1]?.x ?? Math.max(found.wide, 1200)
			that('within its place', head.wide > 0 && head.x + head.wide < end, head)
		})
		that('below', found.boxes.every((b) => b.y >= found.heads[0].y + HEAD))
	},
	'boxes do not overlap, and lie in the picture, whatever the plans are'() {
		const random = random_numbers(1)
		for (let i = 0; i < 100; i++) {
			const plans = Array.from({ length: random(9) }, (_, n) => random_plan(random, 1000 * n + 1, 1 + random(40)))
			const found = layout(plans, { width: 50 + random(2000) })
			const { boxes, wide, height } = found
			that(`${i}: apart`, boxes.every((a, n) => boxes.slice(n + 1).every((b) => !overlap(a, b))))
			that(`${i}: inside`, boxes.every((b) => b.x >= 0 && b.y >= 0 && b.x + BOX_W <= wide && b.y + BOX_H <= height))
			that(`${i}: edges go upwards`, found.edges.every((e) => e.to.y + BOX_H < e.from.y))
			const trees = new Set(boxes.map((b) => Math.floor(b.component / 1000))).size
			same(`${i}: an edge for each box but the roots`, boxes.length - trees, found.edges.length)
		}
	},
	'no plan is a picture without boxes'() {
		const { boxes, edges, heads, nrPlans } = layout([])
		same('nothing', [[], [], [], 0], [boxes, edges, heads, nrPlans])
	},
	'the whole layout fits in the picture, in its middle'() {
		same('smaller', { scale: 0.5, left: 0, shift: 0 }, viewed(WHOLE, 1000, 500))
		same('not larger than it is', { scale: 1, left: 0, shift: 100 }, viewed(WHOLE, 300, 500))
	},
	'a layout is not moved beyond its edges'() {
		same('left', 0, viewed({ zoom: 2, left: -50 }, 1000, 500).left)
		same('right', 500, viewed({ zoom: 2, left: 9999 }, 1000, 500).left)
	},
	'zooming leaves what is pointed at where it is'() {
		const before = { zoom: 1, left: 0 }, x = 200
		const after = zoomed(before, 1.5, x, 1000, 500)
		const place = (view) => (x - viewed(view, 1000, 500).shift) / viewed(view, 1000, 500).scale
		close('the place in the layout', place(before), place(after))
	},
	'zooming ends at the whole layout, and where texts are large enough'() {
		same('the whole', 1, zoomed({ zoom: 1.2, left: 3 }, 0.5, 0, 1000, 500).zoom)
		close('the largest scale', 1.2, viewed(zoomed(WHOLE, 100, 0, 1000, 500), 1000, 500).scale)
		same('by 0: the whole', 1, zoomed({ zoom: 2, left: 3 }, 0, 0, 1000, 500).zoom)
	},
	'the total of an operator is its own and that of its producers'() {
		const { boxes, edges } = layout([chain(1, 2, 4)], { edges: [[4, 1]] })
		same('totals', [7, 6, 4], boxes.map((b) => withChildren(b, edges)))
	}
})
