// The virtual clock, which can be frozen and advanced.
import { h, useEffect } from './vendor/preact.js';
import { call, useFetch } from './api.js';
import { FormButton } from './formbutton.js';
import { dated, local, set, useNow } from './time.js';
import { attempt, Doing } from './actions.js';
import { icon, press, tags } from './elements.js';
import { useNarrow } from './layout.js';
/** @import { Fetched } from './types.js' */
/** @typedef {import('./time.js').View} View */
const { button, div, span } = tags;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** @param {View} view @returns {[any]} */
const shown = view => {
  set(view);
  return [['Clock set to ', dated(view.now), '.']];
};

/** Advances the clock and shows the new time. @param {{duration_ms: number} | {to: string}} body */
const pass = body => attempt(() => call('POST', '/clock/advance', body), shown);

/** The button that advances the clock to the time of pending work. @param {{to: string, label: string}} props */
export const AdvanceTo = ({ to, label }) =>
  h(
    Doing,
    { label },
    press('', 'Now', () => pass({ to }), { title: 'Advance clock to this time' }),
  );

export function Clock() {
  const { data: view } = /** @type {Fetched<View>} */ (useFetch('/clock', ['clock', 'delivery', 'message', 'records']));
  useEffect(() => {
    if (view) set(view);
  }, [view]);
  const at = new Date(useNow()).toISOString();
  const narrow = useNarrow();
  if (!view) return null;
  const freeze = () =>
    attempt(
      () => call('PUT', '/clock', { frozen: !view.frozen }),
      (/** @type {View} */ v) => {
        set(v);
        return [
          v.frozen ? 'Clock frozen.' : 'Clock resumed.',
          undefined,
          () => call('PUT', '/clock', { frozen: view.frozen }),
        ];
      },
    );
  return h(
    Doing,
    { label: 'Virtual clock', class: 'clock' },
    button(
      {
        type: 'button',
        class: 'foot',
        'aria-pressed': String(view.frozen),
        onClick: freeze,
        title: view.frozen ? 'Resume clock' : 'Freeze clock',
      },
      icon('clock'),
      span(dated(at), view.frozen ? ' frozen' : ' running'),
    ),
    div({ class: 'passing' }, steps(view), !narrow && h(SetClock, { at })),
  );
}

/** @param {View} view */
const steps = ({ next }) => [
  step('+1 min', 'Advance 1 minute', { duration_ms: minute }),
  step('+1 h', 'Advance 1 hour', { duration_ms: hour }),
  step('+1 day', 'Advance 1 day', { duration_ms: day }),
  step(
    'To next',
    next ? `Advance to the next scheduled work: ${next.what}` : 'No work is scheduled',
    { to: 'next' },
    !next,
  ),
];

/**
 * The form that sets the clock. The menu of a phone does not contain it, because opening a dialog closes the menu.
 * @param {{at: string}} props
 */
const SetClock = ({ at }) =>
  h(FormButton, {
    label: 'Set',
    sign: 'clock',
    title: 'Set clock',
    ok: 'Set',
    send: body => call('PUT', '/clock', body),
    done: shown,
    parts: [
      {
        name: 'now',
        label: 'Date and time (virtual clock)',
        kind: 'time',
        note: 'Work that is due by this time runs immediately.',
        start: local(Date.parse(at)),
        read: v => (v ? new Date(v).toISOString() : undefined),
      },
    ],
  });

/**
 * @param {string} label
 * @param {string} title
 * @param {{duration_ms: number} | {to: string}} body
 * @param {boolean} [off]
 */
const step = (label, title, body, off) => press('', label, () => pass(body), { title, disabled: off });
