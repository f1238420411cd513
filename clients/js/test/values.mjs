// What is no JSON value is refused before anything is signed or sent, and what a refusal of the server says.
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Toolbox } from 'writ-client/openai';
import { Outcome, Refused, WritClient, WrongFile, canonicalize, signingKey } from 'writ-client';

const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
let sent = 0;
const settings = {
  url: 'http://127.0.0.1:1', origin: 'o', tenant: 't', subject: 's', keys: [], retryFor: 0,
  fetch: () => { sent += 1; throw new TypeError('nothing may be sent'); },
};
const clients = [
  new WritClient({ ...settings, key: await signingKey(pem) }),
  new WritClient({ ...settings, token: `writ_${'0'.repeat(64)}` }),
];
const holed = [1, 2];
holed.length = 3;
const refused = {
  Date: new Date(0), Map: new Map(), Set: new Set(), URL: new URL('http://a.example'), RegExp: /a/,
  Number: new Number(1), Uint8Array: new Uint8Array([1, 2]), undefined, bigint: 1n, hole: holed,
  Told: new (class Told { toJSON() { throw new Error('toJSON was called'); } })(),
  Infinity: Infinity,
};
for (const [kind, value] of Object.entries(refused)) {
  for (const client of clients) {
    let told = 'nothing was refused';
    try {
      await client.call({ tool: 'js', params: { list: [0, value] } });
    } catch (e) {
      told = `${e.code} ${e.message}`;
    }
    const place = kind === 'hole' ? 'effect.params.list[1][2]' : 'effect.params.list[1]';
    for (const part of ['GWY-062', place, kind]) {
      if (!told.includes(part)) throw new Error(`${kind}: ${told}`);
    }
  }
}
if (sent !== 0) throw new Error('something was sent');
// fetch would take a run's dots for steps in the path.
const addresses = [];
const dotted = new WritClient({
  ...settings, key: await signingKey(pem), fetch: (url) => { addresses.push(new URL(url)); throw new TypeError('nobody'); },
});
for (const ask of [() => dotted.bundle('.'), () => dotted.close('..'), () => dotted.events('..').next()]) {
  await ask().catch(() => {});
}
const places = addresses.map((url) => url.pathname + url.search).join();
if (places !== '/v1/runs//bundle?run=.,/v1/runs//close?run=..,/v1/runs//events?run=..') throw new Error(places);
const plain = Object.assign(Object.create(null), { a: [1.5, null, true, 'x', 9007199254740991, {}] });
if (canonicalize(plain) !== '{"a":[1.5,null,true,"x",9007199254740991,{}]}') throw new Error('plain');
if (canonicalize([1e21, Number.MAX_VALUE]) !== '[1e+21,1.7976931348623157e+308]') throw new Error('any double is a number');
for (const [problem, told] of [
  [{ code: 'GWY-011', title: 'nothing answers to that path', detail: '' }, 'GWY-011 nothing answers to that path'],
  [{ code: 'EXE-901', title: 'the run is closed', detail: 'acme/main' }, 'EXE-901 the run is closed: acme/main'],
]) {
  if (new Refused(409, problem).message !== told) throw new Error(new Refused(409, problem).message);
}
// What a model writes that is no JSON of an object is told to the model.
const least = { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 };
const offering = {
  operations: async () => [{ tool: 'js', version: '1.0.0', default: true, name: 'eval', description: '', input: {}, resources: least }],
};
const toolbox = await Toolbox.of(offering);
for (const [text, wanted] of [['{', 'no JSON'], ['[1]', 'no object'], ['null', 'no object'], ['{"x":"\\ud800"}', 'surrogate']]) {
  const { content } = await toolbox.answer({ id: '1', function: { name: 'js', arguments: text } });
  if (!content.startsWith('The arguments ') || !content.includes(wanted)) throw new Error(content);
}
// Who listens for a short time does not ask the server to think for longer.
const asked = [];
const brief = new WritClient({
  ...settings, token: `writ_${'0'.repeat(64)}`, answerWithin: 9,
  fetch: async (url) => { asked.push(url); throw new TypeError('nobody'); },
});
const waits = new Outcome({ decision: { verdict: 'ESCALATE', request: 'sha256:00' } });
await brief.wait(waits, 3600).catch(() => {});
if (!asked[0].endsWith('?wait_s=4')) throw new Error(asked[0]);
// What a wrong file has is told for what it is, and before anything is asked for.
const made = (kind, options) => generateKeyPairSync(kind, options);
const written = (key, type, more) => key.export({ type, format: 'pem', ...more });
const ec = made('ec', { namedCurve: 'P-256' });
const ours = made('ed25519');
for (const [text, code, wanted] of [
  ['', 'CAN-074', 'without PEM'],
  ['{"keys":[]}', 'CAN-074', 'without PEM'],
  [written(ours.publicKey, 'spki'), 'CAN-074', 'PUBLIC KEY'],
  [written(ec.privateKey, 'sec1'), 'CAN-074', 'EC PRIVATE KEY'],
  [pem.replace('M', '=M'), 'CAN-074', 'base64'],
  [written(ec.privateKey, 'pkcs8'), 'CAN-075', 'Ed25519'],
  [written(ours.privateKey, 'pkcs8', { cipher: 'aes-256-cbc', passphrase: 'x' }), 'CAN-077', 'encrypted'],
]) {
  const e = await signingKey(text).then(() => new Error('taken'), (found) => found);
  if (!(e instanceof WrongFile) || e.code !== code || !e.message.includes(wanted)) throw new Error(`${text}: ${e}`);
}
let unpinned;
try {
  new WritClient({ ...settings, token: `writ_${'0'.repeat(64)}`, keys: undefined });
} catch (e) {
  unpinned = e;
}
if (!(unpinned instanceof WrongFile) || !unpinned.message.includes('trust.jwks')) throw new Error(`keys: ${unpinned}`);
// What is asked for in other words than ours is no request without it.
for (const [wrong, wanted] of [
  [() => clients[0].call({ tool: 'js' }, { idempotency_key: 'task-17' }), 'idempotency_key'],
  [() => clients[1].call({ tool: 'js' }, { idempotency_key: 'task-17' }), 'idempotency_key'],
  [() => clients[0].request('main', { tool: 'js' }, { key: 'task-17' }), 'key'],
  [() => clients[0].call('js', { source: '6*7' }), 'an effect is an object'],
  [async () => new WritClient({ ...settings, key: await signingKey(pem), origin: undefined }), 'writ checkpoint'],
  [async () => new WritClient({ ...settings, key: await signingKey(pem), tenant: undefined }), 'tenant'],
  [async () => new WritClient({ ...settings, key: signingKey(pem) }), 'await signingKey'],
]) {
  const e = await wrong().then(() => new Error('taken'), (found) => found);
  if (!(e instanceof TypeError) || !e.message.includes(wanted)) throw new Error(`${wanted}: ${e}`);
}
// A program of CommonJS may require it, where Node can do that; and nothing of Node's is looked for by a bundler for browsers.
if (process.features.require_module) createRequire(import.meta.url)('writ-client');
const source = await readFile(new URL(import.meta.resolve('writ-client')), 'utf8');
if (/^(?!\s*\/\/).*(import\(|from|require\()\s*'node:/m.test(source)) throw new Error('a bundler would look for a module of Node');
console.log(`${Object.keys(refused).length} refused`);
