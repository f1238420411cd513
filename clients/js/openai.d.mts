import { Abortable, Operation, Outcome, WritClient } from './writ.mjs';

export interface ToolCall {
  id: string;
  function: { name: string; arguments: string };
}

export interface ToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

export interface ToolDefinition {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface ToolboxOptions {
  only?: (operation: Operation) => boolean;
  run?: string;
  wait?: number;
}

export function told(outcome: Outcome): string;
export function named(
  operations: Operation[],
  only?: (operation: Operation) => boolean,
): Map<string, Operation>;

export class Toolbox {
  static of(client: WritClient, options?: ToolboxOptions): Promise<Toolbox>;
  get definitions(): ToolDefinition[];
  answer(call: ToolCall, options?: Abortable): Promise<ToolMessage>;
  answers(message: { tool_calls?: ToolCall[] | null }, options?: Abortable): Promise<ToolMessage[]>;
}
