// The statuses of campaigns and workflows, and how all views show them.
import { chip } from './elements.js';
/** @import { Kind, Sending } from './types.js' */

/**
 * The tone and the icon of the chip, its text if this is not the status, and a text if no message was sent.
 * @type {Record<Kind, Record<string, {tone: string, icon: string, text?: string, unsent: string}>>}
 */
const statuses = {
  campaign: {
    incomplete: { tone: '', icon: 'page', text: 'draft', unsent: 'Not sent yet. Send it now or schedule it.' },
    scheduled: { tone: 'warn', icon: 'clock', unsent: 'Not sent yet. To send it, advance the clock.' },
    delivering: { tone: 'info', icon: 'send', unsent: 'No messages have been sent yet.' },
    delivered: { tone: 'ok', icon: 'check', unsent: 'No contact on the list could receive it.' },
  },
  workflow: {
    active: { tone: 'ok', icon: 'play', unsent: 'Not sent yet. Add a contact to the workflow’s list.' },
    inactive: { tone: '', icon: 'pause', unsent: 'Not sent yet. Activate it, and then add a contact to its list.' },
  },
};

/** The statuses as choices. @param {Kind} kind @returns {[string, string][]} */
export const choicesOf = kind => [
  ['', 'All'],
  ...Object.entries(statuses[kind]).map(
    ([status, { text = status }]) => /** @type {[string, string]} */ ([status, text[0].toUpperCase() + text.slice(1)]),
  ),
];

/** The status of a campaign or workflow. A restored state may contain an unknown status. @param {Kind} kind @param {Sending} s */
export function statusChip(kind, { status }) {
  const { tone, icon, text } = statuses[kind][status] ?? { tone: 'info', icon: '' };
  return chip(tone, icon, text ?? status);
}

/** The text for a campaign or workflow that has not sent a message. @param {Kind} kind @param {Sending} s */
export const unsent = (kind, { status }) => statuses[kind][status]?.unsent ?? 'No messages have been sent yet.';
