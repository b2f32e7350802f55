// The page's types, written as JSDoc, hold.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { installPackages, ROOT, tscPath } from './tools.mjs';

await installPackages();
const WEB = join(ROOT, 'web');
const files = readdirSync(WEB, { recursive: true })
  .filter((name) => /\.(js|css|html)$/.test(name));

test('the types of every module hold', () => {
  const tsc = spawnSync(process.execPath, [tscPath(), '-p', WEB],
    { encoding: 'utf8' });
  assert.equal(tsc.stdout, '');
  assert.equal(tsc.status, 0);
});

test('every file can be read in one sitting', () => {
  for (const name of files) {
    const lines = readFileSync(join(WEB, name), 'utf8').split('\n').length;
    assert.ok(lines <= (name.endsWith('.css') ? 480 : 360),
      `${name} has ${lines} lines`);
  }
});

test('no module makes HTML out of text', () => {
  for (const name of files.filter((file) => file.endsWith('.js'))) {
    const text = readFileSync(join(WEB, name), 'utf8');
    const found = /innerHTML|outerHTML|insertAdjacentHTML|document\.write/
      .exec(text);
    assert.equal(found, null, `${name}: ${found?.[0]}`);
  }
});

test('nothing is loaded from elsewhere', () => {
  for (const name of files) {
    const text = readFileSync(join(WEB, name), 'utf8')
      .replaceAll('http://www.w3.org/2000/svg', '');
    assert.equal(/https?:\/\/\w/.exec(text), null, name);
  }
});
