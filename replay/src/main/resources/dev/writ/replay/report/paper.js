// The report on paper: the same verified run, set for pages and not for a screen. It is made when the page is printed and
// taken away afterwards.

const PAPER_FULL = 200; // effects that are printed in full; further ones have a line each
const PAPER_LINES = 5000; // of these
const PAPER_TEXT = 420; // characters of a text that somebody else wrote

/** Makes what is printed; null where nothing did verify, so that nothing of it is. */
let printable = null;

const paperText = (value) => foreign(String(value).replace(/\s+/g, ' ').trim(), PAPER_TEXT);

function paperParams(fx) {
  const { params, inputs } = fx.request.effect;
  const texts = Object.keys(params).map((k) => [foreign(k, 80), ': ', el('code', null, paperText(typeof params[k] === 'string' ? params[k] : pretty(params[k])))]);
  const parts = [...texts, ...inputs.map((input) => [foreign(input.name, 80), ', a file of ', bytesOf(input.size), ' ', short(input.digest)])];
  return parts.length === 0 ? 'no parameters' : inWords(parts);
}

/** A decision in a line: its verdict, the check that stopped it, and what that found. */
function paperDecision({ document }) {
  const stop = document.checks.find((c) => c.outcome !== 'pass');
  return [VERDICTS[document.verdict][2], ` at ${clock(document.decided_at)}`,
    stop ? [': ', el('code', null, stop.check), ` ${CHECK_SAYS[stop.outcome][2]}, `, stop.code && [el('code', null, foreign(stop.code, 60)), ', '], paperText(stop.detail)] : `: all ${document.checks.length} checks pass`];
}

function paperStages(fx) {
  const states = stagesOf(fx);
  if (states.every(([state]) => state === '')) return 'none was reached';
  if (states.every(([state]) => state === 'passed')) return 'all eight passed';
  const at = states.findIndex(([state]) => state !== 'passed');
  return [at > 0 ? `1 to ${at} passed; ` : '', `${at + 1} ${STAGES[at]}: `, foreign(states[at][1], 80), fx.receipt ? '; a receipt was signed' : ''];
}

function paperOutput(fx, bundle) {
  const receipt = fx.receipt?.document;
  const content = receipt?.output;
  if (!content) return paperText(endedBriefly(fx, bundle));
  return [el('code', null, paperText(endedBriefly(fx, bundle))), ` ${content.media_type}, ${bytesOf(content.size)}`.slice(0, 200), receipt.artifacts.length > 0 && `, ${plural(receipt.artifacts.length, 'file')}`];
}

function paperEffect(fx, { bundle, stamp }) {
  const { effect, origin } = fx.request;
  const ids = [['Request', fx.id], fx.decisions.length > 0 && ['Decision', fx.decisions.at(-1).id], fx.receipt && ['Receipt', fx.receipt.id]].filter(Boolean);
  return el('article', { class: 'p-fx' },
    el('h3', null, `${fx.n} `, foreign(effect.tool, 120), ' / ', foreign(effect.operation, 120), el('span', { class: 'faint' }, ` ${stamp(fx.at)}${fx.receipt ? `, ${number(tookMs(fx))} ms` : ''}`), ' ', OUTCOMES[outcomeOf(fx)][2]),
    pairs(
      ['Asked', [asker(fx), origin && [', who is ', foreign(origin.principal, 120)], ': ', paperParams(fx)]],
      ...fx.decisions.map((d) => ['Decision', paperDecision(d)]),
      ...fx.approvals.map((a) => [a.document.verdict === 'approve' ? 'Approval' : 'Rejection', [foreign(a.document.approver, 120), ` as ${a.document.role} at ${moment(a.document.approved_at)}`.slice(0, 200), a.document.reason && [': ', paperText(a.document.reason)]]]),
      (fx.receipt || fx.dispatched || outcomeOf(fx) === 'refused') && ['Stages', paperStages(fx)],
      (fx.receipt || outcomeOf(fx) === 'refused') && [fx.receipt?.document.output ? 'Output' : 'Outcome', paperOutput(fx, bundle)],
      fx.resolution && ['Resolved', [foreign(fx.resolution.document.found, 40), ` at ${moment(fx.resolution.document.resolved_at)}`, fx.resolution.document.note && [': ', paperText(fx.resolution.document.note)]]],
      ...ids.map(([name, id]) => [name, longId(id)])));
}

function paperEffects(view) {
  const { effects } = view;
  const rest = effects.slice(PAPER_FULL, PAPER_FULL + PAPER_LINES);
  const left = effects.length - PAPER_FULL - rest.length;
  return [
    effects.slice(0, PAPER_FULL).map((fx) => paperEffect(fx, view)),
    rest.length > 0 && table('Further effects', ['No.', 'At', 'Who', 'What', 'Outcome', 'Receipt'],
      rest.map((fx) => [number(fx.n), moment(fx.at), asker(fx), [foreign(fx.request.effect.tool, 80), ' / ', foreign(fx.request.effect.operation, 80)], OUTCOMES[outcomeOf(fx)][2], fx.receipt ? short(fx.receipt.id) : '–'])),
    left > 0 && el('p', { class: 'cut' }, `${number(left)} further effects are not printed; the page on screen has all.`)];
}

function paperPolicies({ policies }) {
  return [policies.map((policy) => pairs(
    ['Policy', policyName(policy)], ['In force', `from ${moment(policy.from)} UTC${policy.until ? ` to ${moment(policy.until)} UTC` : ', and no other since'}`],
    ['Decisions', number(policy.decisions)], ['Digest', longId(policy.id)])),
  el('p', { class: 'faint' }, 'The text of a policy is not printed. It is on the page on screen, and in the bundle as documents/<digest>.json.')];
}

