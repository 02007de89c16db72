// Writes the npm package, and a package for each binary, as directories in TO: node npm/pack.mjs VERSION TO DIRECTORY…
// Each DIRECTORY contains one binary and is named as by goreleaser, for example mockserver_linux_amd64_v1.
// TO and the directories must be absolute paths.

import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const systems = { linux: 'linux', darwin: 'darwin', windows: 'win32' };
const processors = { amd64: 'x64', arm64: 'arm64' };

const [version, to, ...directories] = process.argv.slice(2);
process.chdir(import.meta.dirname);
const { devDependencies, scripts, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'));
const { name, license, repository } = manifest; // npm compares repository with the workflow that publishes

// npm installs only the optional package for the user's system.
const optionalDependencies = {};
for (const os of Object.values(systems)) {
  for (const cpu of Object.values(processors)) optionalDependencies[`${name}-${os}-${cpu}`] = version;
}
write('main', { ...manifest, version, optionalDependencies }, { dist: 'dist', 'README.md': 'README.md' });

for (const directory of directories) {
  const [, goos, goarch] = basename(directory).split('_');
  const os = systems[goos],
    cpu = processors[goarch],
    [binary] = readdirSync(directory);
  if (!os || !cpu) throw new Error(`${directory}: there is no npm package for ${goos}/${goarch}`);
  const description = `The mock server of the email platform for ${os}-${cpu}`;
  const preferUnplugged = true; // Yarn cannot run a file in an archive
  write(
    `${os}-${cpu}`,
    { name: `${name}-${os}-${cpu}`, version, license, repository, description, os: [os], cpu: [cpu], preferUnplugged },
    { [join('bin', binary)]: join(directory, binary), 'NOTICES.txt': '../notices/mockserver.txt' },
  );
  chmodSync(join(to, `${os}-${cpu}`, 'bin', binary), 0o755);
}

function write(directory, manifest, files) {
  mkdirSync(join(to, directory));
  writeFileSync(join(to, directory, 'package.json'), JSON.stringify(manifest, null, 2) + '\n');
  for (const [file, from] of Object.entries({ ...files, LICENSE: '../LICENSE' })) {
    cpSync(from, join(to, directory, file), { recursive: true });
  }
}
