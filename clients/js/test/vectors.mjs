// Holds the client's canonical JSON, digests and checks of envelopes to golden-vectors. Says how many of each it was held to.
// JSON.parse takes what strict JSON refuses; of that the client sees answers' wrappers alone, since what is signed is
// compared with its canonical form. So of canonicalize only what is accepted is compared.
import { readFile, readdir } from 'node:fs/promises';
import { WritError, canonicalize, digest, verify } from 'writ-client';

const ROLES = { receipt: 'executor', decision: 'guardian', intent: 'guardian', request: 'agent', approval: 'approver' };
const utf8 = new TextEncoder();
const bytes = (text) => Buffer.from(text, 'base64');

const operations = {
  async canonicalize({ json_b64: given }, expected) {
    if (expected.code) return undefined;
    const data = utf8.encode(canonicalize(JSON.parse(bytes(given).toString('utf8'))));
    return { canonical_b64: Buffer.from(data).toString('base64'), digest: await digest(data) };
  },
  async digest({ bytes_b64: given }) {
    return { digest: await digest(bytes(given)) };
  },
  async 'trust.verify'(given) {
    const kind = Object.keys(ROLES).find((k) => given.payload_type === `application/vnd.writ.${k}.v1+json`);
    if (!kind) return undefined;
    const envelope = given.envelope ?? JSON.parse(bytes(given.envelope_b64).toString('utf8'));
    const { id } = await verify(envelope, kind, given.keys, ROLES[kind], given.at, given.required_algorithms);
    return { id };
  },
};

const held = {};
let wrong = 0;
const folder = process.argv[2];
for (const name of (await readdir(folder, { recursive: true })).filter((n) => n.endsWith('.json')).sort()) {
  const { op, input, expect } = JSON.parse(await readFile(`${folder}/${name}`, 'utf8'));
  if (!operations[op]) continue;
  let found;
  try {
    found = await operations[op](input, expect);
  } catch (e) {
    if (!(e instanceof WritError)) throw e;
    found = e;
  }
  if (found === undefined) continue;
  held[op] = (held[op] ?? 0) + 1;
  // The client has Ed25519 and ES256, and of a document one signature.
  const more = /ML-DSA-65|writ_rp_id/.test(JSON.stringify(input))
    || Object.values(input.required_algorithms ?? {}).some((algorithms) => algorithms.length > 1);
  const fits = found instanceof WritError
    ? expect.code || (op === 'trust.verify' && more)
    : Object.entries(found).every(([k, v]) => expect[k] === v);
  if (!fits) {
    wrong += 1;
    console.log(`${name}: ${found instanceof Error ? found : JSON.stringify(found)}, not ${JSON.stringify(expect)}`);
  }
}
console.log(JSON.stringify(held));
process.exit(wrong ? 1 : 0);
