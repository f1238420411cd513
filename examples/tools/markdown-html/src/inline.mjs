// What stands within a line: code, emphasis, links. The text is scanned once; what closes nothing is text.

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const SCHEMES = ['http:', 'https:', 'mailto:'];
const NESTING_MAX = 16;

/** How far is looked ahead, so that many that never end cost no more. */
const LABEL_MAX = 1_000;
const ADDRESS_MAX = 2_000;

export function escape(text) {
  return text.replaceAll(/[&<>"']/gu, (c) => ENTITIES[c]);
}

/** An address that is safe to follow: relative to nothing, and of three schemes. */
function href(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  return SCHEMES.includes(url.protocol) && !/[\s<>"'`]/u.test(text) ? escape(text) : null;
}

/** Where a run of backquotes of each length comes last, so that none is looked for in vain twice. */
function lastRuns(text) {
  const last = new Map();
  for (const run of text.matchAll(/`+/gu)) last.set(run[0].length, run.index);
  return last;
}

export function inline(text, depth = 0) {
  if (depth > NESTING_MAX) return escape(text);
  const runs = lastRuns(text);
  const lastOf = { ']': text.lastIndexOf(']('), ')': text.lastIndexOf(')'), '>': text.lastIndexOf('>') };
  const parts = []; // of HTML; what may open emphasis is kept as an object until it is closed
  let at = 0;
  while (at < text.length) {
    const c = text[at];
    let step = null;
    if (c === '\\') step = escaped(text, at);
    else if (c === '`') step = code(text, at, runs);
    else if (c === '[' && at < lastOf[']']) step = link(text, at, lastOf, depth);
    else if (c === '<' && at < lastOf['>']) step = autolink(text, at);
    else if (c === '*' || c === '_') step = delimiter(text, at, parts);
    if (step === null) {
      const end = plain(text, at);
      step = { html: escape(text.slice(at, end)), end };
    }
    if (step.html !== undefined) parts.push(step.html);
    at = step.end;
  }
  return parts.map((part) => (typeof part === 'string' ? part : part.mark.repeat(part.count))).join('');
}

function plain(text, from) {
  let at = from + 1;
  while (at < text.length && !'\\`[<*_'.includes(text[at])) at += 1;
  return at;
}

function escaped(text, at) {
  const next = text[at + 1];
  if (next === '\n') return { html: '<br>\n', end: at + 2 };
  return next !== undefined && PUNCTUATION.includes(next) ? { html: escape(next), end: at + 2 } : null;
}

function code(text, from, runs) {
  let ticks = 0;
  while (text[from + ticks] === '`') ticks += 1;
  const fence = '`'.repeat(ticks);
  let at = from + ticks;
  while ((runs.get(ticks) ?? -1) >= at) {
    at = text.indexOf(fence, at);
    let end = at;
    while (text[end] === '`') end += 1;
    if (end - at === ticks) {
      const inner = text.slice(from + ticks, at).replaceAll('\n', ' ');
      const padded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
      return { html: `<code>${escape(padded ? inner.slice(1, -1) : inner)}</code>`, end };
    }
    at = end;
  }
  return { html: fence, end: from + ticks };
}

function link(text, from, lastOf, depth) {
  const ahead = text.slice(from + 1, from + LABEL_MAX);
  const middle = ahead.indexOf('](');
  const label = ahead.slice(0, middle);
  if (middle < 0 || label.includes('[')) return null;
  const begin = from + middle + 3;
  const end = begin > lastOf[')'] ? -1 : text.slice(begin, begin + ADDRESS_MAX).indexOf(')');
  const target = end < 0 ? null : href(text.slice(begin, begin + end));
  if (target === null) return null;
  return { html: `<a href="${target}" rel="nofollow noopener">${inline(label, depth + 1)}</a>`, end: begin + end + 1 };
}

function autolink(text, from) {
  const ahead = text.slice(from + 1, from + ADDRESS_MAX);
  const inner = ahead.slice(0, Math.max(ahead.search(/[\s<>]/u), 0));
  const end = from + 1 + inner.length;
  const target = inner === '' || text[end] !== '>' ? null : href(inner);
  return target === null ? null : { html: `<a href="${target}" rel="nofollow noopener">${escape(inner)}</a>`, end: end + 1 };
}

/** Emphasis: a run of * or _ closes the nearest run of its kind that is open, or opens. */
function delimiter(text, from, parts) {
  const mark = text[from];
  let end = from;
  while (text[end] === mark) end += 1;
  const before = text[from - 1] ?? ' ';
  const after = text[end] ?? ' ';
  const isWord = (c) => /[\p{L}\p{N}]/u.test(c);
  let opens = !/\s/u.test(after);
  let closes = !/\s/u.test(before);
  if (mark === '_') {
    opens &&= !isWord(before);
    closes &&= !isWord(after);
  }
  let count = end - from;
  while (closes && count > 0) {
    const open = lastOpen(parts, mark);
    if (open < 0) break;
    const used = Math.min(2, count, parts[open].count);
    const inner = parts.splice(open + 1).map((part) => (typeof part === 'string' ? part : part.mark.repeat(part.count)));
    const tag = used === 2 ? 'strong' : 'em';
    parts[open].count -= used;
    const html = `<${tag}>${inner.join('')}</${tag}>`;
    if (parts[open].count === 0) parts.splice(open, 1, html);
    else parts.push(html);
    count -= used;
  }
  if (count > 0) parts.push(opens ? { mark, count } : mark.repeat(count));
  return { end };
}

/** How far back an opening is looked for, so that many that never close cost no more. */
const BACK_MAX = 400;

function lastOpen(parts, mark) {
  for (let i = parts.length - 1; i >= Math.max(0, parts.length - BACK_MAX); i -= 1) {
    if (typeof parts[i] === 'object' && parts[i].mark === mark) return i;
  }
  return -1;
}
