// SPDX-License-Identifier: MIT
// fib.js in two processes of Node's cluster: node_cluster.js SECONDS ROUNDS_FILE.
const cluster = require("cluster");
if (cluster.isPrimary) {
	cluster.fork();
	cluster.fork();
} else {
	require("./fib.js");
	cluster.worker.disconnect();
}
