// Requests to the API, with their responses and errors.
import { h } from './vendor/preact.js';
import { base, call, errorsIn, useRecord } from './api.js';
import { go, link, useParam, useSearch } from './place.js';
import { curl, goOf } from './programs.js';
import { useList } from './records.js';
import { Rows, rowLink } from './rows.js';
import { took, when } from './time.js';
import { attempt, Doing } from './actions.js';
import { Choice, Search } from './controls.js';
import { Copy, idOf } from './copy.js';
import { chip, empty, grid, icon, json, loading, num, pairs, press, tags } from './elements.js';
import { Heading, Split, Tabs } from './layout.js';
import { accountFilter, useSession } from './session.js';
/** @import { FullRequest, Request } from './types.js' */
const { a, article, div, header, p, span, strong } = tags;

/** The maximum size of a body in the log, in bytes. */
const loggedBody = 64 << 10;

/** @param {Request} r */
function outcome(r) {
  if (!r.status) return chip('bad', 'bolt', 'lost');
  return r.status < 300
    ? chip('ok', 'check', r.status)
    : r.status < 500
      ? chip('warn', 'warn', r.status)
      : chip('bad', 'cross', r.status);
}

/** @param {Request} r @param {boolean} current */
const row = (r, current) =>
  rowLink(
    `requests/${r.id}`,
    current,
    span(
      { class: 'line' },
      span({ class: 'method ' + r.method.toLowerCase() }, r.method),
      strong({ class: 'mono' }, r.path),
      when(r.time),
    ),
    span(
      { class: 'line' },
      span({ class: 'dim cut' }, r.operation || 'unknown operation', ` · ${took(r.duration_ms)}`),
      r.fault && chip('info', 'bolt', 'fault'),
      r.status >= 200 && r.status < 300 ? span({ class: 'dim num' }, r.status) : outcome(r),
    ),
  );

/** @param {{id?: string, tab?: string}} props */
export function Requests({ id, tab }) {
  useSession();
  const search = useSearch();
  const [status, setStatus] = useParam('status');
  const list = /** @type {ReturnType<typeof useList<Request>>} */ (
    useList('/requests', 'request', { search: search.query, status, account_id: accountFilter() }, { open: id })
  );
  return h(Split, {
    title: 'Requests',
    count: list.total,
    open: !!id,
    home: link('requests'),
    tools: [
      h(Search, { search, label: 'Search path, operation, status, body' }),
      h(Choice, {
        label: 'Status',
        value: status,
        onChange: setStatus,
        options: [
          ['', 'All'],
          ['2xx', '2xx'],
          ['4xx', '4xx'],
          ['5xx', '5xx'],
        ],
      }),
    ],
    list: h(Rows, {
      list,
      current: id,
      filtered: !!(search.query || status),
      row,
      none: empty('list', 'No requests yet', `Set your client's base URL to ${base} to list its requests here.`),
    }),
    detail: id
      ? h(Opened, { key: id, id, tab, summary: list.rows?.find(r => r?.id === id) })
      : empty('list', 'No request selected', 'Choose a request to see its body, response and errors.'),
  });
}

/** @param {{id: string, tab?: string, summary?: Request}} props */
function Opened({ id, tab, summary }) {
  const { record: r, error } = /** @type {{record?: FullRequest, error?: string}} */ (
    useRecord('/requests/' + id, summary?.status)
  );
  if (error) return empty('warn', 'Not found', error);
  if (!r) return loading();
  const target = r.path + (r.query ? '?' + r.query : '');
  return article(
    header(
      { class: 'head' },
      h(Heading, { sign: span({ class: 'method ' + r.method.toLowerCase() }, r.method), text: target }),
      p(
        { class: 'meta' },
        outcome(r),
        r.operation ? span({ class: 'mono' }, r.operation) : span('unknown operation'),
        span(r.user_id ? caller(r) : 'unknown token'),
        when(r.time, true),
        span(took(r.duration_ms)),
        r.fault && a({ href: '#/faults' }, `fault rule ${r.fault}`),
        idOf(r.id, 'Copy request id'),
      ),
      actions(r, target),
    ),
    wrong(r),
    unread(r),
    h(Tabs, {
      label: 'Request details',
      value: tab,
      onChange: t => go(link(`requests/${id}/${t}`)),
      tabs: [
        { id: 'body', label: 'Body', panel: () => body(r) },
        {
          id: 'query',
          label: 'Query',
          panel: () =>
            r.query ? pairs([...new URLSearchParams(r.query)]) : empty('list', 'No query', 'The request had no query.'),
        },
        {
          id: 'response',
          label: 'Response',
          panel: () =>
            r.response
              ? json(r.response, true)
              : empty('check', r.status ? `${r.status}` : 'None', 'Only the bodies of error responses are kept.'),
        },
      ],
    }),
  );
}

