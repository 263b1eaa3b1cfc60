// SPDX-License-Identifier: MIT
import { callRows, hottestKey, layoutSides, middlesOf, sideRows } from '../../../analyzer/page/web/callrows.js'
import { FUNCTION, fill, sandwich, shape } from '../../../analyzer/page/web/calltree.js'
import { run, same } from '../cases.mjs'

// main calls a, which calls b, which calls a again.  One sample is in the outer a, two are in b, and four are in the inner a.
const MAIN = 10, A = 20, B = 30
const frames = { caller: [0, 0, 1, 2, 3], key: [0, MAIN, A, B, A], kind: [0, FUNCTION, FUNCTION, FUNCTION, FUNCTION] }
const stacks = [2, 3, 4], weights = [1, 2, 4]
const tree = shape(frames, stacks, false)
const sumsOf = of => ({ measure: fill(of, weights), samples: fill(of, weights) })
const both = sandwich(frames, stacks, B, FUNCTION)
const filled = { callers: sumsOf(both.callers), callees: sumsOf(both.callees) }

run('callrows', {
	'a function that calls itself has one row, whose total counts each sample once'() {
		same('key, total, self', [[MAIN, 7, 0], [A, 7, 5], [B, 6, 2]],
			callRows(tree, sumsOf(tree)).map(r => [tree.key[r.call], r.total, r.self]).sort((x, y) => x[0] - y[0]))
	},
	'the middle has its direct callers and callees'() {
		same('side, key, total', [['caller', A, 6], ['callee', A, 4]],
			sideRows(both, filled).map(r => [r.side, r.of.key[r.call], r.total]))
	},
	'callers are above the middle, as many as there is room for'() {
		const keys = callers => {
			const { bar, boxes } = layoutSides(both, filled, { width: 600, least: 1, callers })
			return [bar, boxes.map(b => [b.depth, b.of.key[b.call]]).sort((x, y) => x[0] - y[0])]
		}
		same('two', [2, [[0, MAIN], [1, A], [2, B], [3, A]]], keys(24))
		same('one', [1, [[0, A], [1, B], [2, A]]], keys(1))
	},
	'the function with the most samples of its own is in the middle at first'() {
		same('key', A, hottestKey(tree, weights, true))
	},
	'what can stand in the middle is limited, but has the present one'() {
		const { total } = fill(tree, weights), ids = (now, most) => middlesOf(tree, total, now, most).map(([id]) => id)
		same('all', [`0:${MAIN}`, `0:${A}`, `0:${B}`], ids(`0:${A}`, 9))
		same('one and the present one', [`0:${MAIN}`, `0:${B}`], ids(`0:${B}`, 1))
		same('an unknown one is not added', [`0:${MAIN}`], ids('0:99', 1))
	}
})
