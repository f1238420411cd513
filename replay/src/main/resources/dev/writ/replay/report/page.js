// The page at work: what it verifies, and when; what the reader can do. Last of the page's scripts.

function runView(result, state, digest) {
  const { bundle } = result;
  const effects = effectsOf(bundle);
  const numbers = totals(bundle, effects);
  return { bundle, result, digest, size: bundle.entries.reader.file.length, extra: state.extra, effects, totals: numbers, stamp: stampOf(numbers), policies: policiesOf(bundle, effects) };
}

function draw(sections, print, until, title) {
  byId('content').replaceChildren(...sections.flat());
  byId('sections').hidden = false;
  for (const link of byId('sections').children) link.hidden = !document.querySelector(link.getAttribute('href'));
  printable = print;
  document.documentElement.dataset.until = until;
  document.title = `${title.slice(0, 80).replace(HIDDEN, '\ufffd')}: Writ report`;
}

/** What the page verifies a bundle against. */
function against({ trust, note, witnesses, stamps, extra }) {
  return { trust, checkpoint: note, witnesses, quorum: extra.quorum, stamps };
}

/** One run with everything of it. Gives the outcome. */
async function showRun(state, turn, progress) {
  const result = await verifyBundle(state.bundle, { ...against(state), progress });
  const digest = await digestOfLarge(state.bundle);
  if (turn !== state.turn) return null;
  const view = runView(result, state, digest);
  sealed(result, state);
  draw([summary(view), sampled(state.extra.sample, drawn(view)), timeline(view), policyText(view), controls(view), budgets(view), divergences(view), chain(view), keys(view)].filter(Boolean),
    () => paperOfRun(view), result.bundle.journals.run.at(-1).at, result.manifest.run);
  return result.pinned ? 'verified' : 'integrity';
}

/** All runs that the page carries, added up. */
async function showRuns(state, turn, progress) {
  const runs = await verifyAll(state, progress);
  if (turn !== state.turn) return null;
  sealedAll(runs, state);
  draw(overview(runs, state.extra, choose).filter(Boolean), () => paperOfRuns(runs, state.extra), runs.map((run) => run.last).sort().at(-1), `${runs.length} runs`);
  return runs.every((run) => run.pinned) ? 'verified' : 'integrity';
}

/** Shows one of the runs, or with null all of them. */
async function choose(i) {
  state.bundle = i === null ? null : state.bundles[i];
  delete document.documentElement.dataset.outcome;
  await verify();
  scrollTo(0, 0);
}

const embedded = (id) => byId(id).textContent.trim();
const state = { bundles: [], bundle: null, name: 'run.writ', trust: null, trustFrom: null, note: null, noteFrom: null, witnesses: [], stamps: [], extra: {}, turn: 0 };

function reset() {
  const lines = embedded('writ-bundle').split('\n').filter((line) => line !== '');
  state.bundles = lines.map(fromBase64);
  state.bundle = state.bundles.length === 1 ? state.bundles[0] : null;
  state.extra = JSON.parse(embedded('writ-extra'));
  state.trust = state.extra.trust ? utf8(JSON.stringify(state.extra.trust)) : null;
  state.trustFrom = state.trust ? 'page' : null;
  state.note = state.extra.checkpoint ? utf8(state.extra.checkpoint) : null;
  state.noteFrom = state.note ? 'page' : null;
  state.witnesses = state.extra.witnesses ?? [];
  state.stamps = state.extra.stamps ?? [];
  state.name = 'run.writ';
  byId('reset').hidden = true;
  byId('own-says').textContent = '';
}

