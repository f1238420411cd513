// The independent verifier against the vectors of golden-vectors/, file by file.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const V = await import(process.env.WRIT_VERIFIER ?? '../../main/resources/dev/writ/replay/verify.mjs');
const ROOT = process.env.WRIT_VECTORS ?? new URL('../../../../golden-vectors', import.meta.url).pathname;

const b64 = (text) => new Uint8Array(Buffer.from(text, 'base64'));
const out64 = (bytes) => Buffer.from(bytes).toString('base64');
const hash = (digest) => new Uint8Array(Buffer.from(V.parseDigest(digest).slice(7), 'hex'));
const plain = (value) => JSON.parse(JSON.stringify(value));
const value = (v) => V.parseJson(V.utf8(JSON.stringify(v)));

const SUITES = {
  canonicalize: ({ json_b64 }) => {
    const bytes = V.canonicalize(b64(json_b64));
    assert.deepEqual(V.writeJson(V.parseCanonical(bytes)), bytes);
    return { canonical_b64: out64(bytes), digest: V.digestOf(bytes) };
  },
  digest: ({ bytes_b64, text }) => ({
    digest: bytes_b64 === undefined ? V.parseDigest(text) : V.digestOf(b64(bytes_b64)),
  }),
  ed25519: async ({ public_key_b64, message_b64, signature_b64 }) => {
    const key = V.checkEd25519Key(b64(public_key_b64));
    const verdicts = [];
    for (const engine of [true, false]) {
      V.useWebCrypto(engine);
      verdicts.push(await V.verifyEd25519(key, b64(message_b64), b64(signature_b64)).then(() => 'yes', (e) => e.code));
    }
    assert.equal(verdicts[0], verdicts[1], 'WebCrypto and our own arithmetic agree');
    if (verdicts[0] !== 'yes') throw new V.Refusal(verdicts[0], 'signature');
    return { valid: true };
  },
  jwk: ({ jwk }) => {
    const key = V.parseJwk(value(jwk));
    return { algorithm: key.algorithm, kid: key.kid, public_key_b64: out64(key.bytes) };
  },
  pae: ({ payload_type, payload_b64 }) => ({ pae_b64: out64(V.pae(payload_type, b64(payload_b64))) }),
  dsse: async ({ envelope_b64, payload_type, keys, at }) => {
    const envelope = V.parseEnvelope(b64(envelope_b64));
    const trust = V.parseTrust(V.utf8(JSON.stringify({ keys })));
    const signers = await V.verifyEnvelope(envelope, payload_type, trust, V.liveAt(at));
    return { id: envelope.id, payload_b64: out64(envelope.payload), signers: signers.map((k) => k.kid) };
  },
  merkle: (input) => {
    if (input.kind === 'root') {
      const leaves = input.entries.map((e) => V.leafHash(new Uint8Array(Buffer.from(e, 'hex'))));
      return { root: 'sha256:' + V.toHex(V.rootOf(leaves)) };
    }
    const proof = input.proof.map(hash);
    if (input.kind === 'inclusion') {
      V.verifyInclusion(V.leafHash(new Uint8Array(Buffer.from(input.entry, 'hex'))), input.index, input.size, proof, hash(input.root));
    } else {
      V.verifyConsistency(input.size1, hash(input.root1), input.size2, hash(input.root2), proof);
    }
    return { result: 'accepted' };
  },
  checkpoint: async ({ note, vkey, origin }) => {
    const { size, root, extensions } = await V.verifyCheckpoint(V.utf8(note), V.parseNoteKey(vkey), origin);
    return { size, root, extensions };
  },
};

for (const [suite, run] of Object.entries(SUITES)) {
  const folder = join(ROOT, suite);
  const files = readdirSync(folder).filter((f) => f.endsWith('.json'));
  test(`${suite}: ${files.length} vectors`, async (t) => {
    assert.ok(files.length > 0, 'there are vectors');
    for (const file of files) {
      const { input, expect } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      await t.test(file, async () => {
        const expected = expect.error ? { code: expect.error } : expect;
        let got;
        try {
          got = plain(await run(input));
        } catch (e) {
          if (!(e instanceof V.Refusal)) throw e;
          got = { code: e.code };
        }
        assert.deepEqual(got, expected);
      });
    }
  });
}
