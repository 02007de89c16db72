// Where we are is in the address, #/place/id/tab?q=…&state=…, with how its list is
// looked at: every view can be linked to, and a reload shows the same.
import { useEffect, useRef, useState } from './vendor/preact.js';
import { useRested } from './api.js';

/** @typedef {{path: string, name: string, id?: string, tab?: string, params: URLSearchParams}} Place */

/** @param {string} hash */
const pathOf = hash => hash.split('?', 1)[0];

/** Whether two addresses lead to the same, or to a part of it. @param {string} whole @param {string} part */
export const within = (whole, part) => (pathOf(part) + '/').startsWith(pathOf(whole) + '/');

/** @returns {Place} */
function read() {
  const path = pathOf(location.hash.slice(1));
  const [, name, id, tab] = path.split('/').map(plain);
  return { path, name, id, tab, params: new URLSearchParams(location.hash.slice(path.length + 2)) };
}

/** @param {string} s */
function plain(s) {
  try { return decodeURIComponent(s); } catch { return s; } // a stray % that somebody typed
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
    set(read()); // it may have changed after the component was drawn
    return () => { listeners.delete(set); };
  }, []);
  return at;
}

/** Says in the address how something is looked at; empty is as usual. @param {Record<string, string>} changed */
export function ask(changed) {
  const { path, params } = read();
  for (const [name, value] of Object.entries(changed)) value ? params.set(name, value) : params.delete(name);
  go(`#${path || '/'}` + (params.size ? `?${params}` : ''));
}

/** How something is looked at, by the address. @param {string} name @returns {[string, (value: string) => void]} */
export function useParam(name) {
  return [usePlace().params.get(name) ?? '', value => ask({ [name]: value })];
}

/**
 * A search as it is typed, which goes into the address when the typing rests.
 * @param {string[]} [instead] other parameters that it takes the place of
 * @returns {{typed: string, type: (text: string) => void, asked: string}}
 */
export function useSearch(instead = []) {
  const asked = usePlace().params.get('q') ?? '';
  const [typed, type] = useState(asked);
  const own = useRef(asked);
  const rested = useRested(typed);
  useEffect(() => { if (asked !== own.current) type(own.current = asked); }, [asked]); // somebody followed a link
  useEffect(() => {
    if (rested === own.current) return;
    own.current = rested;
    ask({ q: rested, ...Object.fromEntries(instead.map(name => [name, ''])) });
  }, [rested]);
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
  const asked = params.get(name) ?? '';
  useEffect(() => {
    if (asked && asked !== value) set(asked);
    else if (value && !asked) ask({ [name]: value });
  }, [path, asked, value]);
}
