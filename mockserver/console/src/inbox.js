// The inbox: all sent messages, and buttons that simulate recipient actions.
import { h, useEffect, useMemo, useState } from './vendor/preact.js';
import { href, queryOf, text, useFetch, useRecord } from './api.js';
import { useChanges } from './stream.js';
import { Checks, useChecks } from './checks.js';
import { First } from './first.js';
import { go, link, useSearch } from './place.js';
import { useList } from './records.js';
import { Preview } from './templates.js';
import { act } from './recipients.js';
import { Rows } from './rows.js';
import { Selected, useSelection } from './selection.js';
import { Named } from './named.js';
import { when } from './time.js';
import { Doing } from './actions.js';
import { Menu, Search, Tick } from './controls.js';
import { Copy } from './copy.js';
import {
  chip,
  code,
  counted,
  empty,
  icon,
  iconButton,
  key,
  loading,
  loadingFailed,
  num,
  pairs,
  press,
  seen,
  tags,
} from './elements.js';
import { Heading, Split, Tabs } from './layout.js';
import { accountFilter, useSession } from './session.js';
import { Why } from './why.js';
import { markAllRead, markRead, setUnread, unreadOf, useUnread } from './unread.js';
/** @import { Fetched, FullMessage, Message } from './types.js' */
const { a, article, bdi, div, header, kbd, li, ol, p, pre, span, strong } = tags;

/** @type {Record<string, string>} */
const kinds = { email_api: 'Email API', campaign: 'Campaign', workflow: 'Workflow', transactional: 'Transactional' };
const kind = (/** @type {Message} */ m) => (m.confirmation ? 'Confirmation' : (kinds[m.sent_by] ?? m.sent_by));

/** @type {Record<string, [string, string, string]>} */
const states = {
  queued: ['warn', 'clock', 'queued'],
  delivered: ['ok', 'check', 'delivered'],
  bounced: ['bad', 'cross', 'bounced'],
  rejected: ['bad', 'block', 'rejected'],
  error: ['bad', 'warn', 'error'],
  confirmed: ['ok', 'check', 'confirmed'],
};
const statusChip = (/** @type {Message} */ m) =>
  chip(
    ...(m.reported_as_spam
      ? /** @type {[string, string, string]} */ (['bad', 'warn', 'spam'])
      : m.confirmed
        ? states.confirmed
        : (states[m.status] ?? ['info', '', m.status])),
  );

/** The recipient's actions as icons. @param {Message} m */
const marks = m =>
  /** @type {[unknown, string, string][]} */ ([
    [m.opens, 'eye', `opened ${m.opens} ×`],
    [m.clicks, 'hand', `clicked ${m.clicks} ×`],
    [m.unsubscribed || m.global_unsubscribed, 'exit', m.global_unsubscribed ? 'unsubscribed from all' : 'unsubscribed'],
  ])
    .filter(([on]) => on)
    .map(([, sign, title]) => span({ class: 'mark', title, key: sign }, icon(sign, title)));

/** @param {Message} m @param {boolean} current @param {boolean} unread */
const row = (m, current, unread) =>
  a(
    { href: link(`inbox/${m.id}`), 'aria-current': current ? 'true' : undefined, class: unread ? 'unread' : '' },
    span(
      { class: 'line' },
      strong(
        { dir: 'auto' },
        unread && span({ class: 'hidden', dir: 'ltr' }, 'Unread: '),
        seen(m.subject || '(no subject)'),
      ),
      when(m.time),
    ),
    span(
      { class: 'line' },
      span(
        { class: 'cut whom' },
        span({ class: 'from' }, bdi(seen(m.from_name || m.from_email)), ' → '),
        bdi(seen(m.to)),
      ),
      marks(m),
      (m.status !== 'delivered' || m.reported_as_spam || m.confirmed) && statusChip(m),
    ),
    span(
      { class: 'line snippet' },
      span({ class: 'dim cut more', dir: 'auto' }, seen(m.snippet)),
      m.sent_by !== 'email_api' && span({ class: 'dim kind' }, kind(m)),
    ),
  );

/**
 * The unread messages. Their number is updated only if the rows are all messages.
 * @param {(Message|undefined)[]|null} rows
 * @param {boolean} all
 */
