import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const base = process.env.SITE_BASE ?? '/';

// Links between pages, and their anchors, as a browser resolves them.
test('links', () => {
  const pages = fs.readdirSync(dist, { recursive: true }).filter(name => name.endsWith('.html'));
  assert.ok(pages.length > 40, `found ${pages.length} pages, which are too few`);
  const text = new Map(
    pages.map(name => [base + name.replaceAll(path.sep, '/'), fs.readFileSync(path.join(dist, name), 'utf8')]),
  );
  let links = 0;
  for (const [page, html] of text) {
    for (const [tag, link] of html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>/g)) {
      const url = new URL(link.replaceAll('&amp;', '&'), 'https://site.test' + page);
      if (url.origin !== 'https://site.test' || tag.includes('target="_self"')) {
        continue; // another site, or another version
      }
      links++;
      const file = [url.pathname, url.pathname + '.html', url.pathname + 'index.html'].find(name => text.has(name));
      assert.ok(file, `${page}: ${link} has no target`);
      const anchor = decodeURIComponent(url.hash.slice(1));
      assert.ok(
        anchor === '' || text.get(file).includes(`id="${anchor}"`),
        `${page}: ${link} has no target on its page`,
      );
    }
  }
  assert.ok(links > 300, `found ${links} links, which are too few`);
});
