// Many runs on one page: each bundle is verified as the bundle of one run is, then the runs are added up.

/** What is kept of a run in the overview: its numbers and its words. The rest is read again when the run is opened. */
function overviewOf(view, i) {
  const { bundle, effects, totals: t, result } = view;
  const words = el('div', { class: 'prose' }, whoAndWhen(view), whatHappened(view), policySaid(view), refused(view));
  for (const link of words.querySelectorAll('a')) link.replaceWith(...link.childNodes); // to effects that are not on this page
  return {
    i, words, drawn: drawn(view), totals: t, manifest: bundle.manifest, digest: view.digest, pinned: result.pinned, notVerified: result.notVerified,
    signatures: result.counts.signatures, last: bundle.journals.run.at(-1).at, events: bundle.journals.run.length,
    subjects: tally(effects.map((fx) => fx.request.subject)).map(([who]) => who),
    policies: view.policies.map(({ id, document }) => ({ id, name: document.name, version: document.version })),
  };
}

/** Verifies every bundle. One that does not verify is a refusal of the whole page, as is a run that would be counted twice. */
async function verifyAll(state, progress) {
  const runs = [];
  const seen = new Map();
  for (const [i, bytes] of state.bundles.entries()) {
    const place = `bundle ${i + 1} of ${state.bundles.length}`;
    let result;
    try {
      result = await verifyBundle(bytes, { ...against(state), progress: (_, done, all) => progress('events', i + done / all, state.bundles.length) });
    } catch (e) {
      if (e instanceof Refusal) throw new Refusal(e.code, `${place}, ${e.place}`, e.recorded, e.recomputed);
      throw e;
    }
    const { origin, tenant, run } = result.manifest;
    const key = JSON.stringify([origin, tenant, run]);
    if (seen.has(key)) throw new Refusal('RPL-061', place, run, `a run that is not in bundle ${seen.get(key) + 1}`);
    seen.set(key, i);
    runs.push(overviewOf(runView(result, state, await digestOfLarge(bytes)), i));
  }
  return runs;
}

const sumOf = (runs, of) => runs.reduce((sum, run) => sum + of(run), 0);

function addedUp(runs) {
  const of = (name) => sumOf(runs, (run) => run.totals[name]);
  const outcomes = new Map();
  for (const run of runs) for (const [outcome, n] of run.totals.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + n);
  return {
    requests: of('requests'), allowed: of('allowed'), denied: of('denied'), waiting: of('waiting'), undecided: of('undecided'),
    escalated: of('escalated'), approved: of('approved'), resolved: of('resolved'), receipts: of('receipts'), ran: of('ran'),
    outcomes: [...outcomes].sort((a, b) => b[1] - a[1]),
    from: runs.map((run) => run.totals.from).sort()[0], to: runs.map((run) => run.totals.to).sort().at(-1),
    open: runs.filter((run) => run.manifest.state === 'open').length,
  };
}

const SEAL_RUNS = 50; // lines at the seal

const distinct = (values) => [...new Set(values)];

/** Names a run, and its tenant where the page has runs of several: each tenant has its own run of a name. */
function namerOf(runs) {
  const several = distinct(runs.map((run) => run.manifest.tenant)).length > 1;
  return ({ manifest }, most) => [foreign(manifest.run, most), several && [' of tenant ', foreign(manifest.tenant, 120)]];
}

function overviewWords(runs, extra) {
  const t = addedUp(runs);
  const tenants = distinct(runs.map((run) => run.manifest.tenant)).map((tenant) => foreign(tenant, 120));
  const logs = distinct(runs.map((run) => run.manifest.origin)).map((origin) => foreign(origin, 200));
  const subjects = distinct(runs.flatMap((run) => run.subjects)).map((who) => foreign(who, 120));
  const policies = distinct(runs.flatMap((run) => run.policies.map((p) => JSON.stringify([p.name, p.version])))).map((p) => JSON.parse(p)).map(([name, version]) => [foreign(name, 120), ` version ${number(version)}`]);
  const rest = [t.waiting > 0 && `${number(t.waiting)} waiting for an approval`, t.undecided > 0 && `${number(t.undecided)} not decided`].filter(Boolean);
  return el('div', { class: 'prose' },
    el('p', null, `${plural(runs.length, 'run')} of tenant${tenants.length > 1 ? 's' : ''} `, some(tenants), ' in the log ', some(logs), `, from ${moment(t.from)} to ${moment(t.to)} UTC: `,
      some(subjects), ` made ${plural(t.requests, 'request')}. ${number(t.allowed)} were allowed${t.allowed > 0 ? ` (${outcomeWords(t)})` : ''} and ${number(t.denied)} denied`, rest.length > 0 && `; ${rest.join(', ')}`, '. ',
      t.escalated > 0 && `${number(t.escalated)} of them asked for an approval first, and ${number(t.approved)} got one. `,
      t.open > 0 && `${plural(t.open, 'run')} of these ${t.open === 1 ? 'is' : 'are'} still open.`),
    policies.length > 0 && el('p', null, 'Judged under policy ', some(policies), '.'),
    selectionSaid(extra));
}

