// node mutations.mjs VERIFIER BUNDLE STEP: flips bytes of a bundle, in the file and inside entries with
// checksums that fit, cuts it off, and says what was not refused. The same scheme as Java's
// NoByteOfABundleIsWithoutMeaningTest.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { pack } from './archive.mjs';

const [, , verifier, file, stepText] = process.argv;
const V = await import(pathToFileURL(verifier));
const step = Number(stepText);
const bundle = new Uint8Array(readFileSync(file));
const entries = V.readArchive(bundle);
const codes = {};
const passed = [];
let tried = 0;

async function refused(bytes, what) {
  tried++;
  try {
    await V.verifyBundle(bytes);
    passed.push(what);
  } catch (e) {
    if (!(e instanceof V.Refusal)) passed.push(`${what}: ${e.stack}`);
    else if (!e.code || !e.place) passed.push(`${what}: a refusal without code or place`);
    else codes[e.code] = (codes[e.code] ?? 0) + 1;
  }
}

function flip(bytes, at) {
  const out = Uint8Array.from(bytes);
  out[at] ^= 1 << (at % 8);
  return out;
}

if (!V.equalBytes(pack(V, entries), bundle)) passed.push('the packed entries are not the bundle');
await V.verifyBundle(bundle);
for (let at = 0; at < bundle.length; at += step) await refused(flip(bundle, at), `byte ${at}`);
for (let length = 0; length < bundle.length; length += step * 7) await refused(bundle.subarray(0, length), `the first ${length} bytes`);
await refused(V.concat(bundle, Uint8Array.of(0)), 'a byte more');
for (const [name, bytes] of entries) {
  for (let at = tried % step; at < bytes.length; at += step) {
    await refused(pack(V, new Map(entries).set(name, flip(bytes, at))), `${name} byte ${at}`);
  }
}
console.log(JSON.stringify({ tried, passed: passed.slice(0, 20), codes }));
process.exitCode = passed.length === 0 ? 0 : 1;
