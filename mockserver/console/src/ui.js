// Small components that all pages use.
import { h, useEffect, useId, useRef, useState } from './vendor/preact.js';
import { useConnection } from './api.js';
import { useDensity } from './density.js';
import { paths } from './icons.js';
import { setParams, useParam } from './place.js';

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
const {
  a,
  button,
  dd,
  div,
  dl,
  dt,
  fieldset,
  h1,
  h2,
  header,
  input,
  kbd,
  label,
  legend,
  li,
  option,
  p,
  path,
  pre,
  section,
  select,
  small,
  span,
  svg,
  table,
  tbody,
  td,
  th,
  thead,
  tr,
} = tags;

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

/** A number with separators of thousands. @param {number} n */
export const num = n => n.toLocaleString('en');

/** The options of a choice whose labels are their values. @param {string[]} values @returns {[string, string][]} */
export const same = values => values.map(v => [v, v]);

/** @param {string} value */
async function copy(value) {
  if (navigator.clipboard) return navigator.clipboard.writeText(value);
  const box = document.createElement('textarea'); // without TLS, the clipboard is available only on loopback
  box.value = value;
  document.body.append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
}

/** @param {{value: string | (() => Promise<string>), label: string, text?: string}} props */
export function Copy({ value, label, text }) {
  const [done, setDone] = useState(false);
  const onClick = async () => {
    await copy(typeof value === 'string' ? value : await value());
    setDone(true);
    setTimeout(() => setDone(false), 1200);
  };
  return button(
    { type: 'button', class: text ? 'button' : 'bare', onClick, 'aria-label': text ? undefined : label, title: label },
    icon(done ? 'check' : 'copy'),
    text,
  );
}

/** An id with a button that copies it. @param {string} id @param {string} title of the button @param {Child} [text] */
export const idOf = (id, title, text = id) => span({ class: 'id' }, text, h(Copy, { value: id, label: title }));

/**
 * A group of controls that is disabled while the connection is lost.
 * @param {{label: string, class?: string, children: Child}} props
 */
export function Doing({ label: name, class: kind = 'doing', children }) {
  return fieldset({ class: kind, 'aria-label': name, disabled: useConnection() === 'lost' }, children);
}

/**
 * Tabs as the ARIA guide describes them. The arrow keys move between them, and Tab stops once.
 * @param {{label: string, tabs: {id: string, label: string, count?: number, panel: () => Child}[], value?: string,
 *   onChange: (id: string) => void}} props
 */
export function Tabs({ label, tabs, value, onChange }) {
  const id = useId();
  const now = tabs.find(t => t.id === value) ?? tabs[0];
  const onKeyDown = (/** @type {KeyboardEvent} */ e) => {
    const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    e.preventDefault();
    // not "now", because the address can change after the next key press
    const at = tabs.findIndex(t => id + t.id === /** @type {Element} */ (e.target).id);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    onChange(next.id);
    document.getElementById(id + next.id)?.focus();
  };
  return div(
    { class: 'tabs' },
    div(
      { class: 'tablist', role: 'tablist', 'aria-label': label, onKeyDown },
      tabs.map(t =>
        button(
          {
            type: 'button',
            role: 'tab',
            key: t.id,
            id: id + t.id,
            'aria-selected': String(t === now),
            'aria-controls': t === now ? id + 'panel' : undefined,
            tabindex: t === now ? 0 : -1,
            onClick: () => onChange(t.id),
          },
          t.label,
          t.count ? span({ class: 'count' }, t.count) : null,
        ),
      ),
    ),
    div(
      {
        class: 'tabpanel',
        role: 'tabpanel',
        id: id + 'panel',
        'aria-labelledby': id + now.id,
        key: now.id,
        tabindex: 0,
      },
      now.panel(),
    ),
  );
}

/**
 * A choice between a few options: radio buttons in a row.
 * @param {{label: string, options: [string, string][], value: string, onChange: (v: string) => void}} props
 */
export function Choice({ label: name, options, value, onChange }) {
  const group = useId();
  return fieldset(
    { class: 'choice' },
    legend({ class: 'hidden' }, name),
    options.map(([v, text]) =>
      label(
        { key: v },
        input({ type: 'radio', name: group, checked: v === value, onChange: () => onChange(v) }),
        span(text),
      ),
    ),
  );
}

/** The attributes of a button that a key presses, see useKeys. @param {string} [name] */
export const key = name => name && { 'data-key': name, 'aria-keyshortcuts': name, title: `Key: ${name}` };

