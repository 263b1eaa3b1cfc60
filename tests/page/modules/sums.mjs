// SPDX-License-Identifier: MIT
import { Cube, Sums, fold } from '../../../analyzer/page/web/sums.js'
import { close, run, same } from '../cases.mjs'

// Samples, weight and squared weights of samples that weigh so much each.
const cell = (...weights) => [weights.length, weights.reduce((a, w) => a + w, 0), weights.reduce((a, w) => a + w * w, 0)]

run('sums', {
	'a pair of keys has samples, weight and squared weights'() {
		const sums = new Sums([...cell(1), ...cell(2, 3), ...cell(), ...cell(4)], { nr: 2 }, { nr: 2 })
		same('samples', [1, 2, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]].map(([i, j]) => sums.samples(i, j)))
		same('weight', 5, sums.weight(0, 1))
		same('squares', 13, sums.squares(0, 1))
		same('total', [4, 10, 30], sums.total)
	},
	'bins are as many as they say'() {
		const { nr, nrB } = new Sums([], { bins: 3, nr: 9 }, { bins: 2 })
		same('bins of two dimensions', [3, 2], [nr, nrB])
	},
	'samples without weight count by their number'() {
		const sums = new Sums([2, 0, 0, 3, 0, 0], { nr: 2 })
		same('measures', [2, 3, 5], [sums.measure(0), sums.measure(1), sums.totalMeasure])
	},
	'keys come by their measure, and those without samples do not'() {
		const sums = new Sums([...cell(1), ...cell(), ...cell(5), ...cell(1)], { nr: 4 })
		same('order', [2, 0, 3], sums.order())
	},
	'samples of equal weight are evidence by their number'() {
		const sums = new Sums([...cell(7, 7, 7), ...cell(7, 7)], { nr: 2 })
		close('of a share', 5, sums.evidence(0))
	},
	'heavy samples make the evidence smaller than their number'() {
		const sums = new Sums([...cell(1, 1, 1, 100), ...cell(1, 1, 1, 100)], { nr: 2 })
		close('of half of the weight: its square by the squares', 206 ** 2 / 20006, sums.evidence(0))
	},
	'nothing, and everything, have all samples as evidence'() {
		const sums = new Sums([...cell(1, 2, 3, 4), ...cell()], { nr: 2 })
		same('of each', [4, 4], [sums.evidence(0), sums.evidence(1)])
	},
	'sums of a column are folded by one or two of its dimensions'() {
		const column = [...cell(1), ...cell(2), ...cell(3)]
		same('by one', [...cell(1, 3), ...cell(2)], [...fold(column, { nr: 2, map: [0, 1, 0] })])
		same('by two', [...cell(1), ...cell(3), ...cell(2), ...cell()],
			[...fold(column, { nr: 2, map: [0, 1, 0] }, { nr: 2, map: [0, 0, 1] })])
	},
	'a cube has three keys'() {
		const cube = new Cube(Array.from({ length: 3 * 2 * 3 * 2 }, (_, i) => i), { nr: 2 }, { bins: 3 }, { nr: 2 })
		same('samples', 3 * (1 * 6 + 2 * 2 + 1), cube.samples(1, 2, 1))
		same('measure', 3 * (1 * 6 + 2 * 2 + 1) + 1, cube.measure(1, 2, 1))
	}
})
