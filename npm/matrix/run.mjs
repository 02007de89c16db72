// Runs the scenarios in each runner, environment and runtime, and reports the failures: npm test
// MOCKSERVER is the path of the mock server. Each command can take up to 60 s.

import { spawnSync } from 'node:child_process';

process.chdir(import.meta.dirname);

const environments = ['node', 'jsdom', 'happy-dom'];
const jestEnvironment = { node: 'node', jsdom: 'jsdom', 'happy-dom': '@happy-dom/jest-environment' };
const jest = ['jest', '--rootDir=.', '--testMatch=**/jest.test.*'];

const commands = [
  ...environments.map(e => ['vitest', 'run', `--environment=${e}`]),
  ...environments.map(e => [...jest, `--env=${jestEnvironment[e]}`, 'jest.test.cjs']),
  ...environments.map(e => [
    'node',
    '--experimental-vm-modules',
    'node_modules/.bin/jest',
    ...jest.slice(1),
    `--env=${jestEnvironment[e]}`,
    'jest.test.mjs',
  ]),
  ['node', '--test', 'node.test.mjs'],
  ['node', 'ends.mjs'],
  ['node', 'ends.cjs'],
  ['deno', 'run', '-A', 'ends.mjs'],
  ['deno', 'run', '-A', 'ends.cjs'],
  ['deno', 'test', '-A', '--no-check', '--filter=/^an account$/', 'node.test.mjs'], // with fake timers, Deno's own node:http waits for them,
  ['bun', 'ends.mjs'],
  ['bun', 'ends.cjs'],
  ['bun', 'test', './bun.test.mjs'],
];

let failed = 0;
for (const [command, ...args] of commands) {
  const { status, error, stdout, stderr } = spawnSync(
    command === 'node' ? process.execPath : `node_modules/.bin/${command}`,
    args,
    { encoding: 'utf8', timeout: 60_000 },
  );
  const name = [command, ...args].join(' ');
  if (status === 0) {
    console.log(`ok      ${name}`);
    continue;
  }
  failed++;
  console.log(`FAILED  ${name} (${error?.code ?? `exit code ${status}`})\n${stdout}${stderr}`);
}
process.exitCode = failed > 0 ? 1 : 0;
