// SPDX-License-Identifier: MIT
import { hasRunPhase } from '../../../analyzer/page/web/phase.js'
import { run, same } from '../cases.mjs'

run('phase', {
	'a page is of the run phase where the report is'() {
		same('report of the phase', true, hasRunPhase({ run_phase: true, marks: { name: ['run'] } }))
		same('report of the whole recording', false, hasRunPhase({ run_phase: false, marks: { name: ['run'] } }))
	},
	'the marks decide for data of an older page'() {
		same('with runs', true, hasRunPhase({ marks: { name: ['compile', 'run'] } }))
		same('without', false, hasRunPhase({ marks: { name: ['compile'] } }))
	}
})
