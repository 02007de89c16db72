// Campaigns and workflows: their state, their recipients and the results.
import { h } from './vendor/preact.js';
import { call, useFetch } from './api.js';
import { DraftActions, NewSending, Schedule, Simulate, useCampaign } from './campaignforms.js';
import { Shares, percent } from './chart.js';
import { Named } from './named.js';
import { link, useParam, useSearch } from './place.js';
import { useList } from './records.js';
import { Rows, rowLink } from './rows.js';
import { choicesOf, statusChip, unsent } from './sendingstatus.js';
import { accountFilter, ofAccount, useSession } from './session.js';
import { Filled } from './templates.js';
import { Countdown, when } from './time.js';
import { attempt, Doing } from './actions.js';
import { Choice, Search } from './controls.js';
import { idOf } from './copy.js';
import { chip, counted, empty, icon, linkLine, loading, loadingFailed, num, press, seen, tags } from './elements.js';
import { Heading, Split } from './layout.js';
/** @import { Fetched, Kind, Message, Outcome, Sending, Template } from './types.js' */
const { a, article, bdi, div, h3, header, p, section, span, strong, ul } = tags;

/** @type {Record<Kind, {title: string, sign: string, none: string}>} */
const kinds = {
  campaign: {
    title: 'Campaigns',
    sign: 'horn',
    none: 'Create a campaign and schedule it. It is sent to all active contacts on its list.',
  },
  workflow: {
    title: 'Workflows',
    sign: 'flow',
    none: 'Create a workflow and activate it. It sends its email to each contact that is added to its list.',
  },
};

/** @param {{id?: string, tab?: string}} props */
export const Campaigns = ({ id, tab }) => h(Sendings, { kind: 'campaign', id, tab });
/** @param {{id?: string}} props */
export const Workflows = ({ id }) => h(Sendings, { kind: 'workflow', id });

/** @param {{kind: Kind, id?: string, tab?: string}} props */
function Sendings({ kind, id, tab }) {
  useSession();
  const { title, sign, none } = kinds[kind];
  const search = useSearch();
  const [only, setOnly] = useParam('state');
  const place = `${kind}s`;
  const list = /** @type {ReturnType<typeof useList<Sending>>} */ (
    useList(
      '/' + place,
      '',
      { search: search.query, status: only, account_id: accountFilter() },
      { open: id, also: ['records', 'message', 'clock', 'event'] },
    )
  );
  return h(Split, {
    title,
    count: list.total,
    open: !!id,
    home: link(place),
    side: h(NewSending, { kind }),
    tools: [
      h(Search, { search, label: 'Search name, subject, list' }),
      h(Choice, { label: 'State', value: only, onChange: setOnly, options: choicesOf(kind) }),
    ],
    list: h(Rows, {
      list,
      current: id,
      filtered: !!(search.query || only),
      none: empty(sign, `No ${kind}s yet`, none),
      row: (/** @type {Sending} */ s, /** @type {boolean} */ current) => row(kind, s, current),
    }),
    detail: id
      ? h(Opened, { key: id, kind, id, tab })
      : empty(sign, `No ${kind} selected`, `Choose a ${kind} to see its recipients and results.`),
  });
}

/** @param {Kind} kind @param {Sending} s @param {boolean} current */
const row = (kind, s, current) =>
  rowLink(
    `${kind}s/${s.id}`,
    current,
    span({ class: 'line' }, strong({ dir: 'auto' }, seen(s.name)), when(s.scheduled_for ?? s.created_on)),
    span(
      { class: 'line' },
      span(
        { class: 'dim cut' },
        bdi(seen(s.subject || '(no subject)')),
        s.outcome.sent ? ` · ${num(s.outcome.sent)} sent, ${percent(s.outcome.opened, s.outcome.sent)} opened` : '',
      ),
      statusChip(kind, s),
    ),
  );

/** @param {string} path @param {string} id @returns {(path: string) => Promise<Sending>} */
const found = (path, id) => async () => {
  const { data } = await call('GET', path);
  const it = data.find((/** @type {Sending} */ s) => s.id === id);
  if (!it) throw new Error(`${path.startsWith('/campaigns') ? 'Campaign' : 'Workflow'} ${id} does not exist.`);
  return it;
};

/** @param {{kind: Kind, s: Sending, reload: () => void}} props */
function Actions({ kind, s, reload }) {
  const set = (/** @type {string} */ what) => call('POST', ofAccount(`/workflows/${s.id}/${what}`)).then(reload);
  const act = (/** @type {string} */ what, /** @type {string} */ back) =>
    attempt(
      () => set(what),
      () => [`${s.name} ${what}d.`, undefined, () => set(back)],
    );
  const sendNow = () =>
    attempt(
      () => call('POST', ofAccount(`/campaigns/${s.id}/schedule`), {}),
      c => [`${c.name} is being sent.`],
    ).then(reload);
  return div(
    { class: 'actions' },
    s.status === 'incomplete' && [
      h(Doing, { label: 'Send' }, press('send', 'Send now', sendNow, { class: 'main' })),
      h(Schedule, { s, reload }),
      h(DraftActions, { id: s.id }),
    ],
    kind === 'workflow' &&
      h(
        Doing,
        { label: 'State' },
        s.status === 'active'
          ? press('pause', 'Deactivate', () => act('deactivate', 'activate'))
          : press('play', 'Activate', () => act('activate', 'deactivate'), { class: 'main' }),
      ),
    s.outcome.sent > 0 && h(Simulate, { kind, s }),
    a({ class: 'button', href: '#/events?q=' + s.id }, icon('pulse'), 'Events'),
  );
}

