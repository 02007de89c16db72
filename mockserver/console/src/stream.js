// The stream of changes, which keeps the page up to date.
import { useEffect, useRef, useState } from './vendor/preact.js';
import { href } from './api.js';
/** @import { Change } from './types.js' */

/**
 * The state of the stream: connecting, live or lost, and the reason why it is lost. While the page is paused, it holds
 * the changes.
 */
export const live = { state: 'connecting', why: '', paused: false, held: /** @type {Change[]} */ ([]) };

/** @type {Set<(changes: Change[]) => void>} */
const listeners = new Set();
/** @type {EventSource|null} */
let source = null;
let timer = 0;

/**
 * Opens the stream, one for the whole page. Browsers allow six connections to a host, so a hidden page closes its
 * stream. When it opens the stream again, "hello" makes every list reload.
 */
export function start() {
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  open();
}

function open() {
  if (source) return;
  source = new EventSource(href('/stream'));
  source.addEventListener('hello', () => {
    live.state = 'live';
    give([{ kind: 'hello' }]);
  });
  source.addEventListener('change', e => hold(JSON.parse(e.data)));
  source.onerror = () => {
    live.state = 'lost';
    give([]);
    lost().then(why => {
      live.why = why;
      give([]);
    });
    if (source?.readyState === EventSource.CLOSED) {
      // the server rejected the stream, so the browser does not reconnect
      source = null;
      setTimeout(() => document.hidden || open(), 2000);
    }
  };
}

function close() {
  source?.close();
  source = null;
}

/** @param {Change} change */
function hold(change) {
  live.held.push(change);
  if (live.held.length > 5000) live.held = [{ kind: 'state' }]; // after a long pause, load everything again
  timer ||= window.setTimeout(() => {
    timer = 0;
    flush();
  }, 60); // render once for a burst of changes
}

const flush = () => give(live.paused ? [] : live.held.splice(0));

/** @param {boolean} on */
export function pause(on) {
  live.paused = on;
  flush();
}

/** @param {Change[]} changes */
function give(changes) {
  for (const f of listeners) f(changes);
}

/** Returns the reason why the stream is lost. A proxy can respond although the server does not. */
const lost = () =>
  fetch(href('/health')).then(
    res =>
      res.ok
        ? 'The connection to the server was lost.'
        : `${location.origin}${href('/health')} responds with ${res.status}: is the mock server running, and is this its path?`,
    () => `${location.host} does not respond.`,
  );

/** Calls f with every batch of changes while the component exists. @param {(changes: Change[]) => void} f */
export function useChanges(f) {
  const latest = useRef(f);
  latest.current = f;
  useEffect(() => {
    const g = (/** @type {Change[]} */ changes) => latest.current(changes);
    listeners.add(g);
    return () => {
      listeners.delete(g);
    };
  }, []);
}

/** The state of the connection: connecting, live or lost. */
export function useConnection() {
  const [state, set] = useState(live.state);
  useChanges(() => set(live.state));
  return state;
}

/** The reason why the connection is lost. It is known slightly after the loss. */
export function useLoss() {
  const [why, set] = useState(live.why);
  useChanges(() => set(live.why));
  return why;
}

/** Reports whether all data may have changed. @param {Change} c */
export const changesAll = c => c.kind === 'hello' || c.kind === 'state';
