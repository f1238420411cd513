// The page at work: what it verifies, and when; what the reader can do. Last of the page's scripts.

function render(result, state, digest) {
  const { bundle } = result;
  const effects = effectsOf(bundle);
  const numbers = totals(bundle, effects);
  const view = { bundle, result, digest, extra: state.extra, effects, totals: numbers, stamp: stampOf(numbers), policies: policiesOf(bundle, effects) };
  byId('content').replaceChildren(summary(view), timeline(view), policyText(view), budgets(view), divergences(view), chain(view), keys(view));
  byId('sections').hidden = false;
  printable = view;
  document.documentElement.dataset.until = bundle.journals.run.at(-1).at;
  document.title = `${result.manifest.run.slice(0, 80).replace(HIDDEN, '\ufffd')}: Writ report`;
}

const embedded = (id) => byId(id).textContent.trim();
const state = { bundle: null, name: 'run.writ', trust: null, trustFrom: null, note: null, noteFrom: null, witnesses: [], extra: {}, turn: 0 };

function reset() {
  const bundle = embedded('writ-bundle');
  state.bundle = bundle === '' ? null : fromBase64(bundle);
  state.extra = JSON.parse(embedded('writ-extra'));
  state.trust = state.extra.trust ? utf8(JSON.stringify(state.extra.trust)) : null;
  state.trustFrom = state.trust ? 'page' : null;
  state.note = state.extra.checkpoint ? utf8(state.extra.checkpoint) : null;
  state.noteFrom = state.note ? 'page' : null;
  state.witnesses = state.extra.witnesses ?? [];
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
  seal('waiting', 'Nothing is verified yet', 'Verifying …', 'This page verifies the bundle it carries before it shows anything of it.');
  let shown = 0;
  const progress = (what, done, all) => {
    const now = performance.now();
    if (now - shown < 100) return;
    shown = now;
    byId('seal-progress').value = (what === 'contents' ? 0 : 0.3) + (done / all) * (what === 'contents' ? 0.3 : 0.7);
  };
  let outcome;
  try {
    if (state.bundle === null) throw new Refusal('RPL-011', 'the bundle in this page');
    const result = await verifyBundle(state.bundle, { trust: state.trust, checkpoint: state.note, witnesses: state.witnesses, quorum: state.extra.quorum, progress });
    if (turn !== state.turn) return;
    const digest = await digestOfLarge(state.bundle);
    if (turn !== state.turn) return;
    sealed(result, state);
    render(result, state, digest);
    outcome = result.pinned ? 'verified' : 'integrity';
    if (!result.pinned) byId('own-box').open = true;
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
  const digest = state.bundle === null ? 'none' : await digestOfLarge(state.bundle);
  byId('footer').replaceChildren(
    el('p', null, `Bundle: ${number(state.bundle?.length ?? 0)} bytes, `, el('span', { class: 'id' }, digest), '.'),
    el('p', null, engine === 'WebCrypto' ? 'Signatures: Ed25519 of this browser’s WebCrypto, and our own arithmetic wherever it says no.' : 'Signatures: this browser’s WebCrypto has no Ed25519, so our own arithmetic (RFC 8032) judged every one.',
      ' The verifier is written from the specification alone; the same file runs under Node: save it above.'));
  document.documentElement.dataset.outcome = outcome;
}

async function take(kind, file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (kind === 'trust') Object.assign(state, { trust: bytes, trustFrom: 'reader' });
  else if (kind === 'note') Object.assign(state, { note: bytes, noteFrom: 'reader', witnesses: [] });
  else Object.assign(state, { bundle: bytes, name: file.name, note: state.noteFrom === 'reader' ? state.note : null, witnesses: [] });
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
  byId('save-bundle').addEventListener('click', () => state.bundle && save(state.name, state.bundle));
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
