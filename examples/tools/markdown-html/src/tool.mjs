// Markdown to HTML that is safe to show. Blocks: headings, paragraphs, lists, quotes, fenced code, tables,
// rules. Inline: code, emphasis, strong, links, autolinks, escapes, hard breaks. Everything else is text, raw
// HTML too. Each scan goes forward only, so that no input takes more than linear time for a line.
import { inline, escape } from './inline.mjs';

const DEPTH_MAX = 32;

export function render({ markdown }) {
  const headings = [];
  const lines = markdown.replaceAll('\0', '\ufffd').replaceAll(/\r\n?/gu, '\n').split('\n');
  return { html: blocks(lines.map((line) => line.replaceAll('\t', '    ')), headings, 0), headings };
}

function blocks(lines, headings, depth) {
  if (depth > DEPTH_MAX) return `<p>${escape(lines.join('\n'))}</p>\n`;
  const out = [];
  for (let at = 0; at < lines.length;) at = block(lines, at, out, headings, depth);
  return out.join('');
}

/** Writes the block that begins at a line; gives the line after it. */
function block(lines, at, out, headings, depth) {
  const line = lines[at];
  if (line.trim() === '') return at + 1;
  const fence = /^ {0,3}(`{3,}|~{3,}) *([A-Za-z0-9_+-]{0,32})[^`]*$/u.exec(line);
  if (fence) return fenced(lines, at, fence, out);
  const heading = /^ {0,3}(#{1,6})(?: +(.*))?$/u.exec(line);
  if (heading) {
    const text = closed(heading[2] ?? '');
    const level = heading[1].length;
    headings.push({ level, text });
    out.push(`<h${level}>${inline(text)}</h${level}>\n`);
    return at + 1;
  }
  if (isRule(line)) {
    out.push('<hr>\n');
    return at + 1;
  }
  if (/^ {0,3}>/u.test(line)) return quote(lines, at, out, headings, depth);
  if (marker(line)) return list(lines, at, out, headings, depth);
  if (at + 1 < lines.length && line.includes('|') && alignments(lines[at + 1])) return table(lines, at, out);
  return paragraph(lines, at, out);
}

/** A heading's text without the hashes that may close it. */
function closed(text) {
  let end = text.trimEnd().length;
  while (end > 0 && text[end - 1] === '#') end -= 1;
  return end === 0 || text[end - 1] === ' ' ? text.slice(0, end).trim() : text.trim();
}

function isRule(line) {
  const marks = line.replaceAll(' ', '');
  return marks.length >= 3 && '-*_'.includes(marks[0]) && [...marks].every((mark) => mark === marks[0]);
}

function fenced(lines, from, [, fence, language], out) {
  let at = from + 1;
  const isEnd = (text) => {
    const line = text.trim();
    return line.length >= fence.length && [...line].every((mark) => mark === fence[0]);
  };
  while (at < lines.length && !isEnd(lines[at])) at += 1;
  const code = lines.slice(from + 1, at).map((line) => `${line}\n`).join('');
  out.push(`<pre><code${language ? ` class="language-${escape(language)}"` : ''}>${escape(code)}</code></pre>\n`);
  return at + 1;
}

function quote(lines, from, out, headings, depth) {
  let at = from;
  const inner = [];
  for (; at < lines.length && /^ {0,3}>/u.test(lines[at]); at += 1) {
    inner.push(lines[at].replace(/^ {0,3}> ?/u, ''));
  }
  out.push(`<blockquote>\n${blocks(inner, headings, depth + 1)}</blockquote>\n`);
  return at;
}

function marker(line) {
  const found = /^( {0,3})(?:([-*+])|(\d{1,9})([.)]))( +|$)/u.exec(line);
  if (!found || (found[2] && isRule(line))) return null;
  return { width: found[0].length, kind: found[2] ?? found[4], start: found[3] };
}

function list(lines, from, out, headings, depth) {
  const { kind, start } = marker(lines[from]);
  const items = [];
  let loose = false;
  let at = from;
  for (let next = marker(lines[at]); next && next.kind === kind; next = at < lines.length && marker(lines[at])) {
    const item = [lines[at].slice(next.width)];
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at];
      const indent = line.length - line.trimStart().length;
      const belongs = line.trim() === '' ? isIndented(lines[at + 1], next.width) : indent >= Math.min(next.width, 2);
      if (!belongs) break;
      loose ||= line.trim() === '';
      item.push(line.slice(Math.min(indent, next.width)));
    }
    items.push(item);
    if (at < lines.length && lines[at].trim() === '' && marker(lines[at + 1] ?? '')?.kind === kind) {
      loose = true;
      at += 1;
    }
  }
  const tag = start === undefined ? 'ul' : 'ol';
  const first = start !== undefined && Number(start) !== 1 ? ` start="${Number(start)}"` : '';
  const inner = items.map((item) => {
    const html = blocks(item, headings, depth + 1);
    const plain = loose ? html : html.replace(/^<p>([^\n]*(?:\n(?!<)[^\n]*)*)<\/p>\n/u, '$1\n').trimEnd();
    return `<li>${loose ? '\n' : ''}${plain}</li>\n`;
  });
  out.push(`<${tag}${first}>\n${inner.join('')}</${tag}>\n`);
  return at;
}

function isIndented(line, width) {
  return line !== undefined && line.trim() !== '' && line.length - line.trimStart().length >= width;
}

function cells(line) {
  const row = [];
  let cell = '';
  for (let i = 0; i < line.length; i += 1) {
    if (line[i] === '\\' && line[i + 1] === '|') {
      cell += '|';
      i += 1;
    } else if (line[i] === '|') {
      row.push(cell.trim());
      cell = '';
    } else {
      cell += line[i];
    }
  }
  row.push(cell.trim());
  if (row[0] === '') row.shift();
  if (row.length > 0 && row.at(-1) === '') row.pop();
  return row;
}

function alignments(line) {
  if (!line.includes('-') || !/^[ |:-]+$/u.test(line)) return null;
  const row = cells(line);
  if (row.length === 0 || row.length > 100 || !row.every((cell) => /^:?-+:?$/u.test(cell))) return null;
  return row.map((cell) => (cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'right') : ''));
}

function table(lines, from, out) {
  const aligned = alignments(lines[from + 1]);
  const row = (line, tag) => {
    const texts = cells(line);
    const html = aligned.map((align, i) => {
      const style = align ? ` style="text-align: ${align}"` : '';
      return `<${tag}${style}>${inline(texts[i] ?? '')}</${tag}>`;
    });
    return `<tr>${html.join('')}</tr>\n`;
  };
  const body = [];
  let at = from + 2;
  for (; at < lines.length && lines[at].includes('|'); at += 1) body.push(row(lines[at], 'td'));
  out.push(`<table>\n<thead>\n${row(lines[from], 'th')}</thead>\n<tbody>\n${body.join('')}</tbody>\n</table>\n`);
  return at;
}

function paragraph(lines, from, out) {
  let at = from + 1;
  const ends = (line) => line.trim() === '' || /^ {0,3}(?:#{1,6} |>|`{3}|~{3})/u.test(line) || isRule(line)
    || marker(line);
  while (at < lines.length && !ends(lines[at])) at += 1;
  const text = lines.slice(from, at).map((line, i, all) => {
    const hard = i + 1 < all.length && line.endsWith('  ');
    return line.trim() + (hard ? '\\' : '');
  });
  out.push(`<p>${inline(text.join('\n'))}</p>\n`);
  return at;
}
