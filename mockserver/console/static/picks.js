// The rows of a short list beside what is open of it.
import { empty, tags } from './ui.js';
/** @typedef {import('./ui.js').VNode} VNode */
const { div, li, ul } = tags;

/**
 * @template T
 * @param {{rows?: T[], error?: string, filtered?: boolean, row: (x: T) => VNode, none: VNode}} props none says that there is nothing at all
 */
export function Picks({ rows, error, filtered, row, none }) {
  if (error) return empty('warn', 'No answer', error);
  if (!rows) return div({ class: 'loading', 'aria-busy': 'true' });
  if (!rows.length) return filtered ? empty('search', 'Nothing like that', 'Try fewer words, or another filter.') : none;
  return ul({ class: 'rows' }, rows.map(x => li(row(x))));
}
