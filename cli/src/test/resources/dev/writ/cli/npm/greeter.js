#!/usr/bin/env node
// An MCP server with one tool, without packages of others.
"use strict";
const lines = require("node:readline").createInterface({ input: process.stdin });
const tool = {
  name: "greet",
  description: "Says GREETING.",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};
const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "greeter", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": (params) => ({
    content: [{ type: "text", text: ["GREETING", params.arguments.name, ...process.argv.slice(2)].join(", ") }],
  }),
};
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) {
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }) + "\n");
  }
});
