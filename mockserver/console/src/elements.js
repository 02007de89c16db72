// Elements without state: text, icons, buttons, tables and code.
import { h } from './vendor/preact.js';
import { paths } from './icons.js';

/**
 * @typedef {import('./vendor/preact.js').Child} Child
 * @typedef {import('./vendor/preact.js').VNode} VNode
 * @typedef {(first?: Child | Record<string, unknown>, ...children: Child[]) => VNode} Tag
 */

const isProps = (/** @type {unknown} */ x) => x?.constructor === Object; // a VNode has no constructor

/** Elements by their name: p({ class: 'dim' }, 'text', strong('more')). */
export const tags = /** @type {Record<string, Tag>} */ (
  new Proxy(
    {},
    {
      get:
        (_, name) =>
        (/** @type {any} */ first, /** @type {Child[]} */ ...children) =>
          isProps(first) ? h(String(name), first, ...children) : h(String(name), null, first, ...children),
    },
  )
);
const { a, button, dd, div, dl, dt, h2, li, p, path, pre, span, svg, table, tbody, td, th, thead, tr } = tags;

/** @param {string} name @param {string} [title] for screen readers; without it the icon is decoration */
export const icon = (name, title) =>
  svg(
    {
      class: 'icon',
      viewBox: '0 0 16 16',
      role: title && 'img',
      'aria-label': title,
      'aria-hidden': title ? undefined : 'true',
    },
    path({ d: paths[name] }),
  );

/**
 * Invisible characters and characters that change the direction of text. Joiners are excluded, because emoji need them.
 */
export const unseen = /([\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb])/u;

/** Untrusted text with its invisible characters made visible. @param {string} [text] */
export const seen = text =>
  (text ?? '')
    .split(unseen)
    .map((s, i) =>
      i % 2
        ? span(
            { class: 'unseen', key: i, title: 'an invisible character' },
            'U+' + s.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0'),
          )
        : s,
    );

/** A state as text with a color and an icon. @param {string} tone @param {string} sign @param {Child[]} words */
export const chip = (tone, sign, ...words) => span({ class: `chip ${tone}` }, sign && icon(sign), ...words);

/**
 * A button with text.
 * @param {string} sign its icon, if any
 * @param {Child} text
 * @param {() => unknown} onClick
 * @param {Record<string, unknown> | '' | undefined} [more] further attributes
 */
export const press = (sign, text, onClick, more) => {
  const { class: kind, ...others } = more || {};
  return button(
    { type: 'button', class: kind ? `button ${kind}` : 'button', onClick, ...others },
    sign ? icon(sign) : null,
    text,
  );
};

/**
 * A button with an icon alone.
 * @param {string} sign
 * @param {string} name for screen readers; also its title by default
 * @param {() => unknown} onClick
 * @param {Record<string, unknown>} [more] further attributes
 */
export const iconButton = (sign, name, onClick, more) =>
  button({ type: 'button', class: 'bare', 'aria-label': name, title: name, onClick, ...more }, icon(sign));

/** What a page shows until its data is loaded. */
export const loading = () => div({ class: 'loading', 'aria-busy': 'true' });

/** @param {string} error */
export const loadingFailed = error => empty('warn', 'Loading failed', error);

/** An integer with separators of thousands. toLocaleString would cost the first load about 30 ms. @param {number} n */
export const num = n => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

/** The attributes of a button that a key presses, see useKeys. @param {string} [name] */
export const key = name => name && { 'data-key': name, 'aria-keyshortcuts': name, title: `Key: ${name}` };

/** JSON with colors. It consists of text nodes, never of markup. @param {string} raw @param {boolean} [indent] */
export function json(raw, indent) {
  let shown = raw;
  if (indent)
    try {
      shown = JSON.stringify(JSON.parse(raw), null, 2);
    } catch {
      /* not JSON: shown as it is */
    }
  const parts = shown.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/);
  return code(parts.map((s, i) => (i % 2 ? span({ class: kindOf(s) }, s) : s)));
}

const kindOf = (/** @type {string} */ s) => (s.endsWith(':') ? 'k' : s[0] === '"' ? 's' : /^[tfn]/.test(s) ? 'b' : 'n');

/** Text that can be long. It scrolls, so the keyboard must reach it. @param {Child[]} what */
export const code = (...what) => pre({ class: 'code', tabindex: 0 }, ...what);

/** @param {[string, Child][]} rows */
export const pairs = rows =>
  dl(
    { class: 'pairs' },
    rows.map(([k, v]) => div({ key: k }, dt(k), dd(v))),
  );

/** A table. Each row is a key and the cells. @param {string[]} heads @param {[string|number, Child[]][]} rows */
export const grid = (heads, rows) =>
  table(
    { class: 'table' },
    thead(tr(heads.map(name => th({ scope: 'col', key: name }, name)))),
    tbody(
      rows.map(([key, cells]) =>
        tr(
          { key },
          cells.map((x, n) => td({ key: n }, x)),
        ),
      ),
    ),
  );

/** A line in a list of links. @param {string} id @param {string} to @param {string} sign @param {Child[]} parts */
export const linkLine = (id, to, sign, ...parts) => li({ key: id }, a({ href: to }, icon(sign), ...parts));

/** @param {string} sign @param {string} title @param {Child[]} words */
export const empty = (sign, title, ...words) => div({ class: 'empty' }, icon(sign), h2(title), p(...words));

/** A number with its noun. @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = one + 's') => `${num(n)} ${n === 1 ? one : many}`;