function paperReplay({ extra: { replay } }) {
  if (!replay) return el('p', null, 'No replay came with this report.');
  const list = Array.isArray(replay.divergences) ? replay.divergences : [];
  return [el('p', null, 'Computed by writ replay, not verified by this page: ', foreign(replay.state ?? '', 60), '. ', list.length === 0 && !replay.failure ? 'Running it again gave what was recorded.' : `${plural(list.length, 'divergence')}.`),
    list.slice(0, LIST_MOST).map((d) => el('p', null, el('code', null, foreign(d.code ?? '', 40)), ` at event ${Number(d.seq)}, `, foreign(d.event ?? '', 100)))];
}

function paperBudgets({ effects }) {
  const series = seriesOf(effects);
  if (series.length === 0) return el('p', null, 'No decision of this run read a balance.');
  return table('Budgets', ['Budget', 'Account', 'Used at last', 'Limit'], series.slice(0, 60).map(({ budget, key, points }) =>
    [foreign(budget, 120), foreign(key, 160), number(points.at(-1).used), points.at(-1).limit === undefined ? 'none' : number(points.at(-1).limit)]), 2);
}

function paperEvidence({ bundle, totals: t, digest, size }) {
  const { manifest, checkpoint, journals } = bundle;
  return pairs(
    ['Bundle', [longId(digest), `, ${number(size)} bytes`]], ['Log', foreign(manifest.origin, 300)], ['Checkpoint', [`size ${number(checkpoint.size)}, root `, longId(checkpoint.root)]],
    ['Run', [`${plural(journals.run.length, 'event')}, ${plural(t.receipts, 'receipt')}; the last event is `, longId(journals.run.at(-1).id)]],
    ['To verify', ['Save the bundle from the page on screen, and run ', el('code', null, 'writ verify'), ' or ', el('code', null, 'node verify.mjs'), ' with keys that you hold from elsewhere.']]);
}

function paperKeys({ bundle }) {
  const { system, logKey } = bundle;
  return [
    pairs(['Founded the installation', fingerprint(system.founder.kid)], ['Signed the checkpoint', fingerprint(logKey.kid)]),
    table('Keys', ['Role', 'Subject', 'Tenant', 'Key id', 'State'], [...system.trust.keys.values()].slice(0, 200).map((key) =>
      [foreign(key.role, 40), foreign(key.subject, 120), key.tenant === null ? '–' : foreign(key.tenant, 120), longId(key.kid), system.revocations.has(key.kid) ? `revoked ${day(key.revokedAt)}` : 'in force']))];
}

const paperVerified = ({ result }) => [
  el('h3', null, 'Verified'), lineList(result.verified, 'good', 'check'),
  el('h3', null, 'Not verified'), lineList(result.notVerified, 'warn', 'dash')];

/** The sections, in their order; each is numbered, and named in the contents. */
const PAPER = [
  ['Summary', (view) => [whoAndWhen(view), whatHappened(view), policySaid(view), refused(view), selectionSaid(view.extra), facts(view)]],
  ['What was verified, and what was not', paperVerified],
  ['Sample', (view) => view.extra.sample && sampleTable(view.extra.sample, drawn(view), false)],
  ['Effects', paperEffects],
  ['Policy', paperPolicies],
  ['Budgets', paperBudgets],
  ['Replay', paperReplay],
  ['Keys', paperKeys],
  ['Controls', paperControls],
  ['Evidence', paperEvidence],
];

const signOff = () => el('div', { class: 'p-sign' }, ['Reviewed by', 'Place and date', 'Signature'].map((says) => el('div', null, says)));

/** A text as CSS writes it, for the heads of pages. */
const cssText = (value) => `"${String(value).slice(0, 100).replace(HIDDEN, '\ufffd').replace(/["\\\n]/g, (c) => `\\${c.codePointAt(0).toString(16)} `)}"`;

/** A report on paper of sections, each a title and what is under it. */
function setForPaper(title, run, foot, pinned, sections) {
  const parts = sections.map(([name, content], i) => ({ title: `${i + 1} ${name}`, id: `paper-${i + 1}`, content }));
  const root = document.documentElement.style;
  root.setProperty('--page-run', cssText(run));
  root.setProperty('--page-foot', cssText(foot));
  return el('div', { id: 'paper' },
    el('header', { class: 'p-head' }, rosette(pinned ? 'good' : 'warn'),
      el('div', null, el('p', { class: 'kicker' }, byId('seal-kicker').textContent), el('h1', null, title), el('p', null, byId('seal-says').textContent))),
    el('nav', { 'aria-label': 'Contents' }, el('b', null, 'Contents'), el('ol', null, parts.map(({ title, id }) => el('li', null, el('a', { href: `#${id}` }, title))))),
    parts.map(({ title, id, content }) => el('section', { id }, el('h2', null, title), content)),
    signOff());
}

function paperOfRun(view) {
  const { run, tenant } = view.bundle.manifest;
  return setForPaper(['Report of run ', foreign(run, 200)], `Run ${run}, tenant ${tenant}`, view.digest, view.result.pinned, PAPER.map(([title, fill]) => [title, fill(view)]).filter(([, content]) => content));
}

function wirePrinting() {
  addEventListener('beforeprint', () => {
    if (printable) document.body.append(printable());
  });
  addEventListener('afterprint', () => byId('paper')?.remove());
}
