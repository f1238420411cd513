// Single letters as shortcuts: whoever dictates, or leans on a key, can switch them off (WCAG 2.1.4).
import { keep, kept } from './store.mjs';

const NAME = 'writ-letters';

export const lettersAct = () => kept(NAME) !== 'off';

/** @param {boolean} act */
export const haveLettersAct = (act) => keep(NAME, act ? null : 'off');

/**
 * Whether a key is for the page: a dialog has them for itself, and gives the focus back when the browser closes it.
 * @param {KeyboardEvent} e
 */
export const isForPage = (e) => !e.ctrlKey && !e.metaKey && !e.altKey && document.querySelector('dialog[open]') === null;

/** @param {EventTarget | null} target */
export const isField = (target) => target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
