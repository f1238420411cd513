import { WritClient } from './writ.mjs';
import { ToolboxOptions } from './openai.mjs';

/** Tools for LangChain; `tool` is that of @langchain/core/tools. */
export function langchainTools<T>(
  client: WritClient,
  tool: (run: (params: any, config?: any) => Promise<string>, fields: any) => T,
  options?: ToolboxOptions,
): Promise<T[]>;
