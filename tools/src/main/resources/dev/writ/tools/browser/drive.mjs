// Runs in the sandbox: drives one Chromium through Playwright, as the plan on stdin says, and writes
// what happened to stdout, one JSON object a line. Nothing outside speaks to the browser: its
// protocol runs over a pipe between this process and its child, and opens no port.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chromium } from '/opt/writ/playwright-core/index.mjs';

const plan = JSON.parse(readFileSync(0, 'utf8'));

/** Where `html` and the input files are seen: a secure context, and a name that is never looked up (RFC 6761, 6.3). */
const GIVEN = 'http://page.localhost/';
const OUT = '/workspace/out';

/** What is too much of: a page that goes beyond it is stopped. */
const MOST = { dialogs: 50, downloads: 20, popups: 20 };
const CONSOLE_LINES = 500;
const CONSOLE_BYTES_EACH = 8192;
const URL_BYTES = 8192;
const TITLE_BYTES = 4096;
const MESSAGE_BYTES = 4096;
/** A whole page that has more is shown as far as the viewport goes. */
const PIXELS = 20_000_000;

/** The system's browser; policy.json has what pages must not do, whatever they find. */
const LAUNCH = {
  executablePath: '/usr/lib/chromium/chromium',
  // The sandbox around all of this gives no namespaces for another one inside.
  chromiumSandbox: false,
  // Loopback too. With no way out there is nothing behind this port, and nothing else to reach.
  proxy: { server: 'http://127.0.0.1:3128', bypass: '<-loopback>' },
  ignoreDefaultArgs: ['--disable-popup-blocking'],
  args: [
    '--disable-gpu',
    '--disable-3d-apis',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--no-pings',
    // The browser's own services: who is signed in, and what components are new.
    '--gaia-url=http://127.0.0.1:1',
    '--component-updater=url-source=http://127.0.0.1:1/',
  ],
};

const CONTEXT = {
  viewport: plan.viewport,
  acceptDownloads: false,
  colorScheme: 'light',
  locale: 'en-US',
  reducedMotion: 'reduce',
  serviceWorkers: 'block',
  timezoneId: 'UTC',
};

/** Says one line; resolves when it has left, and with it all lines before. */
const say = (event, members) => new Promise((resolve) => process.stdout.write(JSON.stringify({ event, ...members }) + '\n', resolve));

/** Whole characters only, so that every line is valid JSON of valid Unicode. */
const whole = (text) => Buffer.from(text, 'utf8').toString('utf8');
const plain = (text) => whole(String(text).replace(/\x1b\[[0-9;]*m/g, ''));

/** The beginning of a text that takes so many bytes as JSON. */
function cut(text, most) {
  let kept = whole(text.slice(0, most));
  for (let bytes = size(kept); bytes > most; bytes = size(kept)) kept = whole(kept.slice(0, Math.floor((kept.length * most * 0.98) / bytes)));
  return kept;
}
const size = (text) => Buffer.byteLength(JSON.stringify(text));

/** Why a run ends before its time. */
class Stop extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

let stopped;
const stop = new Promise((_, reject) => { stopped = (reason, message) => reject(new Stop(reason, message)); });
stop.catch(() => {});

/** A page whose script never yields answers nothing; no call may wait for it for ever. */
function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Stop('page-unresponsive', `no answer within ${ms} ms`)), ms); });
  return Promise.race([promise, late, stop]).finally(() => clearTimeout(timer));
}

const counts = { console_dropped: 0, dialogs: 0, downloads: 0, popups: 0, requests: 0, steps: 0 };
const state = { response: null, navigated: '', console: { lines: CONSOLE_LINES, bytes: plan.console_bytes } };

function hear(type, text) {
  if (!plan.results.includes('console')) return;
  const line = cut(plain(text), CONSOLE_BYTES_EACH);
  const bytes = size(line) + 64;
  if (state.console.lines < 1 || state.console.bytes < bytes) {
    counts.console_dropped += 1;
    return;
  }
  state.console.lines -= 1;
  state.console.bytes -= bytes;
  say('console', { type, text: line });
}

function count(what) {
  counts[what] += 1;
  if (counts[what] > MOST[what]) stopped(`too-many-${what}`, `more than ${MOST[what]}`);
}

function listen(context, page) {
  page.on('console', (message) => hear(message.type(), message.text()));
  page.on('pageerror', (error) => hear('pageerror', error?.message ?? String(error)));
  page.on('dialog', (dialog) => {
    hear('dialog', `${dialog.type()}: ${dialog.message()}`);
    count('dialogs');
    // To leave a page is what the script asks for; anything else that is asked is answered with no.
    (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss()).catch(() => {});
  });
  page.on('download', (download) => {
    count('downloads');
    download.cancel().catch(() => {});
  });
  page.on('crash', () => stopped('page-crashed', 'the process of the page ended'));
  page.on('close', () => stopped('page-closed', 'the page closed itself'));
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) state.navigated = request.url();
  });
  context.on('request', () => { counts.requests += 1; });
  context.on('page', (other) => {
    if (other === page) return;
    hear('popup', other.url());
    count('popups');
    other.close().catch(() => {});
  });
}

