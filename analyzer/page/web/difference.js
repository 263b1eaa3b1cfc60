// What changed between two traces, by name: shares or sums, with the interval in which the difference is.  As `tailor diff` does: 95 % hold
// for all rows together, of which those are tested that have half a percent of one side (Bonferroni), and a row varies by 1 % from run to run.
const LEAST = 0.005, BETWEEN_RUNS = 0.01, CHANCE = 0.05;

// The standard normal deviate that is exceeded so rarely, in either direction.  (M. Abramowitz and I. A. Stegun, Handbook of Mathematical
// Functions, 1964, 26.2.23: within 0.00045)
function deviate(chance) {
	const t = Math.sqrt(-2 * Math.log(chance / 2));
	return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

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
	const rows = [...new Set([...a.of.keys(), ...b.of.keys()])].map(name => {
		const x = a.of.get(name) ?? NONE, y = b.of.get(name) ?? NONE, [from, to] = sums ? [x.measure, y.measure] : [x.share, y.share];
		const variance = (sums ? x.variance + y.variance : x.shareVariance + y.shareVariance) + BETWEEN_RUNS ** 2 * (from ** 2 + to ** 2);
		return { name, a: x, b: y, change: to - from, deviation: Math.sqrt(variance), tested: Math.max(x.share, y.share) >= LEAST,
			ratio: x.measure > 0 ? y.measure / x.measure : NaN };
	});
	const z = deviate(CHANCE / Math.max(1, rows.filter(r => r.tested).length));
	for (const row of rows) {
		row.half = z * row.deviation;
		row.certain = row.tested && Math.abs(row.change) > row.half;
	}
	return rows.sort((p, q) => Math.abs(q.change) - Math.abs(p.change) || (p.name < q.name ? -1 : 1));
}
