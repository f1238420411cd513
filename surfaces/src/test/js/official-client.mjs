// The official TypeScript SDK's client against `writ mcp` and against `writ serve`, by hand:
//   npm install @modelcontextprotocol/sdk && node official-client.mjs WRIT HOME
// WRIT is the launcher, HOME a new data directory that `writ init` made. It needs the npm registry, so ./check does not run it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [writ, home] = process.argv.slice(2);
const require = createRequire(process.cwd() + '/');
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
const { ElicitRequestSchema } = await load('types.js');

const textOf = (result) => result.content.map((c) => c.text).join('\n');

async function exercise(name, transport) {
  const client = new Client({ name: 'by-hand', version: '1' }, { capabilities: { elicitation: {} } });
  const asked = [];
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    asked.push(request.params.message);
    const id = /approve (sha256:[0-9a-f]{64})/.exec(request.params.message)[1];
    execFileSync(writ, ['approve', id, '--home', home]);
    return { action: 'accept', content: {} };
  });
  await client.connect(transport);
  const say = (what) => console.log(`${name}: ${what}`);
  say(`connected to ${client.getServerVersion().name}, ${Object.keys(client.getServerCapabilities())}`);

  const { tools } = await client.listTools();
  assert.ok(tools.every((t) => t.description && t.inputSchema.type === 'object'));
  const js = tools.find((t) => t.name === 'js');
  assert.match(js.inputSchema.properties.source.description, /script/);
  say(`${tools.length} tools`);

  const sum = await client.callTool({ name: 'js', arguments: { source: '6*7' } });
  assert.equal(textOf(sum), '42');

  const progress = [];
  await client.callTool({ name: 'js', arguments: { source: '1' } }, undefined, { onprogress: (p) => progress.push(p.message) });
  say(`progress: ${progress.length ? progress[0] : 'none'}`);
  assert.ok(progress.length > 0);

  const both = await Promise.all([1, 2, 3, 4].map((n) => client.callTool({ name: 'js', arguments: { source: `${n}` } })));
  assert.deepEqual(both.map(textOf), ['1', '2', '3', '4']);

  const denied = await client.callTool({ name: 'no_such_tool', arguments: {} });
  assert.ok(denied.isError && denied._meta['dev.writ/verdict'] === 'DENY');

  const stop = new AbortController();
  const long = client.callTool({ name: 'js', arguments: { source: 'for(;;);' } }, undefined, { signal: stop.signal });
  setTimeout(() => stop.abort('enough'), 1500);
  await assert.rejects(long);
  say('a call was cancelled');

  const big = 'select ' + "'x'";
  const waits = await client.callTool({ name: 'sql', arguments: { sql: big } });
  assert.equal(waits.isError, false, textOf(waits));
  assert.equal(asked.length, 1);
  say(`asked: ${asked[0].split('\n')[0].slice(0, 70)}… and went on: ${textOf(waits)}`);

  const { resources } = await client.listResources();
  const receipt = await client.readResource({ uri: resources.at(-1).uri });
  assert.match(receipt.contents[0].text, /payloadType/);
  const completed = await client.complete({ ref: { type: 'ref/resource', uri: 'writ://receipts/{id}' }, argument: { name: 'id', value: 'sha256:' } });
  assert.ok(completed.completion.values.length > 0);
  say(`${resources.length} resources, ${completed.completion.total} completions`);
  await client.close();
}

await exercise('stdio', new StdioClientTransport({ command: writ, args: ['mcp', '--home', home], stderr: 'inherit' }));

const server = spawn(writ, ['serve', '--port', '0', '--home', home], { stdio: ['ignore', 'pipe', 'ignore'] });
try {
  const url = await new Promise((done) => server.stdout.once('data', (d) => done(String(d).match(/http:\S+/)[0])));
  const { token } = JSON.parse(readFileSync(`${home}/serving.json`));
  await exercise('http', new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }));
  await exercise('stdio through the server', new StdioClientTransport({ command: writ, args: ['mcp', '--home', home], stderr: 'inherit' }));
} finally {
  server.kill('SIGTERM');
}
execFileSync(writ, ['audit', '--home', home]);
console.log('audit: good');