function useMarks(rows, all) {
  const { version } = useUnread();
  const unread = useMemo(() => unreadOf(rows), [rows, version]);
  useEffect(() => {
    if (rows && all) setUnread(unread.count);
  }, [rows, all, unread]);
  const newest = rows?.[0];
  return {
    ...unread,
    markAll: all && unread.count > 0 && newest && iconButton('check', 'Mark all as read', () => markAllRead(newest)),
  };
}

/** @param {{id?: string, tab?: string}} props */
export function Inbox({ id, tab }) {
  useSession();
  const search = useSearch();
  const filter = { search: search.query, account_id: accountFilter() };
  const list = /** @type {ReturnType<typeof useList<Message>>} */ (
    useList('/outbox', 'message', filter, { open: id === 'latest' ? '' : id })
  );
  const open = id === 'latest' ? list.rows?.[0]?.id : id;
  const opened = list.rows?.find(m => m?.id === open);
  const unread = useMarks(list.rows, !search.query);
  useEffect(() => {
    if (opened) markRead(opened);
  }, [opened?.id]);
  const selection = useSelection(list.key, list.rows);
  const query = '?' + queryOf(filter);
  return h(Split, {
    title: 'Inbox',
    count: list.total,
    open: !!id,
    home: link('inbox'),
    side: [follow(id === 'latest'), unread.markAll, list.total > 0 && h(Export, { query })],
    tools: h(Search, { search, label: 'Search subject, address, state' }),
    list: [
      h(Rows, {
        list,
        current: open,
        filtered: !!search.query,
        unmatched: h(Why, { q: search.query }),
        tall: true,
        none: h(First, {}),
        select: { selection, name: (/** @type {Message} */ m) => `${m.subject} to ${m.to}` },
        row: (/** @type {Message} */ m, /** @type {boolean} */ current, /** @type {number} */ n) =>
          row(m, current, unread.is(m, n)),
      }),
      h(Selected, {
        selection,
        total: list.total,
        onAll: () => selection.set([], true),
        noun: 'message',
        children: h(Acts, {
          ...(selection.all ? { query } : { ids: selection.ids }),
          onList: true,
          after: () => selection.set([]),
        }),
      }),
    ],
    detail: open
      ? h(Opened, {
          key: open,
          id: open,
          tab,
          at: id === 'latest' ? 'latest' : open,
          summary: opened,
          next: id === 'latest' ? 'latest' : adjacent(list.rows, open),
        })
      : search.query.includes('@') && list.total
        ? h(Why, { q: search.query })
        : noneOpen(),
  });
}

/** The link that opens each new message. @param {boolean} on */
const follow = on =>
  a(
    {
      class: 'button quiet',
      href: link('inbox/latest'),
      'aria-current': on ? 'true' : undefined,
      title: 'Always show the latest message',
    },
    'Follow',
  );

/** @param {{query: string}} props selects the messages */
const Export = ({ query }) =>
  h(Menu, {
    label: 'Export',
    sign: 'out',
    bare: true,
    items: [
      { value: 'json', label: 'All messages as JSON' },
      { value: 'zip', label: 'All messages as .eml files', note: 'zip' },
    ],
    onPick: kind =>
      Object.assign(document.createElement('a'), { href: href(`/outbox.${kind}${query}`), download: '' }).click(),
  });

const noneOpen = () =>
  empty(
    'inbox',
    'No message selected',
    'Choose a message, or press ',
    kbd('j'),
    '. Or ',
    a({ href: '#/inbox/latest' }, 'follow the latest'),
    '.',
  );

/**
 * The message that opens when this one is deleted: the next, or the previous if it is the last.
 * @param {(Message|undefined)[]|null} rows
 * @param {string} id
 */
function adjacent(rows, id) {
  const n = rows?.findIndex(m => m?.id === id) ?? -1;
  return n < 0 ? '' : ((rows?.[n + 1] ?? rows?.[n - 1])?.id ?? '');
}

