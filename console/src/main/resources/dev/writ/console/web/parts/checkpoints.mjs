// The log from its beginning to now, by its signed checkpoints: each verified here, and proved to hold the one before.
import { parseNote, parseNoteKey, utf8, verifyCheckpoint, verifyConsistency } from '../verify.mjs';
import { get } from './api.mjs';
import { digestBytes, failed, remembered } from './proof.mjs';

/**
 * @typedef {import('./proof.mjs').Verdict} Verdict
 * @typedef {{note: string, size: number | null, root: string | null, witnesses: string[], verdict: Verdict}} Point
 * @typedef {{origin: string, points: Point[], known: Verdict & {first?: boolean}, state: Verdict['state']}} History
 */

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
    const point = { note, size: null, root: null, witnesses: [], verdict: { state: 'unchecked', why: '' } };
    points.push(point);
    try {
      const bytes = utf8(note);
      const signatures = parseNote(bytes).signatures;
      // A log's key may have been followed by another: each checkpoint has the signature of its own time.
      signer = keys.find(({ key }) => signatures.some((/** @type {any} */ s) => s.name === key.name && s.id === key.id)) ?? keys[0];
      const { key } = signer;
      const read = await verifyCheckpoint(bytes, key, key.name);
      Object.assign(point, { size: read.size, root: read.root, witnesses: signatures.filter((/** @type {any} */ s) => s.name !== key.name).map((/** @type {any} */ s) => s.name) });
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
