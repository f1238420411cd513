// Signs. They differ in form, never in colour alone.
import { h } from './view.mjs';

/** @type {Record<string, string[]>} */
const PATHS = {
  check: ['M4 12l5 5L20 6'],
  cross: ['M6 6l12 12', 'M18 6L6 18'],
  clock: ['M12 7v5l3.5 2', 'M12 3a9 9 0 1 0 .01 0'],
  question: ['M9 9a3 3 0 1 1 4.4 2.6c-1 .6-1.4 1.2-1.4 2.4', 'M12 17.5v.2'],
  dash: ['M6 12h12'],
  play: ['M8 5l11 7-11 7z'],
  pause: ['M8 5v14', 'M16 5v14'],
  pulse: ['M3 12h4l3 8 4-16 3 8h4'],
  list: ['M8 6h12', 'M8 12h12', 'M8 18h12', 'M4 6h.01', 'M4 12h.01', 'M4 18h.01'],
  stamp: ['M5 21h14', 'M6 17h12l-1-3h-3c0-3 2-4 2-7a4 4 0 1 0-8 0c0 3 2 4 2 7H7z'],
  key: ['M14.5 9.5a4.5 4.5 0 1 0-3.2 4.3L13 12h2v-2h2V8h2', 'M8 9.5h.01'],
  person: ['M12 12a4 4 0 1 0-.01 0', 'M4 21c1-4 4-6 8-6s7 2 8 6'],
  search: ['M11 4a7 7 0 1 0 .01 0', 'M16 16l5 5'],
  arrow: ['M5 12h14', 'M13 6l6 6-6 6'],
  down: ['M6 9l6 6 6-6'],
  link: ['M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1', 'M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1'],
  sun: ['M12 8a4 4 0 1 0 .01 0', 'M12 2v2', 'M12 20v2', 'M2 12h2', 'M20 12h2', 'M5 5l1.5 1.5', 'M17.5 17.5L19 19', 'M5 19l1.5-1.5', 'M17.5 6.5L19 5'],
  device: ['M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z', 'M11 18h2'],
  wrench: ['M14.5 6.5a4.5 4.5 0 0 1 5.6-1.3l-3 3 .6 2.1 2.1.6 3-3a4.5 4.5 0 0 1-6 5.8L9 21.5a2.1 2.1 0 0 1-3-3l7.6-7.6a4.5 4.5 0 0 1 .9-4.4z'],
  bolt: ['M13 3L5 14h6l-1 7 8-11h-6z'],
};

/** @param {{name: string}} props */
export const Icon = ({ name }) => h('svg', { class: 'ic', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, PATHS[name].map((d) => h('path', { d })));

/** @param {{tone: string, sign: string, children?: any}} props */
export const Chip = ({ tone, sign, children }) => h('span', { class: `chip t-${tone}` }, h(Icon, { name: sign }), h('span', null, children));

/** @type {Record<string, string>} */
const SIGNS = { good: 'M52 82l20 20 38-44', warn: 'M80 48v40M80 108v.5', bad: 'M56 56l48 48M104 56l-48 48', waiting: 'M56 80h.5M80 80h.5M104 80h.5' };

const EDGE = (() => {
  const points = [];
  for (let i = 0; i < 288; i++) {
    const angle = (i / 288) * 2 * Math.PI;
    const r = 70 + 4.5 * Math.cos(24 * angle);
    points.push(`${(80 + r * Math.cos(angle)).toFixed(1)} ${(80 + r * Math.sin(angle)).toFixed(1)}`);
  }
  return `M${points.join('L')}Z`;
})();

/** @param {{sign: string}} props a seal: good, warn, bad, waiting */
export const Rosette = ({ sign }) => h('svg', { class: 'rosette-box', viewBox: '0 0 160 160', 'aria-hidden': 'true' },
  h('path', { class: 'rosette', d: EDGE }),
  h('circle', { class: 'rosette-ring', cx: 80, cy: 80, r: 58 }),
  h('path', { class: 'rosette-ink', d: SIGNS[sign] }));
