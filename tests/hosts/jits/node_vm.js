// SPDX-License-Identifier: MIT
// fib.js in a context of its own: node_vm.js SECONDS ROUNDS_FILE.
const source = require("fs").readFileSync(__dirname + "/fib.js", "utf8");
require("vm").runInNewContext(`(function () { ${source} })()`, { process, console, require }, "fib.js");
