// Campaigns and workflows: where they stand, who got their messages, and what came of it.
import { h } from './vendor/preact.js';
import { call, everyPage, useAnswer } from './api.js';
import { Shares, percent } from './chart.js';
import { Create } from './create.js';
import { useList } from './list.js';
import { go, link, useParam, useSearch } from './place.js';
import { Rows } from './rows.js';
import { accountFilter, ofAccount, useSession } from './session.js';
import { Countdown, local, now, when } from './time.js';
import { Choice, Copy, Doing, Heading, Search, Split, attempt, chip, counted, empty, icon, seen, tags } from './ui.js';
/**
 * @typedef {import('./api.js').Message} Message @typedef {import('./create.js').Part} Part
 * @typedef {{id: string, name: string, list_id?: number, list_name?: string, from_email?: string, subject?: string, template_id?: number, status: string, created_on: string, scheduled_for?: string, outcome: import('./overview.js').Outcome}} Sending
 * @typedef {'campaign'|'workflow'} Kind
 */
const { a, article, button, div, h3, header, li, p, section, span, strong, ul } = tags;

/** @type {Record<Kind, {title: string, sign: string, states: [string, string][], none: string}>} */
const kinds = {
  campaign: { title: 'Campaigns', sign: 'horn', states: [['', 'All'], ['incomplete', 'Drafts'], ['scheduled', 'Scheduled'], ['delivered', 'Delivered']], none: 'Create a campaign and schedule it. It is sent to all active contacts of its list.' },
  workflow: { title: 'Workflows', sign: 'flow', states: [['', 'All'], ['active', 'Active'], ['inactive', 'Inactive']], none: 'Create a workflow and activate it. It sends its email to each contact that is added to its list.' },
};

/** @type {Record<string, [string, string]>} */
const tones = { incomplete: ['', 'page'], scheduled: ['warn', 'clock'], delivering: ['info', 'send'], delivered: ['ok', 'check'], active: ['ok', 'play'], inactive: ['', 'pause'] };
/** @param {Sending} s */
const state = s => chip(...(tones[s.status] ?? ['info', '']), s.status === 'incomplete' ? 'draft' : s.status);

/** @param {{id?: string}} props */
export const Campaigns = ({ id }) => h(Sendings, { kind: 'campaign', id });
/** @param {{id?: string}} props */
export const Workflows = ({ id }) => h(Sendings, { kind: 'workflow', id });

/** @param {{kind: Kind, id?: string}} props */
function Sendings({ kind, id }) {
  useSession();
  const { title, sign, states, none } = kinds[kind];
  const search = useSearch();
  const [only, setOnly] = useParam('state');
  const place = `${kind}s`;
  const list = /** @type {ReturnType<typeof useList<Sending>>} */ (useList('/' + place, '', { search: search.asked, status: only, account_id: accountFilter() }, { open: id, also: ['records', 'message', 'clock', 'event'] }));
  return h(Split, {
    title, count: list.total, open: !!id, home: link(place), side: h(New, { kind }),
    tools: [h(Search, { value: search.typed, onInput: search.type, label: 'Search name, subject, list' }), h(Choice, { label: 'State', value: only, onChange: setOnly, options: states })],
    list: h(Rows, { list, current: id, filtered: !!(search.asked || only), none: empty(sign, `No ${kind} yet`, none), row: (/** @type {Sending} */ s, /** @type {boolean} */ current) => row(s, place, current) }),
    detail: id ? h(Opened, { key: id, kind, id }) : empty(sign, `No ${kind} open`, 'Choose one to see its recipients and results.'),
  });
}

/** @param {Sending} s @param {string} place @param {boolean} current */
const row = (s, place, current) => a({ href: link(`${place}/${s.id}`), 'aria-current': current ? 'true' : undefined },
  span({ class: 'line' }, strong(seen(s.name)), when(s.scheduled_for ?? s.created_on)),
  span({ class: 'line' }, span({ class: 'dim cut' }, seen(s.subject || '(no subject)'), s.outcome.sent ? ` · ${s.outcome.sent.toLocaleString('en')} sent, ${percent(s.outcome.opened, s.outcome.sent)} opened` : ''), state(s)));

