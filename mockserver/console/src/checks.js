// Probable problems of a message, and HTML that email clients do not support.
import { useFetch } from './api.js';
import { empty, icon, loading, loadingFailed, seen, tags } from './elements.js';
/** @import { Fetched } from './types.js' */
/** @typedef {{findings: {check: string, text: string}[]}} Checked */
const { li, span, ul } = tags;

/** The findings in a message. @param {string} id @returns {Fetched<Checked>} */
export const useChecks = id => useFetch(`/outbox/${id}/checks`, []);

/** @param {ReturnType<typeof useChecks>} props */
export function Checks({ data, error }) {
  if (error) return loadingFailed(error);
  if (!data) return loading();
  if (!data.findings.length)
    return empty(
      'check',
      'Nothing found',
      'All merge tags have values, all links have valid targets, all images have valid sources, the message has a text part, marketing emails have a List-Unsubscribe header and an unsubscribe link, the HTML is smaller than 102 kB, all images have alternative text, and common email clients support the HTML and CSS.',
    );
  return ul(
    { class: 'findings' },
    data.findings.map((f, n) => li({ key: n }, icon('warn'), span(seen(f.text)))),
  );
}
