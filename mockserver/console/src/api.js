// Calls of control routes. The console uses nothing else, so curl can do the same.
import { useEffect, useRef, useState } from './vendor/preact.js';
import { changesAll, useChanges } from './stream.js';
/** @import { Fetched, FieldError } from './types.js' */

/** The path of the control routes. A proxy can add a prefix. */
const root = new URL('.', document.baseURI).pathname.slice(0, -1);

/** The base URL of the API. */
export const base = new URL('..', document.baseURI).href.slice(0, -1);

/** An error response of the server. errors lists the invalid fields. */
export class RequestError extends Error {
  /** @param {number} status @param {string} body */
  constructor(status, body) {
    super(summary(status, body));
    try {
      this.errors = errorsIn(body);
    } catch {
      this.errors = [{ where: '', msg: this.message }];
    }
  }
}

/** The server did not respond. The page keeps its last data. */
export class NoServer extends Error {}

/** The actions with a parameter account_id. Without it, they apply to all accounts. */
const ofOneAccount = new Set(['DELETE /faults', 'DELETE /state', 'POST /outbox/actions', 'POST /reset']);
let account = ''; // the selected account, if there are several

/** Limits actions to an account. @param {string} selected */
export const limitTo = selected => {
  account = selected;
};

/**
 * Calls a control route and returns its JSON. Actions apply to the selected account.
 * @param {'GET'|'POST'|'PUT'|'PATCH'|'DELETE'} method
 * @param {string} path below /_mock
 * @param {object|string} [body] a string or a file is sent unchanged
 * @returns {Promise<any>}
 */
export function call(method, path, body) {
  if (account && ofOneAccount.has(`${method} ${path}`)) path += `?account_id=${account}`;
  return callForAll(method, path, body);
}

/**
 * Like call, for all accounts.
 * @param {string} method
 * @param {string} path
 * @param {object|string} [body]
 * @returns {Promise<any>}
 */
export async function callForAll(method, path, body) {
  const res = await request(path, {
    method,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined || typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
  });
  const json = await textOf(res);
  // parsing with a function takes five times as long
  return json ? JSON.parse(json, /[:[,]\s*-?\d{16}/.test(json) ? /** @type {any} */ (exact) : undefined) : null;
}

/**
 * Sends a request. The error texts of browsers differ and are unclear, so NoServer replaces them.
 * @param {string} path
 * @param {RequestInit} [init]
 */
const request = (path, init) =>
  fetch(root + path, init).catch(() => {
    throw new NoServer('The server does not respond.');
  });

/**
 * Keeps the text of an integer that is too large for a number, such as a seed.
 * @param {string} _
 * @param {any} value
 * @param {{source?: string}} [context]
 */
const exact = (_, value, context) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;

/** The errors of a response as sentences. @param {number} status @param {string} body */
function summary(status, body) {
  try {
    return errorsIn(body).map(sentence).join(' ');
  } catch {
    // the response of a proxy or a fault rule
    return `The server responded with ${status} and no error message.`;
  }
}

/**
 * An error as a sentence. It names fields of the body, but not parameters of the URL.
 * @param {{where: string, msg: string}} m
 */
function sentence({ where, msg }) {
  return asSentence(where.startsWith('body.') ? `${where.slice('body.'.length)}: ${msg}` : msg);
}

/** The text as a sentence. A field name or an address at its start keeps its case. @param {string} text */
export const asSentence = text =>
  (/^[a-z_][\w.[\]]*:|^\S+@/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)) +
  (/[.!?]$/.test(text) ? '' : '.');

/** The errors in a response of the API. @param {string} body @returns {FieldError[]} */
export const errorsIn = body =>
  JSON.parse(body).detail.map((/** @type {{loc?: unknown[], msg: string, type: string}} */ d) => ({
    where: (d.loc ?? []).join('.'),
    msg: d.msg,
    type: d.type,
  }));

/** The response of a control route as text. @param {string} path */
export const text = path => request(path).then(textOf);

