// What JavaScript files refer to. Runs in the js tool behind acorn; `input` is {path: text}.
const references = [];
const unreadable = [];
const DYNAMIC = ['eval', 'Function', 'AsyncFunction', 'GeneratorFunction', 'WebAssembly'];
const HIDDEN = [
  'binding', '_linkedBinding', '_load', 'createRequire', 'dlopen', 'getBuiltinModule', 'mainModule', 'require',
];

function literal(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  const plain = node?.type === 'TemplateLiteral' && node.expressions.length === 0;
  return plain ? node.quasis[0].value.cooked : null;
}

function refer(path, node, name, dynamic) {
  const { line, column } = node.loc.start;
  references.push({ path, line, column: column + 1, name, dynamic });
}

function loaded(path, node, from, how) {
  const name = literal(from);
  refer(path, node, name ?? how, name === null);
}

function visit(path, node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      loaded(path, node, node.source, 'import');
      break;
    case 'ExportNamedDeclaration':
      if (node.source) loaded(path, node, node.source, 'export');
      break;
    case 'ImportExpression':
      loaded(path, node, node.source, 'import()');
      break;
    case 'CallExpression':
    case 'NewExpression':
      if (node.callee.type === 'Identifier' && node.callee.name === 'require') {
        loaded(path, node, node.arguments[0], 'require()');
        for (const argument of node.arguments) visit(path, argument);
        return;
      }
      break;
    case 'Identifier':
      if (node.name === 'require') refer(path, node, 'require under another name', true);
      if (DYNAMIC.includes(node.name)) refer(path, node, node.name, true);
      break;
    case 'MemberExpression': {
      const name = node.computed ? literal(node.property) : node.property.name;
      if (HIDDEN.includes(name) || name === 'constructor') refer(path, node, `.${name}`, true);
      break;
    }
    default:
  }
  for (const [key, child] of Object.entries(node)) {
    if (key === 'loc') continue;
    for (const each of Array.isArray(child) ? child : [child]) {
      if (typeof each?.type === 'string') visit(path, each);
    }
  }
}

// How Node takes a .js file depends on package.json files and on what the file says: it is read in both ways.
function goals(path) {
  if (path.endsWith('.cjs')) return ['commonjs'];
  return path.endsWith('.mjs') ? ['module'] : ['module', 'commonjs'];
}

for (const [path, text] of Object.entries(input)) {
  const failures = [];
  for (const sourceType of goals(path)) {
    try {
      visit(path, acorn.parse(text, { ecmaVersion: 'latest', sourceType, locations: true, allowHashBang: true }));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length === goals(path).length) unreadable.push(`${path}: ${failures[0]}`);
}
({ references, unreadable });
