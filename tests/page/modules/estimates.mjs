// SPDX-License-Identifier: MIT
import { errorText, estimateError, rowsText } from '../../../analyzer/page/web/estimates.js'
import { run, same } from '../cases.mjs'

const counters = (rows, estimate) => ({
	...(rows === undefined ? {} : { rows }), ...(estimate === undefined ? {} : { 'estimated rows': estimate })
})

run('estimates', {
	'an error is actual by estimated rows, of which each is at least one'() {
		same('errors', [10, 0.5, 20, 0.05],
			[[100, 10], [5, 10], [20, 0], [0, 20]].map(([rows, estimate]) => estimateError(counters(rows, estimate))))
	},
	'a number that is not known leaves no error'() {
		same('errors', [null, null, null],
			[[], [1], [undefined, 1]].map(([rows, estimate]) => estimateError(counters(rows, estimate))))
	},
	'rows are shown with their estimate, or either alone'() {
		same('texts', ['', '12', 'est. 7', '12 (est. 7)'],
			[[], [12], [undefined, 7], [12, 7]].map(([rows, estimate]) => rowsText(counters(rows, estimate))))
	},
	'an estimate within a factor of two is not worth a word'() {
		same('texts', ['', '', '×2 of the estimate', '÷4 of the estimate', ''],
			[[10, 10], [19, 10], [20, 10], [10, 40], [3]].map(([rows, estimate]) => errorText(counters(rows, estimate))))
	}
})
