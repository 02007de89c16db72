// The density of rows, stored in the browser and in the address.
import { useEffect, useState } from './vendor/preact.js';

const root = document.documentElement;
/** @type {Set<() => void>} */
const listeners = new Set();

/** compact or comfortable, or empty if the user has not chosen. */
export const density = () => root.dataset.density ?? '';

/** @param {string} value */
export function setDensity(value) {
  if (value !== 'compact' && value !== 'comfortable') return; // an invalid value in the address
  root.dataset.density = value;
  localStorage.setItem('density', value);
  for (const f of listeners) f();
}

export function useDensity() {
  const [value, set] = useState(density());
  useEffect(() => {
    const f = () => set(density());
    listeners.add(f);
    f(); // the value may have changed since the component was rendered
    return () => {
      listeners.delete(f);
    };
  }, []);
  return value;
}
