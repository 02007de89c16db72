// The platform's clock: it can be stopped, and time can be let pass.
import { h, useEffect } from './vendor/preact.js';
import { call, useAnswer } from './api.js';
import { set, useNow, when } from './time.js';
import { Doing, attempt, icon, tags } from './ui.js';
/** @typedef {import('./time.js').View} View */
const { button, div, span } = tags;

const minute = 60_000, hour = 60 * minute;

/** Lets time pass, and says what time it is then. @param {{duration_ms: number} | {to: string}} body */
export const pass = body => attempt(() => call('POST', '/clock/advance', body), (/** @type {View} */ view) => { set(view); return [['Now it is ', when(view.now), ' on the platform.']]; });

export function Clock() {
  const { data: view } = /** @type {ReturnType<typeof useAnswer<View>>} */ (useAnswer('/clock', ['clock', 'delivery', 'message', 'records']));
  useEffect(() => { if (view) set(view); }, [view]);
  const at = new Date(useNow()).toISOString();
  if (!view) return null;
  const freeze = () => attempt(() => call('PUT', '/clock', { frozen: !view.frozen }), (/** @type {View} */ v) => { set(v); return [v.frozen ? 'The clock stands still.' : 'The clock runs.']; });
  return h(Doing, { label: 'The clock of the platform', class: 'clock' },
    button({ type: 'button', class: 'foot', 'aria-pressed': String(view.frozen), onClick: freeze, title: view.frozen ? 'Let the clock run' : 'Stop the clock' },
      icon('clock'), span(when(at), view.frozen ? ' frozen' : ' running')),
    div({ class: 'passing' },
      step('+1 min', 'Let a minute pass', { duration_ms: minute }),
      step('+1 h', 'Let an hour pass', { duration_ms: hour }),
      step('To next', view.next ? `To the next scheduled work: ${view.next.what}` : 'No work is scheduled', { to: 'next' }, !view.next)));
}

/** @param {string} label @param {string} title @param {{duration_ms: number} | {to: string}} body @param {boolean} [off] */
const step = (label, title, body, off) => button({ type: 'button', class: 'button', title, disabled: off, onClick: () => pass(body) }, label);
