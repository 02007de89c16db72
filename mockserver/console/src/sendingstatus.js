// The statuses of campaigns and workflows, and how all views show them.
import { chip } from './elements.js';
/** @import { Kind, Sending } from './types.js' */

/**
 * The tone and the icon of the chip, and its text if this is not the status.
 * @type {Record<Kind, Record<string, {tone: string, icon: string, text?: string}>>}
 */
const statuses = {
  campaign: {
    incomplete: { tone: '', icon: 'page', text: 'draft' },
    scheduled: { tone: 'warn', icon: 'clock' },
    delivering: { tone: 'info', icon: 'send' },
    delivered: { tone: 'ok', icon: 'check' },
  },
  workflow: { active: { tone: 'ok', icon: 'play' }, inactive: { tone: '', icon: 'pause' } },
};

/** The statuses as choices. @param {Kind} kind @returns {[string, string][]} */
export const choicesOf = kind => [
  ['', 'All'],
  ...Object.entries(statuses[kind]).map(
    ([status, { text = status }]) => /** @type {[string, string]} */ ([status, text[0].toUpperCase() + text.slice(1)]),
  ),
];

/** The status of a campaign or workflow. A restored state may contain an unknown status. @param {Kind} kind @param {Sending} s */
export function state(kind, { status }) {
  const { tone, icon, text } = statuses[kind][status] ?? { tone: 'info', icon: '' };
  return chip(tone, icon, text ?? status);
}
