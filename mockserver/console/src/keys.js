// The keyboard shortcuts, and the dialog that lists them.
import { h, useEffect, useRef } from './vendor/preact.js';
import { live, pause } from './stream.js';
import { moveTo, row } from './focus.js';
import { within } from './place.js';
import { fields, Tick } from './controls.js';
import { tags } from './elements.js';
/** @typedef {{id: string, title: string, key: string}} Place a page that g and its key open */
const { button, dd, dialog, div, dl, dt, form, h2, kbd } = tags;

/** @param {Place[]} places @returns {[string[], string][]} */
const shortcuts = places => [
  [['j', 'k'], 'select the next or previous item'],
  [['Enter'], 'open the selected item'],
  [['Esc'], 'back to the list'],
  [['/'], 'filter'],
  [['1', '…', '6'], 'tabs of the open item'],
  [['o', 'c'], 'simulate an open or a click'],
  [['b', 's'], 'simulate a bounce or a spam report at once'],
  [['u'], 'simulate an unsubscribe'],
  [['Delete'], 'delete'],
  [['x'], 'select the item'],
  [['z'], 'undo'],
  [['Ctrl', 'V'], 'import addresses or compare a signature'],
  [['Ctrl', 'Enter'], 'submit the form'],
  [['p'], 'pause and resume'],
  ...places.map(p => /** @type {[string[], string]} */ ([['g', p.key], p.title])),
  [['?'], 'this help'],
];

/**
 * The list of shortcuts.
 * @param {{places: Place[], box: {current: HTMLDialogElement|null}, on: boolean, setOn: (on: boolean) => void}} props
 */
export const Help = ({ places, box, on, setOn }) =>
  dialog(
    { ref: box, class: 'help', 'aria-labelledby': 'help-title' },
    h2({ id: 'help-title', tabindex: -1, autofocus: true }, 'Keyboard shortcuts'),
    dl(
      shortcuts(places).map(([keys, what]) =>
        div({ key: what }, dt(keys.map(k => (k === '…' ? ' … ' : kbd(k)))), dd(what)),
      ),
    ),
    form(
      { method: 'dialog' },
      h(Tick, { label: 'Enable single-key shortcuts', checked: on, onChange: setOn }),
      button({ class: 'button main' }, 'Close'),
    ),
  );

/** The element of a selector. @param {string} selector @returns {HTMLElement|null} */
const find = selector => document.querySelector(selector);

/** The commands of single keys. @type {Record<string, (help: {current: HTMLDialogElement|null}) => unknown>} */
const commands = {
  j: () => moveTo(1),
  k: () => moveTo(-1),
  x: () => {
    const focused = document.activeElement;
    const hash = focused?.matches('.rows a') ? /** @type {HTMLAnchorElement} */ (focused).hash : location.hash;
    row(hash)?.parentElement?.querySelector('input')?.click();
  },
  z: () => find('.toast button')?.click(),
  p: () => pause(!live.paused),
  '/': () => find('#filter')?.focus(),
  '?': help => help.current?.showModal(),
};

/**
 * What a key does, if anything: a page after g, a tab, a button, or a command.
 * @param {Place[]} places
 * @param {string} key
 * @param {boolean} leads the last key was g
 * @returns {((help: {current: HTMLDialogElement|null}) => unknown)|false|undefined}
 */
function commandOf(places, key, leads) {
  const place = leads && places.find(p => p.key === key);
  if (place) return () => (location.hash = '#/' + place.id);
  const tab = /^[1-9]$/.test(key) && document.querySelectorAll('.detail [role=tab]')[Number(key) - 1];
  const button = `[data-key=${CSS.escape(key)}]:enabled`;
  const pressed = tab || find('.selected ' + button) || find('.detail ' + button);
  if (pressed) return () => /** @type {HTMLElement} */ (pressed).click();
  return Object.hasOwn(commands, key) && commands[key];
}

/**
 * Runs the commands of keys.
 * @param {Place[]} places
 * @param {{current: HTMLDialogElement|null}} help
 * @param {boolean} on whether single keys have commands
 */
export function useKeys(places, help, on) {
  const now = useRef(on);
  now.current = on; // the key handler reads this value, because an effect would update it too late
  useEffect(() => {
    let leader = 0; // the time when g was pressed
    const f = (/** @type {KeyboardEvent} */ e) => {
      const target = /** @type {HTMLElement} */ (e.target);
      const typing = target.closest(fields);
      if (find('dialog[open], :popover-open')) return;
      if (e.key === 'Escape') {
        if (typing) return target.blur();
        const clear = find('.selected .clear');
        return clear ? clear.click() : moveTo(0);
      }
      const opens = e.key === 'Enter' && target.matches('.rows a');
      if (opens && within(/** @type {HTMLAnchorElement} */ (target).hash, location.hash)) {
        e.preventDefault();
        return (find('.detail article h2') ?? find('.detail'))?.focus(); // the article may still be loading
      }
      if (!now.current || typing || e.ctrlKey || e.metaKey || e.altKey) return;
      const command = commandOf(places, e.key, Date.now() - leader < 1000);
      leader = 0;
      if (command) command(help);
      else if (e.key === 'g') leader = Date.now();
      else return;
      e.preventDefault();
    };
    addEventListener('keydown', f);
    return () => removeEventListener('keydown', f);
  }, []);
}
