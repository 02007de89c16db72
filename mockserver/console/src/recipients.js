// Actions of recipients, on one message or on many in one request, and the text about their results.
import { call } from './api.js';
import { attempt } from './actions.js';
import { counted } from './elements.js';
/** @import { Acted } from './types.js' */

/** @type {Record<string, string>} */
const past = {
  bounce: 'bounced',
  complain: 'reported as spam',
  open: 'opened',
  click: 'clicked',
  unsubscribe: 'unsubscribed',
  'global-unsubscribe': 'unsubscribed from all email',
  confirm: 'confirmed',
  delete: 'deleted',
};

/** The text about the results. @param {string} what @param {Acted} acted @returns {[string, [string, string]?]} */
export function resultText(what, { ids, failed, error, events }) {
  const lost = failed ? `${failed} of ${ids.length + failed} failed: ${error}.` : '';
  if (!ids.length) return [lost || 'No message was chosen.'];
  const sent = events.flatMap(e => e.deliveries);
  const names = [...new Set(events.map(e => e.event))].join(' and ');
  const said = `${ids.length === 1 ? 'Message' : counted(ids.length, 'message')} ${past[what]}.`;
  const text = [
    said,
    !names
      ? what !== 'delete' && 'No event was sent.'
      : sent.length
        ? `${names}: ${counted(sent.length, 'delivery', 'deliveries')} queued.`
        : `${names} occurred. No webhook is subscribed to it.`,
    lost,
  ]
    .filter(Boolean)
    .join(' ');
  return sent.length
    ? [text, ['Show', `#/deliveries/${sent[0]}`]]
    : names
      ? [text, ['Events', `#/events/${events[0].id}`]]
      : [text];
}

/**
 * Performs an action on messages. Without ids, it applies to all messages that match the query.
 * @param {string} query
 * @param {{action: string, ids?: string[]}} body
 */
export const act = (query, body) =>
  attempt(
    () => call('POST', '/outbox/actions' + query, body),
    (/** @type {Acted} */ acted) => {
      const [text, more] = resultText(body.action, acted);
      return [
        text,
        more,
        body.action === 'delete' && acted.ids.length
          ? () => call('POST', '/outbox/actions', { action: 'restore', ids: acted.ids })
          : undefined,
      ];
    },
  );
