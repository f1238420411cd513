// What the client takes for an answer, against a server of a few lines.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { NoAnswer, NotBelieved, WritClient } from 'writ-client';

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

// One that stands still is none, whatever the platform has forgotten of it meanwhile.
client = listening(0.2);
says = { status: 200, type: 'application/json', body: '{', stands: true };
const collecting = setInterval(() => globalThis.gc(), 20);
await each(NoAnswer, /TimeoutError/, ['put', 'cancel', 'bundle']);
says = { status: 200, type: 'text/event-stream', body: '', stands: true };
await each(NoAnswer, /the events ended/, ['events']);
clearInterval(collecting);
server.close();
server.closeAllConnections();
console.log('no strangers');
