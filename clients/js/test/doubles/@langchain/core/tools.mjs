// A double of what the adapter uses of @langchain/core, which ./check has no registry to fetch from: `tool` takes and
// `invoke` does what those of 1.4 do with a JSON Schema.
export function tool(run, { name, description, schema }) {
  JSON.stringify(schema);
  return { name, description, schema, invoke: (input, config = {}) => run(input, config) };
}
