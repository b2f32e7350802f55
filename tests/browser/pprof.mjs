// What pprof prints and serves, for any browser.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PPROF } from './tools.mjs';

/** For files of these tests; settings are kept there too. */
export const scratch = mkdtempSync(join(tmpdir(), 'pprof-page-'));
const env = { ...process.env, XDG_CONFIG_HOME: scratch, PPROF_TMPDIR: scratch };

/** @param {string} name @param {Uint8Array} content */
export function keep(name, content) {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
}

/** What the terminal prints. @param {...string} args */
export function terminal(...args) {
  return execFileSync(PPROF, ['-symbolize=none', ...args], { env,
    encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 28 });
}

/** @type {import('node:child_process').ChildProcess[]} */
const servers = [];

/** Serves a profile; the URL of the page. @param {...string} args */
export function serve(...args) {
  const server = spawn(PPROF, ['-http=127.0.0.1:0', '-no_browser',
    '-symbolize=none', ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  servers.push(server);
  let said = '';
  return new Promise((done, failed) => {
    server.stderr?.on('data', (data) => {
      const url = /Serving web UI on (\S+)/.exec(said += data);
      if (url) done(`${url[1]}/ui/`);
    });
    server.on('exit', () => failed(new Error(`pprof ended: ${said}`)));
  });
}

export function stopServers() {
  for (const server of servers) {
    server.removeAllListeners('exit');
    server.kill();
  }
  rmSync(scratch, { recursive: true, force: true });
}

/** Lines of a report without its header, split at spaces.
 * @param {string} text @param {string} header a word of it */
export function tableOf(text, header = 'flat%') {
  return text.slice(text.indexOf(header)).split('\n').slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/));
}

/** Texts of nodes and edges. @param {string} dot */
export function dotGraph(dot) {
  return { nodes: [...dot.matchAll(/^N\d+ \[label="(.*?)" id="node/gm)]
    .map((match) => clean(match[1].replaceAll('\\"', '"'))).sort(),
  edges: [...dot.matchAll(/^N\d+ -> N\d+ \[label=" (.*?)"/gm)]
    .map((match) => clean(match[1])).sort() };
}

/** On one line. @param {string} text */
export const clean = (text) => text.replaceAll(/\\n|\s+/g, ' ').trim();
