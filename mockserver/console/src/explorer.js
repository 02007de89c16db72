// API: the documentation of each operation, and a request to edit and send.
import { h, useEffect, useState } from './vendor/preact.js';
import { base, call } from './api.js';
import { link, useSearch } from './place.js';
import { loadOperations, programs } from './programs.js';
import { Rows, rowLink } from './rows.js';
import { useSession } from './session.js';
import { took } from './time.js';
import { Doing } from './actions.js';
import { Field, optionsOf, Search, Select, submits } from './controls.js';
import { Copy } from './copy.js';
import { chip, code, empty, grid, icon, json, loading, num, pairs, seen, tags } from './elements.js';
import { Heading, Split } from './layout.js';
/** @import { Operation, Parameter } from './types.js' */
/**
 * @typedef {import('./programs.js').Request} Request
 * @typedef {{status: number, statusText: string, ms: number, headers: [string, string][], body: string}} Result
 */
const { article, button, div, form, h3, header, label, p, section, span, strong, textarea } = tags;

/** The maximum number of characters of a response that are shown. */
const most = 200_000;

/** @param {{id?: string}} props */
export function Explorer({ id }) {
  const [all, setAll] = useState(/** @type {Operation[]|null} */ (null));
  const search = useSearch();
  useEffect(() => {
    loadOperations().then(setAll);
  }, []);
  const words = search.query.toLowerCase().split(/\s+/);
  const rows =
    all?.filter(o =>
      words.every(w => `${o.id} ${o.method} ${o.path} ${o.tag} ${o.summary}`.toLowerCase().includes(w)),
    ) ?? null;
  const open = all?.find(o => o.id === id);
  return h(Split, {
    title: 'API',
    count: rows?.length,
    open: !!id,
    home: link('api'),
    tools: h(Search, { search, label: 'Search path, operation, resource' }),
    list: h(Rows, {
      list: { key: search.query, rows, total: rows?.length ?? 0, error: '', look: () => {} },
      current: id,
      filtered: !!search.query,
      row,
      none: empty('book', 'No operations', 'The console has no description of the API.'),
    }),
    detail: open
      ? h(Opened, { key: open.id, o: open })
      : id
        ? all
          ? empty('warn', 'Not found', `The API has no operation ${id}.`)
          : loading()
        : empty(
            'send',
            'No operation selected',
            'Choose an operation to read its documentation and to send a request.',
          ),
  });
}

/** @param {Operation} o @param {boolean} current */
const row = (o, current) =>
  rowLink(
    `api/${o.id}`,
    current,
    span(
      { class: 'line' },
      span({ class: `method ${o.method.toLowerCase()}` }, o.method),
      strong({ class: 'mono' }, o.path),
    ),
    span({ class: 'line' }, span({ class: 'dim cut' }, o.summary), span({ class: 'dim kind' }, o.tag)),
  );

/** @type {Record<string, string>} for each path parameter, the list whose newest record is its first value */
const newest = { list_id: 'lists', campaign_id: 'campaigns', workflow_id: 'workflows', email_id: 'outbox' };

/** The values of the parameters. Ids start with the newest records. @param {Operation} o */
function useValues(o) {
  const [values, set] = useState(/** @type {Record<string, string>} */ ({}));
  const { account } = useSession();
  useEffect(() => {
    for (const x of o.parameters ?? []) {
      if (x.in === 'path' && newest[x.name])
        call('GET', `/${newest[x.name]}?limit=1&account_id=${account || 1}`).then(
          ({ data: [r] }) => {
            if (r) set(old => ({ [x.name]: r.id, ...old }));
          },
          () => {},
        );
    }
  }, [o.id, account]);
  return { values, put: (/** @type {string} */ name, /** @type {string} */ v) => set(old => ({ ...old, [name]: v })) };
}

/** The URL of a request. @param {Operation} o @param {Record<string, string>} values */
function urlOf(o, values) {
  const query = new URLSearchParams(
    (o.parameters ?? []).filter(x => x.in === 'query' && values[x.name]).map(x => [x.name, values[x.name]]),
  );
  return (
    base +
    o.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? '')) +
    (query.size ? `?${query}` : '')
  );
}

/** @param {Request} r @returns {Promise<Result>} */
async function send({ method, url, token, body }) {
  const began = performance.now();
  const res = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
    body: body || undefined,
  });
  const text = await res.text();
  return {
    status: res.status,
    statusText: res.statusText,
    ms: performance.now() - began,
    headers: [...res.headers],
    body: text,
  };
}

/** @param {Operation} o */
const about = o =>
  header(
    { class: 'head' },
    h(Heading, { text: o.path, sign: span({ class: `method ${o.method.toLowerCase()}` }, o.method) }),
    p({ class: 'who' }, o.summary),
    p(
      { class: 'meta' },
      span({ class: 'id' }, o.id),
      o.repeatable ? chip('ok', 'retry', 'repeatable') : chip('warn', 'warn', 'not repeatable'),
    ),
    p(o.description),
  );

