// What is probably wrong with a message, and with its HTML in mail programs.
import { useAnswer } from './api.js';
import { empty, icon, seen, tags } from './ui.js';
/** @typedef {{findings: {check: string, text: string}[]}} Checked */
const { div, li, span, ul } = tags;

/** What the checks of a message found. @param {string} id @returns {ReturnType<typeof useAnswer<Checked>>} */
export const useChecks = id => useAnswer(`/outbox/${id}/checks`, []);

/** @param {ReturnType<typeof useChecks>} props */
export function Checks({ data, error }) {
  if (error) return empty('warn', 'No answer', error);
  if (!data) return div({ class: 'loading', 'aria-busy': 'true' });
  if (!data.findings.length) return empty('check', 'Nothing found', 'Its links lead somewhere, it has a text part, marketing can be unsubscribed from, nothing is cut off behind 102 kB, and pictures have a text.');
  return ul({ class: 'findings' }, data.findings.map((f, n) => li({ key: n }, icon('warn'), span(seen(f.text)))));
}
