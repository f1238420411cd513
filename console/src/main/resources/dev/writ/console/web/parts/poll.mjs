// What a page asks for again and again, as long as somebody looks at it.
import { useEffect, useState } from './view.mjs';
import { get } from './api.mjs';

const EVERY_MS = 10000;

/**
 * The last answer, and the fault of the last question where it had one.
 * @param {string} path
 * @param {Record<string, string | number | undefined>} [query]
 * @returns {{value: any, problem: unknown}}
 */
export function usePoll(path, query = {}) {
  const [held, put] = useState(/** @type {{value: any, problem: unknown}} */ ({ value: null, problem: null }));
  const asked = JSON.stringify(query);
  useEffect(() => {
    const stop = new AbortController();
    let busy = false;
    const ask = async () => {
      if (busy || document.visibilityState !== 'visible') return;
      busy = true;
      try {
        const value = await get(path, JSON.parse(asked), stop.signal);
        if (!stop.signal.aborted) put({ value, problem: null });
      } catch (problem) {
        if (!stop.signal.aborted) put((was) => ({ value: was.value, problem }));
      } finally {
        busy = false;
      }
    };
    ask();
    const timer = setInterval(ask, EVERY_MS);
    document.addEventListener('visibilitychange', ask);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', ask);
    };
  }, [path, asked]);
  return held;
}
