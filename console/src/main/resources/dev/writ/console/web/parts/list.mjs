// A list of any length: only the rows that can be seen, and some around them, are in the page.
import { h, useEffect, useLayoutEffect, useRef, useState } from './view.mjs';

const AROUND = 12; // rows above and below what can be seen

/**
 * Rows of one height, which the style sheet gives as --row on the list.
 * @param {{rows: any[], row: (item: any, index: number) => any, id: (item: any) => string | number, label: string, name?: string, end?: () => void}} props
 *   `end` is called when the last rows come near
 */
export function LongList({ rows, row, id, label, name = '', end }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [part, show] = useState({ from: 0, to: 40, height: 56 });
  const tall = useRef(0); // a row's height; measured again when the window is another
  const printed = useRef(false); // a sheet of paper is not scrolled: it has all rows
  const look = () => {
    if (box.current === null) return;
    if (printed.current) {
      show((was) => (was.from === 0 && was.to === rows.length ? was : { ...was, from: 0, to: rows.length }));
      return;
    }
    const height = tall.current ||= rowHeight(box.current);
    const top = -box.current.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(top / height) - AROUND);
    const to = Math.min(rows.length, Math.ceil((top + innerHeight) / height) + AROUND);
    show((was) => (was.from === from && was.to === to && was.height === height ? was : { from, to, height }));
    if (end && to >= rows.length) end();
  };
  useLayoutEffect(look, [rows, rows.length]);
  // Once for the life of the list: taken off and put on with each drawing, one that comes between a scroll and its frame would drop the look.
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    let asked = 0;
    const soon = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        latest.current();
      });
    };
    const anew = () => {
      tall.current = 0;
      soon();
    };
    const print = (/** @type {boolean} */ on) => () => {
      printed.current = on;
      latest.current();
    };
    const begins = print(true);
    const ends = print(false);
    addEventListener('beforeprint', begins);
    addEventListener('afterprint', ends);
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', anew);
    return () => {
      removeEventListener('beforeprint', begins);
      removeEventListener('afterprint', ends);
      removeEventListener('scroll', soon);
      removeEventListener('resize', anew);
      cancelAnimationFrame(asked);
    };
  }, []);
  const { from, to, height } = part;
  return h('ol', { class: `long ${name}`, ref: box, 'aria-label': label, style: { height: `${rows.length * height}px` } },
    rows.slice(from, to).map((item, i) => h('li', {
      key: id(item), 'aria-posinset': from + i + 1, 'aria-setsize': rows.length, style: { transform: `translateY(${(from + i) * height}px)` },
    }, row(item, from + i))));
}

/**
 * The style sheet's --row in pixels, measured, since it may be in rem.
 * @param {HTMLElement} list
 */
function rowHeight(list) {
  const row = getComputedStyle(list).getPropertyValue('--row').trim();
  const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return (parseFloat(row) || 3.5) * (row.endsWith('rem') ? root : 1);
}

/**
 * j and k go from row to row, as in every list of this kind.
 * @param {number} by
 */
export function step(by) {
  const rows = [...document.querySelectorAll('.long a')];
  const at = rows.indexOf(/** @type {Element} */ (document.activeElement));
  const next = /** @type {HTMLElement | undefined} */ (rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]);
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
