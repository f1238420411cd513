#!/usr/bin/env node
// Three tools of the server that README.md names, with its words, where there is no npm.
"use strict";
const lines = require("node:readline").createInterface({ input: process.stdin });
const calls = {
  echo: (given) => `Echo: ${given.message}`,
  "get-env": () => JSON.stringify(process.env),
  "get-sum": (given) => `The sum of ${given.a} and ${given.b} is ${given.a + given.b}.`,
};
const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "everything", version: "1" },
  }),
  "tools/list": () => ({ tools: Object.keys(calls).map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": (params) => ({ content: [{ type: "text", text: calls[params.name](params.arguments) }] }),
};
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) {
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }) + "\n");
  }
});
