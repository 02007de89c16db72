// The frame of the console: pages, keyboard shortcuts, theme and the state of
// the stream.
import { h, render, useEffect, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { live, pause, start, useChanges, useConnection, useLoss } from './stream.js';
import { Campaigns, Workflows } from './campaigns.js';
import { Clock } from './clock.js';
import { Contacts } from './contacts.js';
import { Deliveries } from './deliveries.js';
import { Events } from './events.js';
import { Explorer } from './explorer.js';
import { Faults } from './faults.js';
import { Inbox } from './inbox.js';
import { density, setDensity, useDensity } from './density.js';
import { Lists } from './lists.js';
import { Overview } from './overview.js';
import { setParams, go, usePlace, useShared, within } from './place.js';
import { Requests } from './requests.js';
import { Suppressed } from './suppressed.js';
import { Templates } from './templates.js';
import { Trigger } from './trigger.js';
import { Toasts } from './actions.js';
import { fields, Select, Tick } from './controls.js';
import { icon, press, tags } from './elements.js';
import { narrow, Page, useNarrow } from './layout.js';
import { accountFilter, choose, look, useSession } from './session.js';
import { useUnread } from './unread.js';
const { a, button, dd, dialog, div, dl, dt, form, h2, i, img, kbd, li, main, nav, p, span, ul } = tags;

/**
 * @type {{id: string, title: string, sign: string, key: string, view: (props: {id?: string, tab?: string}) => any}[]}
 */
const places = [
  { id: 'overview', title: 'Overview', sign: 'bars', key: 'o', view: Overview },
  { id: 'inbox', title: 'Inbox', sign: 'inbox', key: 'i', view: Inbox },
  { id: 'contacts', title: 'Contacts', sign: 'people', key: 'c', view: Contacts },
  { id: 'lists', title: 'Lists', sign: 'book', key: 'l', view: Lists },
  { id: 'templates', title: 'Templates', sign: 'page', key: 'm', view: Templates },
  { id: 'campaigns', title: 'Campaigns', sign: 'horn', key: 'a', view: Campaigns },
  { id: 'workflows', title: 'Workflows', sign: 'flow', key: 'w', view: Workflows },
  { id: 'suppressed', title: 'Suppressed', sign: 'block', key: 's', view: Suppressed },
  { id: 'deliveries', title: 'Deliveries', sign: 'hook', key: 'd', view: Deliveries },
  { id: 'events', title: 'Events', sign: 'pulse', key: 'e', view: Events },
  { id: 'requests', title: 'Requests', sign: 'list', key: 'r', view: Requests },
  { id: 'faults', title: 'Faults', sign: 'bolt', key: 'f', view: Faults },
  { id: 'trigger', title: 'Send event', sign: 'send', key: 't', view: Trigger },
  { id: 'api', title: 'API', sign: 'play', key: 'p', view: Explorer },
];

/** The pages with a link in the bottom bar of a phone. */
const near = ['overview', 'inbox', 'deliveries', 'events'];

const themes = {
  auto: { next: 'light', sign: 'half' },
  light: { next: 'dark', sign: 'sun' },
  dark: { next: 'auto', sign: 'moon' },
};
function Theme() {
  const [theme, set] = useState(/** @type {keyof typeof themes} */ (document.documentElement.dataset.theme ?? 'auto'));
  const { next, sign } = themes[theme];
  const onClick = () => {
    localStorage.setItem('theme', next);
    document.documentElement.dataset.theme = next;
    set(/** @type {keyof typeof themes} */ (next));
  };
  return button(
    { type: 'button', class: 'foot', onClick, title: `Change to ${next}` },
    icon(sign),
    span(`Theme: ${theme}`),
  );
}

function Live() {
  const [, tick] = useState(0);
  useChanges(() => tick(n => n + 1));
  const word = live.paused
    ? `Paused, ${live.held.length} held`
    : /** @type {Record<string, string>} */ ({ live: 'Live', lost: 'No server', connecting: 'Connecting' })[live.state];
  return button(
    {
      type: 'button',
      class: 'foot live',
      'data-state': live.paused ? 'paused' : live.state,
      'aria-pressed': String(live.paused),
      onClick: () => pause(!live.paused),
      title: live.paused ? 'Resume' : 'Pause',
    },
    icon(live.paused ? 'play' : 'pause'),
    span(word),
    i({ class: 'dot' }),
  );
}

/** Reports a lost connection. */
function Banner() {
  const [connection, why] = [useConnection(), useLoss()];
  return div(
    { class: 'banner', role: 'alert' },
    connection === 'lost' &&
      p(
        icon('warn'),
        span(
          'No server. ',
          why,
          ' The page shows the last known state. Actions are disabled until the server responds.',
        ),
      ),
  );
}

/** Replaces the page if the link names an unknown account. @param {{account: string}} props */
function NoAccount({ account }) {
  const { info } = useSession();
  const all = info?.accounts ?? [];
  return h(Page, {
    title: `Account ${account} does not exist`,
    children: [
      p({ class: 'lead' }, 'Choose an existing account:'),
      p(
        { class: 'actions' },
        all.map(a =>
          press(
            '',
            `Show account ${a.account_id}`,
            () => setParams({ account: all.length > 1 ? String(a.account_id) : '' }),
            { key: a.account_id },
          ),
        ),
      ),
    ],
  });
}

/** The choice of the account, if the server has several. @param {{place: string}} props */
function Accounts({ place }) {
  const { info, account } = useSession();
  if (!info || info.accounts.length < 2) return null;
  // the open record belongs to the other account
  const change = (/** @type {string} */ v) => go(`#/${place}?account=${v}`);
  return h(Select, {
    label: 'Account',
    value: account,
    onChange: change,
    options: info.accounts.map(a => [String(a.account_id), `Account ${a.account_id}`]),
  });
}

/**
 * The navigation. On a phone, a menu contains most links and the controls.
 * @param {{place: typeof places[0], children: any}} props
 */
function Places({ place, children: feet }) {
  const more = useRef(/** @type {HTMLElement|null} */ (null));
  const link = (/** @type {typeof place} */ p) =>
    li(
      { key: p.id },
      a(
        {
          href: `#/${p.id}`,
          'aria-current': p === place ? 'page' : undefined,
          onClick: () => more.current?.hidePopover(),
        },
        icon(p.sign),
        span(p.title),
      ),
    );
  if (!useNarrow()) {
    return nav(
      { 'aria-label': 'Views' },
      div({ class: 'brand' }, img({ src: 'icon.svg', alt: '', width: 22, height: 22 }), span('mockserver')),
      ul(places.map(link)),
      div({ class: 'feet' }, feet),
    );
  }
  const far = places.filter(p => !near.includes(p.id));
  return nav(
    { 'aria-label': 'Views' },
    ul(
      near.map(id => link(/** @type {typeof place} */ (places.find(p => p.id === id)))),
      li(
        button(
          {
            type: 'button',
            class: 'foot',
            popovertarget: 'more',
            'aria-current': far.includes(place) ? 'true' : undefined,
          },
          icon('more'),
          span('More'),
        ),
      ),
    ),
    div({ popover: 'auto', id: 'more', class: 'menu', ref: more }, ul(far.map(link)), div({ class: 'feet' }, feet)),
  );
}

/** @type {[string[], string][]} */
const shortcuts = [
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

/** @param {{box: {current: HTMLDialogElement|null}, on: boolean, setOn: (on: boolean) => void}} props */
const Help = ({ box, on, setOn }) =>
  dialog(
    { ref: box, class: 'help', 'aria-labelledby': 'help-title' },
    h2({ id: 'help-title', tabindex: -1, autofocus: true }, 'Keyboard shortcuts'),
    dl(shortcuts.map(([keys, what]) => div({ key: what }, dt(keys.map(k => (k === '…' ? ' … ' : kbd(k)))), dd(what)))),
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
 * @param {string} key
 * @param {boolean} leads the last key was g
 * @returns {((help: {current: HTMLDialogElement|null}) => unknown)|false|undefined}
 */
function commandOf(key, leads) {
  const place = leads && places.find(p => p.key === key);
  if (place) return () => (location.hash = '#/' + place.id);
  const tab = /^[1-9]$/.test(key) && document.querySelectorAll('.detail [role=tab]')[Number(key) - 1];
  const button = `[data-key=${CSS.escape(key)}]:enabled`;
  const pressed = tab || find('.selected ' + button) || find('.detail ' + button);
  if (pressed) return () => /** @type {HTMLElement} */ (pressed).click();
  return Object.hasOwn(commands, key) && commands[key];
}

/** @param {{current: HTMLDialogElement|null}} help @param {boolean} on */
function useKeys(help, on) {
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
      const command = commandOf(e.key, Date.now() - leader < 1000);
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

/**
 * A click in the frame of an email moves the keyboard focus there. Takes it back, except after Tab, or to copy the
 * selection in the frame.
 */
function useFocusBack() {
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
function moveTo(step) {
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
const row = hash =>
  /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('.rows a')]).find(r => within(r.hash, hash));

/** The title of the tab, with the number of unread messages. @param {typeof places[0]} place */
function useTitle(place) {
  const unread = useUnread().count;
  useLayoutEffect(() => {
    document.title = `${place.id === 'inbox' && unread ? `(${unread}) ` : ''}${place.title} · mockserver`;
  }, [place, unread]);
}

/**
 * Shows the link of the page, and focuses the row of the closed record on a narrow page.
 * @param {typeof places[0]} place
 * @param {string} [id]
 */
function useReturn(place, id) {
  const before = useRef(/** @type {{place: object, id?: string}} */ ({ place, id }));
  useLayoutEffect(() => {
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [place]);
  useLayoutEffect(() => {
    const left = before.current;
    if (narrow() && left?.id && !id && left.place === place) row(`#/${place.id}/${left.id}`)?.focus();
    before.current = { place, id };
  }, [place, id]);
}

const skip = () => {
  const onClick = (/** @type {Event} */ e) => {
    e.preventDefault();
    document.getElementById('main')?.focus();
  };
  return a({ class: 'skip', href: '#main', onClick }, 'Skip to content');
};

function App() {
  const { name, id, tab, params } = usePlace();
  const place = places.find(p => p.id === name) ?? places[0];
  const help = useRef(/** @type {HTMLDialogElement|null} */ (null));
  const [on, setOn] = useState(localStorage.getItem('keys') !== 'off');
  useFocusBack();
  useKeys(help, on);
  const { info } = useSession();
  const account = params.get('account');
  const unknown = account && info && !info.accounts.some(a => String(a.account_id) === account);
  useDensity();
  useShared('account', accountFilter(), choose);
  useShared('density', density(), setDensity);
  useChanges(changes => {
    if (changes.some(c => c.kind === 'hello' || c.kind === 'state')) look();
  });
  useEffect(() => start(), []); // all listeners are registered now
  useTitle(place);
  useReturn(place, id);
  return div(
    { class: 'app' },
    skip(),
    h(Banner, {}),
    h(Places, {
      place,
      children: [
        h(Accounts, { place: place.id }),
        h(Clock, {}),
        h(Live, {}),
        h(Theme, {}),
        button(
          { type: 'button', class: 'foot', onClick: () => help.current?.showModal() },
          icon('keyboard'),
          span('Keyboard shortcuts'),
        ),
      ],
    }),
    main({ id: 'main', tabindex: -1 }, unknown ? h(NoAccount, { account }) : h(place.view, { key: place.id, id, tab })),
    h(Toasts, {}),
    h(Help, {
      box: help,
      on,
      setOn: v => {
        localStorage.setItem('keys', v ? 'on' : 'off');
        setOn(v);
      },
    }),
  );
}

render(h(App, {}), document.body);
