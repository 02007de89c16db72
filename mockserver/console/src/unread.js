// The messages that were opened in this browser.
import { useEffect, useState } from './vendor/preact.js';
import { stored } from './stored.js';
/** @import { Message } from './types.js' */
/** @typedef {{id: string, time: string}} Mark the newest message when all were marked as read */

/** The number of opened messages that are stored, the latest ones. */
const most = 2000;

/** @type {{mark: Mark, opened: Set<string>, count: number, version: number}} */
const read = { mark: { id: '', time: '' }, opened: new Set(), count: 0, version: 0 };
/** @type {Set<() => void>} */
const listeners = new Set();
const notify = () => {
  read.version++;
  for (const f of listeners) f();
};

function recall() {
  const { mark, opened } = stored('read') ?? {};
  if (typeof mark?.id === 'string' && typeof mark.time === 'string') read.mark = mark;
  read.opened = new Set(Array.isArray(opened) ? opened : []);
  notify();
}
recall();
addEventListener('storage', e => {
  if (e.key === 'read') recall();
}); // changed in another tab

function remember() {
  localStorage.setItem('read', JSON.stringify({ mark: read.mark, opened: [...read.opened].slice(-most) }));
  notify();
}

/**
 * The key of a message. Another server on this port can use the same id, but hardly at the same time.
 * @param {Message} m
 */
const name = m => `${m.id} ${m.time}`;

/** @param {Message} m */
export function markRead(m) {
  if (read.opened.has(name(m))) return;
  read.opened.add(name(m));
  remember();
}

/** @param {Message} newest */
export function markAllRead({ id, time }) {
  read.mark = { id, time };
  read.opened.clear();
  remember();
}

/** The number of unread messages when the inbox was last open, and the version of the stored data. */
export function useUnread() {
  const [, set] = useState(read.version);
  useEffect(() => {
    const f = () => set(read.version);
    listeners.add(f);
    f(); // the value may have changed since the component was rendered
    return () => {
      listeners.delete(f);
    };
  }, []);
  return { count: read.count, version: read.version };
}

/**
 * The unread messages of the inbox: those above the marked message. If the marked
 * message is gone, its time is compared.
 * @param {(Message|undefined)[]|null} rows all messages, the newest first
 * @returns {{is: (m: Message, n: number) => boolean, count: number}}
 */
export function unreadOf(rows) {
  let at = -1;
  // forEach skips records that are not loaded, which can be 100,000
  rows?.forEach((m, n) => {
    if (m?.id === read.mark.id && m.time === read.mark.time) at = n;
  });
  const late = (/** @type {Message|undefined} */ m, /** @type {number} */ n) =>
    at < 0 ? (m?.time ?? '~') > read.mark.time : n < at;
  const is = (/** @type {Message|undefined} */ m, /** @type {number} */ n) =>
    late(m, n) && !(m && read.opened.has(name(m)));
  let count = at < 0 ? (rows?.length ?? 0) : at; // records that are not loaded count as unread
  const last = count;
  rows?.forEach((m, n) => {
    if (n < last && !is(m, n)) count--;
  });
  return { is, count };
}

/** Sets the number of unread messages. @param {number} count */
export function setUnread(count) {
  if (count === read.count) return;
  read.count = count;
  notify();
}