/** @param {string} path @param {string} id @returns {(path: string) => Promise<Sending>} */
const found = (path, id) => async () => {
  const { data } = await call('GET', path);
  const it = data.find((/** @type {Sending} */ s) => s.id === id);
  if (!it) throw new Error(`No ${path.startsWith('/campaigns') ? 'campaign' : 'workflow'} ${id}.`);
  return it;
};

/** @param {{kind: Kind, id: string}} props */
function Opened({ kind, id }) {
  const path = `/${kind}s?around=${encodeURIComponent(id)}&limit=1`;
  const { data: s, error, reload } = /** @type {ReturnType<typeof useAnswer<Sending>>} */ (useAnswer(path, ['records', 'message', 'clock', 'event'], found(path, id)));
  if (error) return empty('warn', 'Not here', error);
  if (!s) return div({ class: 'loading', 'aria-busy': 'true' });
  const act = (/** @type {string} */ what, /** @type {string} */ said) => attempt(() => call('POST', ofAccount(`/workflows/${id}/${what}`)), () => [said]).then(reload);
  const sendNow = () => attempt(() => call('POST', ofAccount(`/campaigns/${id}/schedule`), {}), c => [`${c.name} is being sent.`]).then(reload);
  return article({ class: 'sending' },
    header({ class: 'head' },
      h(Heading, { text: s.name }),
      p({ class: 'who' }, seen(s.subject || '(no subject)'), s.from_email && span({ class: 'dim' }, ' from ', seen(s.from_email))),
      p({ class: 'meta' }, state(s),
        s.scheduled_for && span(s.status === 'scheduled' ? ['is sent in ', h(Countdown, { to: s.scheduled_for }), ', ', when(s.scheduled_for)] : ['sent ', when(s.scheduled_for)]),
        s.list_id ? a({ href: `#/contacts/${s.list_id}` }, 'list ', seen(s.list_name)) : span('no list'), s.template_id ? a({ href: `#/templates/${s.template_id}` }, `template ${s.template_id}`) : null,
        span({ class: 'id' }, `${kind} ${id}`, h(Copy, { value: id, label: `Copy the ${kind} id` }))),
      div({ class: 'actions' },
        s.status === 'incomplete' && [h(Doing, { label: 'Send' }, button({ type: 'button', class: 'button main', onClick: sendNow }, icon('send'), 'Send now')), h(Schedule, { s, reload })],
        kind === 'workflow' && h(Doing, { label: 'State' }, s.status === 'active' ? button({ type: 'button', class: 'button', onClick: () => act('deactivate', `${s.name} deactivated.`) }, icon('pause'), 'Deactivate')
          : button({ type: 'button', class: 'button main', onClick: () => act('activate', `${s.name} activated.`) }, icon('play'), 'Activate')),
        a({ class: 'button', href: '#/events?q=' + id }, icon('pulse'), 'Events'))),
    s.outcome.sent > 0 && h(CameOf, { o: s.outcome }),
    h(Got, { kind, id, sent: s.outcome.sent }));
}

/** @param {{o: import('./overview.js').Outcome}} props */
const CameOf = ({ o }) => section({ class: 'part' }, h3('Results'),
  h(Shares, { label: 'Results', of: o.sent, rows: [['Sent', o.sent, 'all'], ['Opened', o.opened, 'ok'], ['Clicked', o.clicked, 'ok'], ['Bounced', o.bounced, 'bad'], ['Reported as spam', o.reported_as_spam, 'bad'], ['Left the list', o.unsubscribed, 'warn'], ['Left all email', o.global_unsubscribed, 'warn']] }));

/** What a recipient did, in words. @param {Message} m @returns {[string, string, string][]} */
const acts = m => /** @type {[unknown, string, string, string][]} */ ([
  [m.status === 'bounced', 'bad', 'cross', 'bounced'], [m.reported_as_spam, 'bad', 'warn', 'spam'], [m.unsubscribed || m.global_unsubscribed, 'warn', 'exit', 'left'], [m.clicks, 'ok', 'hand', 'clicked'], [m.opens && !m.clicks, 'ok', 'eye', 'opened'],
]).filter(([is]) => is).map(([, ...shown]) => shown);

