// The platform's clock: it can be stopped, and time can be let pass.
import { h, useEffect } from './vendor/preact.js';
import { call, useAnswer } from './api.js';
import { Create } from './create.js';
import { dated, local, set, useNow } from './time.js';
import { Doing, attempt, icon, tags, useNarrow } from './ui.js';
/** @typedef {import('./time.js').View} View */
const { button, div, span } = tags;

const minute = 60_000, hour = 60 * minute, day = 24 * hour;

/** @param {View} view @returns {[any]} */
const shown = view => { set(view); return [['Now it is ', dated(view.now), ' on the platform.']]; };

/** Lets time pass, and says what time it is then. @param {{duration_ms: number} | {to: string}} body */
export const pass = body => attempt(() => call('POST', '/clock/advance', body), shown);

export function Clock() {
  const { data: view } = /** @type {ReturnType<typeof useAnswer<View>>} */ (useAnswer('/clock', ['clock', 'delivery', 'message', 'records']));
  useEffect(() => { if (view) set(view); }, [view]);
  const at = new Date(useNow()).toISOString(), narrow = useNarrow();
  if (!view) return null;
  const freeze = () => attempt(() => call('PUT', '/clock', { frozen: !view.frozen }), (/** @type {View} */ v) => { set(v); return [v.frozen ? 'The clock stands still.' : 'The clock runs.']; });
  return h(Doing, { label: 'The clock of the platform', class: 'clock' },
    button({ type: 'button', class: 'foot', 'aria-pressed': String(view.frozen), onClick: freeze, title: view.frozen ? 'Let the clock run' : 'Stop the clock' },
      icon('clock'), span(dated(at), view.frozen ? ' frozen' : ' running')),
    div({ class: 'passing' },
      step('+1 min', 'Let a minute pass', { duration_ms: minute }),
      step('+1 h', 'Let an hour pass', { duration_ms: hour }),
      step('+1 day', 'Let a day pass', { duration_ms: day }),
      step('To next', view.next ? `To the next scheduled work: ${view.next.what}` : 'No work is scheduled', { to: 'next' }, !view.next),
      !narrow && h(Create, { // a dialog cannot open in the menu of a phone, which it closes
        label: 'Set', sign: 'clock', title: 'Set the clock', ok: 'Set it', send: body => call('PUT', '/clock', body), done: shown,
        parts: [{ name: 'now', label: 'Date and time of the platform', kind: 'time', note: 'What is due by then happens at once, and late.', start: local(Date.parse(at)), read: v => v ? new Date(v).toISOString() : undefined }],
      })));
}

/** @param {string} label @param {string} title @param {{duration_ms: number} | {to: string}} body @param {boolean} [off] */
const step = (label, title, body, off) => button({ type: 'button', class: 'button', title, disabled: off, onClick: () => pass(body) }, label);
