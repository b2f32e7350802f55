// Pictures of the collector's page: kept with the other artefacts, and with
// PPROF_PICTURES=DIR written to where the documentation has them.  What can be
// checked of a picture is: the text in it is large and dark enough, and
// nothing is cut.  So are the commands of docs/walkthrough.md, with what they
// print.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync }
  from 'node:fs';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { finish, scratch, shoot, takeComplaints, terminal }
  from './browser.mjs';
import { fillFleet, startCollector } from './fleet_fixture.mjs';
import { cpuOf, openFleet, resting } from './fleet_page.mjs';
import { ARTEFACTS } from './tools.mjs';

const { url, stop } = await startCollector();
await fillFleet(url);
after(async () => {
  await finish();
  stop();
});
afterEach(() => assert.deepEqual(takeComplaints(), []));

const PHONE = { width: 390, height: 844 };
const a = cpuOf('checkout');
const week = cpuOf('checkout', 'now-169h..now-168h');

/** name, view, words, options of the browser, what to do before */
const PICTURES = [
  ['services', 'services', {}, {}],
  ['services-dark', 'services', {}, { colorScheme: 'dark' }],
  ['services-phone', 'services', {}, { viewport: PHONE }],
  ['explore', 'flamegraph', { a }, {}],
  ['explore-dark', 'flamegraph', { a, split: 'region' },
    { colorScheme: 'dark' }],
  ['explore-phone', 'flamegraph', { a }, { viewport: PHONE }],
  ['compare', 'flamegraph', { a, b: week }, {}],
  ['diff', 'diff', { a, b: week, change: 'grew' }, {}],
  ['plot', 'flamegraph', { a: cpuOf('checkout', 'now-12h..now'),
    plot: 'regexp.MustCompile', split: 'version', q: 'MustCompile' }, {}],
  ['lines', 'top', { a, g: 'lines', f: 'regexp.MustCompile', sort: 'cum' },
    {}],
  ['profiles', 'profiles', { a }, {}],
];

for (const [name, view, words, options] of PICTURES) {
  test(`the picture of ${name}`, async () => {
    const page = await openFleet(url, view, words, { viewport: { width: 1280,
      height: 720 }, ...options });
    await resting(page);
    await page.waitForTimeout(300);
    await shoot(page, `fleet-${name}`);
    if (process.env.PPROF_PICTURES) {
      copyFileSync(join(ARTEFACTS, `fleet-${name}.png`),
        join(process.env.PPROF_PICTURES, `fleet-${name}.png`));
    }
    const cut = await page.evaluate(() => [...document.querySelectorAll(
      '.facet-cost, .numeric .cell-text, .brand, .level, .pick.range')]
      .filter((one) => one.clientWidth > 0 &&
        one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.textContent));
    assert.deepEqual(cut, []);
    await page.close();
  });
}

const GUIDE = readFileSync(new URL('../../docs/walkthrough.md',
  import.meta.url), 'utf8');

/** The arguments of a command in the walk-through. @param {RegExp} which */
function guideCommand(which, home) {
  const [line] = GUIDE.split('\n').filter((text) => which.test(text));
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) =>
    quoted ?? plain).slice(1).map((word) => word.replace('$HOME', home))
    .map((word) => (/^http/.test(word)
      ? `${url}/api/1/merge?query=cpu{service="checkout"}&from=now-1h` : word));
}

test('the commands of the walk-through find the line', () => {
  const lines = Array.from({ length: 40 }, (_, i) => `// line ${i + 1}`);
  lines[25] = '\tre := regexp.MustCompile(rule)';
  mkdirSync(join(scratch, 'shop/src/checkout'), { recursive: true });
  writeFileSync(join(scratch, 'shop/src/checkout/rules.go'),
    lines.join('\n'));
  assert.match(terminal(...guideCommand(/^pprof -top -lines/, scratch)),
    /Engine\)\.Match src\/checkout\/rules\.go:26\n/);
  assert.match(terminal(...guideCommand(/^pprof -list/, scratch)),
    /[\d.]+m?s +26:.*regexp\.MustCompile\(rule\)/);
});
