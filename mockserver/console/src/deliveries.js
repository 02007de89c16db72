// Deliveries of events to webhooks, with their attempts.
import { h, useState } from './vendor/preact.js';
import { call, useRecord } from './api.js';
import { useList } from './records.js';
import { Signature, signatureHeader } from './signature.js';
import { AdvanceTo } from './clock.js';
import { Webhooks, useWebhooks } from './webhooks.js';
import { go, link, useParam, useSearch } from './place.js';
import { Rows, rowLink } from './rows.js';
import { Countdown, between, took, when } from './time.js';
import { attempt, Doing } from './actions.js';
import { Choice, optionsOf, same, Search, Select } from './controls.js';
import { Copy, idOf } from './copy.js';
import { chip, code, counted, empty, icon, json, loading, num, pairs, press, seen, tags } from './elements.js';
import { Heading, Split, Tabs } from './layout.js';
import { curl, quote } from './programs.js';
import { accountFilter, useSession } from './session.js';
/** @import { Attempt, Delivery, FullDelivery } from './types.js' */
const { a, article, bdi, details, div, header, i, li, ol, p, span, strong, summary } = tags;

const outcome = (/** @type {Attempt} */ t) => (t.status ? String(t.status) : 'no response');
const good = (/** @type {Attempt} */ t) => !t.error && !!t.status && t.status >= 200 && t.status < 300;

/** @type {Record<string, string>} */
const reasons = {
  archived: 'The webhook is archived. Unarchive it to send the delivery.',
  rate_limit: "The webhook's rate limit has been reached.",
  delay: 'A fault rule delays the delivery.',
  retry: 'The last attempt failed.',
};

/** The state of a delivery as a chip. @param {Delivery} d */
export function stateChip(d) {
  const last = d.attempts.at(-1);
  const until = d.waiting_until ?? d.next_attempt;
  switch (d.state) {
    case 'delivered':
      return chip('ok', 'check', last ? outcome(last) : 'delivered');
    case 'failed':
      return chip('bad', 'cross', 'failed');
    case 'dropped':
      return chip('bad', 'bolt', 'dropped');
    case 'delivering':
      return chip('info', 'send', 'delivering');
  }
  if (d.waiting === 'archived') return chip('', 'archive', 'archived');
  if (until)
    return chip(
      'warn',
      d.state === 'retrying' ? 'retry' : 'clock',
      d.state === 'retrying' ? 'retry in ' : 'in ',
      h(Countdown, { to: until }),
    );
  return chip('info', 'clock', 'waiting');
}

/**
 * The number of attempts, including the attempts to come. A redelivery restarts the schedule.
 * @param {Delivery} d
 * @param {number} each of one schedule
 */
const most = (d, each) =>
  ['delivered', 'failed', 'dropped'].includes(d.state)
    ? d.attempts.length
    : Math.max(
        0,
        d.attempts.findLastIndex(t => t.manual),
      ) + each;

/** One square per attempt: succeeded, failed, or not made yet. @param {{d: Delivery}} props */
export const Track = ({ d }) =>
  span(
    { class: 'track', 'aria-hidden': 'true' },
    Array.from({ length: Math.min(12, most(d, (useSession().info?.retry_schedule_ms.length ?? 0) + 1)) }, (_, n) =>
      i({ key: n, class: !d.attempts[n] ? '' : good(d.attempts[n]) ? 'ok' : 'bad' }),
    ),
  );

/** @param {Delivery} d */
const target = d => (Number(d.webhook_id) > 0 ? `webhook ${d.webhook_id} ` : 'URL ') + path(d.url);
/** @param {string} url */
function path(url) {
  try {
    return new URL(url).pathname;
  } catch {
    return url;
  }
}

/** The recipient of an event, and the subject of the message. @param {{recipient?: string, subject?: string}} e */
export const about = e =>
  (e.recipient || e.subject) &&
  p(
    { class: 'who' },
    seen(e.recipient),
    e.subject && span({ class: 'dim' }, e.recipient && ' · ', bdi(seen(e.subject))),
  );

