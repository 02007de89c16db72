// The layout of a page: a list with its open record, headings and tabs.
import { h, useEffect, useId, useRef, useState } from './vendor/preact.js';
import { useDensity } from './density.js';
import { icon, iconButton, num, seen, tags } from './elements.js';
import { setParams } from './place.js';
/** @typedef {import('./elements.js').Child} Child */
const { a, button, div, h1, h2, header, section, span } = tags;

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
