// What the server says of an effect, checked here: signatures, chain of documents, places in the log.
// The verifier is the one that the vectors test; nothing is taken from the server's word but the keys themselves,
// and of these the log's is remembered by this browser.
import {
  Refusal, digestOf, equalBytes, leafHash, parseCheckpoint, parseEvent, parseNote, parseNoteKey, parseTrustedKey, readEnvelope, typeOf, utf8,
  verifyCheckpoint, verifyConsistency, verifyEnvelope, verifyInclusion, writeJson,
} from '../verify.mjs';
import { get } from './api.mjs';
import { keep, kept } from './store.mjs';

/**
 * @typedef {{state: 'checked' | 'failed' | 'unchecked', why?: string, code?: string, place?: string, recorded?: string | null, recomputed?: string | null}} Verdict
 * @typedef {{kind: string, id: string, document: any, signature: Verdict, signers: {role: string, subject: string, kid: string, algorithm: string}[], fits: Verdict}} Signed
 * @typedef {{index: number, event: any, id: string, place: Verdict}} Placed
 * @typedef {{documents: Map<string, Signed>, events: Placed[], checkpoint: Verdict & {size?: number, origin?: string}, log: Verdict & {first?: boolean}, state: 'checked' | 'failed' | 'unchecked', counts: {signatures: number, places: number, links: number}, failures: Verdict[]}} Proof
 */

/** @type {Verdict} */
const CHECKED = { state: 'checked' };
/** @type {(code: string, place: string, recorded: string | null, recomputed: string | null) => Error} */
const refusal = (code, place, recorded, recomputed) => new (/** @type {any} */ (Refusal))(code, place, recorded, recomputed);
/** @type {(why: string) => Verdict} */
const unchecked = (why) => ({ state: 'unchecked', why });

/**
 * @param {unknown} e
 * @returns {Verdict}
 */
export function failed(e) {
  if (e instanceof Refusal) return { state: 'failed', code: e.code, place: e.place, recorded: e.recorded, recomputed: e.recomputed };
  return { state: 'failed', code: '', place: String(e), recorded: null, recomputed: null };
}

/**
 * @param {() => void | Promise<void>} check
 * @returns {Promise<Verdict>}
 */
async function judge(check) {
  try {
    await check();
    return CHECKED;
  } catch (e) {
    return failed(e);
  }
}

/** @param {string} hex */
export const digestBytes = (hex) => Uint8Array.from(hex.slice(7).match(/../g) ?? [], (pair) => parseInt(pair, 16));

/**
 * @param {any} recorded
 * @param {any} recomputed
 * @param {string} place
 */
function same(recorded, recomputed, place) {
  if (recorded !== recomputed) throw refusal('EXE-953', place, String(recorded), String(recomputed));
}

/** @param {any[]} jwks */
function trustOf(jwks) {
  const keys = new Map();
  for (const jwk of jwks) {
    const key = parseTrustedKey(jwk);
    keys.set(key.kid, key);
  }
  return { keys, required: {} };
}

/**
 * Whether a key counted when something happened: in its window, and not revoked before.
 * @param {string} at
 */
const inForce = (at) => (/** @type {any} */ key, /** @type {string} */ place) => {
  if (key.notBefore > at || (key.notAfter !== null && at >= key.notAfter)) throw refusal('CAN-054', place, at, `${key.notBefore} – ${key.notAfter ?? '…'}`);
  if (key.revokedAt !== null && key.revokedAt <= at) throw refusal('CAN-055', place, at, key.revokedAt);
};

/** What stands in which event. */
const KIND = new Map(Object.entries({
  'request.received': 'request', 'decision.made': 'decision', 'approval.received': 'approval', 'intent.issued': 'intent', 'effect.refused': 'refusal',
  'effect.dispatched': 'intent', 'receipt.signed': 'receipt', 'doubt.resolved': 'resolution',
}));

/**
 * @param {any} detail the answer of /v1/effects/{id}
 * @returns {any[]} its documents as {envelope} or {payload}
 */
export const documentsOf = (detail) => [detail.request, ...(detail.earlier ?? []), ...(detail.approvals ?? []), detail.decision, detail.intent, detail.refusal, detail.receipt, ...(detail.resolutions ?? [])].filter(Boolean);

/**
 * @param {any} detail
 * @returns {Promise<Proof>}
 */
