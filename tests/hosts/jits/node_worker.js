// SPDX-License-Identifier: MIT
// fib.js in threads of Node, one after another: node_worker.js SECONDS ROUNDS_FILE.
const { Worker } = require("worker_threads");
const [seconds, file] = process.argv.slice(2);
const start = nr => new Worker(__dirname + "/fib.js", { argv: [seconds / 2, file] }).on("exit", () => nr > 1 && start(nr - 1));
start(2);
