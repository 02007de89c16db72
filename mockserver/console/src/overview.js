// The overview: all resources, the activity per minute, and the pending work with its
// reason.
import { h } from './vendor/preact.js';
import { queryOf, useFetch } from './api.js';
import { Bars, legend, percent } from './chart.js';
import { AdvanceTo } from './clock.js';
import { First } from './first.js';
import { useParam } from './place.js';
import { State } from './state.js';
import { accountFilter, useSession } from './session.js';
import { Countdown, useNow, when } from './time.js';
import { Choice } from './controls.js';
import { counted, icon, loading, loadingFailed, num, seen, tags } from './elements.js';
import { Page } from './layout.js';
/** @import { Fetched, Minute, View, Waiting } from './types.js' */
const {
  a,
  bdi,
  caption,
  details,
  div,
  h2,
  li,
  p,
  section,
  span,
  strong,
  summary,
  table,
  tbody,
  td,
  th,
  thead,
  tr,
  ul,
} = tags;

/** @type {[string, string, number, string][]} the parameter, words, minutes and short label of each period */
const spans = [
  ['', 'hour', 60, '1 h'],
  ['6h', '6 hours', 360, '6 h'],
  ['24h', '24 hours', 1440, '24 h'],
];
/** The number of bars in a chart. */
const columns = 60;

export function Overview() {
  useSession();
  const [span, setSpan] = useParam('span');
  const [, words, minutes] = spans.find(([name]) => name === span) ?? spans[0];
  const query = queryOf({ minutes: String(minutes), account_id: accountFilter() });
  const { data: view, error } = /** @type {Fetched<View>} */ (
    useFetch('/overview?' + query, ['message', 'delivery', 'event', 'records', 'clock', 'fault'])
  );
  const status = error ? loadingFailed(error) : !view && loading();
  const pick = h(Choice, {
    label: 'Period',
    value: span,
    onChange: setSpan,
    options: spans.map(([v, , , short]) => [v, short]),
  });
  // State stays while the page loads another period or account, because it contains an open confirmation.
  return h(Page, {
    title: 'Overview',
    children: div(
      { class: 'overview' },
      status,
      !status && view && [untouched(view) && h(First, {}), h(Counted, { view })],
      h(State, {}),
      !status && view && [h(Timeline, { view, minutes, words, pick }), h(WaitingList, { all: view.waiting })],
    ),
  });
}

/** Reports whether the server has no records and no activity. @param {View} v */
const untouched = v => !v.messages.sent && !v.events && !v.attempts && !Object.values(v.resources).some(n => n);

/** @param {{view: View}} props */
function Counted({ view: { messages: m, contacts: c, deliveries: d, resources: r, events, attempts, failed } }) {
  const waiting = d.queued + d.retrying + d.delivering;
  return ul(
    { class: 'tiles', 'aria-label': 'Records' },
    tile('inbox', 'inbox', 'Messages sent', m.sent, [
      m.opened && `${percent(m.opened, m.sent)} opened`,
      m.bounced && `${num(m.bounced)} bounced`,
    ]),
    tile('events', 'pulse', 'Events', events, []),
    tile('deliveries', 'hook', 'Delivered', d.delivered, [
      waiting && `${num(waiting)} in progress`,
      d.failed && `${num(d.failed)} failed`,
      d.dropped && `${num(d.dropped)} dropped`,
    ]),
    tile('deliveries', 'retry', 'Attempts', attempts, [failed && `${num(failed)} failed`]),
    tile('contacts', 'people', 'Active contacts', c.active, [
      c.pending && `${num(c.pending)} pending`,
      `on ${counted(r.lists, 'list')}`,
    ]),
    tile('templates', 'page', 'Templates', r.templates, []),
    tile('campaigns', 'horn', 'Campaigns', r.campaigns, [r.workflows && counted(r.workflows, 'workflow')]),
    tile('suppressed', 'block', 'Suppressed', r.suppressed, [
      m.reported_as_spam && `${num(m.reported_as_spam)} reported spam`,
    ]),
  );
}

/**
 * @param {string} place
 * @param {string} sign
 * @param {string} name
 * @param {number} n
 * @param {(string|number)[]} notes
 */
const tile = (place, sign, name, n, notes) =>
  li(
    { key: name },
    a(
      { class: 'tile', href: `#/${place}` },
      span({ class: 'name' }, icon(sign), name),
      strong({ class: 'num' }, num(n)),
      span({ class: 'dim' }, notes.filter(Boolean).join('\u00a0· ')),
    ),
  );

/**
 * The activity in equal parts of the period.
 * @param {Minute[]} minutes
 * @param {number} now
 * @param {number} back in minutes
 */
function parts(minutes, now, back) {
  const each = back / columns;
  const end = Math.floor(now / 60_000) + 1;
  const all = Array.from({ length: columns }, (_, n) => ({
    from: (end - back + n * each) * 60_000,
    messages: 0,
    events: 0,
    attempts: 0,
    failed: 0,
  }));
  for (const m of minutes) {
    const part = all[Math.floor((Date.parse(m.minute) / 60_000 - (end - back)) / each)];
    if (part)
      for (const name of /** @type {('messages'|'events'|'attempts'|'failed')[]} */ ([
        'messages',
        'events',
        'attempts',
        'failed',
      ]))
        part[name] += m[name];
  }
  return all;
}

