// The forms of campaigns and workflows.
import { h } from './vendor/preact.js';
import { call, everyPage, useFetch } from './api.js';
import { attempt, Doing } from './actions.js';
import { optionsOf } from './controls.js';
import { key, press } from './elements.js';
import { FormButton } from './formbutton.js';
import { go, link } from './place.js';
import { resultText } from './recipients.js';
import { ofAccount, useSession } from './session.js';
import { stored } from './stored.js';
import { mergeTags } from './templates.js';
import { local, now } from './time.js';
/** @import { Campaign, Fetched, FormButtonProps, Kind, Part, Sending } from './types.js' */

/** Simulates an action of a share of the recipients. @param {{kind: Kind, s: Sending}} props */
export function Simulate({ kind, s }) {
  const { info } = useSession();
  return h(FormButton, {
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
export const Schedule = ({ s, reload }) =>
  h(FormButton, {
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
export const useCampaign = id => useFetch(ofAccount(`/campaigns/${id}`), ['records']);

/** The actions of a draft: edit and delete. @param {{id: string}} props */
export function DraftActions({ id }) {
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
    h(SendingForm, {
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
 *   Promise<any>, done: FormButtonProps['done']}} props
 */
function SendingForm({ kind, label, c, stands, send, done }) {
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
  return h(FormButton, {
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
export const NewSending = ({ kind }) =>
  h(SendingForm, {
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
