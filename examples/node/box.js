// The platform in a box: starts the command mockserver on a free port, and does by its control routes what a test does
// beside the application. Take it along.

import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

/** A platform of this process's own. Close it in the end. */
export class Box {
  static async start(...flags) {
    const box = new Box();
    box.folder = mkdtempSync(join(tmpdir(), 'box-'));
    const command = process.env.MOCKSERVER ?? build(box.folder);
    const args = ['-addr', '127.0.0.1:0', '-log', 'json', '-quiet', ...flags];
    box.process = spawn(command, args, {stdio: ['ignore', 'pipe', 'inherit']});
    box.ended = once(box.process, 'exit');
    const lines = createInterface({input: box.process.stdout});
    const [first] = await Promise.race([once(lines, 'line'), box.ended.then(() => [])]); // says where it is
    if (!first) throw new Error('mockserver did not start');
    lines.on('line', () => {}); // and what else it says is for nobody
    const {base_url: url, token} = JSON.parse(first);
    return Object.assign(box, {url, token});
  }

  async close() {
    this.process.kill();
    await this.ended;
    rmSync(this.folder, {recursive: true});
  }

  /** Calls a control route, see docs/control-api.md. What it refuses fails the test. */
  async control(method, path, body) {
    const response = await fetch(`${this.url}/_mock/${path}`, {
      method,
      headers: {'Content-Type': 'application/json'},
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** Goes back to the start: what the flag -seed says, no messages, no faults, the clock as it was. */
  reset() {
    return this.control('POST', 'reset');
  }

  /** The messages that an address got, the newest first. */
  async outbox(to) {
    return (await this.control('GET', `outbox?to=${encodeURIComponent(to)}`)).data;
  }

  /** Does what a recipient does with a message: confirm, bounce, complain, open, click … */
  act(message, what, how = {}) {
    return this.control('POST', `outbox/${message.id}/${what}`, how);
  }

  /** Makes something go wrong. */
  fault(rule) {
    return this.control('POST', 'faults', rule);
  }

  /** Waits until everything that is due has been done. */
  wait() {
    return this.control('POST', 'wait');
  }

  /** Moves the clock: {duration_ms: 1000} or {to: 'next'}. What falls due meanwhile happens, in order. */
  advance(to) {
    return this.control('POST', 'clock/advance', to);
  }

  /** All deliveries with their attempts, the newest first. */
  async deliveries() {
    const {data} = await this.control('GET', 'deliveries');
    return Promise.all(data.map(({id}) => this.control('GET', `deliveries/${id}`)));
  }
}

function build(folder) {
  const command = join(folder, 'mockserver.exe'); // by that name, any system runs it
  const root = new URL('../../', import.meta.url);
  execFileSync('go', ['build', '-o', command, './mockserver/cmd/mockserver'], {cwd: root, stdio: 'inherit'});
  return command;
}
