// Puts every mutant of some functions of a JavaScript module into one copy of it:
//
//   node mutate.mjs ACORN_MJS MODULE OUT_MJS AREA…
//
// An area is a function (`inWindow`, `Signed.hold`) or a class (`Signed.*`). In the copy,
// `globalThis.mutant` is the number of the mutant that is on. Prints one line of JSON for each:
// {"id", "key"}; the key names function, kind of change, and the text that is changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [acornFile, module, out, ...areas] = process.argv.slice(2);
const { parse } = await import(pathToFileURL(acornFile).href);
const source = readFileSync(module, 'utf8');
const tree = parse(source, { ecmaVersion: 'latest', sourceType: 'module' });

const BOUNDARY = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const TIMES = ['IN_FLIGHT_MS', 'SKEW_MS', 'LATE_MS'];
const PREDICATES = ['includes', 'some', 'every', 'has', 'hasOwn', 'startsWith', 'test'];

const mutants = [];
const known = new Map();
const seen = new Set();
const text = (node) => source.slice(node.start, node.end);
const on = (id) => `mutantIsOn(${id})`;

function add(area, kind, node) {
  const shown = `verify.mjs ${area}: ${kind}: ${text(node).replace(/\s+/g, ' ').slice(0, 140)}`;
  const times = (known.get(shown) ?? 0) + 1;
  known.set(shown, times);
  mutants.push({ id: mutants.length + 1, key: times === 1 ? shown : `${shown} (${times})` });
  return mutants.length;
}

const isNode = (value) => value !== null && typeof value === 'object' && typeof value.type === 'string';

function children(node) {
  const all = Object.values(node).flat().filter(isNode).sort((a, b) => a.start - b.start);
  return all.filter((child, i) => i === 0 || child.start >= all[i - 1].end); // {a} is key and value
}

const callee = (node) => (node.type === 'CallExpression' ? node.callee.name ?? node.callee.property?.name : undefined);

function isBoolean(node) {
  if (node.type === 'LogicalExpression') return node.operator !== '??';
  if (node.type === 'BinaryExpression') return /^[!=<>]=?/.test(node.operator);
  if (node.type === 'UnaryExpression') return node.operator === '!';
  return PREDICATES.includes(callee(node));
}

/** That a refusal is no answer to everything, any vector shows. */
function refuses({ consequent }) {
  const first = consequent.type === 'BlockStatement' ? consequent.body[0] : consequent;
  return callee(first?.expression ?? {}) === 'refuse';
}

/** The changes of an expression: [kind, text]. */
function changes(node, parent) {
  const found = [];
  if ((parent.type === 'IfStatement' || parent.type === 'ConditionalExpression') && parent.test === node) {
    found.push(['never', 'false']);
    if (!refuses(parent)) found.push(['always', 'true']);
  } else if ((parent.type === 'ReturnStatement' || (parent.type === 'ArrowFunctionExpression' && parent.body === node)) && isBoolean(node)) {
    found.push(['false', 'false'], ['true', 'true']);
  }
  if (node.type === 'LogicalExpression') found.push(['left alone', `(${text(node.left)})`], ['right alone', `(${text(node.right)})`]);
  if (node.type === 'BinaryExpression' && BOUNDARY[node.operator]) {
    found.push(['boundary', `${text(node.left)} ${BOUNDARY[node.operator]} ${text(node.right)}`]);
  }
  if (node.type === 'Identifier' && TIMES.includes(node.name)) found.push(['longer', `(${node.name} + 1)`]);
  return found;
}

/** A statement that can be left out: a call or an assignment. A refusal stands behind a condition. */
function canGo(node) {
  if (node.type !== 'ExpressionStatement') return false;
  const { expression } = node;
  if (expression.type === 'AssignmentExpression') return expression.operator === '=';
  const call = expression.type === 'AwaitExpression' ? expression.argument : expression;
  return call.type === 'CallExpression' && callee(call) !== 'refuse';
}

/** What a refusal says is for people: only what leads to it is changed. */
function isSaid(node, parent) {
  if (callee(parent) === 'refuse') return true;
  return callee(parent) === 'same' && parent.arguments.indexOf(node) >= 0 && parent.arguments.indexOf(node) < 3;
}

function render(area, node, parent) {
  const kids = children(node);
  let inner = '';
  let at = node.start;
  for (const kid of kids) {
    inner += source.slice(at, kid.start);
    inner += isSaid(kid, node) ? text(kid) : render(area, kid, node);
    at = kid.end;
  }
  inner += source.slice(at, node.end);
  if (canGo(node)) return `{if(!(${on(add(area, 'gone', node))})){${inner}}}`;
  for (const [kind, change] of changes(node, parent)) inner = `(${on(add(area, kind, node))}?${change}:(${inner}))`;
  return inner;
}

/** [name, node] of the functions at the top and of methods. */
function functions() {
  const found = [];
  for (const statement of tree.body) {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (node?.type === 'FunctionDeclaration') found.push([node.id.name, node]);
    if (node?.type === 'VariableDeclaration') for (const one of node.declarations) found.push([one.id.name ?? '', one.init]);
    if (node?.type !== 'ClassDeclaration') continue;
    for (const member of node.body.body) {
      if (member.kind !== 'constructor' && member.value) found.push([`${node.id.name}.${member.key.name}`, member.value]);
    }
  }
  return found;
}

function isWanted(name) {
  const area = areas.find((one) => one === name || (one.endsWith('.*') && name.startsWith(one.slice(0, -1))));
  if (area) seen.add(area);
  return area !== undefined;
}

let copy = '';
let at = 0;
for (const [name, node] of functions()) {
  if (!node || !isWanted(name)) continue;
  copy += source.slice(at, node.start) + render(name, node, { type: 'Program' });
  at = node.end;
}
const missing = areas.filter((area) => !seen.has(area));
if (missing.length > 0) throw new Error(`no such function: ${missing.join(', ')}`);
const ON = 'function mutantIsOn(id) { globalThis.reached?.add(id); return globalThis.mutant === id; }\n';
writeFileSync(out, copy + source.slice(at) + ON);
for (const mutant of mutants) console.log(JSON.stringify(mutant));