/**
 * A button that opens a menu. The browser closes the menu on Escape and on a click elsewhere.
 * @param {{label: string, sign: string, keyed?: string, atOnce?: string, bare?: boolean, items: {value: string, label:
 *   string, note?: string}[], onPick: (v: string) => void}} props atOnce is the item that the button picks; a second
 *   button then opens the menu
 */
export function Menu({ label, sign, keyed, atOnce, bare, items, onPick }) {
  const id = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const buttons = () => [...(box.current?.querySelectorAll('button') ?? [])];
  const onKeyDown = (/** @type {KeyboardEvent} */ e) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    if (!step) return;
    e.preventDefault();
    const all = buttons();
    all[(all.findIndex(b => b === document.activeElement) + step + all.length) % all.length]?.focus();
  };
  const onToggle = (/** @type {ToggleEvent} */ e) => {
    // Chromium scrolls a fieldset back when a menu in it opens or closes
    box.current?.previousElementSibling?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (e.newState === 'open') buttons()[0]?.focus({ preventScroll: true });
  };
  const pick = (/** @type {string} */ v) => {
    box.current?.hidePopover();
    onPick(v);
  };
  return [
    atOnce
      ? span(
          { class: 'split' },
          press(sign, label, () => onPick(atOnce), key(keyed)),
          button(
            { type: 'button', class: 'button', popovertarget: id, 'aria-label': `${label}: more`, title: 'More' },
            icon('down'),
          ),
        )
      : bare
        ? button({ type: 'button', class: 'bare', popovertarget: id, 'aria-label': label, title: label }, icon(sign))
        : button(
            { type: 'button', class: 'button', popovertarget: id, ...key(keyed) },
            icon(sign),
            label,
            icon('down'),
          ),
    div(
      { popover: 'auto', id, class: 'menu', ref: box, onKeyDown, onToggle },
      items.map(it =>
        button(
          { type: 'button', key: it.value, onClick: () => pick(it.value) },
          span(it.label),
          it.note && small(it.note),
        ),
      ),
    ),
  ];
}

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

/**
 * A list and its open record, side by side. A narrow page shows one of them.
 * @param {{title: string, count?: number, open: boolean, home: string, side?: Child, tools: Child, list: Child, detail:
 *   Child}} props
 */
export function Split({ title, count, open, home, side, tools, list, detail }) {
  return [
    section(
      { class: 'list', 'aria-label': title, 'data-open': open },
      header(
        h1(title),
        count !== undefined && span({ class: 'count' }, num(count)),
        span({ class: 'side' }, side, h(Density, {})),
      ),
      tools,
      list,
    ),
    section(
      { class: 'detail', tabindex: -1, 'aria-label': 'Details', 'data-open': open },
      open && h1({ class: 'back' }, a({ href: home }, icon('back'), title)),
      detail,
    ),
  ];
}

/** A page without a list. @param {{title: string, count?: number, side?: Child, children: Child}} props */
export const Page = ({ title, count, side, children }) =>
  section(
    { class: 'page', tabindex: 0, 'aria-label': title },
    header(
      h1(title),
      count !== undefined && span({ class: 'count' }, num(count)),
      side && span({ class: 'side' }, side),
    ),
    children,
  );

/** The button for rows of one line. It changes the address, and useShared applies the change. */
function Density() {
  const compact = useDensity() === 'compact';
  return iconButton(
    compact ? 'rows' : 'list',
    'Compact rows',
    () => setParams({ density: compact ? 'comfortable' : 'compact' }),
    { 'aria-pressed': String(compact), title: compact ? 'Multi-line rows' : 'Single-line rows' },
  );
}

/**
 * The title of the open record. It gets the focus if the list is hidden.
 * @param {{text: string, sign?: Child}} props
 */
export function Heading({ text, sign }) {
  const el = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => {
    if (narrow()) el.current?.focus();
  }, []);
  return h2({ tabindex: -1, dir: 'auto', ref: el, title: text }, sign, seen(text));
}
const phone = matchMedia('(max-width: 860px)');
export const narrow = () => phone.matches;
/** Reports whether the page is narrow: it shows the list or the record, and the navigation is at the bottom. */
export function useNarrow() {
  const [is, set] = useState(narrow());
  useEffect(() => {
    const f = () => set(narrow());
    phone.addEventListener('change', f);
    return () => phone.removeEventListener('change', f);
  }, []);
  return is;
}

/** @typedef {Event & {target: HTMLInputElement}} Typed */

/** The selector of the controls that take keys and pasted text. */
export const fields = 'input:not([type=radio], [type=checkbox]), textarea, select';

