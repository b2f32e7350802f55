// A day of a small fleet in a real pprofd: services with CPU and heap
// profiles from two processes each, two regions, daily rhythm, and one deploy
// that makes a service slower.  Times count back from now.

import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILD } from './tools.mjs';
import { encodeProfile } from './profile_fixture.mjs';

export const LONG_NAME = 'recommendation-engine-candidate-generation-eu';
export const SERVICES = ['checkout', 'cart', 'catalog', 'search', 'payments',
  'users', 'auth', 'gateway', 'inventory', 'shipping', 'pricing', 'reviews',
  'notify', 'media', 'frontend', 'billing', 'ledger', 'risk', 'export',
  LONG_NAME];

const MINUTE = 60e3;
const HOUR = 60 * MINUTE;
const REGIONS = ['eu-west-1', 'us-east-1'];
const CPU = /** @type {[string, string][]} */ ([['samples', 'count'],
  ['cpu', 'nanoseconds']]);
const HEAP = /** @type {[string, string][]} */ ([['inuse_objects', 'count'],
  ['inuse_space', 'bytes']]);

const NOON = 12;

/** When the deploy of checkout 2.5.0 was, before now. */
export const DEPLOY_AGE = 5.5 * HOUR;

/** Starts a collector with an empty store; `url` ends without a slash.  It
 * stores no profiles of itself unless the arguments say so. */
