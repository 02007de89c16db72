// Lists of any length, newest first. Each record has a place, and only the visible
// records are loaded. The stream keeps them up to date.
import { useEffect, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { NoServer, call, useSoon } from './api.js';
import { changesAll, useChanges } from './stream.js';
/** @import { Change } from './types.js' */

/** The number of records per request, and of records that are loaded above and below the visible ones. */
const pageSize = 200;
const ahead = 60;

/** @typedef {{id: string, fresh?: boolean}} Row */
/** @template T @typedef {(T|undefined)[]} Places undefined if not loaded */
/** @template T @typedef {{data: T[], total: number, offset: number}} Page */
/** @template T @typedef {{key: string, rows: Places<T>|null, error: string, loads: number}} Loaded */
/** @template T @typedef {Loaded<T> & {total: number, look: (from: number, to: number) => void}} List */

/**
 * The records of a list route. The page cannot evaluate filters, so a filtered list
 * reloads after a change.
 * @template {Row} T
 * @param {string} path
 * @param {string} kind of the changes to these records
 * @param {Record<string, string>} filter
 * @param {{open?: string, also?: string[]}} [more] open is a record that is loaded at any position; also lists other
 *   kinds of changes that reload the list
 * @returns {List<T>}
 */
export function useList(path, kind, filter, { open = '', also = [] } = {}) {
  const filters = Object.entries(filter).filter(([, v]) => v);
  const query = new URLSearchParams(filters).toString();
  const searches = filters.some(([name]) => name !== 'account_id'); // the page can check only the account of a record
  const key = `${path}?${query}`;
  const pages = useChunks(key);
  const seen = useRef(0);
  const load = () =>
    pages.load([0, seen.current].filter((n, i) => !i || n > pageSize / 2).map(n => `offset=${Math.max(0, n - ahead)}`));
  const soon = useSoon(load, 250);
  useChanges(changes => {
    const mine = changes.filter(c => c.kind === kind && c.record && ofAccount(c.record, filter.account_id));
    if (changes.some(changesAll)) load();
    else if ((mine.length && (searches || !pages.got.rows)) || changes.some(c => also.includes(c.kind))) soon();
    else if (mine.length) pages.change(mine);
  });
  useLayoutEffect(() => {
    seen.current = 0;
    load(); // before the browser paints, so the server responds while it does
  }, [key]);
  useSought(pages, open);
  const look = (/** @type {number} */ from, /** @type {number} */ to) => {
    seen.current = from;
    pages.fill(Math.max(0, from - ahead), Math.min(to + ahead, pages.got.rows?.length ?? 0));
  };
  return { ...pages.got, total: pages.got.rows?.length ?? 0, look };
}

/** The loaded records of a list, and functions that load more. @param {string} key its route and query */
function useChunks(key) {
  const [got, set] = useState(/** @type {Loaded<any>} */ ({ key, rows: null, error: '', loads: 0 }));
  const now = useRef(key);
  const busy = useRef('');
  const total = useRef(0);
  const flights = useRef(/** @type {Set<Change[]>} */ (new Set())); // the changes since each request that is on its way
  const sent = useRef(0);
  const shown = useRef(0);
  now.current = key;
  const take = async (/** @type {string[]} */ wheres, /** @type {boolean} */ afresh) => {
    const since = /** @type {Change[]} */ ([]);
    const turn = ++sent.current;
    flights.current.add(since);
    const pages = await Promise.all(wheres.map(w => call('GET', `${key}&limit=${pageSize}&${w}`))).catch(e => e);
    flights.current.delete(since);
    busy.current = ''; // before rendering, which then requests the records that are still missing
    if (now.current !== key || (afresh && turn < shown.current)) return; // the list already shows a later reload
    if (afresh) shown.current = turn;
    if (pages instanceof Error)
      return set(old =>
        old.key === key && old.rows && pages instanceof NoServer
          ? old
          : { ...old, key, rows: null, error: pages.message },
      );
    total.current = pages[0].total;
    set(old => received(afresh || old.key !== key ? { ...old, key, rows: null } : old, pages, since));
  };
  const fill = (/** @type {number} */ from, /** @type {number} */ to) => {
    if (got.key !== key || !got.rows || busy.current === key) return;
    const at = hole(got.rows, from, to);
    if (at < 0) return;
    busy.current = key;
    // includes new records that the list does not show yet
    take([`offset=${at + Math.max(0, total.current - got.rows.length)}`], false);
  };
  return {
    got,
    key,
    fill,
    load: (/** @type {string[]} */ wheres) => take(wheres, true),
    add: (/** @type {string} */ where) => take([where], false),
    change: (/** @type {Change[]} */ changes) => {
      for (const since of flights.current) since.push(...changes);
      set(old => (old.rows ? { ...old, rows: keep(old.rows, changes) } : old));
    },
  };
}

/**
 * The list after a response. If it has no rows yet, it starts with the pages.
 * @param {Loaded<any>} old
 * @param {Page<any>[]} pages
 * @param {Change[]} since the changes since the request; the pages can be older
 * @returns {Loaded<any>}
 */
function received({ key, rows, loads }, pages, since) {
  if (!rows) {
    const all = pages.reduce((all, page) => put(all, page, 0), Array(pages[0].total));
    return { key, rows: keep(all, since), error: '', loads: loads + 1 };
  }
  const added = since.filter(c => c.new).length; // the rows already contain them
  const all = pages.reduce((all, page) => put(all, page, added), rows);
  return {
    key,
    rows: keep(
      all,
      since.filter(c => !c.new),
    ),
    error: '',
    loads,
  };
}

/**
 * Loads the open record and the records around it, once after each load of the list.
 * @param {ReturnType<typeof useChunks>} pages
 * @param {string} open
 */
function useSought({ got, key, add }, open) {
  const sought = useRef('');
  useEffect(() => {
    const what = `${key} ${open} ${got.loads}`;
    if (!open || got.key !== key || !got.rows || sought.current === what || got.rows.some(r => r?.id === open)) return;
    sought.current = what;
    add('around=' + encodeURIComponent(open));
  });
}

/**
 * The offset of the page that fills a gap from one row to another, or −1 if there is no gap.
 * @param {Places<Row>} rows
 * @param {number} from
 * @param {number} to
 */
function hole(rows, from, to) {
  let first = -1;
  let last = -1;
  for (let n = from; n < to; n++)
    if (!rows[n]) {
      first = first < 0 ? n : first;
      last = n;
    }
  // when scrolling up, the rows below are already loaded
  return first === from && last < to - 1 ? Math.max(0, last - pageSize + 1) : first;
}

/**
 * Puts a page into the list. The offset does not count new records that the stream
 * has not announced yet. If the server has dropped its oldest records, the list
 * becomes shorter. If the page contradicts the list, the list starts again.
 * @template {Row} T @param {Places<T>} rows @param {Page<T>} page
 * @param {number} added the number of records that were added to the list since the request. The page can lack them.
 */
function put(rows, page, added) {
  const newer = Math.min(added, Math.max(0, rows.length - page.total));
  const { data } = page;
  const total = page.total + newer;
  const offset = page.offset + newer;
  const at = offset - Math.max(0, total - rows.length);
  const end = at + data.length;
  const ids = new Set(data.map(r => r.id));
  const twice = rows.some((r, n) => r && (n < at || n >= end) && ids.has(r.id));
  const all = twice ? Array(total) : rows.slice(0, total);
  data.forEach((r, n) => {
    const to = n + (twice ? offset : at);
    if (to >= 0) all[to] = r;
  });
  return all;
}

/**
 * Reports whether a record belongs to the account, or to none.
 * @param {{account_id?: number}} record
 * @param {string} [account] any if empty
 */
const ofAccount = (record, account) => !account || !record.account_id || String(record.account_id) === account;

/**
 * Updates the loaded records, and inserts new ones. If a new record is loaded, the list already contains the records
 * that were added before it.
 * @template {Row} T @param {Places<T>} rows @param {Change[]} changes
 */
function keep(rows, changes) {
  if (!changes.length) return rows;
  const all = rows.slice();
  /** @type {Map<string, number>} */
  const at = new Map();
  all.forEach((r, n) => {
    if (r) at.set(r.id, n);
  });
  const latest = new Map(changes.map(c => [c.record.id, c.record]));
  for (const [id, r] of latest) {
    const n = at.get(id);
    if (n !== undefined) all[n] = { ...r, fresh: all[n]?.fresh };
  }
  const known = changes.findLastIndex(c => c.new && at.has(c.record.id));
  for (const c of changes.slice(known + 1)) if (c.new) all.unshift({ ...latest.get(c.record.id), fresh: true });
  return all;
}
