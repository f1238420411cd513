// Asks for one effect and believes the answer only where the installation's keys have signed it.
// Arguments: the server's address, its log's name, the agent's tenant, name and key file, the
// installation's trust.jwks, and the effect's tool, version, operation, sandbox and parameters.
import { readFile } from 'node:fs/promises';
import { WritClient, signingKey } from './writ.mjs';

const [url, origin, tenant, subject, keyFile, trustFile, tool, version, operation, sandbox, params] =
  process.argv.slice(2);
const client = new WritClient({
  url,
  origin,
  tenant,
  subject,
  key: await signingKey(await readFile(keyFile, 'utf8')),
  keys: JSON.parse(await readFile(trustFile, 'utf8')).keys,
});
const request = await client.request(
  'example',
  {
    tool,
    version,
    operation,
    sandbox,
    params: JSON.parse(params),
    resources: { cpu_ms: 1000, memory_bytes: 67108864, output_bytes: 1048576, wall_ms: 2000 },
  },
  { idempotencyKey: 'example-1' });
const outcome = await client.submit(request);
console.log('verdict', outcome.verdict);
if (outcome.receipt) console.log('status', outcome.receipt.status);
// What a tool gives may hold characters that steer a terminal.
if (outcome.output) console.log('output', new TextDecoder().decode(outcome.output).replace(/\p{C}/gu, '?'));
