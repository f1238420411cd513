// The console: who is signed in, where the page is, and what is around every page.
import { h, render, useEffect, useErrorBoundary, useRef, useState } from './parts/view.mjs';
import { Problem, codeRefused, get, isSignedIn, sightOf, signIn, signOut, standing, whoami } from './parts/api.mjs';
import { Foreign, plain } from './parts/foreign.mjs';
import { Icon } from './parts/icons.mjs';
import { step } from './parts/list.mjs';
import { Empty, Fault, Waiting } from './parts/parts.mjs';
import { comeBack, recalled } from './parts/returns.mjs';
import { address, go, place, replace } from './parts/router.mjs';
import { haveLettersAct, isField, isForPage, lettersAct } from './parts/shortcuts.mjs';
import { keep, kept, store, useStore } from './parts/store.mjs';
import { LANGUAGES, T, choose, language, speak, t } from './parts/text.mjs';
import { Approvals } from './pages/approvals.mjs';
import { AuditPage } from './pages/audit.mjs';
import { Effect } from './pages/effect.mjs';
import { Effects } from './pages/effects.mjs';
import { Keys } from './pages/keys.mjs';
import { Live } from './pages/live.mjs';
import { Operations } from './pages/operations.mjs';
import { Policy, seesPolicy } from './pages/policy.mjs';
import { Reads } from './pages/reads.mjs';
import { Run } from './pages/run.mjs';
import { SignIn } from './pages/signin.mjs';
import { Tools } from './pages/tools.mjs';

/**
 * Name, sign, the key that leads there behind `g`, and as what one of these a person sees it.
 * @type {[string, string, string, string[]?][]}
 */
const PAGES = [
  ['live', 'pulse', 'l'],
  ['effects', 'search', 'e'],
  ['approvals', 'stamp', 'a'],
  ['tools', 'wrench', 't', ['developer', 'operator', 'auditor']],
  ['policy', 'scroll', 'p', ['auditor', 'operator', 'developer']],
  ['operations', 'gauge', 'o', ['operator', 'auditor']],
  ['audit', 'list', 'u'],
  ['keys', 'key', 'k'],
];
const FIRST = 3; // that a telephone shows beside the menu of the others
const WAITING_MS = 15000;
const LOOK_MS = 60000;

/** @param {{at: import('./parts/router.mjs').Place, session: import('./parts/api.mjs').Session}} props */
function Page({ at, session }) {
  const { page, part, query } = at;
  if (page === 'live' && part === null) return h(Live, { query });
  if (page === 'effects') return part === null ? h(Effects, { query }) : h(Effect, { id: part, key: part });
  if (page === 'runs' && part !== null) return h(Run, { run: part, query, key: part });
  if (page === 'approvals') return h(Approvals, { id: part });
  if (page === 'audit' && part === null) return h(AuditPage, null);
  if (page === 'audit' && part === 'reads') return h(Reads, { query });
  if (page === 'tools') return h(Tools, { part, query });
  if (page === 'operations' && part === null) return h(Operations, { query });
  if (page === 'policy' && part === null && seesPolicy(session)) return h(Policy, null);
  if (page === 'keys' && part === null) return h(Keys, null);
  return h('section', null, h('h1', { tabIndex: -1 }, t('lost.title')), h(Empty, { sign: 'question', title: t('lost.what') }, h('a', { href: '#/live' }, t('lost.home'))));
}

/**
 * A page, or that it could not be drawn: an answer that is not as it should be must not leave another page's content under this address.
 * @param {{at: import('./parts/router.mjs').Place, session: import('./parts/api.mjs').Session}} props
 */
function Drawn({ at, session }) {
  const [fault, again] = useErrorBoundary();
  useEffect(() => {
    if (fault) again();
  }, [at.page, at.part]);
  if (fault) return h('section', null, h('h1', { tabIndex: -1 }, t('fault.kicker')), h(Fault, { problem: fault, again }));
  return h(Page, { at, session });
}

/** How many wait for somebody like the one who is here: asked for now and then, for the navigation alone. */
function useWaiting(/** @type {boolean} */ wanted) {
  const [many, put] = useState(0);
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    const ask = () => document.visibilityState === 'visible' && get('/v1/approvals', { limit: 100 }, stop.signal).then((page) => !stop.signal.aborted && put((page.waiting ?? page.approvals ?? []).length), () => {});
    ask();
    const timer = setInterval(ask, WAITING_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [wanted]);
  return many;
}

