// The adapter protocol (spec/conformance.md) for the second implementation: profile L1 and bundles.
//
//   node adapter.mjs VERIFY_MJS [own]
//
// VERIFY_MJS is the second verifier of bundles (replay/…/verify.mjs); `own` has it verify every
// signature by its own arithmetic instead of asking the runtime's WebCrypto first.
import { pathToFileURL } from 'node:url';

const V = await import(pathToFileURL(process.argv[2]).href);
V.useWebCrypto(process.argv[3] !== 'own');

const LIMITS = { bytes: 64 << 20, depth: 160 };

function bytes(input, key) {
  const text = input[key];
  const decoded = typeof text === 'string' ? V.fromBase64(text) : null;
  if (decoded === null) throw new V.Refusal('CAN-023', `input/${key}`);
  return decoded;
}

function hash(text, place) {
  const decoded = V.fromBase64(text);
  if (decoded === null) throw new V.Refusal('CAN-023', place);
  if (decoded.length !== 32) throw new V.Refusal('CAN-040', place, `${decoded.length} bytes`, '32 bytes');
  return decoded;
}

const document = (input, key) => (key in input ? V.writeJson(input[key]) : bytes(input, `${key}_b64`));
const proof = (input) => {
  const hashes = input.proof_b64.map((text) => hash(text, 'input/proof_b64'));
  if (hashes.length > 64) throw new V.Refusal('LED-041', 'input/proof_b64', hashes.length, 64);
  return hashes;
};
const trustFile = ({ keys, required_algorithms: required }) =>
  V.writeJson({ keys, ...(required === undefined ? {} : { writ_required_algorithms: required }) });
const VALID = { valid: true };

const OPERATIONS = {
  canonicalize(input) {
    const form = V.canonicalize(bytes(input, 'json_b64'));
    return { canonical_b64: V.toBase64(form), digest: V.digestOf(form) };
  },
  digest: (input) => ({ digest: V.digestOf(bytes(input, 'bytes_b64')) }),
  'digest.parse': (input) => ({ digest: V.parseDigest(input.text) }),
  async 'ed25519.verify'(input) {
    const key = V.checkEd25519Key(bytes(input, 'public_key_b64'));
    await V.verifyEd25519(key, bytes(input, 'message_b64'), bytes(input, 'signature_b64'));
    return VALID;
  },
  'key.enrol': (input) => ({ kid: V.parseJwk(input.jwk).kid }),
  'dsse.pae': (input) => ({ pae_b64: V.toBase64(V.pae(input.payload_type, bytes(input, 'payload_b64'))) }),
  async 'dsse.verify'(input) {
    const keys = new Map();
    for (const jwk of input.keys) {
      const key = V.parseJwk(jwk);
      if (keys.has(key.kid)) throw new V.Refusal('CAN-056', 'input/keys', key.kid);
      keys.set(key.kid, key);
    }
    const envelope = V.parseEnvelope(document(input, 'envelope'));
    const message = V.pae(envelope.payloadType, envelope.payload);
    for (const { keyid, sig } of envelope.signatures) {
      const key = keys.get(keyid);
      if (!key) throw new V.Refusal('CAN-052', 'envelope', keyid);
      await V.verifySignature(key, message, sig);
    }
    return {
      kids: envelope.signatures.map(({ keyid }) => keyid),
      payload_b64: V.toBase64(envelope.payload),
      payload_type: envelope.payloadType,
    };
  },
  async 'trust.verify'(input) {
    const known = V.parseTrust(trustFile(input));
    const envelope = V.parseEnvelope(document(input, 'envelope'));
    const signers = await V.verifyEnvelope(envelope, input.payload_type, known, V.liveAt(input.at));
    return { id: envelope.id, payload_b64: V.toBase64(envelope.payload), signers: signers.map((key) => key.kid) };
  },
  'merkle.leaf': (input) => ({ leaf_hash_b64: V.toBase64(V.leafHash(bytes(input, 'entry_b64'))) }),
  'merkle.root'(input) {
    const leaves = input.entries_b64.map((entry) => V.leafHash(V.fromBase64(entry)));
    return { root_b64: V.toBase64(V.rootOf(leaves)) };
  },
  'merkle.inclusion'(input) {
    const leaf = hash(input.leaf_hash_b64, 'input/leaf_hash_b64');
    V.verifyInclusion(leaf, input.index, input.size, proof(input), hash(input.root_b64, 'input/root_b64'));
    return VALID;
  },
  'merkle.consistency'(input) {
    const [root1, root2] = [hash(input.root1_b64, 'input/root1_b64'), hash(input.root2_b64, 'input/root2_b64')];
    V.verifyConsistency(input.size1, root1, input.size2, root2, proof(input));
    return VALID;
  },
  async 'checkpoint.verify'(input) {
    const key = V.parseNoteKey(input.vkey);
    const { size, root, extensions } = await V.verifyCheckpoint(V.utf8(input.note), key, input.origin ?? key.name);
    return { extensions, root_b64: V.toBase64(V.fromHex(root.slice('sha256:'.length))), size: Number(size) };
  },
  async 'cosignature.verify'(input) {
    const witness = V.parseWitnessKey(input.vkey);
    const time = await V.cosignedAt(V.utf8(input.note), witness);
    if (time === null) throw new V.Refusal('LED-053', 'note', null, witness.name);
    return { time };
  },
  async 'bundle.verify'(input) {
    const pins = 'keys' in input ? trustFile(input) : null;
    const kept = 'checkpoint' in input ? V.utf8(input.checkpoint) : null;
    const { pinned, manifest, witnesses } = await V.verifyBundle(bytes(input, 'bundle_b64'), {
      trust: pins,
      checkpoint: kept,
      witnesses: input.witnesses ?? [],
      quorum: input.quorum ?? null,
      closed: input.closed === true,
      installation: 'installation' in input ? V.utf8(input.installation) : null,
    });
    const { incarnation, origin, run, size, state, tenant } = manifest;
    return { incarnation, origin, pinned, run, size, state, tenant, ...('witnesses' in input ? { witnesses } : {}) };
  },
};

const refused = (id, code, message) => ({ code, id, message: String(message).toWellFormed(), ok: false });

async function answer(line) {
  let id = null;
  try {
    const question = V.parseJson(line, LIMITS);
    if (typeof question?.id !== 'string') throw new V.Refusal('CAN-022', 'line/id');
    id = question.id;
    const { op, input } = question;
    if (!Object.hasOwn(OPERATIONS, op)) return refused(id, 'unsupported', `no operation ${op}`);
    return { id, ok: true, output: await OPERATIONS[op](input) };
  } catch (e) {
    return refused(id, e instanceof V.Refusal ? e.code : 'internal', e.message);
  }
}

// Lines of bytes: what is no UTF-8 must reach the parser as it came.
let held = [];
for await (const chunk of process.stdin) {
  let from = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
    held.push(chunk.subarray(from, end));
    from = end + 1;
    const line = new Uint8Array(Buffer.concat(held));
    held = [];
    process.stdout.write(Buffer.concat([V.writeJson(await answer(line), LIMITS), Buffer.from('\n')]));
  }
  held.push(chunk.subarray(from));
}
