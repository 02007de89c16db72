// The selected records of a list, for one action on all of them.
import { h, useRef, useState } from './vendor/preact.js';
import { Doing, counted, icon, tags, toast } from './ui.js';
/** @typedef {import('./ui.js').Child} Child @typedef {{id: string}} Row */
const { button, input, label, span } = tags;

/**
 * @typedef {{ids: string[], has: (id: string) => boolean, toggle: (id: string, through?: boolean) => void, set: (ids: string[]) => void}} Selection
 *   through selects all rows from the last toggled one
 */

/**
 * The selected records of a list. A new list or filter starts with none.
 * @param {string} key the list with its filters
 * @param {(Row|undefined)[]|null} rows in their order
 * @returns {Selection}
 */
export function useSelection(key, rows) {
  const [kept, keep] = useState({ key, ids: /** @type {Set<string>} */ (new Set()) });
  const last = useRef('');
  const ids = kept.key === key ? kept.ids : new Set();
  const set = (/** @type {Iterable<string>} */ next) => keep({ key, ids: new Set(next) });
  const at = (/** @type {string} */ id) => rows?.findIndex(r => r?.id === id) ?? -1;
  const toggle = (/** @type {string} */ id, through = false) => {
    const [from, to] = [at(last.current), at(id)].sort((a, b) => a - b);
    last.current = id;
    if (through && from >= 0) return set([...ids, ...(rows ?? []).slice(from, to + 1).flatMap(r => r ? [r.id] : [])]);
    set(ids.has(id) ? [...ids].filter(other => other !== id) : [...ids, id]);
  };
  return { ids: [...ids], has: id => ids.has(id), toggle, set };
}

/** The checkbox that selects a row. If Shift is pressed, browsers do not forward a click from the label to the checkbox. @param {Selection} selection @param {string} id @param {string} name */
export const tickOf = (selection, id, name) => label({
  class: 'select',
  onClick: (/** @type {MouseEvent} */ e) => {
    const box = /** @type {HTMLElement} */ (e.target).matches('input');
    if (!box && e.shiftKey) e.preventDefault();
    if (box || e.shiftKey) selection.toggle(id, e.shiftKey);
  },
}, input({ type: 'checkbox', 'aria-label': `Select ${name}`, checked: selection.has(id) }));

/** The actions for the selected records, below the list. @param {{selection: Selection, rows: (Row|undefined)[]|null, noun: string, children: Child}} props */
export function Selected({ selection, rows, noun, children }) {
  if (!selection.ids.length) return null;
  const loaded = (rows ?? []).flatMap(r => r ? [r.id] : []);
  return h(Doing, { label: 'Selected', class: 'selected' },
    span({ class: 'line' }, span({ class: 'cut', role: 'status' }, `${counted(selection.ids.length, noun)} selected`),
      selection.ids.length < loaded.length && button({ type: 'button', class: 'button quiet', onClick: () => selection.set(loaded) }, `Select all ${loaded.length}`),
      button({ type: 'button', class: 'bare clear', 'aria-label': 'Clear selection', title: 'Clear selection', onClick: () => selection.set([]) }, icon('cross'))),
    children);
}

/**
 * Performs an action on each record, one after the other, and shows the results and errors.
 * @template T
 * @param {string[]} ids
 * @param {(id: string) => Promise<T>} act
 * @param {(done: T[]) => Parameters<typeof toast>} textOf
 */
export async function actOnEach(ids, act, textOf) {
  const done = /** @type {T[]} */ ([]), failed = /** @type {string[]} */ ([]);
  for (const id of ids) {
    try {
      done.push(await act(id));
    } catch (e) {
      failed.push(e instanceof Error ? e.message : String(e));
    }
  }
  const [text, ...more] = done.length ? textOf(done) : [''];
  toast(failed.length ? [text, ' ', ids.length > 1 && `${failed.length} of ${ids.length} failed: `, failed[0]] : text, ...more);
  return !failed.length;
}
