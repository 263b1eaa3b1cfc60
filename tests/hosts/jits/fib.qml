// SPDX-License-Identifier: MIT
// qml -apptype core fib.qml -- SECONDS, which then says that nothing is to be shown, and exits with 2.
import QtQml 2.15

QtObject {
	function fib(n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2)
	}
	function bif(n) {
		return n < 2 ? n : bif(n - 1) + bif(n - 2)
	}
	Component.onCompleted: {
		const end = Date.now() + 1000 * Number(Qt.application.arguments[Qt.application.arguments.length - 1])
		let result = 0
		do {
			result = fib(16) + fib(16) + fib(16) + bif(16)
		} while (Date.now() < end)
		console.log("result " + result)
	}
}
