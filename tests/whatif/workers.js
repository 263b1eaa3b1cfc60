// SPDX-License-Identifier: MIT
// Four workers take tasks from their parent: node workers.js tasks|blocks N.  A task is a loop; a block is decompressed, and its lines with
// a word are counted.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const zlib = require("zlib");

function loop(seed) {
	let sum = seed;

	for (let i = 0; i < 3000000; i++)
		sum = (sum * 1103515245 + 12345) & 0x7fffffff;
	return sum;
}

function makeBlock() {
	let text = "";

	for (let i = 0; i < 60000; i++)
		text += `<row Id="${i}" Score="${i * 7919 % 1009}" Tags="${["java", "c", "scala"][i % 3]}"/>\n`;
	return zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });
}

function countLines(block) {
	const text = zlib.brotliDecompressSync(block);
	let lines = 0;

	for (let at = 0; (at = text.indexOf("scala", at)) >= 0; at++)
		lines++;
	return lines;
}

if (isMainThread) {
	const [kind, n] = process.argv.slice(2), block = kind === "blocks" ? makeBlock() : null;
	let left = Number(n);

	for (let i = 0; i < 4; i++) {
		const worker = new Worker(__filename, { workerData: block });
		const next = () => left > 0 ? worker.postMessage(left--) : worker.terminate();

		worker.on("message", next);
		next();
	}
} else {
	parentPort.on("message", (seed) => parentPort.postMessage(workerData ? countLines(workerData) : loop(seed)));
}
