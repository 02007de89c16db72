// The selected records of a list, for one action on all of them.
import { h, useRef, useState } from './vendor/preact.js';
import { Doing } from './actions.js';
import { counted, iconButton, num, press, tags } from './elements.js';
/** @import { Selection } from './types.js' */
/** @typedef {import('./elements.js').Child} Child @typedef {{id: string}} Row */
const { input, label, span } = tags;

/** The ids of the loaded rows. @param {(Row|undefined)[]|null} rows */
const loaded = rows => (rows ?? []).flatMap(r => (r ? [r.id] : []));

/**
 * The selected records of a list. A new list or filter starts with none.
 * @param {string} key the list with its filters
 * @param {(Row|undefined)[]|null} rows in their order
 * @returns {Selection}
 */
export function useSelection(key, rows) {
  const [kept, keep] = useState({ key, ids: /** @type {Set<string>} */ (new Set()), all: false });
  const last = useRef('');
  const all = kept.all && kept.key === key;
  const ids = all ? new Set(loaded(rows)) : kept.key === key ? kept.ids : new Set();
  const set = (/** @type {Iterable<string>} */ next, all = false) => keep({ key, ids: new Set(next), all });
  const at = (/** @type {string} */ id) => rows?.findIndex(r => r?.id === id) ?? -1;
  const toggle = (/** @type {string} */ id, through = false) => {
    const [from, to] = [at(last.current), at(id)].sort((a, b) => a - b);
    last.current = id;
    if (through && from >= 0) return set([...ids, ...loaded((rows ?? []).slice(from, to + 1))]);
    set(ids.has(id) ? [...ids].filter(other => other !== id) : [...ids, id]);
  };
  return { ids: [...ids], all, has: id => ids.has(id), toggle, set };
}

/**
 * The checkbox that selects a row. If Shift is pressed, browsers do not forward a click from the label to the checkbox.
 * @param {Selection} selection
 * @param {string} id
 * @param {string} name
 */
export const tickOf = (selection, id, name) =>
  label(
    {
      class: 'select',
      onClick: (/** @type {MouseEvent} */ e) => {
        const box = /** @type {HTMLElement} */ (e.target).matches('input');
        if (!box && e.shiftKey) e.preventDefault();
        if (box || e.shiftKey) selection.toggle(id, e.shiftKey);
      },
    },
    input({ type: 'checkbox', 'aria-label': `Select ${name}`, checked: selection.has(id) }),
  );

/**
 * The actions for the selected records, below the list.
 * @param {{selection: Selection, total: number, onAll: () => void, noun: string, children: Child}} props
 */
export function Selected({ selection, total, onAll, noun, children }) {
  if (!selection.ids.length) return null;
  const n = selection.all ? total : selection.ids.length;
  return h(
    Doing,
    { label: 'Selected', class: 'selected' },
    span(
      { class: 'line' },
      span({ class: 'cut', role: 'status' }, `${counted(n, noun)} selected`),
      n < total && press('', `Select all ${num(total)}`, onAll, { class: 'quiet' }),
      iconButton('cross', 'Clear selection', () => selection.set([]), { class: 'bare clear' }),
    ),
    children,
  );
}
