// The webhooks of the account: their events, and whether they are archived.
import { h } from './vendor/preact.js';
import { call, everyPage, useFetch } from './api.js';
import { FormButton, number } from './formbutton.js';
import { attempt, Doing } from './actions.js';
import { same } from './controls.js';
import { Copy } from './copy.js';
import { chip, empty, loading, loadingFailed, press, tags } from './elements.js';
import { Heading } from './layout.js';
import { ofAccount, useSession } from './session.js';
/** @import { Fetched, Webhook } from './types.js' */
const { article, div, header, label, li, ol, p, span, strong, ul } = tags;

/** The webhooks of the account. @returns {Fetched<{data: Webhook[]}>} */
export function useWebhooks() {
  useSession();
  return useFetch(ofAccount('/webhooks'), ['records'], everyPage);
}

export function Webhooks() {
  const { data, error, reload } = useWebhooks();
  if (error) return loadingFailed(error);
  if (!data) return loading();
  return article(
    header(
      { class: 'head' },
      h(Heading, { text: 'Webhooks' }),
      p(
        { class: 'who dim' },
        'Webhooks receive the events that they subscribe to. Choose a delivery to see its attempts, signature and body.',
      ),
      div({ class: 'actions' }, h(NewWebhook, { reload })),
    ), // always rendered, because its dialog may be open
    data.data.length === 0
      ? empty('hook', 'No webhooks yet', 'Create a webhook to receive deliveries.')
      : ul(
          { class: 'cards' },
          data.data.map(w => h(Card, { key: w.webhook_id, w, reload })),
        ),
  );
}

/** @param {{w: Webhook, reload: () => void}} props */
function Card({ w, reload }) {
  const archived = w.status === 'archived';
  const set = (/** @type {string} */ what) => call('POST', ofAccount(`/webhooks/${w.webhook_id}/${what}`)).then(reload);
  const toggle = () =>
    archived
      ? attempt(
          () => set('unarchive'),
          () => [
            `Webhook ${w.webhook_id} unarchived. The server now sends its pending deliveries.`,
            undefined,
            () => set('archive'),
          ],
        )
      : attempt(
          () => set('archive'),
          () => [`Webhook ${w.webhook_id} archived. Queued deliveries are kept.`, undefined, () => set('unarchive')],
        );
  return li(
    { class: 'card' },
    div(
      { class: 'line' },
      strong(`Webhook ${w.webhook_id}`),
      archived ? chip('', 'archive', 'archived') : chip('ok', 'check', w.status),
    ),
    p({ class: 'id' }, w.url, h(Copy, { value: w.url, label: 'Copy URL' })),
    p(
      { class: 'tags' },
      w.events.map(e => span({ class: 'chip', key: e }, e)),
    ),
    div(
      { class: 'line' },
      span({ class: 'dim cut' }, w.rate_limit ? `${w.rate_limit} a ${w.rate_limit_period ?? 'hour'}` : 'no rate limit'),
      !archived && h(Rotate, { w, reload }),
      h(Doing, { label: 'Actions' }, press('archive', archived ? 'Unarchive' : 'Archive', toggle)),
    ),
  );
}

/** The secret of a new webhook. @param {{secret: string}} props */
const Secret = ({ secret }) =>
  div(
    { class: 'secret' },
    label('The secret that signs deliveries to this webhook'),
    p({ class: 'id' }, secret, h(Copy, { value: secret, label: 'Copy secret' })),
    p({ class: 'dim' }, 'Copy the secret to your receiver now. The list of webhooks does not show it.'),
  );

/** @param {{reload: () => void}} props */
function NewWebhook({ reload }) {
  const { info } = useSession();
  return h(FormButton, {
    label: 'New webhook',
    main: true,
    ok: 'Create webhook',
    parts: [
      { name: 'url', label: 'URL', hint: 'http://localhost:9000/hook' },
      { name: 'events', label: 'Events', kind: 'ticks', options: same(info?.events ?? []) },
      {
        name: 'rate_limit',
        label: 'Rate limit',
        kind: 'number',
        read: number,
        note: 'Maximum attempts per period. Empty: no limit.',
      },
      {
        name: 'rate_limit_period',
        label: 'Period',
        kind: 'select',
        options: [
          ['', 'hour'],
          ['second', 'second'],
          ['minute', 'minute'],
          ['day', 'day'],
        ],
        when: v => v.rate_limit !== '',
      },
    ],
    send: body => call('POST', ofAccount('/webhooks'), { events: [], ...body }),
    done: w => {
      reload();
      return [`Webhook ${w.webhook_id} created.`];
    },
    after: w => h(Secret, { secret: w.secret }),
  });
}

/**
 * Replaces a webhook by one with a new secret, because the platform cannot change webhooks.
 * @param {{w: Webhook, reload: () => void}} props
 */
function Rotate({ w, reload }) {
  const { url, events, rate_limit, rate_limit_period } = w;
  const archive = async (/** @type {() => void} */ close) => {
    if (
      await attempt(
        () => call('POST', ofAccount(`/webhooks/${w.webhook_id}/archive`)),
        () => [`Webhook ${w.webhook_id} archived. Its secret is no longer used.`],
      )
    )
      close();
    reload();
  };
  return h(FormButton, {
    label: 'Rotate secret',
    sign: 'key',
    title: `Rotate secret of webhook ${w.webhook_id}`,
    ok: 'Create successor',
    parts: [],
    intro: ol(
      { class: 'how' },
      li('This creates a second webhook with the same URL and events, but its own secret.'),
      li(
        'Configure the receiver with both secrets. Until you archive the old webhook, each event is delivered twice. Deduplicate events by id.',
      ),
      li(`Archive webhook ${w.webhook_id}.`),
    ),
    send: () =>
      call('POST', ofAccount('/webhooks'), { url, events, ...(rate_limit && { rate_limit, rate_limit_period }) }),
    done: made => {
      reload();
      return [`Webhook ${made.webhook_id} created in addition to webhook ${w.webhook_id}.`];
    },
    after: (made, close) => [
      h(Secret, { secret: made.secret }),
      p('When the receiver accepts both secrets, archive the old webhook.'),
      h(
        Doing,
        { label: 'The old webhook' },
        press('archive', `Archive webhook ${w.webhook_id}`, () => archive(close), { class: 'main' }),
      ),
    ],
  });
}