/** @param {{view: View, minutes: number, words: string, pick: import('./elements.js').Child}} props */
function Timeline({ view, minutes, words, pick }) {
  const all = parts(view.minutes, useNow(), minutes);
  const each = minutes / columns;
  const happened = all.filter(x => x.messages || x.events || x.attempts);
  return section(
    { class: 'card timeline', 'aria-labelledby': 'timeline' },
    div({ class: 'title' }, h2({ id: 'timeline' }, 'The last ' + words), pick),
    series('Messages', 'messages', all, each, words),
    series('Events', 'events', all, each, words),
    series('Attempts', 'attempts', all, each, words),
    div({ class: 'axis dim num' }, span(clock(all[0].from)), span(clock(all[columns / 2].from)), span('now')),
    div(
      { class: 'foot-note' },
      each === 1 ? 'Each bar is one minute of the virtual clock.' : `Each bar is ${each} minutes of the virtual clock.`,
      ' ',
      legend('bad', 'failed attempts'),
    ),
    details(
      summary('As a table'),
      happened.length
        ? div(
            { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Activity as a table' },
            table(
              { class: 'table' },
              caption({ class: 'hidden' }, `Activity in the last ${words}`),
              thead(
                tr(
                  ['Time', 'Messages', 'Events', 'Attempts', 'Failed'].map(name =>
                    th({ scope: 'col', key: name }, name),
                  ),
                ),
              ),
              tbody(
                happened
                  .toReversed()
                  .map(x =>
                    tr(
                      { key: x.from },
                      th({ scope: 'row' }, when(new Date(x.from).toISOString())),
                      td({ class: 'num' }, x.messages),
                      td({ class: 'num' }, x.events),
                      td({ class: 'num' }, x.attempts),
                      td({ class: 'num' }, x.failed),
                    ),
                  ),
              ),
            ),
          )
        : p({ class: 'dim' }, 'No activity in this period.'),
    ),
  );
}

/** @param {number} at */
const clock = at => new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/**
 * @param {string} title
 * @param {'messages'|'events'|'attempts'} name
 * @param {ReturnType<typeof parts>} all
 * @param {number} each
 * @param {string} words
 */
function series(title, name, all, each, words) {
  const sum = all.reduce((n, x) => n + x[name], 0);
  const most = Math.max(...all.map(x => x[name]));
  const failed = (/** @type {typeof all[0]} */ x) => (name === 'attempts' ? x.failed : 0);
  return div(
    { class: 'series', key: name },
    span({ class: 'name' }, strong(title), span({ class: 'dim num' }, num(sum))),
    h(Bars, {
      label: `${title}: ${sum} in the last ${words}, at most ${most} in ${each === 1 ? 'a minute' : each + ' minutes'}`,
      bars: all.map(x => ({
        n: x[name],
        bad: failed(x),
        title: `${clock(x.from)}: ${x[name]} ${name}${failed(x) ? `, ${failed(x)} failed` : ''}`,
      })),
    }),
    span({ class: 'dim num most' }, most ? `max ${num(most)}` : ''),
  );
}

/** @param {{all: Waiting[]}} props */
const WaitingList = ({ all }) =>
  section(
    { class: 'card waiting', 'aria-labelledby': 'waiting' },
    h2({ id: 'waiting' }, 'Pending work'),
    all.length
      ? ul(
          { class: 'waits' },
          all.map((w, n) => h(Row, { key: `${w.why} ${w.webhook_id ?? w.url ?? w.campaign_id ?? w.list_id} ${n}`, w })),
        )
      : p({ class: 'dim' }, 'No pending work.'),
  );

/** @type {Record<string, [string, string, string]>} a tone, a sign and the reason */
const reasons = {
  retry: ['warn', 'retry', 'The last attempt failed.'],
  rate_limit: ['warn', 'clock', 'The webhook’s rate limit has been reached.'],
  archived: ['', 'archive', 'The webhook is archived. Unarchive it to send the deliveries.'],
  delay: ['warn', 'bolt', 'A fault rule delays the deliveries.'],
  turn: ['', 'send', 'Waiting for other attempts to finish.'],
  campaign: ['', 'clock', 'The campaign is scheduled.'],
  confirmation: ['', 'mail', 'The recipients have not followed the link in the confirmation email.'],
};

/** @param {{w: Waiting}} props */
function Row({ w }) {
  const [tone, sign, why] = reasons[w.why] ?? ['', 'clock', w.why];
  const until = w.until; // a constant, so the type checker narrows it in the handler
  return li(
    { class: tone },
    icon(sign),
    div({ class: 'about' }, what(w), p({ class: 'dim' }, why)),
    until && span({ class: 'until' }, 'in ', h(Countdown, { to: until })),
    until && h(AdvanceTo, { to: until, label: 'Clock' }),
  );
}

/** @param {Waiting} w */
function what(w) {
  if (w.why === 'campaign') return a({ href: `#/campaigns/${w.campaign_id}` }, 'Campaign ', bdi(seen(w.name)));
  if (w.why === 'confirmation')
    return a({ href: `#/contacts/${w.list_id}?status=pending` }, counted(w.n, 'contact'), ' of ', bdi(seen(w.name)));
  const state = w.why === 'retry' ? 'retrying' : 'queued';
  return a(
    { href: `#/deliveries?state=${state}` + (w.webhook_id ? `&webhook=${w.webhook_id}` : '') },
    counted(w.n, 'delivery', 'deliveries'),
    w.webhook_id ? ` to webhook ${w.webhook_id}` : ' to ',
    !w.webhook_id && span({ class: 'mono' }, w.url),
  );
}