/** @param {{kind: Kind, id: string, tab?: string}} props */
function Opened({ kind, id, tab }) {
  const path = `/${kind}s?around=${encodeURIComponent(id)}&limit=1`;
  const {
    data: s,
    error,
    reload,
  } = /** @type {Fetched<Sending>} */ (useFetch(path, ['records', 'message', 'clock', 'event'], found(path, id)));
  if (error) return empty('warn', 'Not found', error);
  if (!s) return loading();
  return article(
    { class: 'sending' },
    header(
      { class: 'head' },
      h(Heading, { text: s.name }),
      p(
        { class: 'who' },
        bdi(seen(s.subject || '(no subject)')),
        s.from_email && span({ class: 'dim' }, ' from ', seen(s.from_email)),
      ),
      p(
        { class: 'meta' },
        statusChip(kind, s),
        s.scheduled_for &&
          span(
            s.status === 'scheduled'
              ? ['is sent in ', h(Countdown, { to: s.scheduled_for }), ', ', when(s.scheduled_for)]
              : ['sent ', when(s.scheduled_for)],
          ),
        s.list_id ? h(Named, { kind: 'list', id: s.list_id }) : span('no list'),
        s.template_id ? h(Named, { kind: 'template', id: s.template_id }) : null,
        idOf(id, `Copy ${kind} id`, `${kind} ${id}`),
      ),
      h(Actions, { kind, s, reload }),
    ),
    s.outcome.sent > 0 && h(CameOf, { o: s.outcome }),
    h(Got, { kind, s }),
    kind === 'campaign' &&
      s.status !== 'delivered' && [s.list_id ? h(Reach, { list: s.list_id }) : null, h(Content, { id, tab })],
  );
}

/** @param {{o: Outcome}} props */
const CameOf = ({ o }) =>
  section(
    { class: 'part' },
    h3('Results'),
    h(Shares, {
      label: 'Results',
      of: o.sent,
      rows: [
        ['Sent', o.sent, 'all'],
        ['Opened', o.opened, 'ok'],
        ['Clicked', o.clicked, 'ok'],
        ['Bounced', o.bounced, 'bad'],
        ['Reported as spam', o.reported_as_spam, 'bad'],
        ['Unsubscribed', o.unsubscribed, 'warn'],
        ['Unsubscribed globally', o.global_unsubscribed, 'warn'],
      ],
    }),
  );

/** The recipient's actions as chips. @param {Message} m @returns {[string, string, string][]} */
const acts = m =>
  /** @type {[unknown, string, string, string][]} */ ([
    [m.status === 'bounced', 'bad', 'cross', 'bounced'],
    [m.reported_as_spam, 'bad', 'warn', 'spam'],
    [m.unsubscribed || m.global_unsubscribed, 'warn', 'exit', 'left'],
    [m.clicks, 'ok', 'hand', 'clicked'],
    [m.opens && !m.clicks, 'ok', 'eye', 'opened'],
  ])
    .filter(([is]) => is)
    .map(([, ...shown]) => shown);

/** The recipients. @param {{kind: Kind, s: Sending}} props */
function Got({ kind, s }) {
  const { sent } = s.outcome;
  const { data, error } = /** @type {Fetched<{data: Message[], total: number}>} */ (
    useFetch(sent ? `/outbox?${kind}_id=${s.id}&limit=100` : '', ['message'])
  );
  if (error) return loadingFailed(error);
  if (!sent) return p({ class: 'lead' }, unsent(kind, s));
  return section(
    { class: 'part' },
    h3('Recipients', span({ class: 'count' }, num(sent))),
    data &&
      ul(
        { class: 'links' },
        data.data.map(m =>
          linkLine(
            m.id,
            `#/inbox/${m.id}`,
            'mail',
            span({ class: 'cut' }, seen(m.to)),
            acts(m).map(x => chip(...x)),
            when(m.time),
          ),
        ),
      ),
    data &&
      data.total > data.data.length &&
      p({ class: 'dim' }, `The latest ${data.data.length} of ${counted(data.total, 'message')}.`),
  );
}

/** The number of contacts that will get the campaign. @param {{list: number}} props */
function Reach({ list }) {
  const { data } = /** @type {Fetched<{data: import('./lists.js').List[]}>} */ (
    useFetch(`/lists?around=${list}&limit=1`, ['records', 'message'])
  );
  const l = data?.data.find(found => found.id === String(list));
  return (
    l &&
    p(
      { class: 'lead' },
      counted(l.contacts.active, 'active contact'),
      ' of ',
      bdi(seen(l.name)),
      ' will get it, except suppressed addresses.',
    )
  );
}

/** The content of a campaign: its own, or the content of its template. @param {{id: string, tab?: string}} props */
function Content({ id, tab }) {
  const { data: c } = useCampaign(id);
  const from = c?.content?.template_id;
  const { data: t } = /** @type {Fetched<Template>} */ (
    useFetch(from ? ofAccount(`/templates/${from}`) : '', ['records'])
  );
  const content = from ? t?.content : (c?.content ?? {});
  if (!c || !content) return null;
  return content.html || content.text
    ? h(Filled, { key: JSON.stringify(content), t: { name: c.name, content }, at: `campaigns/${id}`, tab })
    : p({ class: 'lead' }, 'No content yet. Edit the campaign to add HTML, text or a template.');
}
