// What changed between two traces, by name: shares or sums, with the interval in which the difference is.
const Z = 1.96;

// One side: name => {share, measure, samples, shareVariance, variance}, of the keys that have samples.
export function side(sums, label) {
	const of = new Map(), all = sums.totalMeasure || 1, weighed = sums.total[1] > 0;
	for (const key of sums.order()) {
		const name = label(key), measure = sums.measure(key), share = measure / all, evidence = sums.evidence(key);
		const old = of.get(name) ?? { share: 0, measure: 0, samples: 0, shareVariance: 0, variance: 0, key };
		// No share is known better than its samples' number allows: of 0 and 1, too.
		const p = Math.min(1 - 0.5 / (evidence + 1), Math.max(0.5 / (evidence + 1), share));
		old.share += share;
		old.measure += measure;
		old.samples += sums.samples(key);
		old.shareVariance += evidence > 0 ? p * (1 - p) / evidence : 0;
		old.variance += weighed ? sums.squares(key) : sums.samples(key);
		of.set(name, old);
	}
	return { of, all, samples: sums.total[0] };
}

const NONE = { share: 0, measure: 0, samples: 0, shareVariance: 0, variance: 0, key: undefined };

// b against a.  sums: differences of sums instead of shares.
export function differences(a, b, sums) {
	const rows = [];
	for (const name of new Set([...a.of.keys(), ...b.of.keys()])) {
		const x = a.of.get(name) ?? NONE, y = b.of.get(name) ?? NONE;
		const change = sums ? y.measure - x.measure : y.share - x.share;
		const half = Z * Math.sqrt(sums ? x.variance + y.variance : x.shareVariance + y.shareVariance);
		rows.push({ name, a: x, b: y, change, half, certain: Math.abs(change) > half,
			ratio: x.measure > 0 ? y.measure / x.measure : NaN });
	}
	return rows.sort((p, q) => Math.abs(q.change) - Math.abs(p.change) || (p.name < q.name ? -1 : 1));
}
