import { WritClient } from './writ.mjs';
import { ToolboxOptions } from './openai.mjs';

/**
 * Tools for LangChain; `tool` is that of @langchain/core/tools. It has many forms, of which TypeScript takes a union
 * that cannot be invoked: name the kind of tool that you want, as in `langchainTools<DynamicStructuredTool>(client, tool)`.
 */
export function langchainTools<T>(
  client: WritClient,
  tool: (run: (params: any, config?: any) => Promise<string>, fields: any) => T,
  options?: ToolboxOptions,
): Promise<T[]>;
