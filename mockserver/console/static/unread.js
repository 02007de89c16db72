// The messages that were opened in this browser.
import { useEffect, useState } from './vendor/preact.js';
/** @typedef {import('./api.js').Message} Message @typedef {{id: string, time: string}} Mark the newest message when all were marked as read */

/** How many opened messages are remembered, the latest. */
const most = 2000;

/** @type {{mark: Mark, opened: Set<string>, count: number, version: number}} */
const read = { mark: { id: '', time: '' }, opened: new Set(), count: 0, version: 0 };
/** @type {Set<() => void>} */
const listeners = new Set();
const tell = () => { read.version++; for (const f of listeners) f(); };

/** What another page of this origin has stored under the name is nothing to us. */
function stored() {
  try {
    return JSON.parse(localStorage.getItem('read') ?? '') ?? {};
  } catch {
    return {};
  }
}

function recall() {
  const { mark, opened } = stored();
  if (typeof mark?.id === 'string' && typeof mark.time === 'string') read.mark = mark;
  read.opened = new Set(Array.isArray(opened) ? opened : []);
  tell();
}
recall();
addEventListener('storage', e => { if (e.key === 'read') recall(); }); // changed in another tab

function remember() {
  localStorage.setItem('read', JSON.stringify({ mark: read.mark, opened: [...read.opened].slice(-most) }));
  tell();
}

/** Another world may give an id again, hardly at the same time. @param {Message} m */
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

/** How many were unread when the inbox was looked at last, and which state of what is remembered that is of. */
export function useUnread() {
  const [, set] = useState(0);
  useEffect(() => {
    const f = () => set(n => n + 1);
    listeners.add(f);
    f(); // the value may have changed since the component was rendered
    return () => { listeners.delete(f); };
  }, []);
  return { count: read.count, version: read.version };
}

/**
 * What of the inbox nobody has opened. The newest message that was marked is a place
 * in the list; if it is gone, its time counts.
 * @param {(Message|undefined)[]|null} rows all messages, the newest first
 * @returns {{is: (m: Message, n: number) => boolean, count: number}}
 */
export function unreadOf(rows) {
  const at = rows?.findIndex(m => m?.id === read.mark.id && m.time === read.mark.time) ?? -1;
  const late = (/** @type {Message|undefined} */ m, /** @type {number} */ n) => at < 0 ? (m?.time ?? '~') > read.mark.time : n < at;
  const is = (/** @type {Message|undefined} */ m, /** @type {number} */ n) => late(m, n) && !(m && read.opened.has(name(m)));
  let count = 0;
  for (let n = 0; n < (rows?.length ?? 0) && (at < 0 || n < at); n++) if (is(rows?.[n], n)) count++;
  return { is, count };
}

/** Says how many are unread. @param {number} count */
export function setUnread(count) {
  if (count === read.count) return;
  read.count = count;
  tell();
}