/** The body of a successful response. @param {Response} res */
async function textOf(res) {
  const body = await res.text();
  if (!res.ok) throw new RequestError(res.status, body);
  return body;
}

/** The URL of a control route, for frames and links. @param {string} path */
export const href = path => root + path;

/**
 * Returns a function that runs f once, ms after the first of several calls. Further calls do not delay it.
 * @param {() => void} f
 * @param {number} ms
 */
export function useSoon(f, ms) {
  const latest = useRef(f);
  const timer = useRef(0);
  latest.current = f;
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    timer.current ||= window.setTimeout(() => {
      timer.current = 0;
      latest.current();
    }, ms);
  };
}

/** The value, updated when typing pauses. @param {string} value */
export function useRested(value) {
  const [rested, set] = useState(value);
  useEffect(() => {
    const t = setTimeout(set, 150, value);
    return () => clearTimeout(t);
  }, [value]);
  return rested;
}

/** @param {string} path */
const once = path => call('GET', path);

/** All pages of a list of the API. @param {string} path @returns {Promise<{data: any[]}>} */
export async function everyPage(path) {
  const most = 100;
  const data = [];
  for (let page = 1; data.length === (page - 1) * most; page++)
    data.push(...(await once(`${path}${path.includes('?') ? '&' : '?'}per_page=${most}&page=${page}`)).data);
  return { data };
}

/** A query without empty values. @param {Record<string, string>} values */
export const queryOf = values => new URLSearchParams(Object.entries(values).filter(([, v]) => v));

/** All records of a list route. @param {string} path with a query @returns {Promise<any[]>} */
export async function everyRecord(path) {
  const data = [];
  for (let more = true; more;) {
    const page = await once(`${path}&limit=1000&offset=${data.length}`);
    data.push(...page.data);
    more = page.has_more;
  }
  return data;
}

/**
 * The response of a route. Without a server, the last one stays. A response never replaces the response of a later
 * request.
 * @template T
 * @param {string} path no request is sent if it is empty
 * @param {(path: string) => Promise<T>} get sends the request
 * @returns {Fetched<T>}
 */
function useLoaded(path, get) {
  const [got, setGot] = useState(/** @type {{path: string, data?: T, error?: string}} */ ({ path: '' }));
  const now = useRef(path);
  const sent = useRef(0);
  const shown = useRef(0);
  now.current = path;
  const reload = () => {
    if (!path) return;
    const turn = ++sent.current;
    const put = (/** @type {Parameters<typeof setGot>[0]} */ next) => {
      if (now.current !== path || turn < shown.current) return;
      shown.current = turn;
      setGot(next);
    };
    get(path).then(
      data => put({ path, data }),
      e => put(old => (old.path === path && old.data && e instanceof NoServer ? old : { path, error: e.message })),
    );
  };
  return { ...(got.path === path ? got : {}), reload };
}

/**
 * One full record, reloaded when its summary changes.
 * @template T
 * @param {string} path
 * @param {unknown} summary
 * @returns {{record?: T, error?: string}}
 */
export function useRecord(path, summary) {
  const { data: record, error, reload } = /** @type {Fetched<T>} */ (useLoaded(path, once));
  useChanges(changes => {
    if (changes.some(changesAll)) reload();
  });
  useEffect(reload, [path, summary]);
  return { record, error };
}

/**
 * The response of a route, reloaded after changes of these kinds. Without kinds,
 * only reload loads it again.
 * @template T
 * @param {string} path no request is sent if it is empty
 * @param {string[]} kinds
 * @param {(path: string) => Promise<T>} [get] sends the request
 * @returns {Fetched<T>}
 */
export function useFetch(path, kinds, get = once) {
  const got = useLoaded(path, get);
  const soon = useSoon(got.reload, 200);
  useChanges(changes => {
    if (kinds.length && changes.some(c => changesAll(c) || kinds.includes(c.kind))) soon();
  });
  useEffect(got.reload, [path]);
  return got;
}
