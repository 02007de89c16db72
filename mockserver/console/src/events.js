// Events in order, with or without a delivery to a webhook.
import { h } from './vendor/preact.js';
import { useFetch, useRecord } from './api.js';
import { Body, Track, about, stateChip } from './deliveries.js';
import { link, useParam, useSearch } from './place.js';
import { useList } from './records.js';
import { Rows, rowLink } from './rows.js';
import { when } from './time.js';
import { same, Search, Select } from './controls.js';
import { idOf } from './copy.js';
import { counted, empty, icon, linkLine, loading, num, seen, tags } from './elements.js';
import { Heading, Split } from './layout.js';
import { accountFilter, useSession } from './session.js';
/** @import { Fetched, Fired, FullDelivery, FullFired } from './types.js' */
const { a, article, bdi, div, header, i, li, p, span, strong, ul } = tags;

const bad = /Bounced|Spam|Rejected|Error/;
const warn = /Unsubscribed|Removed|Suppressed/;
const tone = (/** @type {string} */ event) => (bad.test(event) ? 'bad' : warn.test(event) ? 'warn' : 'ok');

/** @param {Fired} e @param {boolean} current */
const row = (e, current) =>
  rowLink(
    `events/${e.id}`,
    current,
    span(
      { class: 'line' },
      i({ class: 'bead ' + tone(e.event), 'aria-hidden': 'true' }),
      strong({ class: 'what' }, e.event),
      span({ class: 'cut' }, seen(e.recipient)),
      when(e.time),
    ),
    span(
      { class: 'line' },
      span(
        { class: 'dim cut indent more' },
        e.subject ? bdi(seen(e.subject)) : span({ class: 'mono' }, e.event_id || e.id),
      ),
      span({ class: 'dim num' }, e.deliveries.length ? counted(e.deliveries.length, 'webhook') : 'no webhook'),
    ),
  );

/** @param {{id?: string}} props */
export function Events({ id }) {
  const { info } = useSession();
  const search = useSearch();
  const [event, setEvent] = useParam('event');
  const list = /** @type {ReturnType<typeof useList<Fired>>} */ (
    useList('/events', 'event', { search: search.query, event, account_id: accountFilter() }, { open: id })
  );
  return h(Split, {
    title: 'Events',
    count: Math.min(list.total, info?.events_kept ?? Infinity),
    open: !!id,
    home: link('events'),
    side: info && span({ class: 'dim' }, `latest ${num(info.events_kept)} kept`),
    tools: [
      h(Search, { search, label: 'Search address, subject, id, body' }),
      div(
        { class: 'tools' },
        h(Select, {
          label: 'Event',
          hidden: true,
          value: event,
          onChange: setEvent,
          options: [['', 'All events'], ...same(info?.events ?? [])],
        }),
      ),
    ],
    list: h(Rows, {
      list,
      current: id,
      filtered: !!(search.query || event),
      row,
      none: empty(
        'pulse',
        'No events yet',
        'Add a contact, send a message, or simulate a recipient action in the ',
        a({ href: '#/inbox' }, 'inbox'),
        '.',
      ),
    }),
    detail: id
      ? h(Opened, { key: id, id })
      : empty('pulse', 'No event selected', 'Choose an event to see its body and deliveries.'),
  });
}

/** @param {{id: string}} props */
function Opened({ id }) {
  const { record: e, error } = /** @type {{record?: FullFired, error?: string}} */ (useRecord('/events/' + id, ''));
  if (error) return empty('warn', 'Not found', error);
  if (!e) return loading();
  return article(
    header(
      { class: 'head' },
      h(Heading, { text: e.event }),
      about(e),
      p({ class: 'meta' }, when(e.time, true), e.event_id && idOf(e.event_id, 'Copy event id')),
      div(
        { class: 'actions', role: 'group', 'aria-label': 'Related' },
        e.message_id && a({ class: 'button', href: `#/inbox/${e.message_id}/history` }, icon('inbox'), 'Message'),
        a({ class: 'button', href: `#/trigger/${id}` }, icon('send'), 'Edit and send'),
      ),
    ),
    e.deliveries.length
      ? ul(
          { class: 'links' },
          e.deliveries.map(d => h(Heard, { key: d, id: d })),
        )
      : p({ class: 'lead' }, 'No webhook is subscribed to this event, so it was not delivered.'),
    h(Body, { raw: e.body, bytes: new TextEncoder().encode(e.body).length }),
  );
}

/** One delivery of the event. @param {{id: string}} props */
function Heard({ id }) {
  const { data: d, error } = /** @type {Fetched<FullDelivery>} */ (useFetch('/deliveries/' + id, ['delivery']));
  if (error) return li(span({ class: 'dim' }, `${id}: ${error}`));
  if (!d) return li(div({ class: 'dim' }, id));
  return linkLine(
    id,
    `#/deliveries/${id}`,
    'hook',
    span({ class: 'cut' }, `webhook ${d.webhook_id} `, span({ class: 'dim mono' }, d.url)),
    h(Track, { d }),
    stateChip(d),
  );
}