/**
 * The body of the request, with examples to start from.
 * @param {{o: Operation, body: string, setBody: (body: string) => void}} props
 */
function BodyInput({ o: { examples = [], body: type }, body, setBody }) {
  const [example, setExample] = useState('0');
  const choose = (/** @type {string} */ n) => {
    setExample(n);
    setBody(pretty(examples[Number(n)]?.value));
  };
  return [
    examples.length > 1 &&
      h(Select, {
        label: 'Example',
        value: example,
        onChange: choose,
        options: optionsOf(examples, (x, n) => [String(n), x.name]),
      }),
    div(
      { class: 'pick' },
      label({ for: 'request-body' }, `Body (${type})`),
      textarea({
        id: 'request-body',
        class: 'mono',
        rows: Math.min(12, body.split('\n').length + 1),
        spellcheck: false,
        value: body,
        onInput: (/** @type {import('./controls.js').Typed} */ e) => setBody(e.target.value),
      }),
    ),
  ];
}

/** @param {{o: Operation}} props */
function Opened({ o }) {
  const { info } = useSession();
  const { values, put } = useValues(o);
  const [token, setToken] = useState(info?.default_token ?? '');
  const [body, setBody] = useState(pretty(o.examples?.[0]?.value));
  const [result, setResult] = useState(/** @type {Result|string|null} */ (null));
  useEffect(() => {
    if (info?.default_token) setToken(old => old || (info.default_token ?? ''));
  }, [info]);
  const missing = (o.parameters ?? []).find(x => x.in === 'path' && !values[x.name]);
  const request = { method: o.method, url: urlOf(o, values), token, body: o.body ? body : '' };
  const submit = submits(() => send(request).then(setResult, e => setResult(`No response: ${e.message}`)));
  return article(
    { class: 'explorer' },
    about(o),
    form(
      { class: 'part form', onSubmit: submit },
      (o.parameters ?? []).map(x =>
        h(Field, {
          key: x.name,
          label: `${x.name} (${x.in}${x.optional ? ', optional' : ''})`,
          value: values[x.name] ?? '',
          onInput: v => put(x.name, v),
          hint: x.type,
          mono: true,
        }),
      ),
      o.body && h(BodyInput, { o, body, setBody }),
      h(Field, { label: 'Access token', value: token, onInput: setToken, mono: true }),
      div(
        { class: 'actions' },
        h(
          Doing,
          { label: 'Send' },
          button(
            { class: 'button main', disabled: !!missing, title: missing ? `Fill in ${missing.name}` : undefined },
            icon('send'),
            'Send',
          ),
        ),
        Object.entries(programs).map(([name, of]) =>
          h(Copy, { key: name, value: of(request), label: `Copy request as ${name}`, text: `Copy as ${name}` }),
        ),
      ),
    ),
    result && h(Shown, { result }),
    o.fields && h(Fields, { title: 'Body fields', rows: o.fields }),
    o.parameters && h(Fields, { title: 'Parameters', rows: o.parameters }),
  );
}

/** @param {string} [raw] */
const pretty = raw => (raw ? JSON.stringify(JSON.parse(raw), null, 2) : '');

/** @param {{result: Result|string}} props */
function Shown({ result }) {
  if (typeof result === 'string')
    return section({ class: 'part', role: 'status' }, h3('Response'), p({ class: 'form-error' }, result));
  const good = result.status < 400;
  return section(
    { class: 'part response', 'aria-label': 'Response' },
    h3('Response'),
    p(
      { class: 'meta', role: 'status' },
      chip(good ? 'ok' : 'bad', good ? 'check' : 'cross', `${result.status} ${result.statusText}`),
      span(took(result.ms)),
      span(`${num(result.body.length)} characters`),
    ),
    pairs(result.headers.map(([name, value]) => [name, seen(value)])),
    result.body &&
      (result.body.length > most
        ? [p({ class: 'dim' }, `Only the first ${num(most)} characters are shown.`), code(result.body.slice(0, most))]
        : json(result.body, true)),
  );
}

/** @param {{title: string, rows: Parameter[]}} props */
const Fields = ({ title, rows }) =>
  section(
    { class: 'part' },
    h3(title),
    grid(
      ['Name', 'Type', 'Description'],
      rows.map(x => [
        x.name,
        [[span({ class: 'mono' }, x.name), x.optional ? '' : ' *'], span({ class: 'mono' }, x.type), x.description],
      ]),
    ),
    rows.some(x => !x.optional) && p({ class: 'dim' }, '* required'),
  );