/**
 * A button that chooses a file.
 * @param {{text: string, label: string, accept: string, onFile: (file: File) => unknown}} props
 */
export const FileButton = ({ text, label: name, accept, onFile }) =>
  label(
    { class: 'button file' },
    icon('page'),
    text,
    input({
      type: 'file',
      accept,
      'aria-label': name,
      onChange: (/** @type {Typed} */ e) => {
        const [file] = e.target.files ?? [];
        e.target.value = '';
        if (file) onFile(file);
      },
    }),
  );

/** Calls f with text that is pasted outside fields, dialogs and menus. @param {(text: string) => void} [f] */
export function usePaste(f) {
  const latest = useRef(f);
  latest.current = f;
  useEffect(() => {
    if (!f) return;
    const g = (/** @type {ClipboardEvent} */ e) => {
      if (document.activeElement?.closest(fields) || document.querySelector('dialog[open], :popover-open')) return;
      e.preventDefault(); // otherwise, the browser also pastes into a field that f focuses
      latest.current?.(e.clipboardData?.getData('text') ?? '');
    };
    addEventListener('paste', g);
    return () => removeEventListener('paste', g);
  }, [!f]);
}

/**
 * The field for the search of a list.
 * @param {{search: ReturnType<typeof import('./place.js').useSearch>, label: string}} props
 */
export const Search = ({ search, label: name }) =>
  div(
    { class: 'search' },
    icon('search'),
    input({
      type: 'search',
      id: 'filter',
      'aria-label': name,
      placeholder: name,
      value: search.typed,
      onInput: (/** @type {Typed} */ e) => search.type(e.target.value),
    }),
    kbd({ 'aria-hidden': 'true' }, '/'),
  );

/**
 * A choice between many options.
 * @param {{label: string, options: [string, string][], value: string, onChange: (v: string) => void, id?: string,
 *   hidden?: boolean}} props
 */
export function Select({ label: name, options, value, onChange, id, hidden }) {
  const made = useId();
  const mine = id ?? made;
  return div(
    { class: 'pick' },
    label({ for: mine, class: hidden ? 'hidden' : '' }, name),
    select(
      { id: mine, value, onChange: (/** @type {Typed} */ e) => onChange(e.target.value) },
      options.map(([v, text]) => option({ key: v, value: v, selected: v === value }, text)),
    ),
  );
}

/**
 * A text field with its label above.
 * @param {{label: string, value: string, onInput: (v: string) => void, hint?: string, type?: string, list?: string,
 *   mono?: boolean, min?: number, max?: number, step?: string}} props
 */
export function Field({ label: name, value, onInput, hint, type, list, mono, min, max, step }) {
  const id = useId();
  return div(
    { class: 'pick' },
    label({ for: id }, name),
    input({
      id,
      type: type ?? 'text',
      value,
      list,
      min,
      max,
      step,
      placeholder: hint,
      class: mono ? 'mono' : '',
      autocomplete: 'off',
      spellcheck: false,
      onInput: (/** @type {Typed} */ e) => onInput(e.target.value),
    }),
  );
}

/**
 * @param {{label: Child, checked: boolean, onChange: (on: boolean) => void, kind?: string, more?: Record<string,
 *   unknown>}} props more: further attributes
 */
export const Tick = ({ label: name, checked, onChange, kind, more }) =>
  label(
    { class: kind ?? 'tick' },
    input({
      ...more,
      type: 'checkbox',
      role: kind === 'switch' ? 'switch' : undefined,
      checked,
      onChange: (/** @type {Typed} */ e) => onChange(e.target.checked),
    }),
    span(name),
  );

/** A handler for a form that calls f instead of loading a page. @param {() => unknown} f */
export const submits = f => (/** @type {Event} */ e) => {
  e.preventDefault();
  f();
};

/**
 * The options of a choice between records.
 * @template T
 * @param {T[]} all
 * @param {(x: T, n: number) => [string, string]} option its value and its label
 * @returns {[string, string][]}
 */
export const optionsOf = (all, option) => all.map(option);

/** @param {string} sign @param {string} title @param {Child[]} words */
export const empty = (sign, title, ...words) => div({ class: 'empty' }, icon(sign), h2(title), p(...words));

/** @typedef {{text: Child, link?: [string, string], undo?: () => Promise<unknown>, key: number}} ToastContent */
let show = (/** @type {ToastContent} */ _) => {};
/**
 * Shows a message in a corner and announces it to screen readers. undo adds a button.
 * @param {Child} text
 * @param {[string, string]} [link]
 * @param {() => Promise<unknown>} [undo]
 */