/** @param {{id: string, at: string, tab?: string, summary?: Message, next: string}} props */
function Opened({ id, at, tab, summary, next }) {
  const [fired, setFired] = useState(0);
  useChanges(changes => {
    // an event can be recorded shortly after its message changes
    const n = changes.filter(c => c.kind === 'event' && c.record?.message_id === id).length;
    if (n) setFired(old => old + n);
  });
  const checked = useChecks(id);
  const { record: m, error } = /** @type {{record?: FullMessage, error?: string}} */ (
    useRecord('/outbox/' + id, JSON.stringify([summary, fired]))
  );
  if (error) return empty('warn', 'Not found', error);
  if (!m) return loading();
  return article(
    header(
      { class: 'head' },
      h(Heading, { text: m.subject || '(no subject)' }),
      p(
        { class: 'who' },
        bdi(seen(m.from_name)),
        ' ',
        span({ class: 'dim' }, `<${m.from_email}> to `),
        bdi(seen(m.to)),
      ),
      meta(m),
      h(Actions, { m, next }),
    ),
    h(Tabs, {
      label: 'Message details',
      value: tab ?? (m.html || !m.text ? 'html' : 'text'),
      onChange: t => go(link(`inbox/${at}/${t}`)),
      tabs: [
        {
          id: 'html',
          label: 'HTML',
          panel: () =>
            m.html
              ? h(Html, { id, subject: m.subject })
              : empty('mail', 'No HTML', 'This message has no HTML part, only text.'),
        },
        {
          id: 'text',
          label: 'Text',
          panel: () =>
            m.text
              ? pre({ class: 'plain', dir: 'auto', tabindex: 0 }, m.text)
              : empty('mail', 'No text', 'This message has no text part, only HTML.'),
        },
        { id: 'source', label: 'Source', panel: () => h(Source, { id }) },
        { id: 'headers', label: 'Headers', panel: () => pairs(m.headers.map(x => [x.name, x.value])) },
        { id: 'history', label: 'History', count: m.events.length, panel: () => history(m) },
        { id: 'checks', label: 'Checks', count: checked.data?.findings.length, panel: () => h(Checks, checked) },
      ],
    }),
  );
}

/** @param {FullMessage} m */
const meta = m =>
  p(
    { class: 'meta' },
    statusChip(m),
    marks(m),
    m.campaign_id
      ? h(Named, { kind: 'campaign', id: m.campaign_id })
      : m.workflow_id
        ? h(Named, { kind: 'workflow', id: m.workflow_id })
        : span(kind(m)),
    m.bounce_category && span({ class: 'mono' }, m.bounce_category),
    m.list_id ? h(Named, { kind: 'list', id: m.list_id, at: m.contact_id ? `/${m.contact_id}` : '' }) : null,
    m.template_id ? h(Named, { kind: 'template', id: m.template_id }) : null,
    span({ class: 'id' }, m.id, h(Copy, { value: m.id, label: 'Copy message id' }), download(m.id)),
    when(m.time),
  );

/** Reports whether the recipient is a contact of a list and can unsubscribe from it. @param {Message} m */
const onList = m => !!m.contact_id && m.sent_by !== 'transactional';

/**
 * The actions for one message or for several.
 * @param {{ids?: string[], query?: string, links?: string[], onList: boolean, after?: () => void, gone?: () => void}}
 *   props query selects the messages if there are no ids; links are choices for a click; gone is called after a
 *   deletion
 */
function Acts({ ids, query = '', links, onList, after, gone = after }) {
  const { info } = useSession();
  const acts = (/** @type {string} */ action, body = {}) =>
    act(query, { action, ids, ...body }).then(action === 'delete' ? gone : after);
  return [
    press('eye', 'Open', () => acts('open'), key('o')),
    links
      ? links.length > 0 &&
        h(Menu, {
          label: 'Click',
          sign: 'hand',
          keyed: 'c',
          items: [...new Set(links)].map(l => ({ value: l, label: l })),
          onPick: url => acts('click', { url }),
        })
      : press('hand', 'Click', () => acts('click'), key('c')),
    h(Menu, {
      label: 'Bounce',
      sign: 'cross',
      keyed: 'b',
      atOnce: 'bounce_hb',
      onPick: category => acts('bounce', { category }),
      items: (info?.bounce_categories ?? []).map(c => ({
        value: c.category,
        label: c.description,
        note: c.diagnostic,
      })),
    }),
    h(Menu, {
      label: 'Report spam',
      sign: 'warn',
      keyed: 's',
      atOnce: 'Gmail',
      items: ['Gmail', 'Yahoo', 'Outlook', 'Comcast'].map(v => ({ value: v, label: v })),
      onPick: provider => acts('complain', { provider }),
    }),
    h(Menu, {
      label: 'Unsubscribe',
      sign: 'exit',
      keyed: 'u',
      onPick: what => acts(what),
      items: [
        ...(onList ? [{ value: 'unsubscribe', label: 'From this list', note: 'List-Unsubscribe' }] : []),
        { value: 'global-unsubscribe', label: 'From all email', note: 'suppression list' },
      ],
    }),
    press('trash', 'Delete', () => acts('delete'), key('Delete')),
  ];
}