export async function startCollector(...args) {
  const data = mkdtempSync(join(tmpdir(), 'pprof-fleet-'));
  const server = spawn(join(BUILD, 'pprofd'), ['serve', '--addr',
    '127.0.0.1:0', '--data', data, '--scrape-self=false', ...args],
  { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => {
    server.removeAllListeners('exit');
    server.kill('SIGKILL');
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  };
  process.on('exit', stop);
  let said = '';
  const url = await new Promise((done, failed) => {
    server.stdout.on('data', (text) => {
      const found = /listening on (\S+?),?\s/.exec(said += text);
      if (found) done(found[1]);
    });
    server.on('exit', () => failed(new Error(`pprofd ended: ${said}`)));
  });
  return { url, stop };
}

/** Sends profiles on a few connections that stay open. */
export class Sender {
  /** @param {string} url @param {Record<string, string>} [headers] */
  constructor(url, headers = {}) {
    this.url = url;
    this.headers = headers;
    this.agent = new Agent({ keepAlive: true, maxSockets: 24 });
    /** @type {Promise<void>[]} */
    this.sent = [];
  }

  /** @param {{service: string, type: string, at: number, body: Uint8Array,
   *   labels?: Record<string, string>}} profile */
  add({ service, type, at, body, labels = {} }) {
    const query = new URLSearchParams({ service, type,
      created_at: new Date(at).toISOString().slice(0, 19),
      labels: Object.entries(labels).map(([key, value]) =>
        `${key}=${encodeURIComponent(value)}`).join(',') });
    this.sent.push(new Promise((done, failed) => {
      const post = request(`${this.url}/api/0/profiles?${query}`, {
        method: 'POST', agent: this.agent, headers: { ...this.headers,
          'Content-Length': body.length } }, (answer) => {
        answer.resume();
        answer.on('end', () => (answer.statusCode === 200 ? done()
          : failed(new Error(`a profile got ${answer.statusCode}`))));
      });
      post.on('error', failed);
      post.end(body);
    }));
  }

  async finish() {
    await Promise.all(this.sent);
    this.agent.destroy();
    return this.sent.length;
  }
}

/** Stacks of a web service and their share of the CPU. @param {string} name */
function stacksOf(name) {
  const own = name.replaceAll('-', '_');
  const serve = ['runtime.goexit', 'net/http.(*conn).serve',
    'net/http.serverHandler.ServeHTTP', `${own}/api.(*Server).Handle`];
  return /** @type {[string[], number][]} */ ([
    [[...serve, `${own}/store.(*DB).Query`, 'database/sql.(*DB).QueryContext',
      'github.com/lib/pq.(*conn).readMessage', 'syscall.read'], 18],
    [[...serve, `${own}/store.(*DB).Query`, 'database/sql.convertAssign'], 9],
    [[...serve, 'encoding/json.Marshal', 'encoding/json.(*encodeState).marshal',
      'encoding/json.structEncoder.encode', 'encoding/json.stringEncoder'], 16],
    [[...serve, 'encoding/json.Unmarshal', 'encoding/json.(*decodeState).object'
    ], 11],
    [[...serve, `${own}/rules.(*Engine).Match`, 'regexp.(*Regexp).MatchString',
      'regexp.(*machine).backtrack'], 8],
    [[...serve, `${own}/cache.(*LRU).Get`, 'sync.(*Mutex).Lock'], 4],
    [[...serve, 'compress/gzip.(*Writer).Write',
      'compress/flate.(*compressor).deflate'], 12],
    [['runtime.goexit', 'runtime.gcBgMarkWorker', 'runtime.gcDrain',
      'runtime.scanobject'], 14],
    [['runtime.goexit', 'runtime.bgsweep', 'runtime.(*mspan).sweep'], 3],
    [['runtime.goexit', `${own}/metrics.(*Pusher).Run`,
      'net/http.(*Client).Do'], 5],
  ]);
}

/** What the deploy brought: an expression compiled for every request. */
const REGRESSION = ['runtime.goexit', 'net/http.(*conn).serve',
  'net/http.serverHandler.ServeHTTP', 'checkout/api.(*Server).Handle',
  'checkout/rules.(*Engine).Match', 'regexp.MustCompile', 'regexp.compile',
  'regexp/syntax.(*parser).parse'];

/** @param {string} service @param {number} load @param {boolean} isSlow */
export function cpuProfile(service, load, isSlow) {
  const stacks = stacksOf(service);
  if (isSlow) stacks.push([REGRESSION, 46]);
  return encodeProfile(stacks.map(([frames, share]) => {
    const count = Math.max(1, Math.round(share * load));
    return { frames, values: [count, count * 10e6] };
  }), CPU, { seconds: 10, ending: 'go' });
}

/** @param {string} service @param {number} load */
export function heapProfile(service, load) {
  return encodeProfile(stacksOf(service).slice(0, 7).map(([frames, share]) => {
    const count = Math.round(share * load * 40);
    return { frames, values: [count, count * 4096] };
  }), HEAP, { ending: 'go' });
}

const seedOf = (name) => [...name].reduce((sum, c) =>
  (sum * 31 + c.charCodeAt(0)) % 997, 7);

/** Fills a collector. @param {string} url
 * @param {{now?: number, hours?: number, services?: string[],
 *   minutes?: number}} [how] */
export async function fillFleet(url, { now = Date.now(), hours = 26,
  services = SERVICES, minutes = 10 } = {}) {
  const sender = new Sender(url);
  const week = 7 * 24 * HOUR;
  /** @type {Map<string, Uint8Array>} */
  const made = new Map();
  const keep = (key, make) => {
    if (!made.has(key)) made.set(key, make());
    return made.get(key);
  };
  for (const service of services) {
    const seed = seedOf(service);
    const send = (at, pod) => {
      const isNew = service === 'checkout' && at > now - DEPLOY_AGE;
      // As if it were noon whenever a test runs: pictures show the same day.
      const hour = NOON + (at - now) / HOUR;
      const load = Math.round(10 * (0.5 + seed % 7 / 4) *
        (1 + 0.35 * Math.sin((hour - seed % 5) * Math.PI / 12)) *
        (1 + 0.06 * Math.sin((at - now) / MINUTE * (1 + pod) + seed))) / 10;
      const labels = { version: service !== 'checkout' ? `1.${seed % 9}.${pod
        ? seed % 3 : seed % 3}` : isNew ? '2.5.0' : '2.4.1',
      region: REGIONS[pod % 2], host: `${service}-${'abcdef'[pod]}` };
      sender.add({ service, type: 'cpu', at, labels, body: keep(
        `${service} ${load} ${isNew}`, () => cpuProfile(service, load,
          isNew)) });
      if (Math.floor(at / MINUTE) % 30 < minutes) {
        sender.add({ service, type: 'heap', at, labels, body: keep(
          `heap ${service} ${load}`, () => heapProfile(service, load)) });
      }
    };
    for (let pod = 0; pod < 2; pod++) {
      for (let age = 0; age < hours * HOUR; age += minutes * MINUTE) {
        send(now - age - pod * 7e3 - 5e3, pod);
      }
      for (let age = 0; age < 1.5 * HOUR; age += minutes * MINUTE) {
        send(now - week - age - pod * 7e3 - 5e3, pod);
      }
    }
  }
  return sender.finish();
}
