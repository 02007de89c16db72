// The statuses of contacts, and how all views show them.
import { chip } from './elements.js';

/**
 * The tone and the icon of the chip, and the color in charts.
 * @type {Record<string, {tone: string, icon: string, color: string}>}
 */
export const contactStatuses = {
  active: { tone: 'ok', icon: 'check', color: 'ok' },
  pending: { tone: 'warn', icon: 'clock', color: 'warn' },
  unsubscribed: { tone: '', icon: 'exit', color: 'mid' },
  deleted: { tone: '', icon: 'trash', color: 'gone' },
  spam: { tone: 'bad', icon: 'warn', color: 'worse' },
  bounced: { tone: 'bad', icon: 'cross', color: 'bad' },
};

/** The status of a contact. A restored state may contain an unknown status. @param {{status: string}} c */
export function statusChip({ status }) {
  const { tone, icon } = contactStatuses[status] ?? { tone: 'info', icon: '' };
  return chip(tone, icon, status);
}
