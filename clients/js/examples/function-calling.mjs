// A loop of function calling, with a stand-in for the model. With an SDK, `model` is one call of its chat completions.
import assert from 'node:assert';
import { Toolbox } from 'writ-client/openai';
import { client } from './place.mjs';

const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } });

/** Asks for more than policy allows, and then says what it was told. */
function model(messages, tools) {
  assert(tools.some((tool) => tool.function.name === 'js'));
  if (messages.at(-1).role !== 'user') {
    return { role: 'assistant', content: messages.slice(2).map((m) => m.content).join(' | ') };
  }
  return {
    role: 'assistant',
    content: null,
    tool_calls: [
      call('call_1', 'js', { source: '6*7' }),
      call('call_2', 'js', { source: '1'.repeat(20001) }),
      call('call_3', 'js', { source: 'Math.random()' }),
      call('call_4', 'rm', {}),
    ],
  };
}

const toolbox = await Toolbox.of(client, { only: (o) => o.tool === 'js', run: process.env.WRIT_RUN });
const messages = [{ role: 'user', content: 'What is six times seven?' }];
for (let message; ; messages.push(...(await toolbox.answers(message)))) {
  message = model(messages, toolbox.definitions);
  messages.push(message);
  if (!message.tool_calls) break;
}
console.log(messages.at(-1).content);
// The same message once more, as after an answer that got lost: what was done is not done again.
assert.deepEqual((await toolbox.answers(messages[1]))[2], messages[4]);