export const toast = (text, link, undo) => show({ text, link, undo, key: Date.now() });

/**
 * Performs an action, and shows its result or its error.
 * @template T
 * @param {() => Promise<T>} what
 * @param {(result: T) => Parameters<typeof toast>} done
 */
export async function attempt(what, done) {
  try {
    toast(...done(await what()));
    return true;
  } catch (e) {
    toast(e instanceof Error ? e.message : String(e));
    return false;
  }
}

export function Toasts() {
  const [t, set] = useState(/** @type {ToastContent|null} */ (null));
  useEffect(() => {
    show = set;
  }, []);
  useEffect(() => {
    if (!t) return;
    const x = setTimeout(() => set(null), t.undo ? 12_000 : 6000);
    return () => clearTimeout(x);
  }, [t]);
  const { undo, link } = t ?? {};
  return div(
    { class: 'toasts', role: 'status' },
    t &&
      div(
        { class: 'toast', key: t.key },
        span(typeof t.text === 'string' ? seen(t.text) : t.text),
        link && a({ href: link[1] }, link[0]),
        undo &&
          button(
            {
              type: 'button',
              'aria-keyshortcuts': 'z',
              title: 'Key: z',
              onClick: () => attempt(undo, () => ['Undone.']),
            },
            'Undo',
          ),
      ),
  );
}

/** The number of pages of a list. @param {number} count @param {number} perPage */
const pagesOf = (count, perPage) => Math.max(1, Math.ceil(count / perPage));

/**
 * The current page of a list. A new filter starts with the first page.
 * @param {string} query
 * @param {number} perPage
 */
export function usePages(query, perPage) {
  const [shown, show] = useParam('page');
  const before = useRef(query);
  const setPage = (/** @type {number} */ n) => show(n > 1 ? String(n) : '');
  useEffect(() => {
    if (before.current !== query) setPage(1);
    before.current = query;
  }, [query]);
  return { page: Math.max(1, Math.trunc(Number(shown)) || 1), setPage, perPage };
}

/**
 * Reports whether the current page no longer exists, and then opens the last one.
 * @param {ReturnType<typeof usePages>} pages
 * @param {{data: unknown[], pagination?: {count?: number}}} [got]
 */
export function useRanOut({ page, setPage, perPage }, got) {
  const out = !!got && !got.data.length && page > 1;
  useEffect(() => {
    if (out) setPage(Math.min(page - 1, pagesOf(got?.pagination?.count ?? 0, perPage)));
  }, [out, got]);
  return out;
}

/** @param {{pages: ReturnType<typeof usePages>, count: number}} props */
export function Pager({ pages: { page, setPage, perPage }, count }) {
  const last = pagesOf(count, perPage);
  if (last === 1) return null;
  return div(
    { class: 'pager', role: 'group', 'aria-label': 'Pages' },
    press('back', 'Previous', () => setPage(page - 1), { disabled: page === 1 }),
    label(
      span({ class: 'hidden' }, 'Page'),
      input({
        type: 'number',
        min: 1,
        max: last,
        value: page,
        onChange: (/** @type {Typed} */ e) =>
          setPage(Math.min(last, Math.max(1, Math.trunc(Number(e.target.value)) || 1))),
      }),
    ),
    span({ class: 'num dim' }, `of ${num(last)}`),
    button(
      { type: 'button', class: 'button', disabled: page >= last, onClick: () => setPage(page + 1) },
      'Next',
      icon('next'),
    ),
  );
}

/** A word quoted for a shell. @param {string} s */
export const quote = s => `'${s.replaceAll("'", `'\\''`)}'`;

/**
 * A request as a curl command.
 * @param {string} method
 * @param {string} url
 * @param {string[]} headers quoted for a shell
 * @param {string} [body]
 */
export function curl(method, url, headers, body) {
  const words = [
    'curl -i',
    method === 'HEAD' ? '-I' : `-X ${/^[A-Z]+$/.test(method) ? method : quote(method)}`,
    /[[\]{}]/.test(url) && '-g',
    /\/\.\.?(\/|\?|$)/.test(url) && '--path-as-is',
    quote(url),
  ];
  return [
    words.filter(Boolean).join(' '),
    ...headers.map(h => `-H ${h}`),
    ...(body ? ["-H 'Content-Type: application/json'", `--data-raw ${quote(body)}`] : []),
  ].join(' \\\n  ');
}

/** A number with its noun. @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = one + 's') => `${num(n)} ${n === 1 ? one : many}`;
