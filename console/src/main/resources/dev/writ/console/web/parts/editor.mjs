// A text with the numbers of its lines; lines with faults are marked.
import { h, useRef } from './view.mjs';
import { Foreign } from './foreign.mjs';
import { Icon } from './icons.mjs';
import { t } from './text.mjs';

/**
 * @typedef {{line?: number, column?: number, field?: string, code: string, meaning: string, found: string, remedy: string}} TextFault
 */

/** @param {{name: string, label: string, value: string, faults: TextFault[], rows?: number, input: (text: string) => void}} props */
export function Editor({ name, label, value, faults, rows = 24, input }) {
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const gutter = useRef(/** @type {HTMLElement | null} */ (null));
  const marked = faults.map((fault) => fault.line ?? 0).filter((line) => line > 0);
  const follow = () => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  const seek = (/** @type {TextFault} */ fault) => {
    const field = area.current;
    if (field === null || fault.line === undefined) return;
    const lines = value.split('\n');
    const start = lines.slice(0, fault.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    field.focus();
    field.setSelectionRange(start, start + (lines[fault.line - 1] ?? '').length);
    field.scrollTop = Math.max(0, (field.scrollHeight / lines.length) * (fault.line - 4));
  };
  return h('div', { class: 'editor-box' },
    h('label', { class: 'field', for: name }, h('span', null, label)),
    h('div', { class: `editor${faults.length > 0 ? ' has-faults' : ''}` },
      h('div', { class: 'gutter', 'aria-hidden': 'true', ref: gutter }, numbers(value.split('\n').length, marked)),
      h('textarea', {
        id: name, name, rows, ref: area, wrap: 'off', spellcheck: false, autocomplete: 'off', autocapitalize: 'off', value,
        'aria-invalid': faults.length > 0 ? 'true' : undefined, 'aria-describedby': `${name}-faults`, onScroll: follow, onInput: (/** @type {any} */ e) => input(e.currentTarget.value),
      })),
    h('ul', { id: `${name}-faults`, class: 'lines faults', role: 'status' }, faults.map((fault, i) => h('li', { key: i, class: 't-bad' },
      h(Icon, { name: 'cross' }), ' ',
      fault.line !== undefined && [h('button', { type: 'button', class: 'small', onClick: () => seek(fault) }, t('policy.line', { line: fault.line, column: fault.column ?? 1 })), ' '],
      h('code', null, h(Foreign, { value: fault.code, most: 40 })), ' ', h(Foreign, { value: fault.meaning, most: 300 }),
      fault.field && [' · ', h('code', null, h(Foreign, { value: fault.field, most: 300 }))],
      fault.found && [': ', h(Foreign, { value: fault.found, most: 600 })]))));
}

/**
 * Text but for the lines that are marked: a policy may have thousands.
 * @param {number} many
 * @param {number[]} marked
 */
function numbers(many, marked) {
  /** @type {any[]} */
  const parts = [];
  let run = '';
  for (let line = 1; line <= many; line++) {
    if (marked.includes(line)) {
      parts.push(run, h('b', { class: 'marked', key: line }, line), '\n');
      run = '';
    } else run += `${line}\n`;
  }
  return [...parts, run];
}
