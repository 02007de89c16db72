// The site consists of the Markdown files of the repository, which people also read without it, and of the comments of
// the Go packages, which site/packages writes to site/go. Links to other files lead to the repository.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const root = fileURLToPath(new URL('../..', import.meta.url));

// .ci/site sets these variables. The links between versions contain "..", because VitePress adds the base to each path.
const { SITE_BASE: base = '/', SITE_VERSION: version = 'next', SITE_VERSIONS: versions = version } = process.env;
const repository = `https://github.com/example/emailplatform/blob/${version === 'next' ? 'main' : version}/`;

const sidebar = [
  {
    text: 'Start',
    items: [
      page('README.md', 'Overview'),
      page('docs/tutorial.md', 'Tutorial'),
      page('docs/coming-from.md', 'Coming from another library'),
    ],
  },
  {
    text: 'Guides',
    items: [
      page('docs/how-do-i.md', 'How do I …'),
      page('docs/cookbook.md', 'Cookbook'),
      page('docs/errors.md', 'Errors'),
      page('examples/node/README.md', 'Example: Node.js'),
      page('examples/python/README.md', 'Example: Python'),
      page('mcp/README.md', 'AI assistants'),
    ],
  },
  {
    text: 'Mock server',
    items: [
      page('docs/mockserver.md', 'Any language, CI'),
      page('docs/control-api.md', 'Control API'),
      page('docs/quirks.md', 'Quirks'),
      page('npm/README.md', 'npm package'),
    ],
  },
  {
    text: 'Operate',
    items: [
      page('docs/production.md', 'Production and runbook'),
      page('docs/monitoring/README.md', 'Monitoring'),
      page('contrib/redisstore/README.md', 'Redis'),
      page('contrib/pgstore/README.md', 'PostgreSQL'),
      page('contrib/riverjobs/README.md', 'Job queue'),
      page('contrib/emailotel/README.md', 'OpenTelemetry'),
      page('examples/integrations/durable/README.md', 'Example: durable events'),
      page('examples/integrations/jetstream/README.md', 'Example: NATS JetStream'),
      page('docs/performance.md', 'Performance'),
      page('SECURITY.md', 'Security'),
    ],
  },
  {
    text: 'Reference',
    items: [
      page('docs/reference.md', 'API reference'),
      page('docs/specification.md', 'Specification'),
      page('docs/decisions.md', 'Decisions'),
      page('docs/stability.md', 'Stability'),
      page('CHANGELOG.md', 'Changelog'),
    ],
  },
  {
    text: 'Go packages',
    items: markdownFiles('site/go').map(file => page(file, address(file).slice('go/'.length, -1) || 'emailplatform')),
  },
  { text: 'Contribute', items: [page('CONTRIBUTING.md', 'Contributing'), page('ARCHITECTURE.md', 'Architecture')] },
];
const pages = sidebar.flatMap(section => section.items.map(item => item.file));

function page(file, text) {
  return { text, file, link: '/' + address(file) };
}

// markdownFiles does not follow symbolic links, because node_modules can contain links to directories above it.
function markdownFiles(directory) {
  const entries = fs.readdirSync(path.join(root, directory), { withFileTypes: true });
  return entries
    .flatMap(entry => {
      const name = path.posix.join(directory, entry.name);
      if (!entry.isDirectory()) return name.endsWith('.md') ? [name] : [];
      return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : markdownFiles(name);
    })
    .sort();
}

// checkSections fails if a Markdown file of the repository is not in a section.
function checkSections() {
  const missing = markdownFiles('.').filter(file => !pages.includes(file));
  if (missing.length > 0) {
    throw new Error(`site/.vitepress/config.mjs: not in a section of the sidebar: ${missing.join(', ')}`);
  }
}

