// What a tool took and gave, by its media type as far as its bytes agree. Nothing of it can run or load anything.
import { h, useEffect, useState } from './view.mjs';
import { digestOfLarge, fromBase64, parseJson } from '../verify.mjs';
import { getBytes } from './api.mjs';
import { Foreign, Short } from './foreign.mjs';
import { Icon } from './icons.mjs';
import { Json, Table, Text, tableOf } from './json.mjs';
import { Fault, Waiting } from './parts.mjs';
import { number, size, t } from './text.mjs';

/** @type {Record<string, number[]>} */
const IMAGES = { 'image/png': [0x89, 0x50, 0x4e, 0x47], 'image/jpeg': [0xff, 0xd8, 0xff], 'image/gif': [0x47, 0x49, 0x46, 0x38], 'image/webp': [0x52, 0x49, 0x46, 0x46] };
const FETCHED_MOST = 1 << 20; // bytes that are fetched without being asked for
const IMAGE_MOST = 8 << 20;
const PARSED_MOST = 1 << 20;
const PARTS = 100; // that have a look of their own; where there are more, the value is one text

/** @param {{value: any}} props arguments of a tool: long texts are shown as texts, since that is what they mostly are */
export function Params({ value }) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return h(Json, { value });
  const keys = Object.keys(value).sort();
  if (keys.length === 0) return h('p', { class: 'faint' }, t('params.none'));
  const isText = (/** @type {string} */ k) => typeof value[k] === 'string' && (value[k].includes('\n') || value[k].length > 40);
  const texts = keys.filter(isText);
  if (texts.length > PARTS) return h(Json, { value });
  const rest = Object.fromEntries(keys.filter((k) => !isText(k)).map((k) => [k, value[k]]));
  return h('div', { class: 'params' },
    texts.map((k) => h('div', { key: k }, h('p', { class: 'name' }, h(Foreign, { value: k, most: 200, all: true })), h(Text, { value: value[k] }))),
    Object.keys(rest).length > 0 && h(Json, { value: rest }));
}

/**
 * @param {{content: {digest: string, size: number, media_type: string, kept?: boolean}, path: string, name: string}} props
 */
export function Content({ content, path, name }) {
  const [wanted, want] = useState(content.size <= FETCHED_MOST && content.kept !== false);
  const [held, put] = useState(/** @type {{bytes: Uint8Array | null, fits: boolean, problem: unknown}} */ ({ bytes: null, fits: false, problem: null }));
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    getBytes(path, stop.signal).then(async (bytes) => {
      const fits = (await digestOfLarge(bytes)) === content.digest;
      if (!stop.signal.aborted) put({ bytes, fits, problem: null });
    }).catch((problem) => !stop.signal.aborted && put({ bytes: null, fits: false, problem }));
    return () => stop.abort();
  }, [wanted, path]);
  const about = h('p', { class: 'about faint' }, h(Foreign, { value: content.media_type, most: 120 }), h('span', null, size(content.size)), h(Short, { value: content.digest }),
    held.bytes !== null && h('span', { class: `t-${held.fits ? 'good' : 'bad'}` }, h(Icon, { name: held.fits ? 'check' : 'cross' }), ' ', t(held.fits ? 'content.fits' : 'content.differs')),
    held.bytes !== null && h('button', { type: 'button', class: 'small', onClick: () => save(name, /** @type {Uint8Array} */ (held.bytes)) }, t('save')));
  if (content.kept === false) return h('div', null, about, h('p', { class: 'faint' }, t('content.gone')));
  if (held.problem) return h('div', null, about, h(Fault, { problem: held.problem }));
  if (!wanted) return h('div', null, about, h('button', { type: 'button', onClick: () => want(true) }, t('content.fetch', { size: size(content.size) })));
  if (held.bytes === null) return h(Waiting, null);
  // What does not have the digest that was signed is not what the tool gave.
  return h('div', { class: 'content' }, held.fits ? h(View, { bytes: held.bytes, type: content.media_type, name }) : h('p', { class: 'note bad', role: 'alert' }, t('content.differs.lead')), about);
}

/** @param {{bytes: Uint8Array, type: string, name: string}} props */
function View({ bytes, type, name }) {
  if (IMAGES[type] && bytes.length <= IMAGE_MOST && IMAGES[type].every((b, i) => bytes[i] === b)) return h(Image, { bytes, type, name });
  if (bytes.length <= PARSED_MOST && (type === 'application/json' || type.endsWith('+json'))) {
    try {
      return h(Value, { value: parseJson(bytes), name });
    } catch {
      // It says that it is JSON, and is not: shown as text.
    }
  }
  try {
    return h(Text, { value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) });
  } catch {
    return h(Bytes, { bytes });
  }
}

/** @param {{value: any, name: string}} props a table where it is one, what an MCP server says, or the value */
export function Value({ value, name }) {
  const table = tableOf(value);
  if (table) {
    const { rest, ...whole } = table;
    return h('div', null, h(Table, { label: name, ...whole }), h(Rest, { value: rest }));
  }
  const said = value !== null && typeof value === 'object' && Array.isArray(value.content) && value.content.length <= PARTS && value.content.every((/** @type {any} */ c) => c !== null && typeof c === 'object' && typeof c.type === 'string') ? value.content : null;
  if (said !== null && said.length > 0) {
    const { content: _, ...rest } = value;
    return h('div', null, said.map((/** @type {any} */ item) => h(Said, { item, name })), h(Rest, { value: rest }));
  }
  return typeof value === 'string' ? h(Text, { value }) : h(Json, { value });
}

/** @param {{value: object}} props members that have no look of their own: left out, something would be signed that nobody saw */
const Rest = ({ value }) => Object.keys(value).length > 0 && h(Json, { value });

/** @param {{item: any, name: string}} props */
function Said({ item, name }) {
  const { type, text, data, mimeType, ...rest } = item;
  if (type === 'text' && typeof text === 'string' && data === undefined && mimeType === undefined) return h('div', null, h(Text, { value: text }), h(Rest, { value: rest }));
  if (type === 'image' && typeof data === 'string' && IMAGES[mimeType] && text === undefined) {
    const bytes = fromBase64(data);
    if (bytes !== null && bytes.length <= IMAGE_MOST && IMAGES[mimeType].every((b, i) => bytes[i] === b)) return h('div', null, h(Image, { bytes, type: mimeType, name }), h(Rest, { value: rest }));
  }
  return h(Json, { value: item });
}

/** @param {{bytes: Uint8Array, type: string, name: string}} props */
function Image({ bytes, type, name }) {
  const [url, put] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)], { type }));
    put(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  return url === '' ? null : h('img', { class: 'output', src: url, alt: t('content.image', { name, size: size(bytes.length) }) });
}

/** @param {{bytes: Uint8Array}} props */
function Bytes({ bytes }) {
  const rows = [];
  for (let at = 0; at < Math.min(bytes.length, 512); at += 16) {
    rows.push(`${at.toString(16).padStart(6, '0')}  ${Array.from(bytes.subarray(at, at + 16), (b) => b.toString(16).padStart(2, '0')).join(' ')}`);
  }
  return h('pre', { tabIndex: 0 }, rows.join('\n'), bytes.length > 512 && h('span', { class: 'cut' }, `\n${t('cut.bytes', { shown: 512, all: number(bytes.length) })}`));
}

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 */
export function save(name, bytes) {
  const url = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 80) || 'content';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
