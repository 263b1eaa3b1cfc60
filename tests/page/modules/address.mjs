// SPDX-License-Identifier: MIT
import { addressOf, readAddress } from '../../../analyzer/page/web/address.js'
import { run, same } from '../cases.mjs'

const read = (hash) => readAddress(hash, (id) => ['thread', 'level:2'].includes(id))

run('address', {
	'what is written is read again'() {
		const state = {
			view: 'memory',
			options: { outer: 'level:1', 'a key': 'x & y = ü' },
			filters: {
				thread: { values: [3, 1] },
				'level:2': { values: [7], not: true },
				time: { from: 0, to: 1234.5 },
				address: { from: '18446744073709551614', to: '18446744073709551615' },
				search: { text: '#a=b&c' }
			}
		}
		same('state', state, { ...state, ...read(addressOf(state)) })
	},
	'an address without a view leaves the view open'() {
		same('nothing', [undefined, {}, {}], Object.values(read('')))
		same('a filter alone', { thread: { values: [5] } }, read('#thread=5').filters)
	},
	'what is no filter of the page is left out'() {
		const { filters } = read('#unknown=1&thread=x&level:2=1..2&time=5&address=0x10-0x20&search=')
		same('filters', {}, filters)
	},
	'addresses keep all their digits'() {
		same('as texts', { from: '18446744073709551614', to: '18446744073709551615' },
			read('#address=18446744073709551614-18446744073709551615').filters.address)
	}
})
