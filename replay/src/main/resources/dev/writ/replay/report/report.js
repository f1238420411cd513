// The page around the verifier: everything that it shows of a run it reads from the bundle that was
// just verified, never from whoever made the page. Follows verify.mjs in the same module.
// No markup is ever made of text: elements are made one by one, and their text is text.

// ------------------------------------------------------------------------------------- elements

const TEXT_MOST = 20000; // characters of one text that are shown at once
const GROUP = 50; // effects in a group
const PAGE = 100; // events on a page of the chain

const byId = (id) => document.getElementById(id);

function put(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => put(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// What can hide text, turn it round, or is no character at all.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc]|[\u2800\u{1d159}\u{e0000}-\u{e0fff}]|[\p{Cs}\p{Cf}\p{DI}]/gu;

/** Text that others wrote, isolated, with every hidden character named, and cut where it is long. */
function foreign(value, most = TEXT_MOST) {
  const whole = String(value);
  const text = whole.length > most ? whole.slice(0, most) : whole;
  const out = el('bdi', { dir: 'ltr' });
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    out.append(text.slice(from, match.index));
    const name = 'U+' + match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    out.append(el('span', { class: 'ctl', title: 'a character that would not be seen' }, name));
    from = match.index + match[0].length;
  }
  out.append(text.slice(from));
  if (text.length < whole.length) {
    out.append(el('span', { class: 'cut' }, ` … cut here: ${number(text.length)} of ${number(whole.length)} characters`));
  }
  return out;
}

/** Lines of Writ's own with `commands` between backticks, which are set as code. */
const marked = (line, most = 600) => String(line).split('`').map((part, i) => (i % 2 === 1 ? el('code', null, foreign(part, most)) : foreign(part, most)));

const ICONS = {
  check: ['M4 12l5 5L20 6'],
  cross: ['M6 6l12 12', 'M18 6L6 18'],
  clock: ['M12 7v5l3.5 2', 'M12 3a9 9 0 1 0 .01 0'],
  question: ['M9 9a3 3 0 1 1 4.4 2.6c-1 .6-1.4 1.2-1.4 2.4', 'M12 17.5v.2'],
  dash: ['M6 12h12'],
  info: ['M12 11v6', 'M12 7v.2'],
};

const icon = (name) => svg('svg', { class: 'ic', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, ICONS[name].map((d) => svg('path', { d })));
const chip = (tone, name, ...text) => el('span', { class: `chip t-${tone}` }, icon(name), el('span', null, text));
const number = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');
const short = (id) => el('span', { class: 'id', title: id }, (id.startsWith('sha256:') ? id.slice(7) : id).slice(0, 12));
const longId = (id) => el('span', { class: 'id' }, foreign(id, 300));
const clock = (time) => time.slice(11, 23);
const day = (time) => time.slice(0, 10);

function pairs(...rows) {
  return el('dl', { class: 'kv' }, rows.filter(Boolean).map(([key, value]) => [el('dt', null, key), el('dd', null, value)]));
}

/** A disclosure whose inside is made when it is first opened. */
function lazy(attributes, summary, fill) {
  const box = el('details', attributes, el('summary', null, summary));
  let filled = false;
  const make = () => {
    if (filled) return;
    filled = true;
    put(box, null, [fill()]);
  };
  box.addEventListener('toggle', () => box.open && make());
  box.fill = make;
  return box;
}

function save(name, bytes, type = 'application/octet-stream') {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  el('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

const bytesOf = (n) => (n < 1024 ? `${n} bytes` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`);

// ------------------------------------------------------------------------------------------ the seal

/** A rosette with a sign in it: the sign differs, not only the colour. */
function rosette(sign) {
  const points = [];
  for (let i = 0; i < 288; i++) {
    const angle = (i / 288) * 2 * Math.PI;
    const r = 70 + 4.5 * Math.cos(24 * angle);
    points.push(`${(80 + r * Math.cos(angle)).toFixed(1)} ${(80 + r * Math.sin(angle)).toFixed(1)}`);
  }
  const signs = { good: 'M52 82l20 20 38-44', warn: 'M80 48v40M80 108v.5', bad: 'M56 56l48 48M104 56l-48 48', waiting: 'M56 80h.5M80 80h.5M104 80h.5' };
  return svg('svg', { viewBox: '0 0 160 160' },
    svg('path', { class: 'rosette', d: `M${points.join('L')}Z` }),
    svg('circle', { class: 'rosette-ring', cx: 80, cy: 80, r: 58 }),
    svg('path', { class: 'rosette-ink', d: signs[sign] }));
}

function seal(tone, kicker, title, says, more = []) {
  const box = byId('seal');
  box.className = `seal ${tone}`;
  box.setAttribute('aria-busy', String(tone === 'waiting'));
  byId('seal-mark').replaceChildren(rosette(tone));
  byId('seal-kicker').textContent = kicker;
  byId('seal-title').replaceChildren(title);
  byId('seal-says').replaceChildren(...[says].flat());
  byId('seal-progress').hidden = tone !== 'waiting';
  byId('seal-more').replaceChildren(...more);
}

const lineList = (lines, tone, name) => el('ul', { class: 'lines' }, lines.map((line) => el('li', null, el('span', { class: `t-${tone}` }, icon(name)), typeof line === 'string' ? marked(line) : line)));

const sealKicker = (pinned, { trustFrom }) => (!pinned ? 'Integrity only; signer not pinned' : trustFrom === 'reader' ? 'Verified, pinned by you' : 'Verified, pinned by the maker of this page');

function sealed(result, state) {
  const { manifest } = result;
  const title = el('span', null, 'Run ', foreign(manifest.run, 300));
  const whose = el('span', null, `Tenant `, foreign(manifest.tenant, 300), `, log `, foreign(manifest.origin, 300), `; the run is ${manifest.state}. `);
  const byReader = state.trustFrom === 'reader';
  const wide = innerWidth >= 900;
  const says = !result.pinned
    ? 'Every byte, digest, chain, proof and signature fits. But no pinned key says whose it is: anybody can make an installation of his own. Choose a trust file that you hold from elsewhere.'
    : byReader
      ? 'Every byte, digest, chain, proof and signature fits, and it rests on keys that you chose.'
      : 'Every byte, digest, chain, proof and signature fits, and it rests on keys that the maker of this page pinned. If you hold them from elsewhere, choose your own trust file.';
  seal(result.pinned ? 'good' : 'warn', sealKicker(result.pinned, state), title, [whose, says], [
    el('details', { class: 'plain', open: wide }, el('summary', null, `What was verified (${result.verified.length})`), lineList(result.verified, 'good', 'check')),
    el('details', { class: 'plain', open: wide }, el('summary', null, `What was not (${result.notVerified.length})`), lineList(result.notVerified, 'warn', 'dash')),
  ]);
}

function broken(e) {
  const known = e instanceof Refusal;
  const value = (v) => (v === null ? el('span', { class: 'faint' }, 'nothing') : el('code', null, foreign(v, 600)));
  seal('bad', 'Not verified', 'This bundle does not hold',
    'The first thing that does not fit is named here. Nothing else of the bundle is shown, since nothing of it can be relied on.',
    [known
      ? pairs(['Code', el('code', { id: 'failure-code' }, e.code)], ['Place', el('span', { id: 'failure-place' }, foreign(e.place, 600))], ['Recorded', value(e.recorded)], ['Recomputed', value(e.recomputed)])
      : pairs(['Fault', foreign(String(e?.message ?? e), 600)])]);
}

// ----------------------------------------------------------------------------- the run as effects

const documentOf = (bundle, id) => bundle.contents.documents.document(id);

/** One request with all that followed from it, in the order of the journal. */
function effectsOf(bundle) {
  const effects = new Map();
  const ofReceipt = new Map();
  let waiting = [];
  const start = (event, document) => {
    const fx = { n: effects.size + 1, id: event.body, request: document, at: event.at, seq: event.seq, events: [], decisions: [], approvals: [], intents: [], refusals: [] };
    effects.set(event.body, fx);
    return fx;
  };
  for (const event of bundle.journals.run) {
    const document = event.kind === 'effect.finished' ? null : documentOf(bundle, event.body);
    let fx = null;
    if (event.kind === 'request.received') fx = start(event, document);
    else if (event.kind === 'doubt.resolved') fx = effects.get(ofReceipt.get(document.receipt));
    else if (event.kind === 'effect.finished') waiting.push(event);
    else if (!event.kind.startsWith('run.')) fx = effects.get(document.request);
    if (!fx) continue;
    fx.events.push(...waiting, event);
    waiting = [];
    if (event.kind === 'decision.made') fx.decisions.push({ id: event.body, document });
    if (event.kind === 'approval.received') fx.approvals.push({ id: event.body, document });
    if (event.kind === 'intent.issued') fx.intents.push({ id: event.body, document });
    if (event.kind === 'effect.refused') fx.refusals.push({ id: event.body, document });
    if (event.kind === 'effect.dispatched') fx.dispatched = event;
    if (event.kind === 'doubt.resolved') fx.resolution = { id: event.body, document };
    if (event.kind === 'receipt.signed') {
      fx.receipt = { id: event.body, document, seq: event.seq };
      ofReceipt.set(event.body, fx.id);
    }
  }
  return [...effects.values()];
}

const OUTCOMES = {
  succeeded: ['good', 'check', 'Succeeded'],
  failed: ['bad', 'cross', 'Failed'],
  timed_out: ['bad', 'clock', 'Timed out'],
  killed: ['bad', 'cross', 'Killed'],
  in_doubt: ['warn', 'question', 'In doubt'],
  refused: ['bad', 'cross', 'Refused before it ran'],
  denied: ['bad', 'cross', 'Denied'],
  waiting: ['warn', 'clock', 'Waits for an approval'],
  pending: ['info', 'clock', 'Not finished in this bundle'],
};

function outcomeOf(fx) {
  if (fx.receipt) return fx.receipt.document.status;
  const last = fx.decisions.at(-1)?.document.verdict;
  if (last === 'DENY') return 'denied';
  if (last === 'ESCALATE') return 'waiting';
  return fx.refusals.length > 0 && fx.refusals.at(-1).document.intent === fx.intents.at(-1)?.id ? 'refused' : 'pending';
}

const VERDICTS = { ALLOW: ['good', 'check', 'Allowed'], DENY: ['bad', 'cross', 'Denied'], ESCALATE: ['warn', 'clock', 'Escalated'] };
const verdictChipOf = ([tone, sign, says], code) => chip(tone, sign, says, code ? [' ', el('code', null, foreign(code, 60))] : null);
const WOULD_BE = { DENY: ['warn', 'cross', 'Denied, if policy did more than observe'], ESCALATE: ['warn', 'clock', 'Escalated, if policy did more than observe'] };

/** What the decision would be under the same policy in force, where that only observes and it would be another one. */
const wouldBe = ({ verdict, observed }) => (observed && observed.verdict !== verdict ? observed : null);

const verdictChip = (decision) => [verdictChipOf(VERDICTS[decision.verdict], decision.code), wouldBe(decision) && [' ', verdictChipOf(WOULD_BE[wouldBe(decision).verdict], wouldBe(decision).code)]];

// ------------------------------------------------------------------------------------- the stages

const STAGES = ['Gate', 'Snapshot', 'Prepare', 'Dispatch', 'Drift', 'Canonicalize', 'Store', 'Receipt'];
const DISPATCH = STAGES.indexOf('Dispatch');
const RECEIPT = STAGES.indexOf('Receipt');
const STAGE_OF_CODE = { 'EXE-401': 'Dispatch', ERR_CONNECTOR_CONTRACT_DRIFT: 'Drift', 'EXE-601': 'Canonicalize', 'EXE-701': 'Store', 'EXE-702': 'Store', 'EXE-801': 'Receipt' };
const STAGE_OF_REFUSAL = { gate: 'Gate', snapshot: 'Snapshot', prepare: 'Prepare' };

/** How far it came: a state for each stage, and words for where it stopped. */
function stagesOf(fx) {
  const states = STAGES.map(() => ['', 'not reached']);
  const upTo = (n) => states.fill(['passed', 'passed'], 0, n);
  const refusal = fx.refusals.at(-1)?.document;
  const receipt = fx.receipt?.document;
  if (receipt) {
    upTo(DISPATCH);
    if (receipt.status === 'succeeded') upTo(RECEIPT);
    else if (receipt.status === 'in_doubt') states[DISPATCH] = ['doubt', 'nobody saw how it went'];
    else {
      const stopped = STAGES.indexOf(STAGE_OF_CODE[receipt.code] ?? 'Dispatch');
      upTo(stopped);
      states[stopped] = ['stopped', receipt.code ?? receipt.status.replace('_', ' ')];
    }
    states[RECEIPT] = ['passed', 'signed'];
  } else if (refusal && outcomeOf(fx) === 'refused') {
    const stopped = STAGES.indexOf(STAGE_OF_REFUSAL[refusal.stage]);
    upTo(stopped);
    states[stopped] = ['stopped', refusal.code];
  } else if (fx.dispatched) {
    upTo(DISPATCH);
    states[DISPATCH] = ['doubt', 'running'];
  }
  return states;
}

function stages(fx) {
  const none = !fx.receipt && !fx.dispatched && outcomeOf(fx) !== 'refused';
  return [
    el('h3', null, 'The eight stages'),
    none && el('p', { class: 'faint' }, 'No intent of it was served, so none of the stages was reached.'),
    !none && el('ol', { class: 'stages' }, stagesOf(fx).map(([state, says], i) => el('li', { class: state },
      el('b', null, icon({ passed: 'check', stopped: 'cross', doubt: 'question' }[state] ?? 'dash'), ` ${i + 1} `, STAGES[i]), foreign(says, 80)))),
  ];
}

// ---------------------------------------------------------------------------------- the judgement

const CHECK_SAYS = {
  pass: ['good', 'check', 'passes'],
  refuse: ['bad', 'cross', 'refuses'],
  escalate: ['warn', 'clock', 'asks for an approval'],
  would_refuse: ['warn', 'cross', 'would refuse, but policy only observes'],
  would_escalate: ['warn', 'clock', 'would ask for an approval, but policy only observes'],
  not_reached: ['none', 'dash', 'not reached'],
};

// A check has one name everywhere: the one that is signed. This is what it looks at.
const CHECK_ABOUT = { profile: 'rules of the surface', prg: 'what policy requires', budget: 'accounts', temporal: 'times and rates', envelope: 'manifest and role' };

function checks(decision, extra, id) {
  return el('ul', { class: 'checks' }, decision.checks.map((check) => {
    const [tone, sign, says] = CHECK_SAYS[check.outcome];
    return el('li', null,
      el('span', { class: `name t-${tone}` }, icon(sign), el('span', null, el('code', null, check.check), el('small', null, CHECK_ABOUT[check.check]))),
      el('div', null,
        el('span', { class: `t-${tone}` }, says), check.code ? [' ', el('code', null, foreign(check.code, 60))] : null,
        check.detail ? el('div', { class: 'faint' }, foreign(check.detail, 1500)) : null,
        check.check === 'prg' ? tree(extra.trees?.[id]) : null));
  }));
}

const TRUTHS = { holds: ['good', 'check'], fails: ['bad', 'cross'], 'awaits approval': ['warn', 'clock'], error: ['bad', 'cross'] };

function node(value, depth = 0) {
  const [tone, sign] = TRUTHS[value.truth] ?? ['none', 'dash'];
  return el('li', null,
    el('span', { class: `t-${tone}` }, icon(sign)), ' ', el('code', null, foreign(value.what, 2000)), ' ',
    el('span', { class: `t-${tone}` }, foreign(value.truth, 40)), value.saw ? el('span', { class: 'faint' }, ': ', foreign(value.saw, 1000)) : null,
    depth < 60 && value.children?.length ? el('ul', null, value.children.map((child) => node(child, depth + 1))) : null);
}

/** What each node saw needs the policy language: it comes with the page and is marked as that. */
function tree(proof) {
  if (!proof?.tree) return null;
  return el('div', { class: 'computed' },
    el('span', { class: 'tag' }, 'Computed by writ report from the signed inputs; not verified by this page'),
    el('div', { class: 'faint' }, `Requirement ${proof.requirement} of the policy`),
    el('ul', { class: 'tree' }, node(proof.tree)));
}

function judgement({ id, document }, i, all, extra) {
  const { inputs } = document;
  return [
    el('h3', null, all.length > 1 ? `Decision ${i + 1} of ${all.length}` : 'Decision', ' ', verdictChip(document)),
    checks(document, extra, id),
    lazy({ class: 'plain' }, 'What it was judged on', () => [
      pairs(
        ['Judged', `${day(document.decided_at)} ${clock(document.decided_at)} UTC, step ${inputs.step}`],
        ['Roles', foreign(inputs.roles.join(', ') || 'none', 500)],
        ['Charged', foreign(inputs.charged.join(', '), 500)],
        ['Policy', longId(document.policy)], ['Snapshot', longId(document.snapshot)], ['Decision', longId(id)],
        inputs.valid_until && ['Valid until', inputs.valid_until],
        inputs.ignored.length && ['Set aside', inputs.ignored.map((d) => el('div', null, el('code', null, foreign(d.code, 60)), ' ', longId(d.id)))]),
      inputs.balances.length > 0 && table('Balances before it', ['Budget', 'Account', 'Used', 'Reserved', 'Limit'],
        inputs.balances.map((b) => [foreign(b.budget, 120), foreign(b.key, 200), number(b.used), number(b.reserved), b.limit === undefined ? 'unlimited' : number(b.limit)]), 2),
      inputs.rates.length > 0 && table('Rates before it', ['Rate', 'Account', 'Count'], inputs.rates.map((r) => [foreign(r.rate, 120), foreign(r.key, 200), number(r.count)]), 2),
    ]),
  ];
}

function table(caption, heads, rows, numbersFrom = 99) {
  const cls = (i) => (i >= numbersFrom ? 'num' : null);
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', null, el('caption', { class: 'sr' }, caption),
      el('thead', null, el('tr', null, heads.map((h, i) => el('th', { scope: 'col', class: cls(i) }, h)))),
      el('tbody', null, rows.map((row) => el('tr', null, row.map((cell, i) => el('td', { class: cls(i), 'data-head': heads[i] }, cell !== '' && el('div', null, cell))))))));
}

// -------------------------------------------------------------------------------------- contents

function pretty(value, indent = '') {
  if (value === null || typeof value !== 'object') return writeString1(value);
  const flat = oneLine(value);
  if (flat !== null) return flat;
  const inner = indent + '  ';
  const array = Array.isArray(value);
  const keys = array ? value : Object.keys(value).sort();
  if (keys.length === 0) return array ? '[]' : '{}';
  const items = array ? value.map((v) => inner + pretty(v, inner)) : keys.map((k) => `${inner}${JSON.stringify(k)}: ${pretty(value[k], inner)}`);
  return `${array ? '[' : '{'}\n${items.join(',\n')}\n${indent}${array ? ']' : '}'}`;
}

/** A small value on one line; null where it is not small. */
function oneLine(value, room = 64) {
  if (value === null || typeof value !== 'object') {
    const text = writeString1(value);
    return text.length <= room ? text : null;
  }
  const parts = [];
  let left = room - 4;
  for (const [key, item] of Object.entries(value)) {
    const lead = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    const text = oneLine(item, left - lead.length);
    if (text === null) return null;
    parts.push(lead + text);
    left -= lead.length + text.length + 2;
    if (left < 0) return null;
  }
  return Array.isArray(value) ? `[${parts.join(', ')}]` : parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

const writeString1 = (value) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Params: one text is shown as text, since that is what it mostly is: a program, a query. */
function params(value) {
  const keys = Object.keys(value);
  const texts = keys.filter((k) => typeof value[k] === 'string' && (value[k].includes('\n') || value[k].length > 40));
  if (texts.length === 0) return el('pre', { tabindex: '0' }, foreign(pretty(value)));
  const rest = Object.fromEntries(keys.filter((k) => !texts.includes(k)).map((k) => [k, value[k]]));
  return [
    texts.map((k) => [el('div', { class: 'faint' }, foreign(k, 200)), el('pre', { tabindex: '0' }, foreign(value[k]))]),
    Object.keys(rest).length > 0 && el('pre', { tabindex: '0' }, foreign(pretty(rest))),
  ];
}

const IMAGES = { 'image/png': [0x89, 0x50, 0x4e, 0x47], 'image/jpeg': [0xff, 0xd8, 0xff], 'image/gif': [0x47, 0x49, 0x46, 0x38], 'image/webp': [0x52, 0x49, 0x46, 0x46] };
const IMAGE_MOST = 4 << 20;
const PARSED_MOST = 1 << 20;

/** What the bundle states of a content of an effect that is gone, by its class as retention.md has it; nothing where it states nothing. */
function goneOf(fx, bundle, of, { digest }) {
  const { seq } = of === 'inputs' ? fx.dispatched ?? fx : fx.receipt;
  return bundle.run.stated.get(contentKey(of, seq, digest));
}

function goneSaid({ at, rule, order, bundle }) {
  if (order) return ['Erased at ', at, ' by the order ', longId(order), ' of an operator.'];
  if (bundle) return ['Moved to the archive at ', at, ', into the bundle ', longId(bundle), '.'];
  return ['Deleted at ', at, ' by the rule ', foreign(rule, 200), ' of the policy in force.'];
}

/** Why a content is not in the bundle. */
function missing(fx, bundle, of, content) {
  const gone = goneOf(fx, bundle, of, content);
  if (gone) return [goneSaid(gone), ' Its digest is signed.'];
  if (of === 'inputs' && !fx.dispatched) return 'Not in this bundle: a request that was never executed brings no contents.';
  if (of !== 'inputs' && fx.receipt.document.status === 'in_doubt') return 'Not kept: nobody saw how the effect ended.';
  if (of !== 'inputs' && !fx.receipt.document.retained) return 'Not kept: the request asked for that.';
  return 'Left out of this bundle; its digest is signed.';
}

/** Content by its media type, as far as its bytes agree. Nothing of it can run or load anything. */
function contentView(fx, bundle, of, content, name) {
  const blob = bundle.contents.blobs.get(content.digest);
  const about = el('p', { class: 'about faint' }, el('span', null, foreign(content.media_type, 120), `, ${bytesOf(content.size)}`), short(content.digest),
    blob && el('button', { type: 'button', onclick: () => save(`${content.digest.slice(7, 19)}.bin`, blob.bytes) }, 'Save'));
  if (!blob) return [about, el('p', { class: 'faint' }, missing(fx, bundle, of, content))];
  const magic = IMAGES[content.media_type];
  if (magic && blob.bytes.length <= IMAGE_MOST && magic.every((b, i) => blob.bytes[i] === b)) {
    return [el('img', { class: 'output', alt: `${name}, an image of ${bytesOf(content.size)}`, src: `data:${content.media_type};base64,${toBase64(blob.bytes)}` }), about];
  }
  return [textView(blob.bytes, content.media_type), about];
}

function textView(bytes, mediaType) {
  try {
    if (mediaType === 'application/json' && bytes.length <= PARSED_MOST) return el('pre', { tabindex: '0' }, foreign(pretty(parseJson(bytes))));
    // Whole characters: a cut in the middle of one is stepped back from.
    let end = Math.min(bytes.length, PARSED_MOST);
    while (end < bytes.length && end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
    const text = DECODER.decode(bytes.subarray(0, end));
    const view = foreign(text);
    if (end < bytes.length) view.append(el('span', { class: 'cut' }, ` The whole has ${bytesOf(bytes.length)}.`));
    return el('pre', { tabindex: '0' }, view);
  } catch {
    const rows = [];
    for (let at = 0; at < Math.min(bytes.length, 512); at += 16) {
      const row = bytes.subarray(at, at + 16);
      rows.push(`${at.toString(16).padStart(6, '0')}  ${Array.from(row, (b) => HEX[b]).join(' ')}`);
    }
    return el('pre', { tabindex: '0' }, rows.join('\n'), bytes.length > 512 ? el('span', { class: 'cut' }, `\n… cut here: 512 of ${number(bytes.length)} bytes`) : null);
  }
}

/** What was asked, on one line. */
function askedBriefly(fx) {
  const { params } = fx.request.effect;
  const keys = Object.keys(params);
  const inputs = fx.request.effect.inputs.map((input) => `file ${input.name}`);
  const texts = keys.map((k) => `${k}: ${typeof params[k] === 'string' ? params[k] : pretty(params[k])}`);
  return [...texts, ...inputs].join('; ').slice(0, 400).replace(/\s+/g, ' ') || 'no parameters';
}

/** How it ended, on one line. */
function endedBriefly(fx, bundle) {
  const receipt = fx.receipt?.document;
  if (receipt?.status === 'succeeded') {
    const blob = bundle.contents.blobs.get(receipt.output.digest);
    if (blob && blob.bytes.length < 4096) {
      try {
        return DECODER.decode(blob.bytes);
      } catch {
        // Bytes, which are named by their size.
      }
    }
    return `${receipt.output.media_type}, ${bytesOf(receipt.output.size)}`;
  }
  if (receipt) return [receipt.code, receipt.reason, receipt.message].filter(Boolean).join(': ');
  if (outcomeOf(fx) === 'refused') return `${fx.refusals.at(-1).document.stage}: ${fx.refusals.at(-1).document.found}`;
  return fx.decisions.at(-1)?.document.checks.find((c) => c.outcome !== 'pass')?.detail ?? '';
}

// ---------------------------------------------------------------------------------- one effect

function outcomeView(fx, bundle) {
  const receipt = fx.receipt?.document;
  if (!receipt) return null;
  const observed = receipt.observations ? bundle.contents.blobs.get(receipt.observations) : null;
  let metrics = null;
  if (observed) {
    try {
      metrics = parseJson(observed.bytes).metrics;
    } catch {
      // What a driver saw need not be what this page can read.
    }
  }
  const cell = (key, name, say) => (metrics && typeof metrics[key] === 'number' && metrics[key] > 0 ? [name, say(metrics[key])] : null);
  return [
    el('h3', null, receipt.output ? 'Output' : 'Outcome', ' ', chip(...OUTCOMES[receipt.status])),
    receipt.output ? contentView(fx, bundle, 'outputs', receipt.output, 'Output') : null,
    !receipt.output && pairs(['Reason', foreign(receipt.reason, 500)], receipt.code && ['Code', el('code', null, foreign(receipt.code, 80))], receipt.message && ['Message', foreign(receipt.message)]),
    receipt.raw_output && [el('div', { class: 'faint' }, 'What the tool gave all the same:'), contentView(fx, bundle, 'outputs', receipt.raw_output, 'Raw output')],
    receipt.artifacts.map((a) => [el('div', { class: 'faint' }, 'File ', foreign(a.name, 200)), contentView(fx, bundle, 'artifacts', a.content, 'Artifact')]),
    metrics && pairs(cell('cpu_ms', 'CPU time', (v) => `${number(v)} ms`), cell('wall_ms', 'Wall time', (v) => `${number(v)} ms`), cell('memory_bytes', 'Memory', bytesOf), cell('fuel', 'Fuel', number)),
    fx.resolution && pairs(['Resolved', `${fx.resolution.document.found}, ${fx.resolution.document.resolved_at}`], ['Note', foreign(fx.resolution.document.note)]),
  ];
}

function asked(fx, bundle) {
  const { request } = fx;
  const { effect } = request;
  return [
    el('h3', null, 'What was asked'),
    params(effect.params),
    effect.inputs.map((input) => lazy({ class: 'plain' }, ['Input ', foreign(input.name, 200)], () => contentView(fx, bundle, 'inputs', input, 'Input'))),
    pairs(
      ['Subject', foreign(request.subject, 300)],
      request.origin && ['Vouched for by', [foreign(request.origin.surface, 200), ' (', foreign(request.origin.method, 200), '), for ', foreign(request.origin.principal, 200)]],
      request.delegations.length > 0 && ['Delegations', String(request.delegations.length)],
      ['Sandbox', foreign(effect.sandbox, 200)],
      ['Ceiling', `${number(effect.resources.cpu_ms)} ms CPU, ${number(effect.resources.wall_ms)} ms, ${bytesOf(effect.resources.memory_bytes)} memory, ${bytesOf(effect.resources.output_bytes)} output`],
      request.consumes.length > 0 && ['Builds on', request.consumes.map((id) => el('div', null, longId(id)))],
      Object.keys(request.context).length > 0 && ['Context', el('code', null, foreign(pretty(request.context), 2000))]),
  ];
}

/** Whether the output of an effect was kept, and whether it still is. */
function keptSaid(fx, bundle) {
  const { retained, output, raw_output: raw } = fx.receipt.document;
  if (!retained) return 'no: the output was dropped, as asked';
  const gone = [output, raw].filter(Boolean).map((content) => goneOf(fx, bundle, 'outputs', content)).find(Boolean);
  return gone ? ['at first. ', goneSaid(gone)] : 'yes';
}

function receiptView(fx, bundle) {
  const receipt = fx.receipt?.document;
  const ids = [['Request', fx.id], ...fx.approvals.map((a) => [`${a.document.verdict === 'approve' ? 'Approval' : 'Rejection'} by ${a.document.approver.slice(0, 60)}`, a.id]), ...fx.decisions.map((d) => ['Decision', d.id]),
    ...fx.intents.map((i) => ['Intent', i.id]), ...fx.refusals.map((r) => ['Refusal', r.id])];
  const rows = ids.map(([key, id]) => [foreign(key, 90), longId(id)]);
  if (!receipt) return [el('h3', null, 'Documents'), pairs(...rows)];
  return [
    el('h3', null, `Receipt, lamport ${receipt.lamport}`),
    pairs(['Receipt', longId(fx.receipt.id)], ['Previous', longId(receipt.prev)], ...rows,
      ['Effect', longId(receipt.effect)], ['Params', longId(receipt.args_hash)],
      ['Tool', [foreign(`${receipt.tool.name} ${receipt.tool.version}`, 300), ' ', longId(receipt.tool.package)]],
      receipt.output && ['Output', longId(receipt.output.digest)],
      receipt.observations && ['Observations', longId(receipt.observations)],
      ['Snapshot', longId(receipt.snapshot)], ['Seed', longId(receipt.prng_seed)],
      ['Started', receipt.started_at], ['Finished', receipt.finished_at], ['Kept', keptSaid(fx, bundle)]),
  ];
}

function steps(fx) {
  return lazy({ class: 'plain' }, `Its ${fx.events.length} events`, () => table('Events', ['Seq', 'Event', 'At', 'Log index'],
    fx.events.map((e) => [String(e.seq), e.kind, `${day(e.at)} ${clock(e.at)}`, number(e.index)])));
}

const tookMs = (fx) => (fx.receipt ? Date.parse(fx.receipt.document.finished_at) - Date.parse(fx.receipt.document.started_at) : 0);

/** Who asked: a subject by its own key, or by a surface that vouches for it. */
const asker = ({ request }) => [foreign(request.subject, 120), request.origin ? [' through ', foreign(request.origin.surface, 60)] : null];

const APPROVALS = { approve: ['info', 'check', 'Approved by '], reject: ['bad', 'cross', 'Rejected by '] };
const approvalChip = ({ document }) => chip(...APPROVALS[document.verdict], foreign(document.approver, 60));
const wasEscalated = (fx) => fx.decisions.some((d) => d.document.verdict === 'ESCALATE');
const wasResolved = (fx) => Boolean(fx.resolution);
const wasApproved = (fx) => fx.approvals.some((a) => a.document.verdict === 'approve');

/** Every decision on it, as a word and a code, and how it ended. */
const verdictChips = (fx) => [
  fx.decisions.map((d) => verdictChip(d.document)), fx.approvals.map(approvalChip),
  fx.receipt || outcomeOf(fx) === 'refused' ? chip(...OUTCOMES[outcomeOf(fx)]) : null,
  fx.resolution ? chip('info', 'check', 'Resolved: ', fx.resolution.document.found) : null,
];

function effectItem(fx, view) {
  const { bundle, extra } = view;
  const outcome = OUTCOMES[outcomeOf(fx)];
  const { effect } = fx.request;
  const ended = endedBriefly(fx, bundle);
  const box = lazy({ id: `effect-${fx.n}` }, [
    el('span', { class: 'what' }, el('span', { class: 'n' }, fx.n), foreign(effect.tool, 120), el('span', { class: 'faint' }, ' / '), foreign(effect.operation, 120)),
    el('span', { class: 'when' }, view.stamp(fx.at), fx.receipt ? `, ${number(tookMs(fx))} ms` : ''),
    el('span', { class: 'brief' }, el('span', { class: 'who' }, asker(fx)), ' asked: ', foreign(askedBriefly(fx), 240)),
    ended !== '' && el('span', { class: 'brief' }, fx.receipt?.document.status === 'succeeded' ? 'Gave: ' : 'Why: ', foreign(ended.slice(0, 300).replace(/\s+/g, ' '), 240)),
    el('span', { class: 'verdicts' }, verdictChips(fx)),
  ], () => el('div', { class: 'fx-body' }, asked(fx, bundle), fx.decisions.map((d, i, all) => judgement(d, i, all, extra)),
    stages(fx), outcomeView(fx, bundle), receiptView(fx, bundle), steps(fx)));
  return el('li', { class: 'fx' }, el('span', { class: `dot t-${outcome[0]}` }, icon(outcome[1])), box);
}

// ------------------------------------------------------------------------------------- sections

function section(id, title, lead, ...children) {
  return el('section', { id, 'aria-labelledby': `${id}-title`, tabindex: '-1' }, el('h2', { id: `${id}-title` }, title), lead && el('p', { class: 'lead' }, lead), children);
}

/** What the list can be narrowed to: by how an effect ended, and by what was needed on the way. */
function filtersOf(effects) {
  const ends = [...new Set(effects.map(outcomeOf))].map((o) => ({ says: OUTCOMES[o][2], keeps: (fx) => outcomeOf(fx) === o }));
  const ways = [{ says: 'Escalated', keeps: wasEscalated }, { says: 'Approved', keeps: wasApproved }, { says: 'Resolved', keeps: wasResolved }];
  return [{ says: 'All', keeps: () => true }, ...ends, ...ways]
    .map((filter) => ({ ...filter, count: effects.filter(filter.keeps).length }))
    .filter(({ count }) => count > 0);
}

function matches(fx, text, filter) {
  if (!filter.keeps(fx)) return false;
  if (text === '') return true;
  const { effect, subject } = fx.request;
  const decision = fx.decisions.at(-1)?.document;
  const heap = [effect.tool, effect.operation, subject, fx.id, fx.receipt?.id, decision?.code, fx.receipt?.document.reason, JSON.stringify(effect.params).slice(0, 5000)];
  return heap.some((v) => v && v.toLowerCase().includes(text));
}

function timeline(view) {
  const { effects } = view;
  const listBox = el('div', { id: 'effects' });
  const status = el('p', { class: 'faint', role: 'status' });
  const search = el('input', { type: 'search', placeholder: 'Find: tool, subject, id, code, params', 'aria-label': 'Find effects' });
  const filters = filtersOf(effects);
  let [chosen] = filters;
  const buttons = filters.map((f) => el('button', { type: 'button', 'aria-pressed': String(f === chosen), onclick: () => choose(f) }, f.says, ' ', el('span', { class: 'faint' }, number(f.count))));
  const items = (some) => el('ol', { class: 'fxs' }, some.map((fx) => effectItem(fx, view)));
  const draw = () => {
    const found = effects.filter((fx) => matches(fx, search.value.trim().toLowerCase(), chosen));
    const groups = [];
    for (let i = 0; i < found.length; i += GROUP) groups.push(found.slice(i, i + GROUP));
    status.textContent = found.length === effects.length ? `${number(effects.length)} effects` : `${number(found.length)} of ${number(effects.length)} effects`;
    listBox.replaceChildren(...(groups.length <= 1 ? groups.map(items) : groups.map((some, i) => {
      const box = lazy({ class: 'group' }, `Effects ${number(some[0].n)} to ${number(some.at(-1).n)}, from ${clock(some[0].at).slice(0, 8)}`, () => items(some));
      if (i === 0) {
        box.open = true;
        box.fill();
      }
      return box;
    })));
  };
  const choose = (filter) => {
    chosen = filter;
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(filters[i] === filter)));
    draw();
  };
  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(draw, 120);
  });
  draw();
  return section('timeline', 'Timeline', 'Each request, what was decided, what ran, and the receipt. All of it is read from the bundle that this page has just verified.',
    effects.length > 3 && el('div', { class: 'filters' }, search, filters.length > 2 && buttons), status, listBox);
}

// ------------------------------------------------------------------------------------- budgets

function seriesOf(effects) {
  const series = new Map();
  for (const fx of effects) {
    for (const { document } of fx.decisions) {
      for (const b of document.inputs.balances) {
        const key = `${b.budget}\n${b.key}`;
        if (!series.has(key)) series.set(key, { budget: b.budget, key: b.key, points: [] });
        series.get(key).points.push({ step: document.inputs.step, at: document.decided_at, ...b });
      }
    }
  }
  for (const one of series.values()) one.points.sort((a, b) => a.step - b.step);
  return [...series.values()];
}

function chart(points) {
  const [w, h, left, top, bottom] = [320, 120, 6, 8, 20];
  const limit = points.at(-1).limit;
  const peak = Math.max(1, ...points.map((p) => p.used + p.reserved));
  const drawLimit = limit !== undefined && limit <= peak * 3;
  const most = drawLimit ? Math.max(limit, peak) * 1.08 : peak * 1.25;
  const x = (i) => left + (i / Math.max(1, points.length)) * (w - 2 * left);
  const y = (v) => top + (1 - v / most) * (h - top - bottom);
  const line = (of) => points.map((p, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(of(p)).toFixed(1)}H${x(i + 1).toFixed(1)}`).join('');
  const used = line((p) => p.used);
  return svg('svg', { viewBox: `0 0 ${w} ${h}`, role: 'img', 'aria-label': `Used before each of ${points.length} judgements: from ${points[0].used} to ${points.at(-1).used}` },
    svg('path', { class: 'area', d: `${used}L${x(points.length).toFixed(1)} ${y(0).toFixed(1)}L${x(0).toFixed(1)} ${y(0).toFixed(1)}Z` }),
    svg('path', { class: 'stroke', d: used }),
    points.some((p) => p.reserved > 0) && svg('path', { class: 'held', d: line((p) => p.used + p.reserved) }),
    drawLimit && svg('line', { class: 'limit', x1: left, x2: w - left, y1: y(limit), y2: y(limit) }),
    svg('line', { class: 'axis', x1: left, x2: w - left, y1: y(0), y2: y(0) }),
    points.map((p, i) => i > 0 && p.window_start !== points[i - 1].window_start && svg('line', { class: 'axis', x1: x(i), x2: x(i), y1: top, y2: y(0) })),
    svg('text', { x: left, y: h - 5 }, clock(points[0].at).slice(0, 8)),
    svg('text', { x: w - left, y: h - 5, 'text-anchor': 'end' }, clock(points.at(-1).at).slice(0, 8)));
}

function budgets(view) {
  const series = seriesOf(view.effects);
  const cards = series.slice(0, 60).map(({ budget, key, points }) => {
    const last = points.at(-1);
    const limit = last.limit === undefined ? 'no limit' : `of ${number(last.limit)}`;
    return el('div', { class: 'card' }, el('h3', null, foreign(budget, 120)), el('div', { class: 'faint id' }, foreign(key, 160)),
      chart(points), el('div', null, el('span', { class: 'big' }, number(last.used)), ` used ${limit}`, last.reserved > 0 ? `, ${number(last.reserved)} reserved` : ''),
      el('div', { class: 'faint' }, `before the last of ${number(points.length)} judgements; window from ${last.window_start.replace('.000Z', 'Z')}`));
  });
  return section('budgets', 'Budgets over time', 'What the Guardian saw in each account when it judged: solid is used, dotted also reserved, dashed the limit where it is near.',
    series.length === 0 ? el('p', { class: 'faint' }, 'No decision of this run read a balance.') : el('div', { class: 'cards' }, cards),
    series.length > 60 && el('p', { class: 'cut' }, `60 of ${series.length} accounts are shown.`));
}

// --------------------------------------------------------------------------------------- replay

function divergence(d) {
  const fields = Array.isArray(d.fields) ? d.fields : [];
  return el('div', { class: 'card' },
    el('h3', null, el('code', null, foreign(d.code ?? 'RPL', 40)), ' ', foreign(String(d.kind ?? 'diverged').toUpperCase(), 40), ` at event ${Number(d.seq)}`, ' (', foreign(d.event ?? '', 100), ')'),
    el('p', { class: 'faint' }, Number(d.last_match) >= 0 ? `Last match: event ${Number(d.last_match)}.` : 'No event before it matches.', d.seed ? [' Seed ', longId(String(d.seed))] : null),
    fields.slice(0, 200).map((f) => [el('p', null, el('code', null, foreign(f.field ?? '', 500))), el('div', { class: 'sides' },
      el('div', null, el('h4', null, 'Recorded'), el('pre', { tabindex: '0' }, foreign(f.recorded ?? 'nothing'))),
      el('div', null, el('h4', null, 'Replayed'), el('pre', { tabindex: '0' }, foreign(f.replayed ?? 'nothing'))))]),
    fields.length > 200 && el('p', { class: 'cut' }, `200 of ${fields.length} fields are shown.`),
    d.diff && [el('p', { class: 'faint' }, 'Line by line'), el('pre', { tabindex: '0' }, foreign(d.diff))]);
}

function divergences(view) {
  const { replay } = view.extra;
  if (!replay) return section('divergences', 'Replay', null, el('p', { class: 'faint' }, 'No replay came with this page. Run writ replay on the bundle, or make the page with writ report --replay.'));
  const list = Array.isArray(replay.divergences) ? replay.divergences : [];
  return section('divergences', 'Replay', null, el('div', { class: 'computed' },
    el('span', { class: 'tag' }, 'Computed by writ replay; not verified by this page'),
    pairs(
      replay.state !== undefined && ['State', list.length === 0 && !replay.failure ? chip('good', 'check', foreign(replay.state, 60)) : chip('bad', 'cross', foreign(replay.state, 60))],
      replay.run_hash !== undefined && ['Run hash', longId(String(replay.run_hash))],
      replay.replay_hash !== undefined && ['Replay hash', longId(String(replay.replay_hash))],
      ['Divergences', String(list.length)]),
    replay.failure && ['code', 'found', 'remedy'].map((k) => el('p', { class: 't-bad' }, foreign(replay.failure[k] ?? '', 1000))),
    list.length === 0 && !replay.failure && el('p', null, 'Running it again gave what was recorded.'),
    el('ul', { class: 'lines' }, [['reexecuted', 'good', 'check', 'Executed again: '], ['checked', 'good', 'check', 'Checked: '], ['neither', 'warn', 'dash', 'Neither: ']].map(([key, tone, sign, says]) =>
      (Array.isArray(replay[key]) ? replay[key] : []).slice(0, 100).map((line) => el('li', null, el('span', { class: `t-${tone}` }, icon(sign)), says, foreign(line, 600)))))),
  el('div', null, list.slice(0, 100).map(divergence)), list.length > 100 && el('p', { class: 'cut' }, `100 of ${list.length} divergences are shown.`));
}

// ---------------------------------------------------------------------------------------- chain

const KIND_CLASS = { 'decision.made': 'k-decision', 'receipt.signed': 'k-receipt', 'effect.refused': 'k-refused' };

function chainNode(event, lamport, isForeign) {
  const square = event.kind.startsWith('run.');
  return svg('svg', { class: 'node', viewBox: '0 0 70.4 35.2', 'aria-hidden': 'true' },
    lamport !== null && svg('line', { class: 'join', x1: 21, x2: 40, y1: 17.6, y2: 17.6 }),
    isForeign ? null : square
      ? svg('rect', { class: `ev ${KIND_CLASS[event.kind] ?? ''}`, x: 10, y: 11, width: 13, height: 13 })
      : svg('circle', { class: `ev ${KIND_CLASS[event.kind] ?? ''}`, cx: 16.2, cy: 17.6, r: 6 }),
    lamport !== null && [svg('circle', { class: `lam ${isForeign ? 'foreign' : ''}`, cx: 49.6, cy: 17.6, r: 12 }), svg('text', { x: 49.6, y: 22 }, lamport > 999 ? '…' : lamport)]);
}

function chain(view) {
  const { journals } = view.bundle;
  const all = [...journals.run, ...journals.consumed].sort((a, b) => a.index - b.index);
  const isReceipt = (e) => e.kind === 'receipt.signed';
  const firstReceipt = all.findIndex(isReceipt);
  const lastReceipt = all.findLastIndex(isReceipt);
  const body = el('ol', { class: 'chain' });
  const where = el('span', { role: 'status' });
  let page = 0;
  const pages = Math.ceil(all.length / PAGE);
  const row = (event, i) => {
    const isForeign = event.journal === 'consumed';
    const document = isReceipt(event) ? documentOf(view.bundle, event.body) : null;
    const lane2 = firstReceipt >= 0 && firstReceipt < lastReceipt && i >= firstReceipt && i <= lastReceipt;
    const classes = [lane2 && 'lane2', i === firstReceipt && 'lane2-first', i === lastReceipt && 'lane2-last', i === 0 && 'first', i === all.length - 1 && 'last'].filter(Boolean).join(' ');
    return el('li', { class: classes }, chainNode(event, document?.lamport ?? null, isForeign),
      lazy(null, [
        el('span', { class: 'kind' }, isForeign ? ['receipt of ', foreign(event.run, 80)] : event.kind),
        document && el('span', { class: 'small' }, `lamport ${document.lamport}`),
        el('span', { class: 'small' }, isForeign ? 'consumed' : `seq ${event.seq}`), el('span', { class: 'small' }, clock(event.at)), el('span', { class: 'small' }, short(event.id)),
      ], () => pairs(['Event', longId(event.id)], ['Previous', event.prev ? longId(event.prev) : 'none: the first'], ['Body', longId(event.body)],
        ['At', event.at], ['Log index', number(event.index)], event.prng_seed && ['Seed', longId(event.prng_seed)],
        document && [document.prev === journals.run.at(0).id ? 'Receipt before: none, so the opening' : 'Receipt before', longId(document.prev)])));
  };
  const previous = el('button', { type: 'button', onclick: () => turn(-1) }, 'Earlier');
  const next = el('button', { type: 'button', onclick: () => turn(1) }, 'Later');
  const draw = () => {
    const from = page * PAGE;
    body.replaceChildren(...all.slice(from, from + PAGE).map((event, i) => row(event, from + i)));
    where.textContent = `events ${number(from + 1)} to ${number(Math.min(from + PAGE, all.length))} of ${number(all.length)}`;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
  };
  const turn = (by) => {
    page = Math.min(pages - 1, Math.max(0, page + by));
    draw();
  };
  draw();
  return section('chain', 'The chain', 'Each event names the one before it (left), each receipt the receipt before it (right, with its lamport number). A closed run ends in a closing that covers them all.',
    pages > 1 && el('p', { class: 'pager' }, previous, next, where), body);
}

/** A key's thumbprint in hexadecimal, in groups, as one reads it out: the bytes of its id, which is base64url. */
function fingerprint(kid) {
  const hex = toHex(fromBase64Url(kid));
  return el('span', { class: 'print' }, hex.match(/.{4}/g).map((group) => [el('span', null, group), ' ']));
}

function keys(view) {
  const { system, logKey } = view.bundle;
  const rows = [...system.trust.keys.values()].map((key) => [
    foreign(key.role, 40), foreign(key.subject, 200), key.tenant === null ? '–' : foreign(key.tenant, 200), key.algorithm, longId(key.kid),
    system.revocations.has(key.kid) ? chip('bad', 'cross', `revoked ${day(key.revokedAt)}`) : chip('good', 'check', 'in force'),
  ]);
  const roots = [['Founded the installation', system.founder.kid], ['Signed the checkpoint', logKey.kid]];
  return section('keys', 'Keys', 'Who may sign what, as the system run adds it up. The first two carry all others: compare them over the telephone, or on paper, with what the operator tells you.',
    el('div', { class: 'cards' }, roots.map(([says, kid]) => el('div', { class: 'card' }, el('h3', null, says), fingerprint(kid), el('div', { class: 'faint' }, 'Key id ', longId(kid))))),
    table('Keys', ['Role', 'Subject', 'Tenant', 'Algorithm', 'Key id', 'State'], rows));
}
