import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

test('the README shows code that is tested', () => {
  const blocks = [...read('../README.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

  expect(blocks).toEqual([read('readme.test.ts'), read('global-setup.ts')]);
});