/** @param {Delivery} d @param {boolean} current */
const row = (d, current) =>
  rowLink(
    `deliveries/${d.id}`,
    current,
    span(
      { class: 'line' },
      strong({ class: 'what' }, d.event || '(not an event)'),
      span({ class: 'cut' }, seen(d.recipient)),
      when(d.created_at),
    ),
    span(
      { class: 'line' },
      h(Track, { d }),
      span({ class: 'dim cut more', title: d.url }, d.subject && [bdi(seen(d.subject)), ' · '], target(d)),
      d.state === 'delivered'
        ? span({ class: 'dim num' }, d.attempts.length ? outcome(d.attempts[d.attempts.length - 1]) : 'delivered')
        : stateChip(d),
    ),
  );

/** @type {[string, string][]} */
const states = [
  ['', 'All'],
  ['queued', 'Waiting'],
  ['retrying', 'Retrying'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
];

/** @param {{value: string, onChange: (v: string) => void}} props */
function PickWebhook({ value, onChange }) {
  const { data } = useWebhooks();
  return h(Select, {
    label: 'Webhook',
    value,
    onChange,
    options: [['', 'All'], ...optionsOf(data?.data ?? [], w => [w.webhook_id, `${w.webhook_id} ${path(w.url)}`])],
  });
}

/** @param {{id?: string, tab?: string}} props */
export function Deliveries({ id, tab }) {
  const { info } = useSession();
  const search = useSearch();
  const [only, setOnly] = useParam('state');
  const [event, setEvent] = useParam('event');
  const [hook, setHook] = useParam('webhook');
  const list = /** @type {ReturnType<typeof useList<Delivery>>} */ (
    useList(
      '/deliveries',
      'delivery',
      { search: search.query, state: only, event, webhook_id: hook, account_id: accountFilter() },
      { open: id === 'webhooks' ? '' : id, also: ['records'] },
    )
  );
  return h(Split, {
    title: 'Deliveries',
    count: list.total,
    open: !!id,
    home: link('deliveries'),
    side: a(
      {
        class: 'button quiet',
        href: link('deliveries/webhooks'),
        'aria-current': id === 'webhooks' ? 'true' : undefined,
      },
      'Webhooks',
    ),
    tools: [
      h(Search, { search, label: 'Search address, subject, event, URL' }),
      h(Choice, { label: 'State', value: only, onChange: setOnly, options: states }),
      div(
        { class: 'tools pair' },
        h(PickWebhook, { value: hook, onChange: setHook }),
        h(Select, {
          label: 'Event',
          value: event,
          onChange: setEvent,
          options: [['', 'All'], ...same(info?.events ?? [])],
        }),
      ),
    ],
    list: h(Rows, { list, current: id, filtered: !!(search.query || only || event || hook), row, none: none() }),
    detail:
      id && id !== 'webhooks'
        ? h(Opened, { key: id, id, tab, summary: list.rows?.find(d => d?.id === id) })
        : h(Webhooks, {}),
  });
}

const none = () =>
  empty(
    'hook',
    'No deliveries yet',
    a({ href: '#/deliveries/webhooks' }, 'Create a webhook'),
    ', then make something happen: bounce a message in the ',
    a({ href: '#/inbox' }, 'inbox'),
    ', or ',
    a({ href: '#/trigger' }, 'send an event'),
    '.',
  );

/** @param {{id: string, tab?: string, summary?: Delivery}} props */
function Opened({ id, tab, summary }) {
  const { record: d, error } = /** @type {{record?: FullDelivery, error?: string}} */ (
    useRecord('/deliveries/' + id, summary && JSON.stringify(summary))
  );
  if (error) return empty('warn', 'Not found', error);
  if (!d) return loading();
  const bytes = new TextEncoder().encode(d.body).length;
  return article(
    header(
      { class: 'head' },
      h(Heading, { text: d.event || '(not an event)' }),
      p(
        { class: 'who' },
        span({ class: 'dim' }, Number(d.webhook_id) > 0 ? `to webhook ${d.webhook_id} ` : 'to '),
        span({ class: 'mono' }, d.url),
      ),
      about(d),
      p(
        { class: 'meta' },
        stateChip(d),
        h(Track, { d }),
        span(
          d.waiting || d.next_attempt
            ? `${d.attempts.length} of ${d.max_attempts} attempts`
            : counted(d.attempts.length, 'attempt'),
        ),
        d.waiting && span(reasons[d.waiting] ?? d.waiting),
        d.fault && a({ href: '#/faults' }, `fault ${d.fault}`),
        d.event_id && idOf(d.event_id, 'Copy event id'),
      ),
      actions(d),
    ),
    h(Tabs, {
      label: 'Delivery details',
      value: tab,
      onChange: t => go(link(`deliveries/${id}/${t}`)),
      tabs: [
        { id: 'attempts', label: 'Attempts', count: d.attempts.length, panel: () => attempts(d) },
        { id: 'body', label: 'Body', panel: () => h(Body, { raw: d.body, bytes }) },
        { id: 'signature', label: 'Signature', panel: () => h(Signature, { d }) },
        {
          id: 'request',
          label: 'Request',
          panel: () =>
            pairs([
              ['Method', 'POST'],
              ['URL', d.url],
              ['Content-Type', 'application/json'],
              ['Content-Length', bytes],
              [signatureHeader, d.signature],
            ]),
        },
      ],
    }),
  );
}

/** @param {FullDelivery} d */
function actions(d) {
  const message = d.message_id ?? messageOf(d.body);
  const redeliver = () =>
    attempt(
      () => call('POST', `/deliveries/${d.id}/redeliver`, {}),
      () => ['Redelivery queued, with the same id and bytes.'],
    );
  return h(
    Doing,
    { label: 'Actions', class: 'actions' },
    press('retry', 'Redeliver', redeliver, { class: 'main' }),
    h(Copy, {
      value: curl('POST', d.url, [quote(`${signatureHeader}: ${d.signature}`)], d.body),
      label: 'Copy a curl command that sends the same bytes',
      text: 'Copy as curl',
    }),
    a({ class: 'button', href: `#/trigger/${d.id}` }, icon('send'), 'Edit and send'),
    message && a({ class: 'button', href: `#/inbox/${message}/history` }, icon('inbox'), 'Message'),
  );
}

/** The id of the message in a body. @param {string} body @returns {string|undefined} */
function messageOf(body) {
  try {
    const { data } = JSON.parse(body);
    return data.email?.id ?? data.email_id;
  } catch {
    return undefined;
  }
}

/** @param {FullDelivery} d */
function attempts(d) {
  const until = d.waiting === 'archived' ? undefined : (d.waiting_until ?? d.next_attempt);
  const last = d.attempts.length - 1;
  if (last < 0)
    return empty(
      'clock',
      'No attempts yet',
      reasons[d.waiting ?? ''] ??
        (d.state === 'dropped'
          ? 'A fault rule dropped the delivery, so no attempts are made.'
          : 'Waiting for other attempts to finish.'),
      ' ',
      until && h(Countdown, { to: until }),
    );
  return ol(
    { class: 'attempts' },
    d.attempts.map((t, n) =>
      li(
        { key: n },
        details(
          { open: n === last },
          summary(
            span({ class: 'no' }, n + 1),
            chip(good(t) ? 'ok' : 'bad', good(t) ? 'check' : 'cross', outcome(t)),
            when(t.time, true),
            span({ class: 'num dim' }, took(t.duration_ms)),
            n > 0 && span({ class: 'dim' }, `after ${between(d.attempts[n - 1].time, t.time)}`),
            t.manual && chip('info', '', 'redelivery'),
          ),
          t.error && code(t.error),
          t.status ? code(t.response || '(empty response)') : null,
        ),
      ),
    ),
    until &&
      li(
        { key: 'next', class: 'next' },
        span({ class: 'no' }, last + 2),
        chip('warn', 'clock', 'next'),
        when(until),
        span({ class: 'dim' }, 'in ', h(Countdown, { to: until })),
        h(AdvanceTo, { to: until, label: 'The next attempt' }),
      ),
  );
}

/** @param {{raw: string, bytes: number}} props */
export function Body({ raw, bytes }) {
  const [form, setForm] = useState('indented');
  return [
    div(
      { class: 'bar' },
      h(Choice, {
        label: 'Form',
        value: form,
        onChange: setForm,
        options: [
          ['indented', 'Indented'],
          ['raw', 'As sent'],
        ],
      }),
      span({ class: 'dim' }, `${num(bytes)} bytes, signed as sent`),
      h(Copy, { value: raw, label: 'Copy bytes as sent', text: 'Copy' }),
    ),
    json(raw, form === 'indented'),
  ];
}
