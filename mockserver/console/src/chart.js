// Small SVG charts: bars over time, and parts of a whole. Text describes the same data.
import { h } from './vendor/preact.js';
import { num, tags } from './elements.js';
const { i, span, svg, table, tbody, td, th, tr } = tags;

/**
 * A bar chart. Each bar has a title, and its bad part is at the bottom.
 * @param {{label: string, bars: {n: number, bad?: number, title: string}[]}} props
 */
export function Bars({ label, bars }) {
  const most = Math.max(1, ...bars.map(b => b.n));
  const wide = 10;
  const high = 100;
  const bar = (/** @type {number} */ at, /** @type {number} */ n, /** @type {string} */ kind) =>
    n > 0 &&
    h('rect', {
      class: kind,
      x: at * wide + 1,
      y: high - Math.max(4, (n / most) * high),
      width: wide - 2,
      height: Math.max(4, (n / most) * high),
    });
  return svg(
    {
      class: 'bars',
      viewBox: `0 0 ${bars.length * wide} ${high}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    bars.map(
      ({ n, bad, title }, at) =>
        n > 0 && h('g', { key: at }, h('title', null, title), bar(at, n, 'all'), bar(at, bad ?? 0, 'bad')),
    ),
  );
}

/** A part of a total as a percentage. @param {number} n @param {number} of */
export const percent = (n, of) => (of ? `${+((n / of) * 100).toFixed(n && n / of < 0.01 ? 1 : 0)} %` : '');

/** A bar from the left. @param {number} n @param {number} of @param {string} kind */
const share = (n, of, kind) =>
  svg(
    { class: 'share', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    h('rect', { class: 'rest', width: 100, height: 10 }),
    n > 0 && h('rect', { class: kind, width: Math.max(1, (n / (of || 1)) * 100), height: 10 }),
  );

/**
 * Counts as parts of a total, one per line.
 * @param {{label: string, of: number, rows: [string, number, string][]}} props name, number, tone
 */
export const Shares = ({ label, of, rows }) =>
  table(
    { class: 'shares', 'aria-label': label },
    tbody(
      rows.map(([name, n, kind]) =>
        tr(
          { key: name },
          th({ scope: 'row' }, name),
          td({ class: 'num' }, num(n)),
          td({ class: 'num dim' }, percent(n, of)),
          td(share(n, of, kind)),
        ),
      ),
    ),
  );

/** The parts of a total in one bar. @param {{parts: [string, number, string][]}} props name, number, tone */
export function Whole({ parts }) {
  const all = parts.reduce((sum, [, n]) => sum + n, 0);
  let at = 0;
  return svg(
    {
      class: 'share whole',
      viewBox: '0 0 100 10',
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': all
        ? parts
            .filter(([, n]) => n)
            .map(([name, n]) => `${n} ${name}`)
            .join(', ')
        : 'none',
    },
    h('rect', { class: 'rest', width: 100, height: 10 }),
    parts.map(([name, n, kind]) => {
      const width = (n / (all || 1)) * 100;
      at += width;
      return n > 0 && h('rect', { key: name, class: kind, x: at - width, width, height: 10 });
    }),
  );
}

/** The meaning of a color. @param {string} kind @param {string} word */
export const legend = (kind, word) => span({ class: 'legend' }, i({ class: kind, 'aria-hidden': 'true' }), word);