/** The name that a URL below GIVEN asks for; the empty one is `html`. */
function named(url) {
  try {
    return decodeURIComponent(new URL(url).pathname.slice(1));
  } catch {
    return undefined;
  }
}

/** What the caller gave, at GIVEN; everything else only where there is a way out. */
async function serve(context) {
  if (!plan.network) await context.route('**/*', (route) => route.abort('internetdisconnected'));
  if (plan.url !== undefined) return;
  await context.route((url) => url.href.startsWith(GIVEN), (route) => {
    const name = named(route.request().url());
    if (name === undefined || !Object.hasOwn(plan.files, name)) return route.fulfill({ status: 404, contentType: 'text/plain', body: 'not given' });
    const file = plan.files[name];
    return route.fulfill({ status: 200, contentType: file.media_type, body: readFileSync(file.path) });
  });
}

async function go(page, url) {
  try {
    return await within(plan.timeout_ms + 1000, page.goto(url, { timeout: plan.timeout_ms }));
  } catch (error) {
    throw error instanceof Stop ? error : new Stop('navigation-failed', error.message);
  }
}

const steps = {
  async goto(page, { url }) { state.response = await go(page, url); },
  click: (page, { selector }) => page.locator(selector).click(),
  check: (page, { selector }) => page.locator(selector).setChecked(true),
  uncheck: (page, { selector }) => page.locator(selector).setChecked(false),
  fill: (page, { selector, text }) => page.locator(selector).fill(text),
  hover: (page, { selector }) => page.locator(selector).hover(),
  press: (page, { selector, key }) => (selector ? page.locator(selector).press(key) : page.keyboard.press(key)),
  scroll: (page, { x = 0, y = 0 }) => page.mouse.wheel(x, y),
  select: (page, { selector, values }) => page.locator(selector).selectOption(values),
  type: (page, { selector, text }) => page.locator(selector).pressSequentially(text),
  wait(page, { selector, state: wanted, ms, load, url }) {
    if (ms !== undefined) return page.waitForTimeout(ms);
    if (load !== undefined) return page.waitForLoadState(load);
    if (url !== undefined) return page.waitForURL(url);
    return page.locator(selector).waitFor({ state: wanted ?? 'visible' });
  },
};

async function perform(page) {
  for (const [index, step] of plan.script.entries()) {
    try {
      await within(Math.max(plan.timeout_ms, step.ms ?? 0) + 1000, steps[step.action](page, step));
    } catch (error) {
      throw new Stop(error instanceof Stop ? error.reason : 'step-failed', `step ${index}, ${step.action}: ${error.message}`);
    }
    counts.steps += 1;
  }
}

async function collect(page) {
  const wanted = (what) => plan.results.includes(what);
  const ask = (promise) => within(plan.timeout_ms, promise);
  const members = { final_url: cut(page.url(), URL_BYTES), title: cut(plain(await ask(page.title())), TITLE_BYTES), status: state.response ? state.response.status() : 0 };
  const texts = {
    html: () => page.content(),
    text: () => page.evaluate(() => (document.body ?? document.documentElement).innerText ?? document.documentElement.textContent),
  };
  for (const what of Object.keys(texts).filter(wanted)) {
    const all = whole(String(await ask(texts[what]())));
    members[what] = cut(all, plan.text_bytes);
    members[`${what}_truncated`] = members[what].length < all.length;
  }
  mkdirSync(OUT, { recursive: true });
  if (wanted('png')) {
    const [width, height] = await ask(page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]));
    const fullPage = plan.full_page && width * height <= PIXELS;
    writeFileSync(`${OUT}/screenshot.png`, await ask(page.screenshot({ fullPage, animations: 'disabled', caret: 'hide', scale: 'css', timeout: plan.timeout_ms })));
    members.png_truncated = plan.full_page && !fullPage;
  }
  if (wanted('pdf')) writeFileSync(`${OUT}/page.pdf`, await ask(page.pdf({ format: 'A4', printBackground: true })));
  say('page', members);
}

async function main() {
  let browser;
  try {
    browser = await chromium.launch(LAUNCH);
  } catch (error) {
    throw new Stop('browser-failed', error.message);
  }
  say('browser', { chromium: browser.version(), node: process.versions.node });
  browser.on('disconnected', () => stopped('browser-failed', 'the browser ended'));
  const context = await browser.newContext(CONTEXT);
  context.setDefaultTimeout(plan.timeout_ms);
  const page = await context.newPage();
  listen(context, page);
  await serve(context);
  state.response = await go(page, plan.url ?? GIVEN + plan.start.split('/').map(encodeURIComponent).join('/'));
  await perform(page);
  try {
    await collect(page);
  } catch (error) {
    throw error instanceof Stop ? error : new Stop('result-failed', error.message);
  }
}

let end = { reason: 'ok', message: '' };
try {
  await Promise.race([main(), stop]);
} catch (error) {
  end = { reason: error.reason ?? 'browser-failed', message: cut(plain(error.message), MESSAGE_BYTES) };
}
await say('end', { ...end, counts, navigated: cut(state.navigated, URL_BYTES) });
// The browser goes with the sandbox: to ask it to leave would only take time.
process.exit(0);
