// Debian's Firefox, driven by its own remote protocol (Marionette): frames of
// "LENGTH:JSON", commands [0, number, name, parameters] and their answers
// [1, number, error, result].

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync }
  from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ARTEFACTS, skipAll } from './tools.mjs';

const FIREFOX = '/usr/bin/firefox-esr';
const START_SECONDS = 60;
const SETTLE_SECONDS = 20;
const PREFERENCES = { 'marionette.port': 0, 'app.update.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false };

const GONE = new Error('Firefox has closed the connection');

/** Until `what` gives something. @param {() => any} what
 * @param {number} seconds */
async function until(what, seconds) {
  for (const end = Date.now() + seconds * 1000; ; await sleep(50)) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`);
  }
}

export class Firefox {
  static async start() {
    if (!existsSync(FIREFOX)) skipAll('there is no Firefox');
    const home = mkdtempSync(join(tmpdir(), 'pprof-firefox-'));
    writeFileSync(join(home, 'user.js'), Object.entries(PREFERENCES).map(
      ([name, value]) => `user_pref("${name}", ${value});\n`).join(''));
    const program = spawn(FIREFOX, ['--headless', '--marionette', '--profile',
      home, '--no-remote', '--width', '1280', '--height', '900'],
    { stdio: 'ignore', env: { ...process.env, HOME: home } });
    process.on('exit', () => program.kill()); // also after a failed start
    const active = join(home, 'MarionetteActivePort');
    const port = await until(() => existsSync(active) &&
      Number(readFileSync(active, 'utf8')), START_SECONDS);
    const fox = new Firefox(program, home, connect(port, '127.0.0.1'));
    await fox.send('WebDriver:NewSession', {});
    return fox;
  }

  constructor(program, home, socket) {
    this.program = program;
    this.home = home;
    this.socket = socket;
    this.read = Buffer.alloc(0);
    this.waiting = new Map();
    this.number = 0;
    socket.on('data', (data) => {
      this.read = Buffer.concat([this.read, data]);
      this.takeFrames();
    });
    socket.on('error', () => {}); // it is closed then
    socket.on('close', () => {
      for (const { failed } of this.waiting.values()) failed(GONE);
    });
  }

  takeFrames() {
    for (;;) {
      const colon = this.read.indexOf(':');
      const end = colon + 1 + Number(this.read.subarray(0, colon));
      if (colon < 0 || this.read.length < end) return;
      const frame = JSON.parse(this.read.subarray(colon + 1, end).toString());
      this.read = this.read.subarray(end);
      if (!Array.isArray(frame)) continue; // its greeting
      const [, number, error, result] = frame;
      const { done, failed } = this.waiting.get(number);
      this.waiting.delete(number);
      if (error) failed(new Error(`${error.error}: ${error.message}`));
      else done(result);
    }
  }

  /** @param {string} name @param {object} parameters */
  send(name, parameters) {
    if (this.socket.destroyed) throw GONE;
    const text = JSON.stringify([0, ++this.number, name, parameters]);
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((done, failed) =>
      this.waiting.set(this.number, { done, failed }));
  }

  /** Runs a function in the page; what it returns. @param {Function} code
   * @param {any} [argument] */
  async evaluate(code, argument = null) {
    const { value } = await this.send('WebDriver:ExecuteScript', {
      script: `return (${code})(arguments[0])`, args: [argument],
      sandbox: null });
    return value;
  }

  /** Until it holds in the page. @param {Function} code */
  waitFor(code) {
    return until(() => this.evaluate(code), SETTLE_SECONDS);
  }

  /** Opens a page and waits until the view is there. @param {string} url */
  async open(url) {
    await this.send('WebDriver:Navigate', { url: 'about:blank' });
    await this.send('WebDriver:Navigate', { url });
    await this.waitFor(() => {
      const main = document.querySelector('main');
      return main && !main.hasAttribute('aria-busy') &&
        main.firstElementChild !== null;
    });
  }

  /** @param {{x: number, y: number}} place in the window */
  doubleClick({ x, y }) {
    const press = [{ type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 }];
    return this.send('WebDriver:PerformActions', { actions: [{
      type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' },
      actions: [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y),
        duration: 0 }, ...press, ...press] }] });
  }

  /** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
  drag(from, to) {
    const move = ({ x, y }, duration) => ({ type: 'pointerMove',
      x: Math.round(x), y: Math.round(y), duration });
    return this.send('WebDriver:PerformActions', { actions: [{
      type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' },
      actions: [move(from, 0), { type: 'pointerDown', button: 0 },
        move(to, 100), { type: 'pointerUp', button: 0 }] }] });
  }

  /** @param {string} key */
  press(key) {
    return this.send('WebDriver:PerformActions', { actions: [{ type: 'key',
      id: 'keys', actions: [{ type: 'keyDown', value: key },
        { type: 'keyUp', value: key }] }] });
  }

  /** @param {string} name */
  async shoot(name) {
    const { value } = await this.send('WebDriver:TakeScreenshot',
      { full: false });
    writeFileSync(join(ARTEFACTS, `${name}.png`),
      Buffer.from(value, 'base64'));
  }

  async stop() {
    this.socket.destroy();
    if (this.program.kill()) await once(this.program, 'exit');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}
