// A value that views follow.
import { useEffect, useState } from './view.mjs';

/**
 * @template T
 * @typedef {{get: () => T, set: (value: T) => void, follow: (listener: (value: T) => void) => () => void}} Store
 */

/**
 * @template T
 * @param {T} first
 * @returns {Store<T>}
 */
export function store(first) {
  let value = first;
  /** @type {Set<(value: T) => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * The value, and another drawing when it changes.
 * @template T
 * @param {Store<T>} from
 * @returns {T}
 */
export function useStore(from) {
  const [value, put] = useState(() => from.get());
  useEffect(() => {
    put(() => from.get());
    return from.follow((next) => put(() => next));
  }, [from]);
  return value;
}

/**
 * What this browser keeps between visits, where it keeps anything.
 * @param {string} name
 * @returns {string | null}
 */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value
 */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // It is asked for again next time.
  }
}