/**
 * Names the document by the page's heading, which may be given the focus. Where another takes its place, once what the page is about is
 * there, that one names it, and has the focus if the former had it: with its heading it would be lost.
 * @param {HTMLElement} main
 * @param {boolean} focus
 * @returns {() => void} ends it
 */
function announce(main, focus) {
  /** @type {HTMLElement | null} */
  let heading = null;
  let held = focus;
  const look = () => {
    const now = /** @type {HTMLElement | null} */ (main.querySelector('h1'));
    if (now === heading || now === null) return;
    const left = heading !== null && document.activeElement !== null && document.activeElement !== document.body;
    heading = now;
    document.title = `${plain(now.textContent ?? '')} · Writ`;
    if (held && !left) now.focus({ preventScroll: true });
  };
  const moved = (/** @type {FocusEvent} */ e) => {
    held = e.target === heading;
  };
  const watch = new MutationObserver(look);
  addEventListener('focusin', moved);
  look();
  watch.observe(main, { childList: true, subtree: true });
  return () => {
    watch.disconnect();
    removeEventListener('focusin', moved);
  };
}

/** @param {{session: import('./parts/api.mjs').Session}} props */
function Shell({ session }) {
  const at = useStore(place);
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const [help, showHelp] = useState(false);
  const waiting = useWaiting(true);
  const pages = PAGES.filter(([, , , looks]) => looks === undefined || looks.some((look) => session.people_roles?.includes(look)));
  const shown = useRef('');

  // Another page begins at its top, and is announced: its heading takes the focus. One that is come back to is where it was left.
  useEffect(() => {
    const page = address(at.page, at.part);
    const was = recalled('place');
    const other = shown.current !== page;
    const ends = main.current === null ? () => {} : announce(main.current, other && shown.current !== '');
    shown.current = page;
    if (was === null && other) scrollTo(0, 0);
    const stays = was === null ? () => {} : comeBack(was);
    return () => {
      ends();
      stays();
    };
  }, [at.step]);

  useEffect(() => {
    let led = false;
    const key = (/** @type {KeyboardEvent} */ e) => {
      const into = isField(e.target);
      if (!isForPage(e)) return;
      if (e.key === 'Escape' && into) /** @type {HTMLElement} */ (e.target).blur();
      if (into || !lettersAct()) return;
      const to = led ? pages.find(([, , letter]) => letter === e.key) : undefined;
      led = e.key === 'g';
      if (to) go(address(to[0]));
      else if (e.key === '?') showHelp(true);
      else if (e.key === '/') {
        const field = document.getElementById('filter-text');
        if (field === null) return;
        field.focus();
      } else if (e.key === 'j' || e.key === 'k') step(e.key === 'j' ? 1 : -1);
      else return;
      e.preventDefault();
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);

  return [
    h('a', { class: 'skip', href: '#main', onClick: (/** @type {Event} */ e) => {
      e.preventDefault();
      main.current?.focus();
    } }, t('skip')),
    h('header', { class: 'top' },
      h('p', { class: 'mark' }, h('a', { href: '#/live' }, 'Writ ', h('span', null, t('mark')))),
      h(Navigation, { pages, at: at.page, waiting }),
      h(Person, { session, help: () => showHelp(true) })),
    h('main', { id: 'main', ref: main, tabIndex: -1 }, h(Drawn, { at, session })),
    help && h(Help, { pages, close: () => showHelp(false) }),
  ];
}

/** @param {{pages: typeof PAGES, at: string, waiting: number}} props where there is little room, all but the first stand in a menu */
function Navigation({ pages, at, waiting }) {
  const menu = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useShut(menu);
  const link = (/** @type {[string, string, string, string[]?]} */ [name, sign]) => h('a', { key: name, href: address(name), 'aria-current': at === name || (name === 'effects' && at === 'runs') ? 'page' : undefined },
    h(Icon, { name: sign }), h('span', null, t(`nav.${name}`)),
    name === 'approvals' && waiting > 0 && h('span', { class: 'count' }, waiting >= 100 ? '99+' : waiting, h('span', { class: 'sr' }, ' ', t('nav.waiting'))));
  const others = pages.slice(FIRST);
  return h('nav', { class: 'pages', 'aria-label': t('nav.label') },
    pages.slice(0, FIRST).map(link),
    h('span', { class: 'others' }, others.map(link)),
    h('details', { class: 'menu', ref: menu }, h('summary', { 'aria-current': others.some(([name]) => name === at) ? 'page' : undefined }, h(Icon, { name: 'list' }), h('span', null, t('nav.menu'))), h('div', { class: 'sheet' }, others.map(link))));
}

/**
 * Shuts a disclosure that lies over the page when something else is wanted.
 * @param {{current: HTMLDetailsElement | null}} box
 */
function useShut(box) {
  useEffect(() => {
    const shut = () => {
      if (box.current) box.current.open = false;
    };
    const away = (/** @type {Event} */ e) => {
      if (box.current?.open && !box.current.contains(/** @type {Node} */ (e.target))) shut();
    };
    const escape = (/** @type {KeyboardEvent} */ e) => {
      if (e.key !== 'Escape' || !box.current?.open) return;
      shut();
      box.current.querySelector('summary')?.focus();
    };
    addEventListener('pointerdown', away);
    addEventListener('hashchange', shut);
    addEventListener('keydown', escape);
    return () => {
      removeEventListener('pointerdown', away);
      removeEventListener('hashchange', shut);
      removeEventListener('keydown', escape);
    };
  }, []);
}

/** @param {{session: import('./parts/api.mjs').Session, help: () => void}} props */
function Person({ session, help }) {
  const box = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  useShut(box);
  const roles = [...new Set([...(session.people_roles ?? []), ...(session.roles ?? []), ...(session.approver_roles ?? [])])];
  return h('details', { class: 'person', ref: box },
    h('summary', null, h('span', { class: 'sr' }, t('person.label'), ': '), h(Icon, { name: 'person' }), h('span', { class: 'names' }, h(Foreign, { value: session.subject, most: 40, line: true }), h('small', null, h(Foreign, { value: session.tenant, most: 40, line: true }))), h(Icon, { name: 'down' })),
    h('div', { class: 'sheet' },
      h('p', { class: 'who' }, h('b', null, h(Foreign, { value: session.subject, most: 200 })), h('br', null), h('span', { class: 'faint' }, h(Foreign, { value: session.tenant, most: 200 }), roles.length > 0 ? ' · ' : '', h(Foreign, { value: roles.join(', '), most: 300 }))),
      h(Look, null),
      h('div', { class: 'row' },
        h('button', { type: 'button', class: 'quiet', onClick: () => {
          if (box.current) box.current.open = false;
          box.current?.querySelector('summary')?.focus(); // where the focus comes back to
          help();
        } }, t('help.keys')),
        h('button', { type: 'button', onClick: () => {
          fail(null);
          signOut().catch(fail);
        } }, t('signout')),
        h('button', { type: 'button', class: 'quiet', onClick: () => {
          fail(null);
          signOut(true).catch(fail);
        } }, t('signout.everywhere'))),
      problem ? h('div', { class: 'note bad' }, h('p', null, t('signout.failed')), h(Fault, { problem })) : null,
      h('p', { class: 'faint small' }, h(Foreign, { value: session.log_origin, most: 120 }), session.server?.version ? [' · Writ ', h(Foreign, { value: session.server.version, most: 40 })] : null)));
}

/** Language and theme. */
export function Look() {
  const spoken = useStore(language);
  const [theme, put] = useState(kept('writ-theme') ?? 'system');
  const wear = (/** @type {string} */ name) => {
    if (name === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    keep('writ-theme', name === 'system' ? null : name);
    put(name);
  };
  return h('div', { class: 'look' },
    h('label', null, h('span', null, t('theme')), h('select', { value: theme, onChange: (/** @type {any} */ e) => wear(e.currentTarget.value) },
      ['system', 'light', 'dark'].map((name) => h('option', { key: name, value: name, selected: name === theme }, t(`theme.${name}`))))),
    h('label', null, h('span', null, t('language')), h('select', { value: spoken, onChange: (/** @type {any} */ e) => {
      const box = e.currentTarget;
      choose(box.value).catch(() => {
        box.value = spoken;
      });
    } },
      LANGUAGES.map((name) => h('option', { key: name, value: name, selected: name === spoken, lang: name }, { en: 'English', de: 'Deutsch' }[name])))));
}

/** @param {{pages: typeof PAGES, close: () => void}} props */
function Help({ pages, close }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => box.current?.showModal(), []);
  const [act, put] = useState(lettersAct);
  const rows = [...pages.map(([name, , letter]) => [`g ${letter}`, `nav.${name}`]), ['/', 'help.find'], ['j k', 'help.rows'], ['p', 'help.pause'], ['?', 'help.help'], ['Esc', 'help.close']];
  return h('dialog', { ref: box, class: 'help', 'aria-labelledby': 'help-title', onClose: close },
    h('h2', { id: 'help-title' }, t('help.keys')),
    h('dl', null, rows.map(([keys, what]) => h('div', { key: keys }, h('dt', null, keys.split(' ').map((k) => h('kbd', null, k))), h('dd', null, t(what))))),
    h('p', null, h('label', null, h('input', { type: 'checkbox', checked: act, onChange: (/** @type {any} */ e) => {
      haveLettersAct(e.currentTarget.checked);
      put(e.currentTarget.checked);
    } }), ' ', t('help.letters'))),
    h('form', { method: 'dialog' }, h('button', null, t('close'))));
}

/** The code of an address that was opened where somebody is signed in already: whoever sent it would choose who is here. */
const offered = store(/** @type {string | null} */ (null));

/** By the code of the address, where it has one; it counts once, and leaves the address at once. */
async function enter() {
  const { page, part } = place.get();
  if (page !== 'sign-in' || part === null) return whoami();
  replace(address('live'));
  if (await isSignedIn()) {
    offered.set(part);
    return whoami();
  }
  try {
    await signIn(part, 'Writ-Code');
  } catch (e) {
    if (!(e instanceof Problem) || e.status !== 401) throw e;
    codeRefused.set(e);
    await whoami();
  }
}

/** @param {{session: import('./parts/api.mjs').Session, code: string}} props nobody becomes somebody else by a link alone */
function Other({ session, code }) {
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const go = () => {
    work(true);
    signIn(code, 'Writ-Code').then(() => offered.set(null), (e) => {
      fail(e);
      work(false);
    });
  };
  return h('main', { class: 'alone' }, h('div', { class: 'door' },
    h('h1', null, t('other-person.title')),
    h('p', { class: 'lead' }, ...T('other-person.lead', { subject: h('b', null, h(Foreign, { value: session.subject, most: 200 })), tenant: h(Foreign, { value: session.tenant, most: 200 }) })),
    problem ? h(Fault, { problem }) : null,
    h('p', null, h('button', { type: 'button', class: 'primary wide', onClick: () => offered.set(null) }, t('other-person.stay'))),
    h('p', null, h('button', { type: 'button', class: 'wide', disabled: busy, onClick: go }, t('other-person.go')))));
}

function Console() {
  useStore(language);
  const code = useStore(offered);
  const { session, known, ways } = useStore(standing);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const ask = () => {
    fail(null);
    enter().catch(fail);
  };
  useEffect(ask, []);
  useEffect(() => {
    // An address with a code may be put into a tab where the console is open: only its fragment changes.
    const entered = () => place.get().page === 'sign-in' && place.get().part !== null && ask();
    addEventListener('hashchange', entered);
    return () => removeEventListener('hashchange', entered);
  }, []);
  useEffect(() => {
    // Another tab of this browser may have signed somebody in: who is named here is whose page this is.
    const look = () => {
      if (document.visibilityState !== 'visible' || !standing.get().known) return;
      if (standing.get().session !== null) whoami().catch(() => {});
      else isSignedIn().then((yes) => (yes ? whoami() : undefined)).catch(() => {});
    };
    document.addEventListener('visibilitychange', look);
    addEventListener('focus', look);
    // And policy may let its person see something else.
    const timer = setInterval(() => standing.get().session !== null && look(), LOOK_MS);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
      removeEventListener('focus', look);
    };
  }, []);
  if (problem) return h('main', { class: 'alone' }, h(Fault, { problem, again: ask }));
  if (!known) return h(Waiting, null);
  if (session !== null && code !== null) return h(Other, { session, code });
  return session === null ? h(SignIn, { ways, look: h(Look, null) }) : h(Shell, { key: sightOf(session), session });
}

/** Where the texts did not arrive, in words that need no file: also what a page that is left meanwhile would show. */
const Wordless = () => h('main', { class: 'alone' }, h('p', { class: 'note bad', role: 'alert' }, 'The server does not answer. Load this page again when it does.'));

const loaded = await speak().then(() => true, () => false);
render(h(loaded ? Console : Wordless, null), /** @type {HTMLElement} */ (document.getElementById('page')));
