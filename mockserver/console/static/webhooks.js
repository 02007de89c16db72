// The webhooks of the account: what they hear, and whether they are archived.
import { h } from './vendor/preact.js';
import { call, everyPage, useAnswer } from './api.js';
import { Copy, Doing, Heading, attempt, chip, empty, icon, tags } from './ui.js';
import { ofAccount, useSession } from './session.js';
/** @typedef {{webhook_id: string, url: string, events: string[], status: string, hash_function?: string, rate_limit?: number, rate_limit_period?: string}} Webhook */
const { article, button, div, header, li, p, span, strong, ul } = tags;

/** The webhooks of the account. @returns {ReturnType<typeof useAnswer<{data: Webhook[]}>>} */
export function useWebhooks() {
  useSession();
  return useAnswer(ofAccount('/webhooks'), ['records'], everyPage);
}

export function Webhooks() {
  const { data, error, reload } = useWebhooks();
  if (error) return empty('warn', 'No answer', error);
  if (!data) return div({ class: 'loading', 'aria-busy': 'true' });
  if (!data.data.length) return empty('hook', 'No webhook yet', 'Create one with POST /webhooks: the events that it hears are delivered to it, and listed here.');
  return article(
    header({ class: 'head' }, h(Heading, { text: 'Webhooks' }), p({ class: 'who dim' }, 'Choose a delivery to see its attempts, its signature and its body.')),
    ul({ class: 'cards' }, data.data.map(w => h(Card, { key: w.webhook_id, w, reload }))));
}

/** @param {{w: Webhook, reload: () => void}} props */
function Card({ w, reload }) {
  const archived = w.status === 'archived';
  const toggle = async () => {
    const what = archived ? 'unarchive' : 'archive';
    await attempt(() => call('POST', ofAccount(`/webhooks/${w.webhook_id}/${what}`)), () => [archived ? `Webhook ${w.webhook_id} is back: what was kept for it is delivered.` : `Webhook ${w.webhook_id} is archived: what is queued is kept, and nothing new comes.`]);
    reload();
  };
  return li({ class: 'card' },
    div({ class: 'line' }, strong(`Webhook ${w.webhook_id}`), archived ? chip('', 'archive', 'archived') : chip('ok', 'check', w.status)),
    p({ class: 'id' }, w.url, h(Copy, { value: w.url, label: 'Copy the URL' })),
    p({ class: 'tags' }, w.events.map(e => span({ class: 'chip', key: e }, e))),
    div({ class: 'line' }, span({ class: 'dim cut' }, w.rate_limit ? `${w.rate_limit} a ${w.rate_limit_period ?? 'hour'}` : 'no rate limit'),
      h(Doing, { label: 'Actions' }, button({ type: 'button', class: 'button', onClick: toggle }, icon('archive'), archived ? 'Unarchive' : 'Archive'))));
}
