import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import path from 'node:path';
import MiniSearch from 'minisearch';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

// The options of VitePress's search box.
const options = {
  fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'],
  searchOptions: {fuzzy: 0.2, prefix: true, boost: {title: 4, text: 2, titles: 1}},
};

async function search(words) {
  const chunks = path.join(dist, 'assets/chunks');
  const name = fs.readdirSync(chunks).find(name => name.includes('localSearchIndex'));
  const index = await import(pathToFileURL(path.join(chunks, name)));
  return MiniSearch.loadJSON(index.default, options).search(words).slice(0, 5).map(found => found.id);
}

for (const [words, expected] of Object.entries({
  'reply-to': '/docs/how-do-i#set-reply-to-or-other-headers',
  'erase person': '/docs/how-do-i#erase-a-persons-data',
  '503 to every delivery': '/docs/production#503-to-every-delivery',
  'unknown outcomes': '/docs/errors#unknown-outcomes',
  'empty folder tutorial': '/docs/tutorial',
})) {
  test(`search for ${words}`, async () => {
    const found = await search(words);
    assert.ok(found.some(id => id.startsWith(expected)), `${expected} is not among ${found.join(', ')}`);
  });
}

// Links between pages, and their anchors, as a browser resolves them.
test('links', () => {
  const pages = fs.readdirSync(dist, {recursive: true}).filter(name => name.endsWith('.html'));
  assert.ok(pages.length > 20, `found ${pages.length} pages, which are too few`);
  const text = new Map(pages.map(name => ['/' + name.replaceAll(path.sep, '/'), fs.readFileSync(path.join(dist, name), 'utf8')]));
  let links = 0;
  for (const [page, html] of text) {
    for (const [, link] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const url = new URL(link.replaceAll('&amp;', '&'), 'https://site.test' + page);
      if (url.origin !== 'https://site.test') {
        continue;
      }
      links++;
      const file = [url.pathname, url.pathname + '.html', url.pathname + 'index.html'].find(name => text.has(name));
      assert.ok(file, `${page}: ${link} has no target`);
      const anchor = decodeURIComponent(url.hash.slice(1));
      assert.ok(anchor === '' || text.get(file).includes(`id="${anchor}"`), `${page}: ${link} has no target on its page`);
    }
  }
  assert.ok(links > 300, `found ${links} links, which are too few`);
});
