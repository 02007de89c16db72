// Lists with pages, and the buttons that turn them.
import { useEffect, useRef } from './vendor/preact.js';
import { icon, num, press, tags } from './elements.js';
import { useParam } from './place.js';
const { button, div, input, label, span } = tags;

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
        onChange: (/** @type {import('./controls.js').Typed} */ e) =>
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
