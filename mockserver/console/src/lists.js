// Lists: the status of their contacts, and how contacts join.
import { h } from './vendor/preact.js';
import { call, queryOf, useFetch } from './api.js';
import { Whole, legend } from './chart.js';
import { contactStatuses } from './contactstatus.js';
import { FormButton, words } from './formbutton.js';
import { Import, contactsPart, importInto, imported, pasted, rejected } from './import.js';
import { useSearch } from './place.js';
import { accountFilter, ofAccount, useSession } from './session.js';
import { when } from './time.js';
import { attempt, Doing } from './actions.js';
import { Search } from './controls.js';
import { idOf } from './copy.js';
import { chip, counted, empty, icon, loading, loadingFailed, num, press, seen, tags } from './elements.js';
import { Page } from './layout.js';
/** @import { Counts, Fetched } from './types.js' */
/** @typedef {{id: string, name: string, policy_accepted: boolean, created_on: string, contacts: Counts}} List */
const { a, div, li, p, strong, ul } = tags;

export function Lists() {
  useSession();
  const search = useSearch();
  const query = queryOf({ limit: '200', search: search.query, account_id: accountFilter() });
  const { data, error, reload } = /** @type {Fetched<{data: List[], total: number, has_more: boolean}>} */ (
    useFetch('/lists?' + query, ['records', 'message'])
  );
  return h(Page, {
    title: 'Lists',
    count: data?.total,
    side: h(NewList, { main: true }),
    children: [
      div({ class: 'find' }, h(Search, { search, label: 'Search name' })),
      error
        ? loadingFailed(error)
        : !data
          ? loading()
          : !data.data.length
            ? search.query
              ? empty('search', 'List not found', 'Try fewer words.')
              : empty(
                  'book',
                  'No lists yet',
                  'Create a list and add contacts to it, or paste addresses here. Campaigns and workflows send email to the contacts on a list.',
                )
            : [
                ul(
                  { class: 'cards' },
                  data.data.map(l => h(Card, { key: l.id, l, reload })),
                ),
                data.has_more && p({ class: 'dim' }, 'Only the latest 200 are shown. Use the search to find others.'),
              ],
    ],
  });
}

/** @param {{l: List, reload: () => void}} props */
function Card({ l, reload }) {
  const counts = Object.entries(l.contacts);
  const all = counts.reduce((sum, [, n]) => sum + n, 0);
  return li(
    { class: 'card' },
    div(
      { class: 'line' },
      strong({ dir: 'auto' }, seen(l.name)),
      l.policy_accepted ? chip('ok', 'check', 'policy accepted') : chip('warn', 'warn', 'policy not accepted'),
    ),
    p(
      { class: 'dim' },
      idOf(l.id, 'Copy list id', `list ${l.id}`),
      ' · created ',
      when(l.created_on),
      ' · ',
      counted(all, 'contact'),
    ),
    h(Whole, { parts: counts.map(([s, n]) => [s, n, contactStatuses[s].color]) }),
    ul(
      { class: 'standing' },
      counts
        .filter(([s, n]) => n || s === 'active')
        .map(([s, n]) =>
          li(
            { key: s },
            a(
              { href: `#/contacts/${l.id}?status=${s}` },
              legend(contactStatuses[s].color, s),
              strong({ class: 'num' }, num(n)),
            ),
          ),
        ),
    ),
    l.contacts.pending > 0 &&
      p(
        { class: 'dim' },
        `${counted(l.contacts.pending, 'contact')} of a double opt-in ${l.contacts.pending === 1 ? 'has' : 'have'} not confirmed yet. Confirm for them in the `,
        a({ href: '#/inbox?q=' + encodeURIComponent('confirm ' + l.name) }, 'inbox'),
        '.',
      ),
    div(
      { class: 'actions' },
      !l.policy_accepted && h(AcceptPolicy, { id: l.id, name: l.name, sign: 'check', reload }),
      a({ class: 'button', href: `#/contacts/${l.id}` }, icon('people'), 'Contacts'),
      h(NewContact, { list: { id: l.id, name: l.name } }),
      h(Import, { list: l }),
    ),
  );
}

/**
 * The button that accepts the anti-spam policy of a list.
 * @param {{id: string|number, name: string, sign?: string, reload: () => void}} props
 */
export function AcceptPolicy({ id, name, sign = '', reload }) {
  const accept = () =>
    attempt(
      () => call('POST', ofAccount(`/lists/${id}/accept-policy`)),
      () => [`Anti-spam policy of ${name} accepted.`],
    ).then(reload);
  const title = 'Sending to the list requires an accepted policy';
  return h(Doing, { label: 'Policy' }, press(sign, 'Accept policy', accept, { title }));
}

/** @param {{main?: boolean}} props */
export const NewList = ({ main }) =>
  h(FormButton, {
    label: 'New list',
    main,
    ok: 'Create list',
    parts: [
      { name: 'name', label: 'Name', hint: 'Newsletter' },
      {
        name: 'accept',
        label: 'Accept the anti-spam policy',
        kind: 'tick',
        start: true,
        aside: true,
        note: 'Sending to a list requires an accepted policy.',
      },
      contactsPart,
    ],
    send: async (body, { accept, contacts }) => {
      const list = await call('POST', ofAccount('/lists'), body);
      if (accept) await call('POST', ofAccount(`/lists/${list.list_id}/accept-policy`));
      return { list, got: contacts.trim() ? await importInto(list.list_id, contacts) : undefined };
    },
    done: ({ list, got }) => [
      got ? `List created. ${imported(list.name, got)}` : `List ${list.name} created.`,
      ['Contacts', `#/contacts/${list.list_id}`],
    ],
    after: ({ got }) => rejected(got),
    paste: pasted,
  });

/** The attributes in lines such as name=value. @param {string} text */
export const attributes = text =>
  text
    .split('\n')
    .filter(line => line.trim())
    .map(line => {
      const at = line.indexOf('=');
      return { name: (at < 0 ? line : line.slice(0, at)).trim(), value: at < 0 ? '' : line.slice(at + 1).trim() };
    });

/** @param {{list: {id: string, name: string}}} props */
export const NewContact = ({ list }) =>
  h(FormButton, {
    label: 'Add',
    title: `Add a contact to ${list.name}`,
    ok: 'Add',
    parts: [
      { name: 'email', label: 'Email', hint: 'ada@example.org' },
      { name: 'tags', label: 'Tags', hint: 'vip, customer', read: words, note: 'Separated by commas.' },
      { name: 'interests', label: 'Interests', hint: 'books', read: words },
      {
        name: 'custom_attributes',
        label: 'Attributes',
        kind: 'area',
        hint: 'first_name=Ada',
        read: attributes,
        note: 'One name=value per line. The values replace merge tags.',
      },
      {
        name: 'send_double_opt_in',
        label: 'Double opt-in: pending until the recipient follows the link in the confirmation email',
        kind: 'tick',
        aside: true,
      },
    ],
    send: (body, { send_double_opt_in }) =>
      call(
        'POST',
        ofAccount(`/lists/${list.id}/contacts${send_double_opt_in ? '?send_double_opt_in=true' : ''}`),
        body,
      ),
    done: c => [`${c.email} is ${c.status}.`, ['Contact', `#/contacts/${list.id}/${c.id}`]],
  });