export async function prove(detail) {
  /** @type {Map<string, Signed>} */
  const documents = new Map();
  const counts = { signatures: 0, places: 0, links: 0 };
  const trust = trustOf(detail.keys ?? []);
  const when = new Map((detail.events ?? []).map((/** @type {any} */ e) => [e.event.body, e.event.at]));
  for (const held of documentsOf(detail)) {
    const one = await signed(held, trust, when);
    if (one.signature.state === 'checked') counts.signatures += one.signers.length;
    documents.set(one.id, one);
  }
  for (const one of documents.values()) {
    one.fits = await judge(() => links(one, documents, detail));
    if (one.fits.state === 'checked') counts.links++;
  }
  const { checkpoint, log } = await checkpointOf(detail);
  const events = await placesOf(detail, checkpoint, documents);
  counts.places = events.filter((e) => e.place.state === 'checked').length;
  const all = [...[...documents.values()].flatMap((d) => [d.signature, d.fits]), ...events.map((e) => e.place), checkpoint, log];
  const failures = all.filter((v) => v.state === 'failed');
  const open = all.some((v) => v.state === 'unchecked');
  return { documents, events, checkpoint, log, counts, failures, state: failures.length > 0 ? 'failed' : open || documents.size === 0 ? 'unchecked' : 'checked' };
}

/**
 * @param {any} held
 * @param {any} trust
 * @param {Map<string, string>} when
 * @returns {Promise<Signed>}
 */
async function signed(held, trust, when) {
  if (!held.envelope) {
    const bytes = writeJson(held.payload);
    return { kind: kindOf(held.payload), id: digestOf(bytes), document: held.payload, signers: [], signature: unchecked('withheld'), fits: unchecked('') };
  }
  const { payloadType } = held.envelope;
  const kind = /^application\/vnd\.writ\.([a-z-]+)\.v1\+json$/.exec(payloadType)?.[1] ?? String(payloadType);
  let id = '';
  let document = null;
  try {
    const envelope = readEnvelope(held.envelope);
    id = envelope.id;
    document = JSON.parse(new TextDecoder().decode(/** @type {Uint8Array} */ (envelope.payload)));
    if (!equalBytes(writeJson(document), envelope.payload)) throw refusal('CAN-012', 'payload', null, null);
    const signers = await verifyEnvelope(envelope, typeOf(kind), trust, inForce(when.get(id) ?? timeOf(document)));
    return { kind, id, document, signature: CHECKED, fits: unchecked(''), signers: signers.map((/** @type {any} */ k) => ({ role: k.role, subject: k.subject, kid: k.kid, algorithm: k.algorithm })) };
  } catch (e) {
    return { kind, id: id || `unreadable-${Math.random()}`, document: document ?? {}, signature: failed(e), fits: unchecked(''), signers: [] };
  }
}

/**
 * A signed document by itself, by keys that count at its own time.
 * @param {any} envelope
 * @param {any[]} keys
 * @returns {Promise<Signed>}
 */
export const proveOne = (envelope, keys) => signed({ envelope }, trustOf(keys), new Map());

/** @param {any} document */
const timeOf = (document) => document.decided_at ?? document.issued_at ?? document.requested_at ?? document.approved_at ?? document.finished_at ?? document.refused_at ?? document.resolved_at ?? document.read_at ?? '';

/** @param {any} payload */
function kindOf(payload) {
  if ('nonce' in payload) return 'request';
  if ('checks' in payload) return 'decision';
  return 'approver' in payload ? 'approval' : 'finished_at' in payload ? 'receipt' : 'audience' in payload ? 'intent' : 'resolution';
}

/**
 * That each document names what it follows from, and that it is about this very effect.
 * @param {Signed} one
 * @param {Map<string, Signed>} documents
 * @param {any} detail
 */
