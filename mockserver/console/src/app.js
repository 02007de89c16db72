// The frame of the console: pages, theme and the state of the stream.
import { h, render, useEffect, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { live, pause, start, useChanges, useConnection, useLoss } from './stream.js';
import { Campaigns, Workflows } from './campaigns.js';
import { Clock } from './clock.js';
import { Contacts } from './contacts.js';
import { Deliveries } from './deliveries.js';
import { Events } from './events.js';
import { Explorer } from './explorer.js';
import { Faults } from './faults.js';
import { useFocusBack, useReturn } from './focus.js';
import { Inbox } from './inbox.js';
import { Help, useKeys } from './keys.js';
import { density, setDensity, useDensity } from './density.js';
import { Lists } from './lists.js';
import { Overview } from './overview.js';
import { setParams, go, usePlace, useShared } from './place.js';
import { Requests } from './requests.js';
import { Suppressed } from './suppressed.js';
import { Templates } from './templates.js';
import { Trigger } from './trigger.js';
import { Toasts } from './actions.js';
import { Select } from './controls.js';
import { icon, press, tags } from './elements.js';
import { Page, useNarrow } from './layout.js';
import { accountFilter, choose, look, useSession } from './session.js';
import { useUnread } from './unread.js';
const { a, button, div, i, img, li, main, nav, p, span, ul } = tags;

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

/** The title of the tab, with the number of unread messages. @param {typeof places[0]} place */
function useTitle(place) {
  const unread = useUnread().count;
  useLayoutEffect(() => {
    document.title = `${place.id === 'inbox' && unread ? `(${unread}) ` : ''}${place.title} · mockserver`;
  }, [place, unread]);
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
  useKeys(places, help, on);
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
      places,
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
