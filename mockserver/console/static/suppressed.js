// Suppressed: addresses that nothing is sent to.
import { h, useEffect, useState } from './vendor/preact.js';
import { call, useAnswer, useRested } from './api.js';
import { Field, Page, attempt, empty, icon, tags, when } from './ui.js';
import { ofAccount, useWorld } from './world.js';
/** @typedef {{email: string, created_on?: number}} Entry @typedef {{data: Entry[], pagination?: {count?: number}}} Answer */
const { button, div, form, p, span, table, tbody, td, th, thead, tr } = tags;

const perPage = 100;

export function Suppressed() {
  useWorld();
  const [q, setQ] = useState('');
  const [email, setEmail] = useState('');
  const [page, setPage] = useState(1);
  const filter = useRested(q.trim());
  useEffect(() => setPage(1), [filter]);
  const query = new URLSearchParams({ page: String(page), per_page: String(perPage), with_count: 'true', ...(filter && { filter: 'email:' + filter }) });
  const { data, error, reload } = /** @type {ReturnType<typeof useAnswer<Answer>>} */ (useAnswer(ofAccount('/suppressed-emails?' + query), ['records', 'message']));
  const count = data?.pagination?.count ?? data?.data.length ?? 0;
  const add = async (/** @type {Event} */ e) => {
    e.preventDefault();
    if (await attempt(() => call('POST', ofAccount('/suppressed-emails'), { email: email.trim() }), () => [`Nothing is sent to ${email.trim()} any more.`])) setEmail('');
    reload();
  };
  const remove = (/** @type {string} */ who) => attempt(() => call('DELETE', ofAccount('/suppressed-emails/' + encodeURIComponent(who))), () => [`${who} can be sent to again.`]).then(reload);
  return h(Page, {
    title: 'Suppressed', count,
    children: [
      p({ class: 'lead' }, 'Nothing is sent to these addresses, whatever list they are on. Hard bounces, spam reports and unsubscribes from all email end up here.'),
      div({ class: 'formrow' },
        form({ class: 'inline', onSubmit: add }, h(Field, { label: 'Suppress an address or a pattern', value: email, onInput: setEmail, hint: 'someone@example.org or *@example.org' }),
          button({ class: 'button main', disabled: !email.trim() }, icon('plus'), 'Add')),
        h(Field, { label: 'Find an address', value: q, onInput: setQ, hint: 'the whole address' })),
      error ? empty('warn', 'No answer', error)
        : !data ? div({ class: 'loading', 'aria-busy': 'true' })
        : !data.data.length ? empty('block', filter ? 'Not suppressed' : 'Nobody is suppressed', filter ? 'Addresses are compared as a whole.' : 'Let a recipient unsubscribe from all email in the inbox, or add an address above.')
        : table({ class: 'table' }, thead(tr(th({ scope: 'col' }, 'Address'), th({ scope: 'col' }, 'Since'), th({ scope: 'col' }, span({ class: 'hidden' }, 'Action')))),
          tbody(data.data.map(s => tr({ key: s.email }, td(span({ class: 'mono' }, s.email)), td(s.created_on ? when(new Date(s.created_on * 1000).toISOString()) : ''),
            td({ class: 'end' }, button({ type: 'button', class: 'button', onClick: () => remove(s.email), 'aria-label': `Remove ${s.email}` }, icon('trash'), 'Remove')))))),
      count > perPage && div({ class: 'pager', role: 'group', 'aria-label': 'Pages' },
        button({ type: 'button', class: 'button', disabled: page === 1, onClick: () => setPage(page - 1) }, icon('back'), 'Previous'),
        span({ class: 'num dim' }, `${page} of ${Math.ceil(count / perPage)}`),
        button({ type: 'button', class: 'button', disabled: page * perPage >= count, onClick: () => setPage(page + 1) }, 'Next', icon('next'))),
    ],
  });
}
