// SPDX-License-Identifier: MIT
// A page of `tailor serve` asks its server for the data.
export const served = Number(document.querySelector('meta[name="tailor-server"]')?.content ?? 0); // number of traces

// A request may meet the end of a connection that was idle for long.  It is repeated on another connection.
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
// Returns the facts of a trace, or null if the page has no such trace.
export async function servedFacts(trace) {
	return trace < served ? JSON.parse(new TextDecoder().decode(await get(`facts/${trace}`))) : null;
}
