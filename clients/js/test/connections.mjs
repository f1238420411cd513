// What the client takes for an answer, against a server of a few lines.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { NoAnswer, NotBelieved, Outcome, WritClient } from 'writ-client';

let says;
const server = createServer((_, response) => {
  response.writeHead(says.status, { 'Content-Type': says.type, Location: '/login', Connection: 'close' });
  response.write(says.body ?? '');
  if (!says.stands) response.end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const listening = (answerWithin) => new WritClient({
  url: `http://127.0.0.1:${server.address().port}`,
  origin: 'origin', tenant: 'acme', subject: 'agent', token: 'writ_token', keys: [],
  retryFor: 0, answerWithin,
});
let client = listening(60);
const calls = {
  put: () => client.put('content'),
  cancel: () => client.cancel('sha256:00'),
  bundle: () => client.bundle('run'),
  events: () => client.events('run').next(),
};
const each = async (kind, message, names = Object.keys(calls)) => {
  for (const name of names) {
    await assert.rejects(calls[name], (e) => e instanceof kind && message.test(e.message), name);
  }
};

// A page and somebody else's server say of nothing that it was done; a redirect is not followed.
for (const stranger of [
  { status: 404, type: 'text/html' },
  { status: 404, type: 'text/plain' },
  { status: 200, type: 'text/html; charset=utf-8', body: '<html>' },
  { status: 204, type: 'text/plain' },
  { status: 302, type: 'text/html' },
]) {
  says = stranger;
  await each(NotBelieved, /of something that is no Writ/);
}
says = { status: 200, type: 'application/json', body: '{}' };
await each(NotBelieved, /other content is stored/, ['put']);

// Whoever has seen all of a closed run is told its end again, and that is all.
says = { status: 200, type: 'text/event-stream', body: 'data: {"kind":"run.closed","seq":1}\n\n' };
assert.deepEqual(await client.events('run', { after: 1 }).next(), { done: true, value: undefined });

// A port that fetch never opens is no server that may come up.
const never = new WritClient({
  url: 'http://127.0.0.1:6000', origin: 'origin', tenant: 'acme', subject: 'agent', token: 'writ_token', keys: [], retryFor: 3600,
});
await assert.rejects(never.put('content'), (e) => e instanceof NoAnswer && /bad port/.test(e.message));

// Where nobody listens, the address is told; an option that there is not is none of a client's, either.
const gone = createServer();
await new Promise((resolve) => gone.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${gone.address().port}`;
await new Promise((resolve) => gone.close(resolve));
const options = { url, origin: 'origin', tenant: 'acme', subject: 'agent', token: 'writ_token', keys: [], retryFor: 0 };
await assert.rejects(new WritClient(options).put('content'),
  (e) => e instanceof NoAnswer && !e.sent && e.message === `GWY-061 no connection to ${url}: ECONNREFUSED`);
assert.throws(() => new WritClient({ ...options, retry_for: 0 }), /^TypeError: a client has no option retry_for$/);
for (const wrong of ['127.0.0.1:8181', 'localhost:8181', 'http://127.0.0.1:99999', '']) {
  assert.throws(() => new WritClient({ ...options, url: wrong }), /GWY-064 a server's address is http/);
}

// One that stands still is none, whatever the platform has forgotten of it meanwhile.
client = listening(0.2);
says = { status: 200, type: 'application/json', body: '{', stands: true };
const collecting = setInterval(() => globalThis.gc(), 20);
await each(NoAnswer, /TimeoutError/, ['put', 'cancel', 'bundle']);
says = { status: 200, type: 'text/event-stream', body: '', stands: true };
await each(NoAnswer, /the events ended/, ['events']);
clearInterval(collecting);

// A signal ends the waiting by its own reason: for an answer that does not come, between two attempts, before anything is
// sent, and while it follows a run. It is let go of when the call has ended.
client = listening(3600);
const aborted = async (ask) => {
  const controller = new AbortController();
  const reason = new Error('the user left');
  const asked = ask(controller.signal);
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(asked, (e) => e === reason);
};
const waits = new Outcome({ decision: { verdict: 'ESCALATE', request: 'sha256:00' } });
for (const stands of ['application/json', 'text/event-stream']) {
  says = { status: 200, type: stands, body: '', stands: true };
  await aborted((signal) => client.call({ tool: 'js' }, { signal }));
  await aborted((signal) => client.wait(waits, 3600, { signal }));
  await aborted((signal) => client.bundle('run', { signal }));
  await aborted((signal) => client.events('run', { signal }).next());
}
const nobody = new WritClient({
  url: 'http://127.0.0.1:1', origin: 'origin', tenant: 'acme', subject: 'agent', token: 'writ_token', keys: [], retryFor: 3600,
  fetch: async () => { throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }); },
});
await aborted((signal) => nobody.get('/v1/runs', { signal }));
await aborted((signal) => nobody.events('run', { signal }).next());
await assert.rejects(nobody.get('/v1/runs', { signal: AbortSignal.abort('before') }), (e) => e === 'before');
const kept = new AbortController();
says = { status: 200, type: 'application/json', body: '{"runs":[]}' };
await client.get('/v1/runs', { signal: kept.signal });
assert.equal(getEventListeners(kept.signal, 'abort').length, 0);
server.close();
server.closeAllConnections();
console.log('no strangers');