// address returns the path of a page without its extension.
function address(file) {
  return file === 'README.md' ? '' : file.replace(/^site\//, '').replace(/(README)?\.md$/, '');
}

// slugify returns the anchor that GitHub gives to a heading.
function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

// markdown makes links to files that are not pages lead to the repository. It escapes braces, which Vue would evaluate.
function markdown(md) {
  for (const rule of ['text', 'code_inline']) {
    const original = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => original(...args).replaceAll('{{', '&#123;&#123;');
  }
  const open = md.renderer.rules.link_open;
  md.renderer.rules.link_open = (tokens, i, options, env, self) => {
    const href = tokens[i].attrGet('href');
    if (isPicture(href)) {
      // the site contains pictures in pages, but has no pages for them
      tokens[i].attrSet('href', repository + path.posix.join(path.posix.dirname(sourceOf(env.relativePath)), href));
    }
    return open(tokens, i, options, env, self);
  };
  const normal = md.normalizeLink;
  const render = md.render.bind(md);
  md.render = (source, env) => {
    md.normalizeLink = url => normal(resolve(url, env.relativePath));
    return render(env.relativePath.startsWith('go/') ? comments(source) : source, env);
  };
}

// comments adapts a page of a Go package. VitePress scrolls only to ids, and its search takes a heading until the first
// link. gomarkdoc escapes the star of a pointer in a link twice, and leaves brackets around most names of other packages.
function comments(source) {
  return source
    .replaceAll('<a name="', '<a id="')
    .replaceAll(/^(#.*)\[(\w+)\]\(<.*>\)/gm, '$1$2')
    .replaceAll('[\\\\\\*', '[\\*')
    .replaceAll(/\\\[((\\\*)?\w+\.[\w.]+)\\\]/g, '$1');
}

const sourceOf = name => name.replace(/(^|\/)index\.md$/, '$1README.md');
const isPicture = name => /\.(png|svg)$/.test(name);

// resolve returns the link of a page to a file. It fails if the file does not exist.
function resolve(url, from) {
  const ofPackage = 'https://pkg.go.dev/example.com/emailplatform/';
  if (url.startsWith(ofPackage)) {
    return '/go/' + url.slice(ofPackage.length);
  }
  if (/^(https?:|mailto:|#)/.test(url)) {
    return url;
  }
  const [target, anchor] = url.split('#');
  const source = sourceOf(from);
  const file = path.posix.join(path.posix.dirname(source), target);
  if (!fs.existsSync(path.join(root, file))) {
    throw new Error(`${source}: ${url} does not exist`);
  }
  if (isPicture(file)) {
    return url;
  }
  const own = [file, file + '/README.md', `site/go/${file.replace(/\/doc\.go$/, '')}/README.md`].find(name =>
    pages.includes(name),
  );
  return (own === undefined ? repository + file : '/' + address(own)) + (anchor === undefined ? '' : '#' + anchor);
}

// stem omits words that occur in most questions, and endings, so that "verified" finds "verify". In a query, which has no
// field, a word of another platform also finds the word of this one. The browser gets only the text of this function, so
// it must not use other names of this file.
function stem(term, field) {
  const word = term.toLowerCase();
  if (/^(an?|and|are|can|do|for|how|i[ns]?|it|my|o[fn]|the|there|this|to|we|wh(at|en|y)|with|does|if)$/.test(word)) {
    return null;
  }
  const standard = {
    attribute: /^propert(y|ies)$/,
    campaign: /^(blast|broadcast|newsletter)s?$/,
    contact: /^(customer|member|subscriber)s?$/,
    email: /^mails?$/,
    list: /^audiences?$/,
    merge: /^(placeholder|substitution)s?$/,
    suppression: /^(black|block)lists?$/,
    workflow: /^(automation|autoresponder|journey)s?$/,
  };
  const found = field === undefined && Object.keys(standard).find(name => standard[name].test(word));
  const terms = [word, ...(found ? [found] : [])];
  return terms.map(text => text.replace(/(\w{4})(ing|ies|ied|ed|es|e|s|y)$/, '$1'));
}

checkSections();

export default defineConfig({
  base,
  title: 'emailplatform',
  description: 'A Go SDK for platforms that send email, with an in-memory mock server',
  srcDir: '..',
  srcExclude: ['**/node_modules/**', '**/dist/**', '.github/**'],
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  cleanUrls: true,
  rewrites: name => name.replace(/^site\//, '').replace(/README\.md$/, 'index.md'),
  markdown: { config: markdown, attrs: { disable: true }, anchor: { slugify }, headers: { slugify } },
  vite: {
    // The pages are outside of this folder, so Vite would not find the module.
    resolve: {
      alias: [{ find: /^vue(?=$|\/)/, replacement: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) }],
    },
  },
  themeConfig: {
    nav: [
      {
        text: version,
        items: versions.split(' ').map(name => ({ text: name, link: `/../${name}/`, target: '_self' })),
      },
    ],
    sidebar: sidebar.map(({ text, items }) => ({ text, items: items.map(({ text, link }) => ({ text, link })) })),
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          options: { processTerm: stem },
          searchOptions: {
            // In short words, a typing error is less likely than another word.
            fuzzy: term => (term.length > 5 ? 0.2 : false),
            boostDocument: id =>
              /(how-do-i|errors)#/.test(id)
                ? 2
                : /(\/go\/|(ARCHITECTURE|CONTRIBUTING|CHANGELOG|specification|decisions)#)/.test(id)
                  ? 0.5
                  : 1,
          },
        },
      },
    },
    outline: [2, 3],
  },
});
