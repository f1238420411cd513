// The report in a real browser. WRIT_REPORTS names a folder with the pages that Java made.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createHash } from 'node:crypto';
import { Browser } from './browser.mjs';

const DIR = process.env.WRIT_REPORTS;
const SHOTS = process.env.WRIT_SCREENSHOTS;
const LARGE = Number(process.env.WRIT_EFFECTS);
const url = (name) => pathToFileURL(join(DIR, name)).href;
const $ = (selector) => `document.querySelector(${JSON.stringify(selector)})`;
const count = (selector) => `document.querySelectorAll(${JSON.stringify(selector)}).length`;

let browser;
before(async () => {
  browser = await Browser.start();
});
after(() => browser?.close());

async function opened(name, options, check) {
  const page = await browser.open(url(name), options);
  try {
    const outcome = await page.verified();
    await check(page, outcome);
    assert.deepEqual(page.errors, [], `${name}: console`);
    assert.deepEqual(page.requests.filter((r) => !r.startsWith('data:')), [url(name).slice(0, 120)], `${name}: requests`);
    if (SHOTS) await shot(page, `${name.replace('.html', '')}-${options.width ?? 1280}`);
  } finally {
    await page.close();
  }
}

async function shot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  writeFileSync(join(SHOTS, `${name}.png`), await page.screenshot(true));
}

/** A copy of a page whose first bundle has one other byte. */
function flipped(name, change) {
  const page = readFileSync(join(DIR, name), 'utf8');
  const [, encoded] = /id="writ-bundle">\s*(\S*)/.exec(page);
  const bundle = Buffer.from(encoded, 'base64');
  const place = change(bundle);
  const copy = `flipped-${place}.html`;
  writeFileSync(join(DIR, copy), page.replace(encoded, bundle.toString('base64')));
  return copy;
}

