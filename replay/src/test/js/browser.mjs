// A headless Chromium, spoken to over a pipe (Chrome DevTools Protocol), without dependencies.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The browser's command, or null where there is none. */
export const CHROMIUM = process.env.WRIT_CHROMIUM ?? 'chromium-headless-shell';

export class Browser {
  static async start() {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'writ-chromium-'));
    browser.process = spawn(CHROMIUM, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${browser.profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.waiting = new Map();
    browser.listeners = [];
    browser.next = 1;
    browser.ended = new Promise((resolve, reject) => {
      browser.process.once('exit', resolve);
      browser.process.once('error', reject);
    });
    browser.ended.catch(() => {});
    let held = '';
    browser.process.stdio[4].setEncoding('utf8');
    browser.process.stdio[4].on('data', (chunk) => {
      held += chunk;
      for (let end = held.indexOf('\0'); end >= 0; end = held.indexOf('\0')) {
        browser.hear(JSON.parse(held.slice(0, end)));
        held = held.slice(end + 1);
      }
    });
    await Promise.race([browser.send('Browser.getVersion'), browser.ended.then(() => { throw new Error('the browser ended'); })]);
    return browser;
  }

  hear(message) {
    if (message.id) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    } else {
      for (const listen of this.listeners) listen(message);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    });
  }

  /** Opens a page at a size; `dark` is what the system prefers. */
  async open(url, { width = 1280, height = 900, dark = false, setup = null } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await Promise.all(['Page', 'Runtime', 'Network', 'Log'].map((domain) => page.send(`${domain}.enable`)));
    await page.shape(width, height, dark);
    if (setup) await page.send('Page.addScriptToEvaluateOnNewDocument', { source: setup });
    await page.send('Page.navigate', { url });
    return page;
  }

  async close() {
    await this.send('Browser.close').catch(() => {});
    await this.ended.catch(() => {});
    // Helper processes may outlive the browser by a moment and still write into its profile.
    await rm(this.profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }).catch(() => {});
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, errors: [], requests: [] });
    this.thrown = new Promise((_, reject) => { this.throws = reject; });
    this.thrown.catch(() => {});
    browser.listeners.push((message) => message.sessionId === sessionId && this.hear(message));
  }

  hear({ method, params }) {
    if (method === 'Runtime.exceptionThrown') {
      const what = params.exceptionDetails.exception?.description ?? params.exceptionDetails.text;
      this.errors.push(what);
      this.throws(new Error(`the page threw ${what}`));
    }
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type)) this.errors.push(params.args.map((a) => a.value ?? a.description).join(' '));
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) this.errors.push(params.entry.text);
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url.slice(0, 120));
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  /** Another size of its window, and what the system prefers. */
  async shape(width, height, dark) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }] });
  }

  /** The value of an expression, awaited. */
  async eval(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Resolves when an expression is true; what is asked is an event of the page, not a time. */
  async until(expression) {
    await this.eval(`new Promise((resolve) => {
      const look = () => { try { if (${expression}) { resolve(true); return true; } } catch { /* not yet */ } return false; };
      if (look()) return;
      const seen = new MutationObserver(() => look() && seen.disconnect());
      seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    })`);
  }

  async verified() {
    // A page whose script failed would never say an outcome.
    await Promise.race([this.until('document.documentElement.dataset.outcome'), this.thrown]);
    return this.eval('document.documentElement.dataset.outcome');
  }

  async key(key, code = key, more = {}) {
    const text = key === 'Enter' ? '\r' : key === ' ' ? ' ' : undefined;
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, code, windowsVirtualKeyCode: { Tab: 9, Enter: 13, ' ': 32 }[key], text, ...more });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code, windowsVirtualKeyCode: { Tab: 9, Enter: 13, ' ': 32 }[key], ...more });
  }

  async screenshot(full = false) {
    const params = { format: 'png', captureBeyondViewport: full };
    if (full) {
      const [width, height] = await this.eval('[document.documentElement.clientWidth, document.documentElement.scrollHeight]');
      params.clip = { x: 0, y: 0, width, height: Math.min(height, 12000), scale: 1 };
    }
    return Buffer.from((await this.send('Page.captureScreenshot', params)).data, 'base64');
  }

  async close() {
    await this.browser.send('Target.closeTarget', { targetId: this.targetId });
  }
}
