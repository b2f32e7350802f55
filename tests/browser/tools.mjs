// Where the built programs are, and the npm packages the tests need.  They are
// installed once, into the build directory, at the versions of package.json.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(HERE, '..', '..');
export const BUILD = process.env.PPROF_BUILD ?? join(ROOT, 'build');
export const PPROF = join(BUILD, 'pprof');
/** Screenshots and saved pages: looked at by people, kept by CI. */
export const ARTEFACTS = join(BUILD, 'browser', 'artefacts');

const HOME = join(BUILD, 'browser');

/** Says why and ends well: nothing can be tested here. @param {string} why */
export function skipAll(why) {
  console.log(`1..0 # SKIP ${why}`);
  process.exit(0);
}

/** Installs what is missing; several tests may start at the same time. */
export async function installPackages() {
  const lock = join(HOME, 'installing');
  mkdirSync(ARTEFACTS, { recursive: true });
  for (let wait = 0; ; wait++) {
    if (isInstalled()) return;
    try {
      mkdirSync(lock);
      break;
    } catch {
      if (wait > 600) throw new Error(`${lock} is in the way`);
      await sleep(200);
    }
  }
  try {
    copyFileSync(join(HERE, 'package.json'), join(HOME, 'package.json'));
    const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund',
      '--no-package-lock', '--ignore-scripts'], { cwd: HOME });
    if (npm.status !== 0) skipAll('npm cannot install the packages');
  } finally {
    rmdirSync(lock);
  }
}

function isInstalled() {
  return ['axe-core', 'playwright-core', 'typescript'].every((name) =>
    existsSync(join(HOME, 'node_modules', name, 'package.json')));
}

/** @param {string} name */
export function packageNamed(name) {
  return createRequire(join(HOME, 'package.json'))(name);
}

export function tscPath() {
  return join(HOME, 'node_modules', 'typescript', 'lib', 'tsc.js');
}
