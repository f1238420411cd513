// What differs between two texts, line by line, as a unified diff.

const CELLS_MAX = 4000000;
const AROUND = 3;

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[' ' | '-' | '+', string][]}
 */
function edits(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const from = a.slice(head, a.length - tail);
  const to = b.slice(head, b.length - tail);
  return [...a.slice(0, head).map(same), ...between(from, to), ...a.slice(a.length - tail).map(same)];
}

const same = (/** @type {string} */ line) => /** @type {[' ', string]} */ ([' ', line]);
const gone = (/** @type {string} */ line) => /** @type {['-', string]} */ (['-', line]);
const come = (/** @type {string} */ line) => /** @type {['+', string]} */ (['+', line]);

/**
 * By the longest common subsequence; where that would be a large table, all of it is replaced.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[' ' | '-' | '+', string][]}
 */
function between(a, b) {
  const width = b.length + 1;
  if ((a.length + 1) * width > CELLS_MAX) return [...a.map(gone), ...b.map(come)];
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  /** @type {[' ' | '-' | '+', string][]} */
  const found = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(same(a[i++]));
      j++;
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) found.push(gone(a[i++]));
    else found.push(come(b[j++]));
  }
  return found;
}

/**
 * @param {string} before
 * @param {string} after
 * @param {string} nameBefore
 * @param {string} nameAfter
 * @returns {string} empty where nothing differs
 */
export function lineDiff(before, after, nameBefore, nameAfter) {
  if (before === after) return '';
  const all = edits(before.split('\n'), after.split('\n'));
  const shown = all.map(() => false);
  all.forEach(([kind], at) => {
    if (kind !== ' ') shown.fill(true, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const lines = [`--- ${nameBefore}`, `+++ ${nameAfter}`];
  let old = 1;
  let now = 1;
  for (let at = 0; at < all.length;) {
    let end = at;
    while (end < all.length && shown[end] === shown[at]) end++;
    const part = all.slice(at, end);
    const olds = part.filter(([kind]) => kind !== '+').length;
    const news = part.filter(([kind]) => kind !== '-').length;
    if (shown[at]) lines.push(`@@ -${old},${olds} +${now},${news} @@`, ...part.map(([kind, line]) => kind + line));
    old += olds;
    now += news;
    at = end;
  }
  return `${lines.join('\n')}\n`;
}
