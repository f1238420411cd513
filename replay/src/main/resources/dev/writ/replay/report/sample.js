// A sample of effects, as an auditor draws it: the same seed and the same runs give the same ones (spec/report.md, Sampling).

/** The place of a request in the order that a seed gives: as a hexadecimal text, so that texts compare as the bytes do. */
const drawnAt = (seed, id) => toHex(sha256(concat(utf8(seed), Uint8Array.of(0), utf8(id))));

const byDraw = (a, b) => (a.draw < b.draw ? -1 : 1);

/** The first of a run's effects in that order; of several runs the first of all of them are among these. */
function drawn({ effects, extra: { sample } }) {
  if (!sample) return [];
  return effects.map((fx) => ({ draw: drawnAt(sample.seed, fx.id), fx })).sort(byDraw).slice(0, sample.size);
}

function sampleTable(sample, items, several) {
  const heads = ['No.', ...(several ? ['Run'] : []), 'Who', 'What', 'Outcome', 'Request', 'Receipt'];
  return [
    el('p', null, `The first ${number(items.length)} effects in the order that the seed `, el('code', null, foreign(sample.seed, 200)), ' gives, by SHA-256 of the seed, a zero byte and the request’s id. Whoever has the bundle and the seed draws the same.'),
    table('Sample', heads, items.map(({ fx, run }) => [number(fx.n), ...(several ? [run] : []), asker(fx),
      [foreign(fx.request.effect.tool, 80), ' / ', foreign(fx.request.effect.operation, 80)], OUTCOMES[outcomeOf(fx)][2], longId(fx.id), fx.receipt ? longId(fx.receipt.id) : '–']))];
}

function sampled(sample, items, several = false) {
  return sample && section('sample', 'Sample', null, sampleTable(sample, items, several));
}
