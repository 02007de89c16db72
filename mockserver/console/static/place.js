// Where we are is in the address, #/place/id/tab?query, so that every view can be linked to.
import { useEffect, useState } from './vendor/preact.js';

/** @typedef {{name: string, id?: string, tab?: string, query?: string}} Place */

/** @returns {Place} */
function read() {
  const [path, query] = location.hash.slice(1).split('?');
  const [, name, id, tab] = path.split('/').map(plain);
  return { name, id, tab, query: query && plain(query) };
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

export function usePlace() {
  const [at, set] = useState(read);
  useEffect(() => { listeners.add(set); return () => { listeners.delete(set); }; }, []);
  return at;
}
