// Tools of Writ for LangChain: one for each operation that the caller may use. The package's own `tool`
// function is passed in, so that this depends on no version of it:
//
//   import { tool } from '@langchain/core/tools';
//   const tools = await langchainTools(client, tool);
import { named, told } from './openai.mjs';

/**
 * @param client a WritClient
 * @param tool `tool` of @langchain/core/tools
 * @param {object} options only: which operations; run; wait: seconds to wait for an approval
 */
export async function langchainTools(client, tool, { only, run = 'main', wait = 0 } = {}) {
  const operations = named(await client.operations(run), only);
  return [...operations].map(([name, operation]) =>
    tool(
      async (params, config) => {
        const id = config?.toolCall?.id;
        const outcome = await client.call(
          { tool: operation.tool, version: operation.version, operation: operation.name, params },
          { run, wait, signal: config?.signal, ...(id?.trim() ? { idempotencyKey: `${run}/${id}` } : {}) });
        return told(outcome);
      },
      { name, description: operation.description || name, schema: operation.input }));
}
