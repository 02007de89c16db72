import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { clearTimeout, setTimeout } from './node.js';

const executable = process.platform === 'win32' ? 'mockserver.exe' : 'mockserver';

/** The optional package that contains the binary for this system. */
const platformPackage = `@example/emailplatform-mock-${process.platform}-${process.arch}`;

/** Options of Mock.start. */
export interface StartOptions {
  /** The path of the binary. By default, Mock.start finds it. */
  binary?: string;
  /** Flags of the command, such as ['-clock', 'frozen', '-seed', 'seed.json']. `mockserver -h` lists them. */
  args?: readonly string[];
  /** The maximum time until the server is ready, in milliseconds. The default is 10,000. */
  timeoutMs?: number;
}

/** A running server process. */
export interface Server {
  url: string;
  /** An access token with write access, which a server on an address that is not loopback requires. */
  token: string;
  stop(): Promise<void>;
}

/** Starts the command on a free port and waits until it is ready. */
export async function launch(options: StartOptions): Promise<Server> {
  const binary = options.binary ?? findBinary();
  // The server exits when its standard input is closed. stop closes it, and the operating system closes it when this
  // process ends.
  const flags = ['-addr', '127.0.0.1:0', '-log', 'json', '-quiet', '-exit-on-stdin-close', ...(options.args ?? [])];
  // Variables such as MOCKSERVER_STATE are for a server that tests share.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MOCKSERVER_')));
  const child = spawn(binary, flags, { windowsHide: true, env });
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()));
  child.stdin.on('error', () => {}); // the server can exit first
  try {
    const { base_url: url, token } = await ready(child, binary, options.timeoutMs ?? 10_000);
    letGo(child);
    return { url, token, stop: () => stop(child, closed) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/**
 * Returns the path of the binary: the environment variable MOCKSERVER, the platform package, or a bare name, which the
 * operating system looks up in PATH.
 */
function findBinary(): string {
  const path = process.env['MOCKSERVER'];
  if (path) return path;
  try {
    return require.resolve(`${platformPackage}/bin/${executable}`);
  } catch {
    return executable;
  }
}

/** Resolves with the first record of the server's log, which contains the fields of the ready file. */
function ready(
  child: ChildProcessWithoutNullStreams,
  binary: string,
  timeoutMs: number,
): Promise<{ base_url: string; token: string }> {
  let timer: NodeJS.Timeout | undefined;
  return new Promise<string>((resolve, reject) => {
    let errors = '';
    timer = setTimeout(() => reject(new Error(`${binary} was not ready after ${timeoutMs} ms`)), timeoutMs);
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4096);
    });
    child.once('error', (error: NodeJS.ErrnoException) => reject(notRun(error, binary)));
    child.once('close', (code, signal) => {
      const reason =
        errors
          .trim()
          .split('\n')
          .at(-1)
          ?.replace(/^mockserver: /, '') || 'no error message';
      reject(new Error(`${binary} exited with ${signal ?? `code ${code}`}: ${reason}`));
    });
    createInterface({ input: child.stdout }).on('line', line => {
      if (line.startsWith('{"time":') && line.includes('"base_url":')) resolve(line);
    });
  })
    .then(line => JSON.parse(line)) // the line is incomplete if the server was killed
    .finally(() => clearTimeout(timer));
}

function notRun(error: NodeJS.ErrnoException, binary: string): Error {
  if (error.code === 'EACCES') {
    const file = locate(binary);
    return new Error(`cannot run ${file} (EACCES): it must be an executable file; try chmod +x ${file}`, {
      cause: error,
    });
  }
  const how = `set MOCKSERVER to its path, install ${platformPackage}, or put it on PATH`;
  return new Error(`cannot run ${binary} (${error.code}): ${how}`, { cause: error });
}

/** Returns the file that the operating system found for a binary. */
function locate(binary: string): string {
  if (binary !== basename(binary)) return binary;
  const files = (process.env['PATH'] ?? '').split(delimiter).map(directory => join(directory, binary));
  return files.find(file => existsSync(file)) ?? binary;
}

/** Allows this process to exit while the server runs. */
function letGo(child: ChildProcessWithoutNullStreams): void {
  child.stderr.pipe(process.stderr, { end: false });
  child.unref();
  for (const pipe of child.stdio as { unref?: () => void }[]) pipe.unref?.(); // the type of the pipes depends on the runtime
}

async function stop(child: ChildProcessWithoutNullStreams, closed: Promise<void>): Promise<void> {
  // The timer also keeps this process alive until the server has exited, which takes at most 5 s.
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  child.stdin.end();
  await closed;
  clearTimeout(timer);
}
