// SPDX-License-Identifier: MIT
// node.js BINDING DATABASE SECONDS < QUERIES: each query, separated by lines of ";;", again and again for so long, on Node's own threads.
const binding = require(require('path').resolve(process.argv[2]));
const texts = require('fs').readFileSync(0, 'utf8').split('\n;;\n');

async function main() {
	const database = await binding.open(process.argv[3]);
	const connection = await binding.connect(database);
	for (const text of texts) {
		const end = Date.now() + 1000 * Number(process.argv[4]);
		do {
			const result = await binding.query(connection, text);
			if (binding.column_count(result) === 0)
				throw new Error('no columns');
		} while (Date.now() < end);
	}
}
main().catch((error) => { console.error(error); process.exit(1); });