/** Who got its messages. @param {{kind: Kind, id: string, sent: number}} props */
function Got({ kind, id, sent }) {
  const { data, error } = /** @type {ReturnType<typeof useAnswer<{data: Message[], total: number}>>} */ (useAnswer(sent ? `/outbox?${kind}_id=${id}&limit=100` : '', ['message']));
  if (error) return empty('warn', 'No answer', error);
  if (!sent) return p({ class: 'lead' }, kind === 'campaign' ? 'Not sent yet. Send it now or schedule it.' : 'Not sent yet. Add a contact to its list.');
  return section({ class: 'part' }, h3('Recipients', span({ class: 'count' }, sent.toLocaleString('en'))),
    data && ul({ class: 'links' }, data.data.map(m => li({ key: m.id }, a({ href: `#/inbox/${m.id}` }, icon('mail'), span({ class: 'cut' }, seen(m.to)), acts(m).map(x => chip(...x)), when(m.time))))),
    data && data.total > data.data.length && p({ class: 'dim' }, `The latest ${data.data.length} of ${counted(data.total, 'message')}.`));
}

/** @param {{s: Sending, reload: () => void}} props */
const Schedule = ({ s, reload }) => h(Create, {
  label: 'Schedule', sign: 'clock', title: `Schedule ${s.name}`, ok: 'Schedule',
  parts: [{ name: 'scheduled_for', label: 'Time (virtual clock)', kind: 'time', note: 'Leave empty to send it now.', start: local(now() + 3600_000), read: v => v ? Math.floor(new Date(v).getTime() / 1000) : undefined }],
  send: body => call('POST', ofAccount(`/campaigns/${s.id}/schedule`), body),
  done: c => { reload(); return [`${c.name} is ${c.status}.`]; },
});

/** A campaign or a workflow of one's own; the lists and templates to choose from come when the form opens. @param {{kind: Kind}} props */
function New({ kind }) {
  const lists = /** @type {ReturnType<typeof useAnswer<{data: {list_id: number, name: string}[]}>>} */ (useAnswer(ofAccount('/lists'), ['records'], everyPage)).data?.data ?? [];
  const templates = /** @type {ReturnType<typeof useAnswer<{data: {template_id: number, name: string}[]}>>} */ (useAnswer(ofAccount('/templates?per_page=100'), ['records'])).data?.data ?? [];
  const id = (/** @type {string} */ v) => v ? Number(v) : undefined;
  const own = (/** @type {Record<string, any>} */ v) => !v['content.template_id'];
  /** @type {Part[]} */
  const parts = [
    { name: 'name', label: 'Name', hint: kind === 'campaign' ? 'Autumn catalogue' : 'Welcome' },
    { name: 'list_id', label: 'List', kind: 'select', options: [['', 'none'], ...lists.map(l => /** @type {[string, string]} */ ([String(l.list_id), l.name]))], read: id },
    { name: 'sender.name', label: 'Sender’s name', hint: 'Harbour Books' },
    { name: 'sender.email', label: 'Sender’s address', hint: 'hello@example.com' },
    { name: 'content.subject', label: 'Subject', hint: 'Hello {{first_name}}' },
    { name: 'content.template_id', label: 'Content', kind: 'select', options: [['', 'inline, below'], ...templates.map(t => /** @type {[string, string]} */ ([String(t.template_id), `template ${t.name}`]))], read: id },
    { name: 'content.html', label: 'HTML', kind: 'area', hint: '<p>Hello {{first_name}}</p>', when: own },
    { name: 'content.text', label: 'Text', kind: 'area', hint: 'Hello {{first_name}}', when: own },
  ];
  return h(Create, {
    label: 'New', title: `New ${kind}`, main: true, ok: `Create the ${kind}`, parts,
    send: body => call('POST', ofAccount(`/${kind}s`), kind === 'workflow' ? { trigger: 'subscribed', ...body } : body),
    done: made => {
      go(link(`${kind}s/${made[kind + '_id']}`));
      return [kind === 'campaign' ? `Draft ${made.name} created. Send it now or schedule it.` : `${made.name} created. Activate it to send it.`];
    },
  });
}