test('a good bundle under pinned keys gets the seal, and is drawn', () => opened('good.html', {}, async (page, outcome) => {
  assert.equal(outcome, 'verified');
  assert.equal(await page.eval(`${$('#seal')}.className`), 'seal good');
  assert.match(await page.eval(`${$('#seal')}.innerText`), /pinned by the maker of this page/i);
  assert.match(await page.eval(`${$('#seal')}.innerText`), /What was not/);
  assert.ok(await page.eval(count('#timeline .fx')) >= 7);
  await page.eval(`document.querySelectorAll('.fx details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
  const text = await page.eval(`${$('#timeline')}.innerText`);
  for (const word of ['What was asked', 'Decision', 'prg', 'budget', 'temporal', 'envelope', 'The eight stages', '8 Receipt', 'Output', 'Receipt, lamport', 'not verified by this page']) assert.ok(text.includes(word), word);
  assert.ok(await page.eval(count('#chain .lam')) >= 7);
  assert.ok(await page.eval(count('#budgets svg')) >= 1);
  assert.match(await page.eval(`${$('#divergences')}.innerText`), /No replay came with this page/);
  assert.match(await page.eval(`${$('#footer')}.innerText`), /WebCrypto/);
}));

test('its summary says who, what, when, under which policy, what was refused and what was not verified', () => opened('good.html', { width: 1100 }, async (page) => {
  const text = await page.eval(`${$('#summary')}.innerText`);
  for (const word of [
    /run-1 of tenant acme, alice made 7 requests from 2026-\d\d-\d\d \d\d:\d\d:\d\d to/,
    /rita answered 1 request for approval/,
    /The run was closed at 2026-/,
    /6 were allowed \(6 succeeded\) and 1 denied\. 1 of them asked for an approval first, and 1 got one/,
    /Judged under policy \S+ version 1, in force since 2026-/,
    /No\. 5 mail \/ do by alice: prg\s+GRD-102/,
    /Not verified by this page: .*judgements; .*outcomes/,
  ]) assert.match(text, word);
  assert.ok(!text.includes('`'), 'commands are set as code');
  assert.ok(!(await page.eval(`${$('#seal')}.innerText`)).includes('`'));
  const policy = await page.eval(`(() => { const box = document.querySelector('#policy details'); box.open = true; box.fill(); return document.querySelector('#policy').innerText; })()`);
  assert.match(policy, /"writ_policy": 1/);
}));

test('its numbers add up, and the time is that of the work, not until the run was closed', () => opened('good.html', { width: 1110 }, async (page) => {
  const facts = await page.eval(`Object.fromEntries([...document.querySelectorAll('.facts > div')].map((d) => [d.querySelector('dt').textContent, d.querySelector('dd').innerText]))`);
  const of = (name) => Number.parseInt(facts[name], 10);
  assert.equal(of('Requests'), of('Allowed') + of('Denied') + of('Waiting'));
  assert.match(facts.Took, /^\d+\.\d s/, 'the run was closed an hour later');
}));

test('effects are found by how they ended and by what was needed on the way', () => opened('good.html', { width: 1120 }, async (page) => {
  const buttons = await page.eval(`[...document.querySelectorAll('.filters button')].map((b) => b.textContent)`);
  assert.deepEqual(buttons, ['All 7', 'Succeeded 6', 'Denied 1', 'Escalated 1', 'Approved 1']);
  for (const [i, all] of [7, 6, 1, 1, 1].entries()) {
    await page.eval(`document.querySelectorAll('.filters button')[${i}].click()`);
    assert.equal(await page.eval(count('.fx')), all, buttons[i]);
  }
  const card = await page.eval(`${$('.fx summary')}.innerText`);
  assert.match(card, /alice asked: \S+/, 'a closed card says who asked, and what');
  assert.match(card, /Approved by rita/);
}));

test('what policy would refuse if it did more than observe is said', () => opened('observed.html', {}, async (page) => {
  const summary = await page.eval(`${$('#summary')}.innerText`);
  assert.match(summary, /which only observes/);
  assert.match(summary, /Nothing was refused\.\s+Let pass by a policy that only observes, 1 request: 1 would have been refused, and 0 would have waited for an approval\.\s+No\. 1 mail \/ do by alice: prg\s+GRD-102/);
  assert.match(await page.eval(`${$('.fx summary')}.innerText`), /Allowed\s+Denied, if policy did more than observe\s+GRD-102\s+Succeeded/, 'the closed card says so');
  assert.match(await page.eval(`${$('#controls')}.innerText`), /0 denied, 0 escalated, 1 let pass by a policy that only observes/);
  await page.eval(`document.querySelectorAll('.fx > details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
  assert.match(await page.eval(`${$('#timeline')}.innerText`), /would refuse, but policy only observes/);
}));

test('what an operator found out of an effect in doubt is said', () => opened('resolved.html', {}, async (page) => {
  assert.match(await page.eval(`${$('#summary')}.innerText`), /1 in doubt, 1 of them resolved/);
  assert.match(await page.eval(`${$('.fx summary')}.innerText`), /Allowed\s+In doubt\s+Resolved: happened/, 'the closed card says so');
}));

/** Opens every card with all that is in it, and gives its text. */
async function openedCards(page) {
  await page.eval(`document.querySelectorAll('.fx > details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
  await page.eval(`document.querySelectorAll('.fx-body details').forEach((d) => { d.open = true; })`);
  await page.until(`[...document.querySelectorAll('.fx-body details')].every((d) => d.childElementCount > 1)`);
  return page.eval(`${$('#timeline')}.innerText`);
}

const times = (text, what) => [...text.matchAll(what)].length;

test('of a content that is not there it is said which of all reasons it is', () => opened('gone.html', {}, async (page) => {
  const text = await openedCards(page);
  assert.equal(times(text, /Deleted at 2026-[-:.0-9TZ]+ by the rule letters of the policy in force\. Its digest is signed/g), 1);
  assert.equal(times(text, /Erased at 2026-[-:.0-9TZ]+ by the order sha256:[0-9a-f]{64} of an operator\. Its digest is signed/g), 2, 'an input and an output');
  assert.equal(times(text, /Not in this bundle: a request that was never executed brings no contents/g), 1);
  assert.equal(times(text, /Not kept: the request asked for that/g), 1);
  assert.equal(times(text, /Left out of this bundle|Moved to the archive/g), 0);
  assert.equal(times(text, /Kept\s+at first\. (Deleted|Erased) at/g), 2, 'nor is it said of these that they are kept');
  assert.equal(times(text, /Kept\s+yes/g), 1, 'only of what is still there');
}));

test('what was moved to the archive is said to be there', () => opened('archived.html', {}, async (page) => {
  const text = await openedCards(page);
  assert.ok(times(text, /Moved to the archive at 2026-[-:.0-9TZ]+, into the bundle sha256:[0-9a-f]{64}\. Its digest is signed/g) > 3);
  assert.equal(times(text, /Not kept: the request asked for that/g), 1, 'of the output that was dropped');
  assert.equal(times(text, /Deleted at|Erased at|Left out of this bundle/g), 0);
}));

test('nothing is said to be let pass where policy is in force', () => opened('good.html', { width: 1180 }, async (page) => {
  assert.doesNotMatch(await page.eval(`${$('#summary')}.innerText + ${$('#timeline')}.innerText`), /Let pass|only observes|more than observe/);
}));

test('keys can be compared by other means: as many groups as a digest has, and the bytes of the id', () => opened('good.html', { width: 1130 }, async (page) => {
  const [shown, id] = await page.eval(`[...document.querySelectorAll('#keys .card')].map((c) => [c.querySelector('.print').textContent, c.querySelector('.id').textContent])[0]`);
  assert.match(shown, /^([0-9a-f]{4} ){16}$/);
  assert.equal(shown.replaceAll(' ', ''), Buffer.from(id, 'base64url').toString('hex'));
}));

/** Runs in the page: cells whose text does not stand beside the name of its column, as a whole. */
const scatteredCells = () => [...document.querySelectorAll('td')].filter((cell) => cell.childNodes.length > 1).map((cell) => cell.textContent);

/** Runs in the page: words in tables that stand on two lines. Ids alone may, since nothing else is as long. */
function brokenWords() {
  const found = [];
  for (const cell of document.querySelectorAll('th, td')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      if (text.parentElement.closest('.id')) continue;
      for (const word of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) found.push(word[0]);
      }
    }
  }
  return found;
}

test('no table breaks inside a word on a telephone', () => opened('good.html', { width: 390 }, async (page) => {
  await page.eval(`document.querySelectorAll('details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
  assert.ok(await page.eval(count('td')) > 20);
  assert.deepEqual(await page.eval(`(${brokenWords})()`), []);
  assert.deepEqual(await page.eval(`(${scatteredCells})()`), []);
}));

test('without keys it says integrity only, never that it is verified', () => opened('unpinned.html', {}, async (page, outcome) => {
  assert.equal(outcome, 'integrity');
  assert.equal(await page.eval(`${$('#seal')}.className`), 'seal warn');
  assert.match(await page.eval(`${$('#seal-kicker')}.textContent`), /integrity only; signer not pinned/i);
}));

test('a reader\'s own trust file, or another one, changes what the seal says', () => opened('unpinned.html', { width: 1000 }, async (page) => {
  const give = async (id, file) => {
    await page.eval(`delete document.documentElement.dataset.outcome`);
    const { root } = await page.send('DOM.getDocument', {});
    const { nodeId } = await page.send('DOM.querySelector', { nodeId: root.nodeId, selector: id });
    await page.send('DOM.setFileInputFiles', { nodeId, files: [join(DIR, file)] });
    return page.verified();
  };
  assert.equal(await give('#pick-trust', 'trust.jwks'), 'verified');
  assert.match(await page.eval(`${$('#seal-kicker')}.textContent`), /pinned by you/i);
  assert.equal(await give('#pick-trust', 'foreign.jwks'), 'broken');
  assert.equal(await page.eval(`${$('#failure-code')}.textContent`), 'RPL-041');
  assert.equal(await page.eval(count('#timeline')), 0);
}));

test('one flipped byte: no seal, nothing of the run, and where it is', async () => {
  const inside = flipped('good.html', (bundle) => {
    const at = bundle.indexOf('effect.dispatched');
    bundle[at] ^= 1;
    return 'journal';
  });
  await opened(inside, {}, async (page, outcome) => {
    assert.equal(outcome, 'broken');
    assert.equal(await page.eval(`${$('#seal')}.className`), 'seal bad');
    assert.equal(await page.eval(`${$('#failure-code')}.textContent`), 'RPL-015');
    assert.match(await page.eval(`${$('#failure-place')}.textContent`), /journal\/run\.jsonl/);
    assert.match(await page.eval(`${$('#seal')}.innerText`), /Recorded\s+[0-9a-f]+\s+Recomputed\s+[0-9a-f]+/);
    assert.equal(await page.eval(`${$('#content')}.childElementCount`), 0);
  });
});

test('the page\'s own arithmetic gives the same verdict where WebCrypto has no Ed25519', () => opened('small.html', {
  setup: `crypto.subtle.importKey = () => Promise.reject(new Error('no Ed25519'));`,
}, async (page, outcome) => {
  assert.equal(outcome, 'verified');
  assert.match(await page.eval(`${$('#footer')}.innerText`), /own arithmetic/);
}));

test('hostile names, params and outputs stay text', () => opened('hostile.html', {}, async (page, outcome) => {
  assert.equal(outcome, 'verified');
  await page.eval(`document.querySelectorAll('.fx details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
  assert.equal(await page.eval('window.owned'), undefined);
  assert.equal(await page.eval(`${count('#content script')} + ${count('#content iframe')} + ${count('#content img:not(.output)')}`), 0);
  const text = await page.eval(`${$('#content')}.textContent`);
  assert.ok(text.includes('</script><script>window.owned=1</script>'));
  assert.ok(text.includes('U+202E'), 'a hidden character is named');
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text), 'and is not there');
  assert.match(text, /cut here: .* of .* characters/);
  assert.ok(text.length < 500000, `10 MB are cut: ${text.length}`);
  assert.equal(await page.eval(count('img.output')), 1, 'the image whose bytes are one');
  assert.equal(await page.eval('document.documentElement.scrollWidth <= innerWidth'), true);
}));

test('a replay\'s divergences stand side by side, marked', () => opened('replayed.html', {}, async (page) => {
  const text = await page.eval(`${$('#divergences')}.innerText`);
  for (const word of ['not verified by this page', 'RPL-001', 'Recorded', 'Replayed', '/body/output/digest', 'Last match: event 4']) assert.ok(text.includes(word), word);
}));

test('no sideways scrolling at any width, contrast is enough in either theme, and every outcome has a sign and a word', () => opened('good.html', { width: 360 }, async (page) => {
  await page.eval(`document.querySelectorAll('details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
  for (const [width, dark] of [[360, false], [360, true], [1280, false], [1280, true], [1600, false]]) {
    await page.shape(width, 900, dark);
    assert.deepEqual(await page.eval('[document.documentElement.scrollWidth, document.documentElement.clientWidth]'), [width, width]);
    assert.deepEqual(await page.eval(`(${lowContrast})()`), [], `${width} ${dark}`);
    if (SHOTS) await shot(page, `good-${width}${dark ? '-dark' : ''}`);
  }
  assert.deepEqual(await page.eval(`[...document.querySelectorAll('.chip')].filter((c) => !c.querySelector('svg') || c.textContent.trim() === '').length`), 0);
}));

/** Runs in the page: text whose contrast with what lies behind it is below WCAG AA. */
function lowContrast() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== '')) continue;
    if (element.closest('script,style,svg,noscript,.sr,.skip,option') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    if (element.matches(':disabled')) continue;
    const [a, b] = [luminance(channels(style.color)), luminance(behind(element))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) found.add(`${element.tagName}.${element.className} ${style.color}`);
  }
  return [...found].slice(0, 10);
}

test('everything that can be used is reached by the keyboard, and shows it', () => opened('small.html', {}, async (page) => {
  const reachable = await page.eval(`(() => {
    const all = [...document.querySelectorAll('a[href],button,input,summary,[tabindex="0"]')].filter((e) => e.checkVisibility() && !e.disabled);
    all.forEach((e, i) => { e.dataset.stop = i; });
    return all.length;
  })()`);
  const reached = new Set();
  let outlined = 0;
  for (let i = 0; i <= reachable + 2; i++) {
    await page.key('Tab');
    const stop = await page.eval('document.activeElement?.dataset.stop ?? null');
    if (stop !== null) {
      reached.add(stop);
      if (await page.eval(`getComputedStyle(document.activeElement).outlineStyle !== 'none'`)) outlined++;
    }
  }
  assert.equal(reached.size, reachable);
  assert.ok(outlined >= reached.size, 'each shows its focus');
  await page.eval(`${$('.fx summary')}.focus()`);
  await page.key('Enter');
  await page.until(`${count('.fx-body')} === 1`);
}));

test('the theme button changes the theme', () => opened('small.html', { width: 900 }, async (page) => {
  const color = () => page.eval('getComputedStyle(document.body).backgroundColor');
  const light = await color();
  await page.eval(`${$('#theme')}.click(); ${$('#theme')}.click()`);
  assert.equal(await page.eval(`${$('#theme')}.textContent`), 'Theme: dark');
  assert.notEqual(await color(), light);
}));

test('a run of many effects opens in groups, and is searched', () => opened('large.html', {}, async (page, outcome) => {
  assert.equal(outcome, 'verified');
  const groups = await page.eval(count('.group'));
  assert.equal(groups, Math.ceil(LARGE / 50));
  assert.ok(await page.eval(count('.fx')) <= 50, 'only what is open is made');
  await page.eval(`(() => { const s = ${$('input[type=search]')}; s.value = '"n":177'; s.dispatchEvent(new Event('input')); })()`);
  await page.until(`${count('.fx')} === 1`);
  await page.eval(`document.querySelector('.pager button:nth-of-type(2)').click()`);
  assert.match(await page.eval(`${$('.pager')}.innerText`), /events 101 to 200/);
}));

test('what it saves is the bundle and the verifier that is shipped', () => opened('small.html', { width: 1010, setup: `
  window.saved = {};
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { window.last = blob; return make.call(URL, blob); };
  HTMLAnchorElement.prototype.click = function () { window.saved[this.download] = window.last; };` }, async (page) => {
  await page.eval(`${$('#save-bundle')}.click(); ${$('#save-verifier')}.click()`);
  const verifier = await page.eval(`window.saved['verify.mjs'].text()`);
  assert.equal(verifier.trim(), readFileSync(process.env.WRIT_VERIFIER_FILE, 'utf8').trim());
  assert.equal(await page.eval(`window.saved['run.writ'].size`), readFileSync(join(DIR, 'small.writ')).length);
}));

test('on paper the run is set for pages, whatever is open on screen and in whichever theme', () => opened('good.html', { width: 800, dark: true }, async (page) => {
  await page.eval(`(() => {
    addEventListener('afterprint', () => { window.printedIn = getComputedStyle(document.body).backgroundColor; });
    addEventListener('beforeprint', () => { window.paper = { effects: ${count('#paper .p-fx')}, sections: ${count('#paper section')}, contents: ${count('#paper nav a')} }; });
  })()`);
  const { data } = await page.send('Page.printToPDF', { preferCSSPageSize: true });
  assert.ok(Buffer.from(data, 'base64').length > 10000);
  const { effects, sections, contents } = await page.eval('window.paper');
  assert.equal(effects, 7);
  assert.ok(sections >= 8);
  assert.equal(contents, sections, 'each section is in the contents');
  assert.equal(await page.eval(count('#paper')), 0, 'and it is gone again');
}));

test('nothing of a bundle that does not verify is printed', async () => {
  const name = flipped('good.html', (bundle) => {
    bundle[bundle.indexOf('effect.dispatched')] ^= 1;
    return 'printed';
  });
  await opened(name, {}, async (page) => {
    await page.eval(`addEventListener('beforeprint', () => { window.paper = ${count('#paper')}; })`);
    await page.send('Page.printToPDF', { preferCSSPageSize: true });
    assert.equal(await page.eval('window.paper'), 0);
  });
});

test('several runs are added up, each can be opened, and what is not verified is said', () => opened('many.html', {}, async (page, outcome) => {
  assert.equal(outcome, 'verified');
  const text = await page.eval(`${$('#summary')}.innerText`);
  assert.match(text, /2 runs of tenant acme in the log writ\.example\/log, from 2026-\S+ \S+ to 2026-/);
  assert.match(text, /alice made 9 requests\. 7 were allowed \(7 succeeded\) and 2 denied/);
  assert.match(text, /not verified: these are the runs of tenant acme with an event from 2026-11-01/);
  assert.match(text, /1 run of these is still open/);
  assert.match(await page.eval(`${$('#seal')}.innerText`), /that these are all runs: only the whole log shows that/);
  assert.match(await page.eval(`${$('#seal')}.innerText`), /of 1 run: the end of the run: it is open/);
  const cells = await page.eval(`[...document.querySelectorAll('#runs tbody tr')].map((row) => [...row.querySelectorAll('td')].slice(-5).map((cell) => Number(cell.textContent)))`);
  const [all, ...runs] = cells.reverse();
  assert.equal(runs.length, 2);
  assert.deepEqual(all, runs.reduce((sum, row) => sum.map((n, i) => n + row[i])), 'the last line is their sum');
  for (const [requests, allowed, denied, waiting] of cells) assert.equal(requests, allowed + denied + waiting);

  const go = async (selector) => {
    await page.eval(`delete document.documentElement.dataset.outcome; ${$(selector)}.click()`);
    return page.verified();
  };
  assert.equal(await go('#runs button.run'), 'verified');
  assert.match(await page.eval(`${$('#seal-title')}.innerText`), /Run run-1/);
  assert.equal(await page.eval(count('#timeline .fx')), 7);
  assert.equal(await go('#back'), 'verified');
  assert.match(await page.eval(`${$('#seal-title')}.innerText`), /2 runs/);
  await page.eval(`addEventListener('beforeprint', () => { window.paper = ${$('#paper')}.textContent; })`);
  await page.send('Page.printToPDF', { preferCSSPageSize: true });
  assert.match(await page.eval('window.paper'), /Report of 2 runs.*In run run-1 .*In run run-2 /s);
}));

test('runs of one name are told apart by their tenants, wherever a page of several names one', () => opened('tenants.html', {}, async (page) => {
  const each = ['run-1 of tenant acme', 'run-1 of tenant other'];
  const texts = (selector) => page.eval(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.innerText)`);
  assert.deepEqual(await texts('#runs details > summary'), each);
  assert.deepEqual((await texts('#seal-more details:first-of-type li')).map((line) => line.split(':')[0].trim()), each.map((name) => `run ${name}`));
  assert.deepEqual((await page.eval(`[...document.querySelectorAll('#sample tbody tr')].map((row) => row.querySelectorAll('td')[1].innerText)`)).sort(), each);
  await page.eval(`addEventListener('beforeprint', () => { window.paper = [...document.querySelectorAll('#paper .p-fx h3')].map((e) => e.textContent); })`);
  await page.send('Page.printToPDF', { preferCSSPageSize: true });
  assert.deepEqual(await page.eval('window.paper'), each);
  await opened('many.html', { width: 1170 }, async (one) => {
    assert.deepEqual(await one.eval(`[...document.querySelectorAll('#runs details > summary')].map((e) => e.innerText)`), ['run-1', 'run-2']);
  });
}));

test('of several runs one that does not verify, or is there twice, refuses all', async () => {
  const broken = flipped('many.html', (bundle) => {
    bundle[bundle.indexOf('effect.dispatched')] ^= 1;
    return 'many';
  });
  for (const [name, code, place] of [[broken, 'RPL-015', /bundle 1 of 2/], ['twice.html', 'RPL-061', /bundle 2 of 2/]]) {
    await opened(name, {}, async (page, outcome) => {
      assert.equal(outcome, 'broken');
      assert.equal(await page.eval(`${$('#failure-code')}.textContent`), code);
      assert.match(await page.eval(`${$('#failure-place')}.textContent`), place);
      assert.equal(await page.eval(`${$('#content')}.childElementCount`), 0);
    });
  }
});

/** The rule of spec/report.md, computed by node: the first ids in the order that a seed gives. */
const drawn = (ids, seed, size) => ids.map((id) => [createHash('sha256').update(`${seed}\0${id}`).digest('hex'), id]).sort().slice(0, size).map(([, id]) => id);

test('a sample is the one that anybody draws from the bundle and the seed', async () => {
  const { verifyBundle } = await import(pathToFileURL(process.env.WRIT_VERIFIER_FILE).href);
  const { bundle } = await verifyBundle(new Uint8Array(readFileSync(join(DIR, 'good.writ'))));
  const ids = [...bundle.journals.run].filter((event) => event.kind === 'request.received').map((event) => event.body);
  await opened('sampled.html', {}, async (page) => {
    const shown = await page.eval(`[...document.querySelectorAll('#sample tbody tr')].map((row) => row.querySelectorAll('td')[4].textContent)`);
    assert.deepEqual(shown, drawn(ids, 'audit 7 é', 3));
    assert.notDeepEqual(shown, drawn(ids, 'audit 8', 3), 'another seed draws others');
    assert.match(await page.eval(`${$('#sample')}.innerText`), /The first 3 effects .* seed audit 7 é/);
  });
});

test('of several runs a sample is drawn from all of them together', () => opened('many.html', { width: 1140 }, async (page) => {
  const of = async () => page.eval(`[...document.querySelectorAll('#sample tbody tr')].map((row) => row.querySelectorAll('td')[5].textContent)`);
  const shown = await of();
  assert.equal(shown.length, 4);
  const ids = [];
  for (const i of [0, 1]) {
    await page.eval(`delete document.documentElement.dataset.outcome; document.querySelectorAll('#runs button.run')[${i}].click()`);
    await page.verified();
    await page.eval(`document.querySelectorAll('.fx > details').forEach((d) => { d.open = true; })`);
    await page.until(`${count('.fx-body')} === ${count('.fx > details')}`);
    ids.push(...await page.eval(`[...document.querySelectorAll('.fx-body')].map((body) => [...body.querySelectorAll('dt')].find((dt) => dt.textContent === 'Request').nextElementSibling.textContent)`));
    await page.eval(`delete document.documentElement.dataset.outcome; ${$('#back')}.click()`);
    await page.verified();
  }
  assert.equal(ids.length, 9);
  assert.deepEqual(shown, drawn(ids, 'audit 7', 4));
  assert.deepEqual(await of(), shown, 'and again');
}));

test('what frameworks ask is answered from the run', () => opened('good.html', { width: 1150 }, async (page) => {
  await page.eval(`document.querySelectorAll('#controls details').forEach((d) => { d.open = true; })`);
  await page.until(`${count('#controls table')} === 4`);
  const text = await page.eval(`${$('#controls')}.innerText`);
  for (const word of [/42 events .* 6 receipts/, /1 denied, 1 escalated/, /1 waited for a person, 1 approved, 0 rejected/, /Article 14/, /CC7\.2/, /A\.6\.2\.8/, /MANAGE 2\.4/]) assert.match(text, word);
}));

test('contents that are gone are counted by what let them go, and the rules are told though they judged nothing', async () => {
  await opened('gone.html', { width: 1160 }, async (page) => {
    const text = await page.eval(`${$('#controls')}.innerText`);
    assert.match(text, /policy has rules that delete contents; 1 content deleted by rule, [1-9]\d* erased by order, 0 moved to the archive, each stated in the log/);
  });
  await opened('archived.html', { width: 1160 }, async (page) => {
    const text = await page.eval(`${$('#controls')}.innerText`);
    assert.match(text, /no rule of policy deletes contents; closed runs may be archived; 0 contents deleted by rule, 0 erased by order, [1-9]\d* moved to the archive/);
  });
  await opened('good.html', { width: 1160 }, async (page) => {
    const text = await page.eval(`${$('#controls')}.innerText`);
    assert.match(text, /no rule of policy deletes contents; 0 contents deleted by rule, 0 erased by order, 0 moved to the archive/);
    assert.doesNotMatch(text, /may be archived/);
  });
});
