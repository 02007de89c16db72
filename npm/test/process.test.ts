import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Mock } from '@example/emailplatform-mock';
import { describe, expect, test, vi } from 'vitest';

const run = promisify(execFile);
const start = `const {Mock} = require('@example/emailplatform-mock'); const mock = await Mock.start(); console.log(mock.url);`;

async function expectStopped(url: string) {
  await vi.waitFor(() => expect(fetch(`${url}/_mock/health`)).rejects.toThrow(), { timeout: 10_000, interval: 50 });
}

describe('the server exits when its parent', () => {
  test.each([
    ['ends without stop', ''],
    ['calls process.exit', 'process.exit();'],
    ['fails', 'throw new Error();'],
  ])('%s', async (_, end) => {
    const { stdout } = await run(process.execPath, ['-e', `(async () => {${start} ${end}})()`]).catch(
      (error: { stdout: string }) => error,
    );
    await expectStopped(stdout.trim());
  });

  test('is killed', async () => {
    const parent = spawn(process.execPath, ['-e', `(async () => {${start} setInterval(() => {}, 1000);})()`]);
    const [url] = await once(parent.stdout, 'data');
    expect((await fetch(`${String(url).trim()}/_mock/health`)).status).toBe(200);
    parent.kill('SIGKILL');
    await expectStopped(String(url).trim());
  });

  test('is a worker thread that is terminated', async () => {
    const worker = `(async () => {${start.replace('console.log', 'require("node:worker_threads").parentPort.postMessage')}})()`;
    const code = `
      const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(worker)}, {eval: true});
      worker.once('message', async (url) => { await worker.terminate(); console.log(url); setInterval(() => {}, 1000); });`;
    const parent = spawn(process.execPath, ['-e', code]);
    const [url] = await once(parent.stdout, 'data');
    await expectStopped(String(url).trim());
    expect(parent.exitCode).toBeNull();
    parent.kill();
  });
});

test('stop ends the server, and a second call does nothing', async () => {
  const mock = await Mock.start();
  await mock.stop();
  await expect(mock.account()).rejects.toThrow(`the mock server at ${mock.url} does not respond`);
  await mock.stop();
});

test('errors of the start are one line', async () => {
  const rows = [
    [
      { binary: '/missing/mockserver' },
      'cannot run /missing/mockserver (ENOENT): set MOCKSERVER to its path, install @example/emailplatform-mock-',
    ],
    [{ args: ['-seed', 'missing.json'] }, / exited with code 1: .*missing\.json.*$/],
    [{ args: ['-no-such-flag'] }, / exited with code 2: unknown flag -no-such-flag/],
  ] as const;
  for (const [options, message] of rows) await expect(Mock.start(options)).rejects.toThrow(message);
});

test.skipIf(process.platform === 'win32')('a server that is never ready is killed', async () => {
  const binary = join(mkdtempSync(join(tmpdir(), 'mock-')), 'mockserver');
  writeFileSync(binary, `#!${process.execPath}\nsetInterval(() => {}, 1000);\n`, { mode: 0o755 });
  await expect(Mock.start({ binary, timeoutMs: 50 })).rejects.toThrow(`${binary} was not ready after 50 ms`);
  rmSync(dirname(binary), { recursive: true });
});

test.skipIf(process.platform === 'win32')('an incomplete first line of the log is an error', async () => {
  const binary = join(mkdtempSync(join(tmpdir(), 'mock-')), 'mockserver');
  writeFileSync(binary, `#!${process.execPath}\nprocess.stdout.write('{"time":"x","base_url":');\n`, { mode: 0o755 });
  await expect(Mock.start({ binary })).rejects.toThrow('JSON');
  rmSync(dirname(binary), { recursive: true });
});

test.skipIf(process.platform === 'win32')('a binary that is not executable is named', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mock-')),
    binary = join(directory, 'mockserver');
  writeFileSync(binary, '', { mode: 0o644 });
  const message = `cannot run ${binary} (EACCES): it must be an executable file; try chmod +x ${binary}`;
  await expect(Mock.start({ binary })).rejects.toThrow(message);
  vi.stubEnv('MOCKSERVER', undefined);
  vi.stubEnv('PATH', directory);
  await expect(Mock.start()).rejects.toThrow(message);
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test('connect requires a URL', () => {
  vi.stubEnv('MOCKSERVER_URL', undefined);
  expect(() => Mock.connect()).toThrow(
    'the URL of the mock server is missing: pass it to Mock.connect, or set MOCKSERVER_URL',
  );
  expect(() => Mock.connect({ url: 'localhost:8026' })).toThrow(
    'must begin with http:// or https://, got localhost:8026',
  );
  vi.unstubAllEnvs();
});

test('start ignores the variables of a server that tests share', async () => {
  vi.stubEnv('MOCKSERVER_LOG', 'wrong');
  await (await Mock.start()).stop();
  vi.unstubAllEnvs();
});

test('connect sends the token to a server that requires one', async () => {
  const mock = await Mock.start({ args: ['-addr', '0.0.0.0:0', '-token', 'key'] });
  await expect(Mock.connect({ url: mock.url, token: 'wrong' }).account()).rejects.toThrow('POST /_mock/seed: 401: ');
  const account = await Mock.connect({ url: `${mock.url}/`, token: 'key' }).account();
  expect(await account.outbox()).toEqual([]);
  expect(await (await mock.account()).outbox()).toEqual([]); // start has read the token
  await mock.stop();
});

test.each(['{"error":"not here"}', '{"detail":"not here"}', '[]', 'not here'])(
  'the error of another server is shown: %s',
  async body => {
    const other = createServer((_, response) => response.writeHead(404).end(body)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(Mock.connect({ url: `http://127.0.0.1:${port}` }).account()).rejects.toThrow(
      `POST /_mock/seed: 404: ${body}`,
    );
    other.close();
  },
);
