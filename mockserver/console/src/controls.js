// Controls of forms and lists: fields, choices, menus, files and pasted text.
import { useEffect, useId, useRef } from './vendor/preact.js';
import { icon, key, press, tags } from './elements.js';
/** @typedef {import('./elements.js').Child} Child */
const { button, div, fieldset, input, kbd, label, legend, option, select, small, span } = tags;

/** The options of a choice whose labels are their values. @param {string[]} values @returns {[string, string][]} */
export const same = values => values.map(v => [v, v]);

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
