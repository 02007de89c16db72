// Campaigns and workflows: their state, their recipients and the results.
import { h } from './vendor/preact.js';
import { call, everyPage, useFetch } from './api.js';
import { Shares, percent } from './chart.js';
import { Create } from './create.js';
import { useList } from './list.js';
import { go, link, useParam, useSearch } from './place.js';
import { resultText } from './recipients.js';
import { Rows, rowLink } from './rows.js';
import { choicesOf, state, unsent } from './sendingstatus.js';
import { accountFilter, ofAccount, useSession } from './session.js';
import { stored } from './stored.js';
import { Filled, mergeTags } from './templates.js';
import { Named } from './why.js';
import { Countdown, local, now, when } from './time.js';
import { attempt, Doing } from './actions.js';
import { Choice, optionsOf, Search } from './controls.js';
import { idOf } from './copy.js';
import {
  chip,
  counted,
  empty,
  icon,
  key,
  linkLine,
  loading,
  loadingFailed,
  num,
  press,
  seen,
  tags,
} from './elements.js';
import { Heading, Split } from './layout.js';
/** @import { Campaign, CreateProps, Fetched, Kind, Message, Outcome, Part, Sending, Template } from './types.js' */
const { a, article, div, h3, header, p, section, span, strong, ul } = tags;

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
    side: h(New, { kind }),
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
    span({ class: 'line' }, strong(seen(s.name)), when(s.scheduled_for ?? s.created_on)),
    span(
      { class: 'line' },
      span(
        { class: 'dim cut' },
        seen(s.subject || '(no subject)'),
        s.outcome.sent ? ` · ${num(s.outcome.sent)} sent, ${percent(s.outcome.opened, s.outcome.sent)} opened` : '',
      ),
      state(kind, s),
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
      h(Draft, { id: s.id }),
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
        seen(s.subject || '(no subject)'),
        s.from_email && span({ class: 'dim' }, ' from ', seen(s.from_email)),
      ),
      p(
        { class: 'meta' },
        state(kind, s),
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

/** Simulates an action of a share of the recipients. @param {{kind: Kind, s: Sending}} props */
function Simulate({ kind, s }) {
  const { info } = useSession();
  return h(Create, {
    label: 'Simulate',
    sign: 'dice',
    title: `Simulate recipients of ${s.name}`,
    ok: 'Simulate',
    parts: [
      {
        name: 'percent',
        label: 'Percent of the delivered messages',
        kind: 'number',
        start: 5,
        read: Number,
        note: 'Chosen at random with the seed on the page Faults.',
      },
      {
        name: 'action',
        label: 'Action',
        kind: 'select',
        start: 'bounce',
        options: [
          ['bounce', 'Bounce'],
          ['open', 'Open'],
          ['click', 'Click the first link'],
          ['complain', 'Report spam'],
          ['unsubscribe', 'Unsubscribe'],
        ],
      },
      {
        name: 'category',
        label: 'Category',
        kind: 'select',
        start: 'bounce_hb',
        options: optionsOf(info?.bounce_categories ?? [], c => [c.category, c.description]),
        when: v => v.action === 'bounce',
      },
    ],
    send: async body => [body.action, await call('POST', `/outbox/actions?${kind}_id=${s.id}&status=delivered`, body)],
    done: ([action, acted]) => resultText(action, acted),
  });
}

/** @param {{s: Sending, reload: () => void}} props */
const Schedule = ({ s, reload }) =>
  h(Create, {
    label: 'Schedule',
    sign: 'clock',
    title: `Schedule ${s.name}`,
    ok: 'Schedule',
    parts: [
      {
        name: 'scheduled_for',
        label: 'Time (virtual clock)',
        kind: 'time',
        note: 'Leave empty to send now.',
        start: local(now() + 3600_000),
        read: v => (v ? Math.floor(new Date(v).getTime() / 1000) : undefined),
      },
    ],
    send: body => call('POST', ofAccount(`/campaigns/${s.id}/schedule`), body),
    done: c => {
      reload();
      return [`${c.name} is ${c.status}.`];
    },
  });

/** A campaign as the API returns it. @param {string} id @returns {Fetched<Campaign>} */
const useCampaign = id => useFetch(ofAccount(`/campaigns/${id}`), ['records']);

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
      `${counted(l.contacts.active, 'active contact')} of ${l.name} will get it, except suppressed addresses.`,
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

/** @param {{id: string}} props */
function Draft({ id }) {
  const { data: c, reload } = useCampaign(id);
  const { account } = useSession();
  if (!c) return null;
  const { content = {}, sender } = c;
  const change = (/** @type {object} */ body) => call('PATCH', ofAccount(`/campaigns/${id}`), body);
  const before = {
    name: c.name,
    ...(c.list_id && { list_id: c.list_id }),
    ...(sender?.email && { sender }),
    content: content.template_id
      ? { subject: content.subject ?? '', template_id: content.template_id }
      : { subject: content.subject ?? '', html: content.html ?? '', text: content.text || null },
  };
  const remove = () =>
    attempt(
      () => call('DELETE', `/campaigns/${id}`),
      () => {
        // undo: a seed restores it with its id
        go(link('campaigns'));
        return [
          `${c.name} deleted.`,
          undefined,
          () =>
            call('POST', '/seed', {
              account_id: Number(account),
              campaigns: [
                { ...before, campaign_id: c.campaign_id, content: { ...before.content, text: content.text ?? '' } },
              ],
            }),
        ];
      },
    );
  return [
    h(Form, {
      kind: 'campaign',
      label: 'Edit',
      c,
      stands: JSON.stringify(before),
      send: (body, v) =>
        change({
          ...body,
          content: v['content.template_id']
            ? body.content
            : { ...body.content, html: v['content.html'], text: v['content.text'] || null },
        }),
      done: now => {
        reload();
        return [`${now.name} updated.`, undefined, () => change(before).then(reload)];
      },
    }),
    h(Doing, { label: 'Delete' }, press('trash', 'Delete', remove, key('Delete'))),
  ];
}

/**
 * @typedef {{list_id: number, name: string}} ListOption
 * @typedef {{template_id: number, name: string}} TemplateOption
 */

/**
 * The fields of a campaign or a workflow.
 * @param {Kind} kind
 * @param {Partial<Campaign>} start
 * @param {ListOption[]} lists
 * @param {TemplateOption[]} templates
 * @returns {Part[]}
 */
function partsOf(kind, { name, list_id, sender = {}, content = {} }, lists, templates) {
  const id = (/** @type {string} */ v) => (v ? Number(v) : undefined);
  const own = (/** @type {Record<string, any>} */ v) => !v['content.template_id'];
  return [
    { name: 'name', label: 'Name', hint: kind === 'campaign' ? 'Autumn catalogue' : 'Welcome', start: name },
    {
      name: 'list_id',
      label: 'List',
      kind: 'select',
      start: list_id && String(list_id),
      options: [['', 'none'], ...optionsOf(lists, l => [String(l.list_id), l.name])],
      read: id,
    },
    { name: 'sender.name', label: 'Sender’s name', hint: 'Harbour Books', start: sender.name },
    { name: 'sender.email', label: 'Sender’s address', hint: 'hello@example.com', start: sender.email },
    { name: 'content.subject', label: 'Subject', hint: 'Hello {{first_name}}', start: content.subject },
    {
      name: 'content.template_id',
      label: 'Content',
      kind: 'select',
      start: content.template_id && String(content.template_id),
      options: [['', 'inline, below'], ...optionsOf(templates, t => [String(t.template_id), `template ${t.name}`])],
      read: id,
    },
    {
      name: 'content.html',
      label: 'HTML',
      kind: 'area',
      hint: '<p>Hello {{first_name}}</p>',
      start: content.html,
      when: own,
      note: mergeTags,
    },
    { name: 'content.text', label: 'Text', kind: 'area', hint: 'Hello {{first_name}}', start: content.text, when: own },
  ];
}

/**
 * The form of a campaign or a workflow. The lists and templates are loaded before it opens.
 * @param {{kind: Kind, label: string, c?: Campaign, stands?: string, send: (body: any, values: Record<string, any>) =>
 *   Promise<any>, done: CreateProps['done']}} props
 */
function Form({ kind, label, c, stands, send, done }) {
  const lists =
    /** @type {Fetched<{data: ListOption[]}>} */ (useFetch(ofAccount('/lists'), ['records'], everyPage)).data?.data ??
    [];
  const templates =
    /** @type {Fetched<{data: TemplateOption[]}>} */ (useFetch(ofAccount('/templates'), ['records'], everyPage)).data
      ?.data ?? [];
  const { info, account } = useSession();
  const usual = stored('sender') ?? {
    email: info?.accounts.find(a => String(a.account_id) === account)?.users[0]?.email,
  }; // the last sender, or the user
  const start = c ?? { sender: usual, list_id: lists.length === 1 ? lists[0].list_id : undefined };
  return h(Create, {
    label,
    sign: c && 'page',
    title: c ? `Edit ${c.name}` : `New ${kind}`,
    main: !c,
    ok: c ? 'Save' : `Create ${kind}`,
    parts: partsOf(kind, start, lists, templates),
    stands,
    send,
    done,
  });
}

/** @param {{kind: Kind}} props */
const New = ({ kind }) =>
  h(Form, {
    kind,
    label: 'New',
    send: body => call('POST', ofAccount(`/${kind}s`), kind === 'workflow' ? { trigger: 'subscribed', ...body } : body),
    done: made => {
      localStorage.setItem('sender', JSON.stringify(made.sender ?? null));
      go(link(`${kind}s/${made[kind + '_id']}`));
      return [
        kind === 'campaign'
          ? `Draft ${made.name} created. Send it now or schedule it.`
          : `${made.name} created. Activate it to send it.`,
      ];
    },
  });
