// Suppressed addresses, which receive no email.
import { h, useState } from './vendor/preact.js';
import { call, useFetch, useRested } from './api.js';
import { useParam } from './place.js';
import { whenUnix } from './time.js';
import { attempt, Doing } from './actions.js';
import { Field, submits } from './controls.js';
import { empty, icon, loading, loadingFailed, press, seen, tags } from './elements.js';
import { Page } from './layout.js';
import { Pager, usePages, useRanOut } from './pager.js';
import { ofAccount, useSession } from './session.js';
/** @import { Fetched } from './types.js' */
/**
 * @typedef {{email: string, created_on?: number}} Entry
 * @typedef {{data: Entry[], pagination?: {count?: number}}} Entries
 */
const { button, div, form, p, span, table, tbody, td, th, thead, tr } = tags;

const perPage = 100;

/** An address and the patterns that match it. @param {string} address */
function forms(address) {
  const at = address.indexOf('@');
  return at < 0 || address.includes('*') ? [address] : [address, '*' + address.slice(at), address.slice(0, at) + '@*'];
}

/**
 * The entries that match an address. The API finds one per request.
 * @param {string} address
 * @returns {Promise<Entries>}
 */
export async function matching(address) {
  const found = await Promise.all(
    forms(address).map(form => call('GET', ofAccount('/suppressed-emails?filter=email:' + encodeURIComponent(form)))),
  );
  return { data: found.flatMap(f => f.data) };
}

const adder = (/** @type {string} */ email) => call('POST', ofAccount('/suppressed-emails'), { email });
const remover = (/** @type {string} */ email) =>
  call('DELETE', ofAccount('/suppressed-emails/' + encodeURIComponent(email)));

export function Suppressed() {
  useSession();
  const [q, setQ] = useParam('q');
  const filter = useRested(q.trim());
  const pages = usePages(filter, perPage);
  const query = new URLSearchParams({ page: String(pages.page), per_page: String(perPage), with_count: 'true' });
  const path = ofAccount(
    filter ? '/suppressed-emails?filter=email:' + encodeURIComponent(filter) : '/suppressed-emails?' + query,
  );
  const { data, error, reload } = /** @type {Fetched<Entries>} */ (
    useFetch(path, ['records', 'message'], filter ? () => matching(filter) : undefined)
  );
  const ranOut = useRanOut(pages, data);
  const count = data?.pagination?.count ?? data?.data.length ?? 0;
  return h(Page, {
    title: 'Suppressed',
    count,
    children: [
      p(
        { class: 'lead' },
        'Suppressed addresses receive no email from any list. A spam report or a global unsubscribe adds an address. A bounce does not.',
      ),
      div(
        { class: 'formrow' },
        h(Add, { reload }),
        h(Field, { label: 'Find an address', value: q, onInput: setQ, hint: 'someone@example.org' }),
      ),
      error ? loadingFailed(error) : !data || ranOut ? loading() : data.data.length ? rows(data, reload) : none(filter),
      h(Pager, { pages, count }),
    ],
  });
}

/** @param {{reload: () => void}} props */
function Add({ reload }) {
  const [email, setEmail] = useState('');
  const add = async () => {
    const added = email.trim();
    if (
      await attempt(
        () => adder(added),
        () => [`${added} suppressed.`, undefined, () => remover(added).then(reload)],
      )
    )
      setEmail('');
    reload();
  };
  return form(
    { class: 'inline', onSubmit: submits(add) },
    h(Field, {
      label: 'Address or pattern to suppress, such as *@example.org',
      value: email,
      onInput: setEmail,
      hint: 'someone@example.org',
    }),
    h(Doing, { label: 'Add' }, button({ class: 'button main', disabled: !email.trim() }, icon('plus'), 'Add')),
  );
}

/** @param {string} filter */
const none = filter =>
  filter
    ? empty('block', 'Not suppressed', 'No entry matches. Enter a complete address or pattern.')
    : empty('block', 'No suppressed addresses', 'Add an address above, or simulate a global unsubscribe in the inbox.');

/** @param {Entries} entries @param {() => void} reload */
function rows({ data }, reload) {
  const remove = (/** @type {string} */ who) =>
    attempt(
      () => remover(who),
      () => [`${who} removed from the suppression list.`, undefined, () => adder(who).then(reload)],
    ).then(reload);
  return table(
    { class: 'table' },
    thead(
      tr(
        th({ scope: 'col' }, 'Address'),
        th({ scope: 'col' }, 'Since'),
        th({ scope: 'col' }, span({ class: 'hidden' }, 'Action')),
      ),
    ),
    tbody(
      data.map(s =>
        tr(
          { key: s.email },
          td(span({ class: 'mono' }, seen(s.email))),
          td(s.created_on ? whenUnix(s.created_on) : ''),
          td(
            { class: 'end' },
            h(
              Doing,
              { label: 'Actions' },
              press('trash', 'Remove', () => remove(s.email), { 'aria-label': `Remove ${s.email}` }),
            ),
          ),
        ),
      ),
    ),
  );
}
