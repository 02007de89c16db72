// The rows of a list. Only the visible rows are rendered.
import { h, useEffect, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { useDensity } from './density.js';
import { link } from './place.js';
import { tickOf } from './selection.js';
import { empty, loading, num, tags } from './elements.js';
/** @import { Selection } from './types.js' */
/**
 * @typedef {import('./records.js').Row} Row
 * @typedef {import('./elements.js').VNode} VNode
 * @typedef {import('./elements.js').Child} Child
 */
/** @typedef {{selection: Selection, name: (record: any) => string}} Select */
const { a, div, li, p, ul } = tags;

/** The number of rows that are rendered above and below the visible ones. */
const spare = 8;
/** The maximum number of rows. Browsers do not lay out more than 17 million pixels. */
const reach = 200_000;

/** The link of a row. @param {string} path of its record @param {boolean} current @param {Child[]} lines */
export const rowLink = (path, current, ...lines) =>
  a({ href: link(path), 'aria-current': current ? 'true' : undefined }, ...lines);

/**
 * The rows of a list, or the reason why there are none.
 * @template {Row} T
 * @param {{list: import('./records.js').List<T>, current?: string, filtered?: boolean, row: (record: T, current: boolean,
 *   n: number) => VNode, none: VNode, unmatched?: VNode, tall?: boolean, select?: Select}} props none is shown if the
 *   list has no records, unmatched if none match
 */
export function Rows({ list, current, filtered, row, none, unmatched, tall, select }) {
  if (list.error) return empty('warn', 'Loading failed', list.error);
  if (!list.rows) return loading();
  if (!list.rows.length)
    return !filtered ? none : [empty('search', 'No matches', 'Try fewer words, or another filter.'), unmatched];
  return h(Windowed, { key: list.key, list, rows: list.rows, current, row, tall, select });
}

/**
 * @param {{list: import('./records.js').List<any>, rows: (Row|undefined)[], current?: string, row: (record: any, current:
 *   boolean, n: number) => VNode, tall?: boolean, select?: Select}} props
 */
function Windowed({ list, rows, current, row, tall, select }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const last = useRef(current);
  const focused = useRef('');
  last.current = current ?? last.current; // a narrow page returns to this row
  const view = useView(box);
  const count = Math.min(rows.length, reach);
  const from = Math.max(0, Math.floor(view.top / view.each) - spare);
  const to = Math.min(count, Math.ceil((view.top + view.height) / view.each) + spare);
  const open = last.current ? rows.findIndex(r => r?.id === last.current) : -1;
  const held = focused.current ? rows.findIndex(r => r?.id === focused.current) : -1;
  useAnchor(box, rows, view);
  useReveal(box, open, last.current ?? '', view);
  useEffect(() => list.look(from, to));
  return div(
    { class: tall ? 'rows tall' : 'rows', ref: box },
    ul(
      { style: { height: `${count * view.each}px` } },
      drawn(from, to, count, open, held).map(n => {
        const r = rows[n];
        return li(
          {
            key: r?.id ?? n,
            class: r?.fresh ? 'fresh' : '',
            style: { top: `${n * view.each}px` },
            'aria-setsize': count,
            'aria-posinset': n + 1,
            onFocusIn: () => {
              focused.current = r?.id ?? '';
            },
          },
          r && select ? tickOf(select.selection, r.id, select.name(r)) : null,
          r ? row(r, r.id === current, n) : null,
        );
      }),
    ),
    rows.length > count && p({ class: 'dim' }, `Use the search to find records before the latest ${num(count)}.`),
  );
}

/**
 * The rows to render: the visible ones, and the kept ones with their neighbors.
 * @param {number} from
 * @param {number} to
 * @param {number} count
 * @param {number[]} kept
 */
function drawn(from, to, count, ...kept) {
  const all = new Set(Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n));
  for (const n of kept) if (n >= 0) for (const near of [n - 1, n, n + 1]) if (near >= 0 && near < count) all.add(near);
  return [...all].sort((a, b) => a - b);
}

/** The visible part of a list and the height of a row, in pixels. @param {{current: HTMLElement|null}} box */
function useView(box) {
  const density = useDensity();
  const [view, set] = useState({ top: 0, height: 0, each: 63 });
  useLayoutEffect(() => {
    const el = /** @type {HTMLElement} */ (box.current);
    const measure = () => {
      const now = {
        top: el.scrollTop,
        height: el.clientHeight,
        each: parseFloat(getComputedStyle(el).getPropertyValue('--row')),
      };
      if (now.height)
        // the height is 0 if the list is hidden
        set(old => (old.top === now.top && old.height === now.height && old.each === now.each ? old : now));
    };
    const resized = new ResizeObserver(measure);
    resized.observe(el);
    el.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      resized.disconnect();
      el.removeEventListener('scroll', measure);
    };
  }, [density]);
  return view;
}

/**
 * Keeps the visible rows in place when rows are added above them or change their height.
 * @param {{current: HTMLElement|null}} box
 * @param {(Row|undefined)[]} rows
 * @param {{each: number, top: number}} view
 */
function useAnchor(box, rows, { each, top: seen }) {
  const anchor = useRef({ id: '', n: 0, each, top: 0 });
  useLayoutEffect(() => {
    const el = /** @type {HTMLElement} */ (box.current);
    const was = anchor.current;
    const top = each === was.each ? el.scrollTop : was.top; // smaller rows have already reduced scrollTop
    if (top > 0 && was.id) {
      const n = rows[was.n]?.id === was.id ? was.n : rows.findIndex(r => r?.id === was.id);
      if (n >= 0 && (n !== was.n || each !== was.each)) el.scrollTop = top + n * each - was.n * was.each;
    }
    const n = Math.floor(el.scrollTop / each);
    anchor.current = { id: rows[n]?.id ?? '', n, each, top: el.scrollTop };
  }, [rows, each, seen]);
}

/**
 * Scrolls to the open row, unless it is visible.
 * @param {{current: HTMLElement|null}} box
 * @param {number} open
 * @param {string} id
 * @param {{each: number, height: number}} view
 */
function useReveal(box, open, id, { each, height }) {
  const shown = useRef('');
  useLayoutEffect(() => {
    const el = /** @type {HTMLElement} */ (box.current);
    if (open < 0 || shown.current === id || !el.clientHeight || !height) return;
    shown.current = id;
    const top = open * each;
    if (top < el.scrollTop || top + each > el.scrollTop + el.clientHeight)
      el.scrollTop = top - (el.clientHeight - each) / 2;
  }, [open, id, each, height]);
}