/** The reason why a message was not sent. @param {FullMessage} m */
const notSent = m =>
  p(
    { class: 'actions dim' },
    span(
      m.status === 'error'
        ? `The message was not sent: ${m.error}.`
        : [
            'The message was rejected, because ',
            m.reason === 'suppressed'
              ? ['its recipient is ', a({ href: '#/suppressed?q=' + encodeURIComponent(m.to) }, 'suppressed'), '.']
              : [
                  'the status of its contact is ',
                  a({ href: `#/contacts/${m.list_id ?? ''}/${m.contact_id ?? ''}` }, m.reason),
                  '.',
                ],
          ],
    ),
  );

/** The actions for the open message. @param {{m: FullMessage, next: string}} props */
const Actions = ({ m, next }) =>
  m.status !== 'delivered' && m.status !== 'bounced'
    ? notSent(m)
    : h(
        Doing,
        { label: 'Recipient actions', class: 'actions' },
        span({ class: 'dim', 'aria-hidden': 'true' }, 'Recipient:'),
        m.confirmation &&
          !m.confirmed &&
          press('check', 'Confirm', () => act('', { action: 'confirm', ids: [m.id] }), { class: 'main' }),
        h(Acts, {
          ids: [m.id],
          links: m.links,
          onList: onList(m),
          gone: () => go(link(next ? `inbox/${next}` : 'inbox')),
        }),
      );

/** The HTML of a message. @param {{id: string, subject: string}} props */
function Html({ id, subject }) {
  const [remote, setRemote] = useState(false);
  const src = href(`/outbox/${id}/html${remote ? '?remote=1' : ''}`);
  return h(Preview, {
    title: `HTML of ${subject}`,
    src,
    width: 'full',
    children: [
      h(Tick, { label: 'Remote images', checked: remote, onChange: setRemote }),
      a({ class: 'button quiet', href: src, target: '_blank', rel: 'noopener' }, icon('out'), 'New tab'),
    ],
  });
}

/** The link that downloads a message. @param {string} id @param {string} [text] */
const download = (id, text) =>
  a(
    {
      class: text ? 'button' : 'bare',
      href: href(`/outbox/${id}/eml`),
      download: `${id}.eml`,
      title: 'Download .eml',
      'aria-label': text ? undefined : 'Download .eml',
    },
    icon('mail'),
    text,
  );

/** @param {{id: string}} props */
function Source({ id }) {
  const { data: s, error } = /** @type {Fetched<string>} */ (useFetch(`/outbox/${id}/source`, ['state'], text));
  if (error) return loadingFailed(error);
  if (s === undefined) return loading();
  return [
    div(
      { class: 'bar' },
      span({ class: 'dim' }, `${num(s.length)} characters`),
      download(id, 'Download .eml'),
      h(Copy, { value: s, label: 'Copy source', text: 'Copy' }),
    ),
    code(s),
  ];
}

const bad = new Set(['Email.Bounced', 'Email.ReportedAsSpam', 'Email.Rejected', 'Email.Error']);

/** @param {FullMessage} m */
const history = m =>
  ol(
    { class: 'steps' },
    li({ class: 'ok' }, when(m.time), span(strong('Submitted'), span({ class: 'dim' }, ` ${kind(m)}, to ${m.to}`))),
    m.events.map(e =>
      li(
        { key: e.id, class: bad.has(e.event) ? 'bad' : '' },
        when(e.time, true),
        span(
          a({ href: `#/events/${e.id}` }, e.event),
          span(
            { class: 'dim' },
            e.deliveries.length
              ? ` ${counted(e.deliveries.length, 'delivery', 'deliveries')}: `
              : ' no webhook is subscribed',
          ),
          e.deliveries.map(d => [a({ key: d, href: `#/deliveries/${d}` }, d), ' ']),
        ),
      ),
    ),
  );