async function verify() {
  const turn = ++state.turn;
  printable = null;
  delete document.documentElement.dataset.until;
  byId('content').replaceChildren();
  byId('sections').hidden = true;
  byId('save-trust').hidden = !state.extra.trust;
  document.title = 'Writ report';
  byId('back').hidden = state.bundles.length < 2 || state.bundle === null;
  seal('waiting', 'Nothing is verified yet', 'Verifying …', 'This page verifies what it carries before it shows anything of it.');
  let shown = 0;
  const progress = (what, done, all) => {
    const now = performance.now();
    if (now - shown < 100) return;
    shown = now;
    byId('seal-progress').value = (what === 'contents' ? 0 : 0.3) + (done / all) * (what === 'contents' ? 0.3 : 0.7);
  };
  let outcome;
  try {
    if (state.bundles.includes(null) || state.bundles.length === 0) throw new Refusal('RPL-011', 'the bundle in this page');
    outcome = await (state.bundle === null ? showRuns : showRun)(state, turn, progress);
    if (outcome === null) return;
    if (outcome === 'integrity') byId('own-box').open = true;
  } catch (e) {
    if (turn !== state.turn) return;
    if (!(e instanceof Refusal)) console.error(e);
    byId('content').replaceChildren();
    byId('sections').hidden = true;
    printable = null;
    broken(e);
    outcome = 'broken';
  }
  const engine = await ed25519Engine();
  const shownBundles = state.bundle === null ? state.bundles.filter(Boolean) : [state.bundle];
  const digests = await Promise.all(shownBundles.slice(0, 1).map(digestOfLarge));
  byId('footer').replaceChildren(
    el('p', null, shownBundles.length > 1 ? `${number(shownBundles.length)} bundles: ${number(sumOf(shownBundles, (b) => b.length))} bytes.` : [`Bundle: ${number(sumOf(shownBundles, (b) => b.length))} bytes, `, el('span', { class: 'id' }, digests[0] ?? 'none'), '.']),
    el('p', null, engine === 'WebCrypto' ? 'Signatures: Ed25519 of this browser’s WebCrypto, and our own arithmetic wherever it says no.' : 'Signatures: this browser’s WebCrypto has no Ed25519, so our own arithmetic (RFC 8032) judged every one.',
      ' The verifier is written from the specification alone; the same file runs under Node: save it above.'));
  document.documentElement.dataset.outcome = outcome;
}

async function take(kind, file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (kind === 'trust') Object.assign(state, { trust: bytes, trustFrom: 'reader' });
  else if (kind === 'note') Object.assign(state, { note: bytes, noteFrom: 'reader', witnesses: [], stamps: [] });
  else Object.assign(state, { bundles: [bytes], bundle: bytes, name: file.name, note: state.noteFrom === 'reader' ? state.note : null, witnesses: [], stamps: [] });
  byId('own-says').replaceChildren({ trust: 'Your trust file: ', note: 'Your checkpoint: ', bundle: 'Your bundle: ' }[kind], foreign(file.name, 200));
  byId('reset').hidden = false;
  await verify();
}

/** What a dropped file is, by its first bytes. */
async function kindOf(file) {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (start[0] === 0x50 && start[1] === 0x4b) return 'bundle';
  return DECODER.decode(start.map((b) => b & 0x7f)).trimStart().startsWith('{') ? 'trust' : 'note';
}

function verifierSource() {
  const source = document.querySelector('script[type=module]').textContent;
  return source.slice(0, source.indexOf('// The page around ' + 'the verifier')).trim() + '\n';
}

function wire() {
  for (const [id, kind] of [['pick-trust', 'trust'], ['pick-bundle', 'bundle'], ['pick-note', 'note']]) {
    byId(id).addEventListener('change', (e) => e.target.files[0] && take(kind, e.target.files[0]));
  }
  byId('save-bundle').addEventListener('click', () => {
    if (state.bundle) save(state.name, state.bundle);
    else state.bundles.forEach((bytes, i) => bytes && save(`run-${i + 1}.writ`, bytes));
  });
  byId('back').addEventListener('click', () => choose(null));
  byId('save-verifier').addEventListener('click', () => save('verify.mjs', utf8(verifierSource()), 'text/javascript'));
  byId('save-trust').addEventListener('click', () => save('trust.jwks', utf8(JSON.stringify(state.extra.trust)), 'application/json'));
  byId('reset').addEventListener('click', () => {
    reset();
    for (const id of ['pick-trust', 'pick-bundle', 'pick-note']) byId(id).value = '';
    verify();
  });
  const themes = ['system', 'light', 'dark'];
  byId('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const next = themes[(themes.indexOf(root.dataset.theme ?? 'system') + 1) % 3];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    byId('theme').textContent = `Theme: ${next}`;
  });
  const drop = (on) => document.body.classList.toggle('dropping', on);
  addEventListener('dragover', (e) => {
    e.preventDefault();
    drop(true);
  });
  addEventListener('dragleave', (e) => e.relatedTarget === null && drop(false));
  addEventListener('drop', async (e) => {
    e.preventDefault();
    drop(false);
    for (const file of e.dataTransfer.files) await take(await kindOf(file), file);
  });
  wirePrinting();
}

wire();
reset();
await verify();
