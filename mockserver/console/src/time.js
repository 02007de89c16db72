// The virtual time, which can be before or after the browser's time, or frozen.
import { h, useEffect, useState } from './vendor/preact.js';

/** @typedef {{now: string, frozen: boolean, next: {at: string, what: string}|null}} View */

const clock = { ahead: 0, frozen: false, at: 0 };
/** @type {Set<() => void>} */
const listeners = new Set();

/** Sets the page's clock to the server's. @param {View} view */
export function set({ now: at, frozen }) {
  clock.at = Date.parse(at);
  clock.ahead = clock.at - Date.now();
  clock.frozen = frozen;
  for (const f of listeners) f();
}

/** The virtual time in milliseconds. */
export const now = () => (clock.frozen ? clock.at : Date.now() + clock.ahead);

/** The virtual time, updated every second. */
export function useNow() {
  const [, tick] = useState(0);
  useEffect(() => {
    const f = () => tick(n => n + 1);
    const timer = setInterval(f, 1000);
    listeners.add(f);
    return () => {
      clearInterval(timer);
      listeners.delete(f);
    };
  }, []);
  return now();
}

// Intl.DateTimeFormat would cost the first load about 10 ms.
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];
const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
/** @param {Date} d */
const hours = d => [d.getHours(), d.getMinutes(), d.getSeconds()].map(two).join(':');
/** @param {Date} d */
const day = d => `${d.getDate()} ${months[d.getMonth()]}`;

/** A time with its date. @param {string} at */
export function dated(at) {
  const d = new Date(at);
  return h('time', { datetime: at, title: at }, `${day(d)} ${d.getFullYear()}, ${hours(d)}`);
}

/** Unix seconds as a time. @param {number} s */
export const whenUnix = s => when(new Date(s * 1000).toISOString());

/** A time as an input of type datetime-local takes it. @param {number} ms */
export const local = ms => new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);

const today = { from: 0, to: 0 };
/** Reports whether a time is on the current virtual day. @param {number} ms */
function isToday(ms) {
  const at = now();
  if (at < today.from || at >= today.to) {
    const d = new Date(at);
    today.from = d.setHours(0, 0, 0, 0);
    today.to = d.setDate(d.getDate() + 1);
  }
  return ms >= today.from && ms < today.to;
}

/**
 * A time of today without the date, another time with it. The tooltip has both.
 * @param {string} at
 * @param {boolean} [ms]
 */
export function when(at, ms) {
  const d = new Date(at);
  const s =
    (isToday(d.getTime()) ? '' : `${day(d)}, `) +
    hours(d) +
    (ms ? '.' + String(d.getMilliseconds()).padStart(3, '0') : '');
  return h('time', { datetime: at, title: d.toISOString() }, s);
}

/** The time until then: minutes and seconds, hours if needed, or days from 48 hours on. @param {{to: string}} props */
export function Countdown({ to }) {
  const s = Math.max(0, Math.round((Date.parse(to) - useNow()) / 1000));
  const minutes = Math.floor(s / 60) % 60;
  const full = Math.floor(s / 3600);
  if (full >= 48) return h('span', { class: 'num' }, `${Math.round(full / 24)} days`);
  return h('span', { class: 'num' }, (full ? `${full}:${two(minutes)}` : String(minutes)) + ':' + two(s % 60));
}

/** A duration. @param {number} ms */
export const took = ms =>
  ms < 1 ? `${Math.max(1, Math.round(ms * 1e3))} µs` : ms < 1e3 ? `${Math.round(ms)} ms` : `${(ms / 1e3).toFixed(1)} s`;

/** The duration between two times. @param {string} from @param {string} to */
export function between(from, to) {
  const s = (Date.parse(to) - Date.parse(from)) / 1000;
  return s < 1
    ? `${Math.round(s * 1000)} ms`
    : s < 10
      ? `${s.toFixed(1)} s`
      : s < 60
        ? `${Math.round(s)} s`
        : s < 3600
          ? `${Math.round(s / 60)} min`
          : `${(s / 3600).toFixed(1)} h`;
}
