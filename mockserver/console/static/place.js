// The address contains the current page and the filters of its list,
// #/place/id/tab?q=…&state=…. Every view has a link, and a reload shows the same view.
import { useEffect, useRef, useState } from './vendor/preact.js';
import { useRested } from './api.js';

/** @typedef {{path: string, name: string, id?: string, tab?: string, params: URLSearchParams}} Place */

/** @param {string} hash */
const pathOf = hash => hash.split('?', 1)[0];

/** Whether two addresses lead to the same, or to a part of it. @param {string} whole @param {string} part */
export const within = (whole, part) => (pathOf(part) + '/').startsWith(pathOf(whole) + '/');

/** @type {{hash?: string, at: Place}} what was read last: every row of a list asks */
let last = { at: /** @type {any} */ (null) };

/** Where we are; whoever changes its parameters takes a copy. @returns {Place} */
function read() {
  const { hash } = location;
  if (hash !== last.hash) last = { hash, at: parse(hash.slice(1)) };
  return last.at;
}

/** @param {string} hash @returns {Place} */
function parse(hash) {
  const path = pathOf(hash);
  const [, name, id, tab] = path.split('/').map(plain);
  return { path, name, id, tab, params: new URLSearchParams(hash.slice(path.length + 1)) };
}

/** @param {string} s */
function plain(s) {
  try { return decodeURIComponent(s); } catch { return s; } // a stray % in the address
}

/** @type {Set<(at: Place) => void>} */
const listeners = new Set();
const tell = () => { for (const f of listeners) f(read()); };
addEventListener('hashchange', tell);

/** Goes somewhere without a new entry in the history, and at once: hashchange would come too late for quick fingers. @param {string} hash */
export function go(hash) {
  history.replaceState(null, '', hash);
  tell();
}

/** The address of something in the place where we are, whose list is looked at as now. @param {string} path */
export function link(path) {
  const query = read().params.toString();
  return `#/${path}` + (query && '?' + query);
}

export function usePlace() {
  const [at, set] = useState(read);
  useEffect(() => {
    listeners.add(set);
    set(read()); // the value may have changed since the component was rendered
    return () => { listeners.delete(set); };
  }, []);
  return at;
}

/** Says in the address how something is looked at; empty is as usual. @param {Record<string, string>} changed */
export function ask(changed) {
  const { path, params: now } = read(), params = new URLSearchParams(now);
  for (const [name, value] of Object.entries(changed)) value ? params.set(name, value) : params.delete(name);
  go(`#${path || '/'}` + (params.size ? `?${params}` : ''));
}

/** How something is looked at, by the address. @param {string} name @returns {[string, (value: string) => void]} */
export function useParam(name) {
  return [usePlace().params.get(name) ?? '', value => ask({ [name]: value })];
}

/**
 * A search as it is typed, which goes into the address when the typing rests.
 * @returns {{typed: string, type: (text: string) => void, asked: string}}
 */
export function useSearch() {
  const [asked, setAsked] = useParam('q');
  const [typed, type] = useState(asked);
  const own = useRef(asked);
  const rested = useRested(typed);
  useEffect(() => { if (asked !== own.current) type(own.current = asked); }, [asked]); // the user followed a link
  useEffect(() => { if (rested !== own.current) setAsked(own.current = rested); }, [rested]);
  return { typed, type, asked };
}

/**
 * What holds in every place is in the address of each, too: whoever follows a link takes it over.
 * @param {string} name
 * @param {string} value as it is; empty if it goes without saying
 * @param {(value: string) => void} set
 */
export function useShared(name, value, set) {
  const { path, params } = usePlace();
  const seen = params.get(name);
  useEffect(() => {
    const asked = read().params.get(name); // read the current value, because an effect runs slightly late
    if (asked && asked !== value) set(asked);
    else if (value && !asked) ask({ [name]: value });
  }, [path, seen, value]);
}
