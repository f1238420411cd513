// The official SDK's client through the view of the reference server of the conformance suite, by hand (spec/tool-mcp-passing.md):
//   node official-client-of-one-server.mjs stdio ./writ mcp --server everything --home DIR
//   node official-client-of-one-server.mjs http URL/mcp/everything TOKEN
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const [kind, ...rest] = process.argv.slice(2);
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1) })
    : new StreamableHTTPClientTransport(new URL(rest[0]), {
        requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } },
      });
const client = new Client({ name: 'by-hand', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
const logs = [];
const asked = [];
client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => logs.push(n.params));
client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => {
  asked.push('sampling');
  assert.match(params.systemPrompt, /written by the MCP server everything/);
  return { role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } };
});
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked.push('elicitation');
  assert.match(params.message, /^The MCP server everything asks, in its own words: /);
  return { action: 'accept', content: { username: 'ada', email: 'ada@example.org' } };
});
await client.connect(transport);
assert.equal(client.getServerVersion().name, 'writ/everything');

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'test_simple_text'));
assert.ok(!tools.some((tool) => tool.name === 'writ_outcome' || tool.name === 'js'));

const steps = [];
await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, {
  onprogress: (step) => steps.push(step.progress),
});
assert.deepEqual(steps, [0, 50, 100]);

await client.setLoggingLevel('debug');
await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
assert.ok(logs.length >= 3 && logs.every((log) => log.logger.startsWith('everything')));

// The server of the suite reads answers by the schema of a question, so only the asking is looked at.
await client.callTool({ name: 'test_sampling', arguments: { prompt: 'x' } });
await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } });
assert.deepEqual(asked, ['sampling', 'elicitation']);

const side = await Promise.all([1, 2, 3].map(() => client.callTool({ name: 'test_simple_text', arguments: {} })));
assert.ok(side.every((result) => result._meta['dev.writ/receipt'].startsWith('sha256:')));

const { prompts } = await client.listPrompts();
assert.ok(prompts.length > 0);
const prompt = await client.getPrompt({ name: 'test_simple_prompt' });
assert.equal(prompt.messages[0].role, 'user');
const { resources } = await client.listResources();
const read = await client.readResource({ uri: resources[0].uri });
assert.ok(read.contents.length > 0 && read._meta['dev.writ/receipt']);
const { resourceTemplates } = await client.listResourceTemplates();
assert.ok(resourceTemplates.length > 0);
await assert.rejects(client.readResource({ uri: 'file:///a/../b' }), /TOL-245/);
await client.close();
console.log(`${kind}: all of it passes`);
