// The keyboard focus: in the rows of a list, and back from a closed record or the frame of an email.
import { useEffect, useLayoutEffect, useRef } from './vendor/preact.js';
import { go, within } from './place.js';
import { narrow } from './layout.js';

/**
 * A click in the frame of an email moves the keyboard focus there. Takes it back, except after Tab, or to copy the
 * selection in the frame.
 */
export function useFocusBack() {
  useEffect(() => {
    let tabbed = false; // the last key was Tab
    let left = /** @type {HTMLElement|null} */ (null); // the frame that last had the focus
    let copying = false; // the frame has the focus briefly, for copying
    const f = (/** @type {KeyboardEvent} */ e) => {
      tabbed = e.key === 'Tab';
      const selected = e.target === document.body && getSelection()?.isCollapsed !== false;
      if ((e.key === 'Control' || e.key === 'Meta') && left?.isConnected && selected) {
        copying = true;
        left.focus();
      }
    };
    const back = () =>
      setTimeout(() => {
        const frame = /** @type {HTMLElement|null} */ (document.activeElement);
        if (tabbed || !frame?.matches('iframe')) return;
        if (copying)
          return void setTimeout(() => {
            copying = false;
            back();
          }, 3000);
        left = frame;
        frame.blur();
      });
    addEventListener('keydown', f);
    addEventListener('blur', back);
    return () => {
      removeEventListener('keydown', f);
      removeEventListener('blur', back);
    };
  }, []);
}

/**
 * Opens the next or previous row and focuses it. 0 focuses the open row, or the first visible row if none is open.
 * @param {number} step
 */
export function moveTo(step) {
  const rows = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('.rows a')]);
  // the address and aria-current change slightly later
  const focused = rows.findIndex(r => r === document.activeElement);
  const now = focused >= 0 && step ? focused : rows.findIndex(r => r.getAttribute('aria-current') === 'true');
  const top = () => document.querySelector('.rows')?.getBoundingClientRect().top ?? 0;
  const row =
    now < 0
      ? rows.find(r => r.getBoundingClientRect().top >= top())
      : rows[Math.min(rows.length - 1, Math.max(0, now + step))];
  if (!row) return;
  if (step) go(row.hash);
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
}

/** The row with this link. @param {string} hash */
export const row = hash =>
  /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('.rows a')]).find(r => within(r.hash, hash));

/**
 * Shows the link of the page, and focuses the row of the closed record on a narrow page.
 * @param {{id: string}} place
 * @param {string} [id]
 */
export function useReturn(place, id) {
  const before = useRef(/** @type {{place: object, id?: string}} */ ({ place, id }));
  useEffect(() => {
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [place]);
  useLayoutEffect(() => {
    const left = before.current;
    if (narrow() && left?.id && !id && left.place === place) row(`#/${place.id}/${left.id}`)?.focus();
    before.current = { place, id };
  }, [place, id]);
}
