// SPDX-License-Identifier: MIT
// The page's data blocks are gzip in base64, which the browser's own decompressor reads.
const digits = new Uint8Array(128);
for (let i = 0; i < 64; i++) digits["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".charCodeAt(i)] = i;

function fromBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
	const nr = (text.length >> 2) * 3, out = new Uint8Array(nr);
	for (let i = 0, o = 0; i < text.length; i += 4, o += 3) {
		const four = digits[text.charCodeAt(i)] << 18 | digits[text.charCodeAt(i + 1)] << 12 |
			digits[text.charCodeAt(i + 2) & 127] << 6 | digits[text.charCodeAt(i + 3) & 127];
		out[o] = four >> 16;
		out[o + 1] = four >> 8;
		out[o + 2] = four;
	}
	return padding ? out.subarray(0, nr - padding) : out;
}

// Returns the bytes of a block, or null where the page has none of that name.  The block's text is dropped,
// so that data are in memory once.
export async function block(trace, name) {
	const el = document.getElementById(`tailor-${trace}-${name}`);
	if (!el) return null;
	const zipped = fromBase64(el.textContent);
	el.remove();
	const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export const has = (trace, name) => document.getElementById(`tailor-${trace}-${name}`) !== null;

export async function facts(trace) {
	const bytes = await block(trace, "facts");
	return bytes ? JSON.parse(new TextDecoder().decode(bytes)) : null;
}
