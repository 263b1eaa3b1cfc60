// SPDX-License-Identifier: MIT
// The server of a page that `tailor serve` shows: it has the data, and the page asks it for them.
export const served = Number(document.querySelector('meta[name="tailor-server"]')?.content ?? 0); // of how many traces

// A request may meet the end of a connection that was idle for long: then another one has its own.
async function reply(path, options, more = 1) {
	let answer;
	try {
		answer = await fetch(path, { cache: "no-store", ...options });
	} catch {
		if (more) return reply(path, options, more - 1);
		throw new Error("The server does not answer: `tailor serve` has ended");
	}
	if (!answer.ok) throw new Error(`The server says ${answer.status}: ${(await answer.text()).trim().slice(0, 200)}`);
	return answer.arrayBuffer();
}

export const get = path => reply(path);
export const post = (path, body) => reply(path, { method: "POST", body, headers: { "Content-Type": "application/octet-stream" } });
// The facts of a trace; null: the page has no such one.
export async function servedFacts(trace) {
	return trace < served ? JSON.parse(new TextDecoder().decode(await get(`facts/${trace}`))) : null;
}