const caller = (/** @type {FullRequest} */ r) =>
  `user ${r.user_id} of account ${r.account_id}${r.read_only ? ', read-only' : ''}`;

/** @param {FullRequest} r @param {string} target its path and query */
function actions(r, target) {
  const rule = new URLSearchParams(r.operation ? { operation: r.operation } : { method: r.method, path: r.path });
  return h(
    Doing,
    { label: 'Actions', class: 'actions' },
    new Blob([r.body ?? '']).size >= loggedBody
      ? span({ class: 'dim' }, 'The log contains only the beginning of the body.')
      : [
          h(Copy, {
            value: curl(r.method, base + target, ['"Authorization: Bearer $TOKEN"'], r.body),
            label: 'Copy as a curl command, with the token in $TOKEN',
            text: 'Copy as curl',
          }),
          h(Copy, {
            value: () => goOf(r),
            label: 'Copy as a Go program, with the token in $TOKEN',
            text: 'Copy as Go',
          }),
          press('retry', 'Send again', () => resend(r.id), {
            title: r.user_id
              ? `Send as ${caller(r)}`
              : 'Send without a token, because the token of this request is unknown',
          }),
        ],
    a(
      { class: 'button', href: `#/faults?${rule}`, title: 'Make a fault rule for requests like this one' },
      icon('bolt'),
      'Make a rule',
    ),
  );
}

const resend = (/** @type {string} */ id) =>
  attempt(
    () => call('POST', `/requests/${id}/resend`),
    again =>
      again
        ? [`Sent again. The response has the status ${again.status}.`, ['Request', `#/requests/${again.id}`]]
        : ['Sent again. The connection was lost.'],
  );

/** @param {FullRequest} r */
const body = r =>
  r.body
    ? [
        div(
          { class: 'bar' },
          span({ class: 'dim' }, `${num(r.body.length)} characters`),
          h(Copy, { value: r.body, label: 'Copy body', text: 'Copy' }),
        ),
        json(r.body, true),
      ]
    : empty(
        'list',
        'No body',
        r.operation && r.status < 400
          ? 'The request had no body.'
          : 'The request had no body, or was rejected before the body was read.',
      );

/** The fields and parameters that the API does not define. @param {FullRequest} r */
function unread(r) {
  const [events, fields] = [true, false].map(wanted =>
    (r.unknown_fields ?? []).filter(name => name.startsWith('events[]: ') === wanted),
  );
  const ignored = [...fields.map(m => `body.${m}`), ...(r.unknown_parameters ?? []).map(n => `query.${n}`)];
  const names = (/** @type {string[]} */ all) => all.map((at, n) => [n ? ', ' : '', span({ class: 'mono' }, at)]);
  if (!ignored.length && !events.length) return null;
  return div(
    { class: 'wrong' },
    ignored.length > 0 &&
      p('The API does not define ', names(ignored), `. The mock server ignores ${ignored.length > 1 ? 'them' : 'it'}.`),
    events.length > 0 &&
      p(
        `The API does not define the event${events.length > 1 ? 's' : ''} `,
        names(events.map(name => name.slice('events[]: '.length))),
        `. The mock server never sends ${events.length > 1 ? 'them' : 'it'}.`,
      ),
  );
}

/** The errors of a request, and the closest operation. @param {FullRequest} r */
function wrong(r) {
  if (!r.response && !r.closest) return null;
  /** @type {ReturnType<typeof errorsIn>} */
  let found = [];
  try {
    found = errorsIn(r.response ?? '');
  } catch {
    /* a response that a fault made up */
  }
  if (!found.length && !r.closest) return null;
  return div(
    { class: 'wrong' },
    found.length > 0 &&
      grid(
        ['Where', 'Errors', 'Type'],
        found.map((m, n) => [n, [span({ class: 'mono' }, m.where || '–'), m.msg, span({ class: 'mono dim' }, m.type)]]),
      ),
    r.closest &&
      p(
        'Closest operation: ',
        span({ class: 'method ' + r.closest.method.toLowerCase() }, r.closest.method),
        ' ',
        span({ class: 'mono' }, r.closest.path),
        span({ class: 'dim' }, ` ${r.closest.operation}`),
      ),
  );
}