function links(one, documents, detail) {
  const { document: d, kind } = one;
  const request = detail.effect.request_id;
  const asked = documents.get(request)?.document;
  const effect = asked ? digestOf(writeJson(asked.effect)) : null;
  if (kind === 'request') {
    same(one.id, request, 'request');
    for (const name of ['run', 'subject']) same(d[name], detail.effect[name], `request/${name}`);
    for (const name of ['tool', 'version', 'operation']) same(d.effect[name], detail.effect[name], `request/effect/${name}`);
    if (detail.content) same(digestOf(writeJson(d.effect.params)), digestOf(writeJson(detail.content.params)), 'content/params');
    return;
  }
  if (kind !== 'resolution') same(d.request, request, `${kind}/request`);
  if (d.effect !== undefined && effect !== null) same(d.effect, effect, `${kind}/effect`);
  if (kind === 'decision' && one.id === detail.effect.decision_id) same(d.verdict, detail.effect.verdict, 'decision/verdict');
  if (['intent', 'receipt'].includes(kind)) known(documents, d.decision, 'decision', `${kind}/decision`);
  if (kind === 'receipt') {
    known(documents, d.intent, 'intent', 'receipt/intent');
    if (asked) same(d.args_hash, digestOf(writeJson(asked.effect.params)), 'receipt/args_hash');
    same(detail.effect.outcome, d.status, 'effect/outcome');
    if (detail.content?.output) same(detail.content.output.digest, d.output?.digest, 'content/output');
  }
  if (kind === 'resolution') known(documents, d.receipt, 'receipt', 'resolution/receipt');
}

/**
 * @param {Map<string, Signed>} documents
 * @param {string} id
 * @param {string} kind
 * @param {string} place
 */
function known(documents, id, kind, place) {
  const found = documents.get(id);
  same(found?.kind ?? null, kind, place);
}

/** @param {any} detail */
async function checkpointOf(detail) {
  if (!detail.checkpoint || !detail.log_key) return { checkpoint: unchecked('no-checkpoint'), log: unchecked('no-checkpoint') };
  /** @type {any} */
  let held;
  try {
    const bytes = utf8(detail.checkpoint);
    const key = parseNoteKey(detail.log_key);
    const point = await verifyCheckpoint(bytes, key, key.name);
    held = { state: 'checked', size: point.size, origin: point.origin, root: digestBytes(point.root) };
  } catch (e) {
    return { checkpoint: failed(e), log: unchecked('no-checkpoint') };
  }
  return { checkpoint: held, log: await remembered(detail.log_key, detail.checkpoint, held) };
}

/**
 * The log that this browser knows: the same key as ever, and no other history than was seen before.
 * @param {string} key
 * @param {string} note
 * @param {any} point
 * @returns {Promise<Verdict & {first?: boolean}>}
 */
export async function remembered(key, note, point) {
  const name = `writ-log ${point.origin}`;
  const before = kept(name);
  if (before === null) {
    keep(name, JSON.stringify({ key, note }));
    return { state: 'checked', first: true };
  }
  try {
    const was = JSON.parse(before);
    if (was.key !== key) throw refusal('LED-053', 'log_key', key, was.key);
    const old = parseCheckpoint(parseNote(utf8(was.note)).text);
    const [small, large] = old.size <= point.size ? [old, point] : [point, old];
    const bytes = (/** @type {any} */ p) => (typeof p.root === 'string' ? digestBytes(p.root) : p.root);
    let proof = [];
    if (small.size !== large.size) {
      try {
        const answer = await get('/v1/proofs/consistency', { from: small.size, to: large.size });
        proof = (answer.hashes ?? answer.proof ?? []).map(digestBytes);
      } catch {
        return unchecked('no-consistency');
      }
    }
    verifyConsistency(small.size, bytes(small), large.size, bytes(large), proof, 'log');
    if (point.size > old.size) keep(name, JSON.stringify({ key, note }));
    return CHECKED;
  } catch (e) {
    return failed(e);
  }
}

/**
 * @param {any} detail
 * @param {any} checkpoint
 * @param {Map<string, Signed>} documents
 * @returns {Promise<Placed[]>}
 */
async function placesOf(detail, checkpoint, documents) {
  const hashes = new Map((detail.proofs ?? []).map((/** @type {any} */ p) => [p.index, p.hashes]));
  /** @type {Placed[]} */
  const out = [];
  for (const { event, index } of detail.events ?? []) {
    let id = '';
    const place = checkpoint.state !== 'checked' || !hashes.has(index) ? unchecked('no-checkpoint') : await judge(() => {
      const bytes = writeJson(event);
      id = parseEvent(bytes).id;
      verifyInclusion(leafHash(bytes), index, checkpoint.size, hashes.get(index).map(digestBytes), checkpoint.root, `log/${index}`);
      const kind = KIND.get(event.kind);
      if (kind !== undefined && documents.size > 0) known(documents, event.body, kind, `log/${index}/body`);
    });
    out.push({ index, event, id, place });
  }
  return out;
}
