// What this page remembers of each step of the history while it lives: who comes back finds a list as it was left.
import { sightOf, standing } from './api.mjs';
import { leave, place } from './router.mjs';

const STEPS = 30; // that are remembered
const FRAMES = 300; // within which a list has grown to where it was

/** @type {Map<string, Map<string, any>>} */
const steps = new Map();

/**
 * @param {string} step
 * @param {string} name
 * @param {any} value
 */
export function remember(step, name, value) {
  const of = steps.get(step) ?? new Map();
  of.set(name, value);
  steps.delete(step);
  steps.set(step, of);
  for (const oldest of [...steps.keys()].slice(0, -STEPS)) steps.delete(oldest);
}

/**
 * What was remembered of the step where the page is now, or null.
 * @param {string} name
 * @returns {any}
 */
export const recalled = (name) => steps.get(place.get().step)?.get(name) ?? null;

// What somebody saw is not for who comes after.
let whose = /** @type {string | null} */ (null);
standing.follow(({ session }) => {
  const now = session === null ? null : sightOf(session);
  if (now !== whose) steps.clear();
  whose = now;
});

leave((step) => remember(step, 'place', { top: scrollY, link: document.activeElement?.closest('main a')?.getAttribute('href') ?? null }));

/**
 * Scrolls to where the reader was, as soon as what is shown reaches that far, and to the link that was followed from there. Whoever
 * moves meanwhile is left alone.
 * @param {{top: number, link: string | null}} was
 * @returns {() => void} ends it
 */
export function comeBack({ top, link }) {
  const acts = ['wheel', 'touchstart', 'pointerdown', 'keydown'];
  let frame = 0;
  let many = 0;
  const end = () => {
    cancelAnimationFrame(frame);
    for (const act of acts) removeEventListener(act, end);
  };
  const settle = () => {
    if (scrollY < top - 1) scrollTo(0, top);
    const there = scrollY >= top - 1;
    const followed = link === null ? null : /** @type {HTMLElement | undefined} */ ([...document.querySelectorAll('main a')].find((a) => a.getAttribute('href') === link));
    if (there) followed?.focus({ preventScroll: true });
    if ((there && followed !== undefined) || ++many > FRAMES) end();
    else frame = requestAnimationFrame(settle);
  };
  for (const act of acts) addEventListener(act, end);
  scrollTo(0, top);
  settle();
  return end;
}
