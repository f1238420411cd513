// The log from its beginning to now, by its signed checkpoints: each verified here, and proved to hold the one before.
import { cosignedAt, parseCheckpoint, parseNote, parseNoteKey, parseWitnessKey, utf8, verifyCheckpoint, verifyConsistency } from '../verify.mjs';
import { get } from './api.mjs';
import { digestBytes, failed, remembered } from './proof.mjs';

/**
 * @typedef {import('./proof.mjs').Verdict} Verdict
 * @typedef {{note: string, size: number | null, root: string | null, verdict: Verdict}} Point
 * @typedef {{origin: string, points: Point[], known: Verdict & {first?: boolean}, state: Verdict['state']}} History
 * @typedef {{name: string, size: number, at: string | null, verdict: Verdict, trouble?: {code: string, since: string}}} Seen
 */

/**
 * The checkpoints of a log, with the one that was published last in the place of one of its size.
 * @param {string[]} checkpoints
 * @param {any} published
 * @returns {string[]}
 */
export function withPublished(checkpoints, published) {
  if (!published?.note) return checkpoints;
  const size = sizeOf(published.note);
  return [...checkpoints.filter((note) => sizeOf(note) !== size), published.note].sort((a, b) => sizeOf(a) - sizeOf(b));
}

/** @param {string} note */
function sizeOf(note) {
  try {
    return parseCheckpoint(parseNote(utf8(note)).text).size;
  } catch {
    return 0; // told as failed by whoever verifies it
  }
}

/**
 * What the witnesses that the server asks say of the checkpoint that was published last, each cosignature verified here.
 * @param {any} published
 * @returns {Promise<Seen[]>}
 */
export function witnessed(published) {
  return Promise.all((published?.witnesses ?? []).map(async (/** @type {any} */ { key, name, trouble }) => {
    /** @type {Seen} */
    const seen = { name, size: published.note ? sizeOf(published.note) : 0, at: null, verdict: { state: 'unchecked', why: '' }, trouble };
    try {
      const time = published.note ? await cosignedAt(utf8(published.note), parseWitnessKey(key)) : null;
      if (time !== null) Object.assign(seen, { at: new Date(time * 1000).toISOString(), verdict: { state: 'checked' } });
    } catch (e) {
      seen.verdict = failed(e);
    }
    return seen;
  }));
}

/**
 * @param {{log_keys: string[], checkpoints: string[]}} told
 * @returns {Promise<History>}
 */
export async function walk(told) {
  /** @type {Point[]} */
  const points = [];
  const keys = told.log_keys.map((vkey) => ({ vkey, key: parseNoteKey(vkey) }));
  if (keys.length === 0) return { origin: '', points: [], known: { state: 'unchecked', why: 'no-checkpoint' }, state: 'unchecked' };
  let signer = keys[0];
  /** @type {{size: number, root: Uint8Array} | null} */
  let before = null;
  for (const note of told.checkpoints) {
    /** @type {Point} */
    const point = { note, size: null, root: null, verdict: { state: 'unchecked', why: '' } };
    points.push(point);
    try {
      const bytes = utf8(note);
      const signatures = parseNote(bytes).signatures;
      // A log's key may have been followed by another: each checkpoint has the signature of its own time.
      signer = keys.find(({ key }) => signatures.some((/** @type {any} */ s) => s.name === key.name && s.id === key.id)) ?? keys[0];
      const { key } = signer;
      const read = await verifyCheckpoint(bytes, key, key.name);
      Object.assign(point, { size: read.size, root: read.root });
      const now = { size: read.size, root: digestBytes(read.root) };
      if (before !== null) verifyConsistency(before.size, before.root, now.size, now.root, await hashes(before.size, now.size), 'log');
      before = now;
      point.verdict = { state: 'checked' };
    } catch (e) {
      point.verdict = failed(e);
      before = null;
    }
  }
  const last = points.at(-1);
  const known = last?.verdict.state === 'checked' && before !== null
    ? await remembered(signer.vkey, last.note, { origin: signer.key.name, size: before.size, root: before.root })
    : /** @type {Verdict} */ ({ state: 'unchecked', why: 'no-checkpoint' });
  const all = [known, ...points.map((p) => p.verdict)];
  return { origin: signer.key.name, points, known, state: all.some((v) => v.state === 'failed') ? 'failed' : all.some((v) => v.state === 'unchecked') ? 'unchecked' : 'checked' };
}

/**
 * @param {number} from
 * @param {number} to
 */
async function hashes(from, to) {
  if (from === to) return [];
  const answer = await get('/v1/proofs/consistency', { from, to });
  return answer.hashes.map(digestBytes);
}
