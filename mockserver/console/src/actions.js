// Groups of actions, and the messages that report their results.
import { useEffect, useState } from './vendor/preact.js';
import { useConnection } from './stream.js';
import { seen, tags } from './elements.js';
/** @typedef {import('./elements.js').Child} Child */
const { a, button, div, fieldset, span } = tags;

/**
 * A group of controls that is disabled while the connection is lost.
 * @param {{label: string, class?: string, children: Child}} props
 */
export function Doing({ label: name, class: kind = 'doing', children }) {
  return fieldset({ class: kind, 'aria-label': name, disabled: useConnection() === 'lost' }, children);
}

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
