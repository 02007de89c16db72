// The address contains the current page and the filters of its list,
// #/place/id/tab?q=…&state=…. Every view has a link, and a reload shows the same view.
import { useEffect, useRef, useState } from './vendor/preact.js';
import { useRested } from './api.js';

/** @typedef {{path: string, name: string, id?: string, tab?: string, params: URLSearchParams}} Place */

/** @param {string} hash */
const pathOf = hash => hash.split('?', 1)[0];

/**
 * Reports whether the second address is the first, or a part of its page.
 * @param {string} whole
 * @param {string} part
 */
export const within = (whole, part) => (pathOf(part) + '/').startsWith(pathOf(whole) + '/');

/** @type {{hash?: string, at: Place}} the last result, because every row of a list reads the address */
let last = { at: /** @type {any} */ (null) };

/** The current page. Callers must copy the parameters before they change them. @returns {Place} */
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
  try {
    return decodeURIComponent(s);
  } catch {
    return s;
  } // a stray % in the address
}

/** @type {Set<(at: Place) => void>} */
const listeners = new Set();
const notify = () => {
  for (const f of listeners) f(read());
};
addEventListener('hashchange', notify);

/**
 * Opens an address without a new entry in the history. It notifies at once, because hashchange can follow the next key
 * press.
 * @param {string} hash
 */
export function go(hash) {
  history.replaceState(null, '', hash);
  notify();
}

/** The address of a path with the current filters. @param {string} path */
export function link(path) {
  const query = read().params.toString();
  return `#/${path}` + (query && '?' + query);
}

export function usePlace() {
  const [at, set] = useState(read);
  useEffect(() => {
    listeners.add(set);
    set(read()); // the value may have changed since the component was rendered
    return () => {
      listeners.delete(set);
    };
  }, []);
  return at;
}

/** Sets parameters of the address. An empty value removes the parameter. @param {Record<string, string>} changed */
export function setParams(changed) {
  const { path, params: now } = read();
  const params = new URLSearchParams(now);
  for (const [name, value] of Object.entries(changed)) value ? params.set(name, value) : params.delete(name);
  go(`#${path || '/'}` + (params.size ? `?${params}` : ''));
}

/**
 * A parameter of the address, and a function that sets it.
 * @param {string} name
 * @returns {[string, (value: string) => void]}
 */
export function useParam(name) {
  return [usePlace().params.get(name) ?? '', value => setParams({ [name]: value })];
}

/**
 * The typed search. The address contains it when typing pauses.
 * @returns {{typed: string, type: (text: string) => void, query: string}}
 */
export function useSearch() {
  const [query, setQuery] = useParam('q');
  const [typed, type] = useState(query);
  const own = useRef(query);
  const rested = useRested(typed);
  useEffect(() => {
    if (query !== own.current) type((own.current = query));
  }, [query]); // the user followed a link
  useEffect(() => {
    if (rested !== own.current) setQuery((own.current = rested));
  }, [rested]);
  return { typed, type, query };
}

/**
 * A setting of all pages, which every address contains. A link applies its setting.
 * @param {string} name
 * @param {string} value the current one; empty if it is the default
 * @param {(value: string) => void} set
 */
export function useShared(name, value, set) {
  const { path, params } = usePlace();
  const seen = params.get(name);
  useEffect(() => {
    const query = read().params.get(name); // read the current value, because an effect runs slightly late
    if (query && query !== value) set(query);
    else if (value && !query) setParams({ [name]: value });
  }, [path, seen, value]);
}