/** The lines of all runs, each once, with the number of runs that it is said of. */
function notVerifiedOf(runs) {
  const lines = tally(runs.flatMap((run) => distinct(run.notVerified)));
  return ['that these are all runs: only the whole log shows that', ...lines.map(([line, n]) => (n === runs.length ? line : `of ${plural(n, 'run')}: ${line}`))];
}

function overviewFacts(runs) {
  const t = addedUp(runs);
  const fact = (label, value, small) => el('div', null, el('dt', null, label), el('dd', null, value, small && el('small', null, small)));
  return el('dl', { class: 'facts' },
    fact('Runs', number(runs.length), t.open > 0 && `${number(t.open)} open`), fact('Requests', number(t.requests), t.escalated > 0 && `${number(t.escalated)} escalated first`),
    fact('Allowed', number(t.allowed), outcomeWords(t)), fact('Denied', number(t.denied), 'nothing of them ran'),
    fact('Waiting', number(t.waiting + t.undecided), t.undecided > 0 ? `${number(t.undecided)} not decided` : 'for an approval'), fact('Receipts', number(t.receipts), `effects ran ${seconds(t.ran)}`));
}

/** A line for each run, and what they add up to. */
function runsTable(runs, nameOf) {
  const counts = (t) => [number(t.requests), number(t.allowed), number(t.denied), number(t.waiting + t.undecided), number(t.receipts)];
  const rows = runs.map((run) => [nameOf(run), foreign(run.manifest.tenant, 120), [el('span', { class: 'nb' }, minute(run.totals.from)), ' to ', el('span', { class: 'nb' }, minute(run.totals.to))], some(run.subjects.map((who) => foreign(who, 80))), run.manifest.state, ...counts(run.totals)]);
  return table('Runs', ['Run', 'Tenant', 'Period', 'Who', 'State', 'Requests', 'Allowed', 'Denied', 'Waiting', 'Receipts'], [...rows, [el('b', null, 'All'), '', '', '', '', ...counts(addedUp(runs))]], 5);
}

function drawnOf(runs, { sample }) {
  const named = namerOf(runs);
  return runs.flatMap((run) => run.drawn.map((one) => ({ ...one, run: named(run, 120) }))).sort(byDraw).slice(0, sample?.size ?? 0);
}

function overview(runs, extra, open) {
  const named = namerOf(runs);
  return [
    section('summary', 'Summary', null, overviewWords(runs, extra), overviewFacts(runs)),
    sampled(extra.sample, drawnOf(runs, extra), true),
    section('runs', 'Runs', 'Each can be opened. It is then verified once more, and shown with everything that its bundle has.',
      runsTable(runs, (run) => el('button', { type: 'button', class: 'run', onclick: () => open(run.i) }, foreign(run.manifest.run, 120))),
      runs.map((run) => el('details', { class: 'plain' }, el('summary', null, named(run, 200)), run.words, pairs(['Bundle', longId(run.digest)], ['Events', number(run.events)], ['Signatures', number(run.signatures)])))),
  ];
}

const sealLine = (run, named) => el('span', null, 'run ', named, `: ${run.events} events, ${run.totals.receipts} receipts, ${run.signatures} signatures, and that it is ${run.manifest.state}`);

function sealedAll(runs, state) {
  const named = namerOf(runs);
  const pinned = runs.every((run) => run.pinned);
  seal(pinned ? 'good' : 'warn', sealKicker(pinned, state), `${number(runs.length)} runs`,
    pinned ? 'Each was verified as the page of one run verifies it: every byte, digest, chain, proof and signature fits, and rests on the pinned keys.'
      : 'Each was verified as the page of one run verifies it: every byte, digest, chain, proof and signature fits. But no pinned key says whose they are. Choose a trust file that you hold from elsewhere.', [
      el('details', { class: 'plain', open: innerWidth >= 900 }, el('summary', null, `What was verified (${runs.length})`), lineList(runs.slice(0, SEAL_RUNS).map((run) => sealLine(run, named(run, 600))), 'good', 'check'), runs.length > SEAL_RUNS && el('p', { class: 'cut' }, `${SEAL_RUNS} of ${number(runs.length)} runs are named here; the list below has all.`)),
      el('details', { class: 'plain', open: innerWidth >= 900 }, el('summary', null, 'What was not'), lineList(notVerifiedOf(runs), 'warn', 'dash'))]);
}

const PAPER_RUNS = [
  ['Summary', (runs, extra) => [overviewWords(runs, extra), overviewFacts(runs)]],
  ['Runs', (runs) => runsTable(runs, (run) => foreign(run.manifest.run, 120))],
  ['Sample', (runs, extra) => extra.sample && sampleTable(extra.sample, drawnOf(runs, extra), true)],
  ['What was not verified', (runs) => lineList(notVerifiedOf(runs), 'warn', 'dash')],
  ['Each run', (runs, _, named = namerOf(runs)) => runs.map((run) => el('article', { class: 'p-fx' }, el('h3', null, named(run, 200)), run.words.cloneNode(true), pairs(['Bundle', longId(run.digest)])))],
];

const paperOfRuns = (runs, extra) => setForPaper(`Report of ${number(runs.length)} runs`, `${runs.length} runs`, `${runs.length} bundles`, runs.every((run) => run.pinned), PAPER_RUNS.map(([title, fill]) => [title, fill(runs, extra)]).filter(([, content]) => content));
