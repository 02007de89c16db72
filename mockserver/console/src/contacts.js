// The contacts in the lists of the account.
import { h, useEffect, useRef, useState } from './vendor/preact.js';
import { call, everyPage, everyRecord, queryOf, useFetch } from './api.js';
import { statusChip } from './contactstatus.js';
import { FormButton, words } from './formbutton.js';
import { Import, batch, pasted } from './import.js';
import { setParams, go, link, useParam, useSearch } from './place.js';
import { Rows, rowLink } from './rows.js';
import { Selected, useSelection } from './selection.js';
import { whenUnix } from './time.js';
import { attempt, Doing, toast } from './actions.js';
import { optionsOf, Search, Select } from './controls.js';
import { idOf } from './copy.js';
import { counted, empty, icon, key, loading, loadingFailed, pairs, press, seen, tags } from './elements.js';
import { Heading, Split } from './layout.js';
import { Pager, usePages, useRanOut } from './pager.js';
import { AcceptPolicy, NewContact, NewList, attributes } from './lists.js';
import { ofAccount, useSession } from './session.js';
/** @import { Contact, Fetched } from './types.js' */
/**
 * @typedef {{list_id: number, name: string, policy_accepted?: boolean, created_on?: number}} List
 * @typedef {{data: Contact[], pagination?: {count?: number, next_page?: number|null}}} Page
 */
const { a, article, bdi, div, header, p, span, strong } = tags;

const perPage = 50;
/** The maximum number of contacts that a part of an address finds. */
const most = 200;

/** @type {[string, string][]} */
const sorts = [
  ['', 'Oldest first'],
  ['id:desc', 'Newest first'],
  ['email:asc', 'Address A–Z'],
  ['email:desc', 'Address Z–A'],
  ['status:asc', 'Status'],
  ['subscribed_on:desc', 'Last subscribed'],
];
/** The options of the filter. @param {string[]} statuses @returns {[string, string][]} */
const choices = statuses => [['', 'All'], ...optionsOf(statuses, s => [s, s[0].toUpperCase() + s.slice(1)])];

/** Unix seconds as a time. @param {number} [s] */
const date = s => (s ? whenUnix(s) : 'unknown');

/**
 * Reports whether a search is a filter of the API, which compares whole values. Another search is a part of an address.
 * @param {string} q
 */
const fielded = q => /^(status|email|tag|interest):/.test(q);

/** A contact of the control API as the API returns it. @param {any} c @returns {Contact} */
const asContact = c => ({ ...c, id: Number(c.id), subscribed_on: Date.parse(c.subscribed_on) / 1000 });

/** The contacts that a part of an address finds. @param {string} path @returns {Promise<Page>} */
async function found(path) {
  const { data, total } = await call('GET', path);
  return { data: data.map(asContact), pagination: { count: total } };
}

/** The page of a contact in the default order, or 0 if it is not on the list. @param {List} list @param {string} id */
async function pageOf(list, id) {
  const { data, offset, total } = await call(
    'GET',
    `/lists/${list.list_id}/contacts?around=${encodeURIComponent(id)}&limit=1`,
  );
  return data[0]?.id === id ? Math.floor((total - 1 - offset) / perPage) + 1 : 0;
}

/**
 * Shows the page with the contact of a link.
 * @param {List} list
 * @param {string|undefined} id
 * @param {boolean} usual all contacts are shown, in the default order
 * @param {ReturnType<typeof usePages>} pages
 * @param {Page} [page]
 */
function useSought(list, id, usual, { page: at, setPage }, page) {
  const sought = useRef('');
  useEffect(() => {
    if (!id || !page || sought.current === id) return;
    sought.current = id;
    if (usual && at === 1 && !page.data.some(c => String(c.id) === id))
      pageOf(list, id).then(
        n => {
          if (n > 1) setPage(n);
        },
        () => {},
      );
  });
}

/** The contacts of a list that the address selects. @param {List} list @param {string} [contact] the open one */
function useMembers(list, contact) {
  const search = useSearch();
  const [status] = useParam('status');
  const [sort] = useParam('sort');
  const q = search.query.trim();
  const part = q !== '' && !fielded(q);
  const filter = fielded(q) ? q : status && 'status:' + status;
  const pages = usePages(`${q} ${filter} ${sort}`, perPage);
  const own = `/lists/${list.list_id}/contacts?${queryOf({ search: part ? q : '', status })}`; // of the control API
  const query = queryOf({ page: String(pages.page), per_page: String(perPage), with_count: 'true', filter, sort });
  const path = part ? `${own}&limit=${most}` : ofAccount(`/lists/${list.list_id}/contacts?${query}`);
  const { data, error } = /** @type {Fetched<Page>} */ (useFetch(path, ['records'], part ? found : undefined));
  useSought(list, contact, !part && !filter && !sort, pages, data);
  const every = async () =>
    fielded(q)
      ? (await everyPage(ofAccount(`/lists/${list.list_id}/contacts?${queryOf({ filter })}`))).data
      : (await everyRecord(own)).map(asContact);
  return { search, status: fielded(q) ? '' : status, sort, part, every, filtered: !!(q || filter), pages, data, error };
}

/** @param {{id?: string, tab?: string}} props the list's id and the contact's */
export function Contacts({ id, tab }) {
  const { account } = useSession();
  const { data, error, reload } = /** @type {Fetched<{data: List[]}>} */ (
    useFetch(ofAccount('/lists'), ['records'], everyPage)
  );
  const lists = data?.data ?? [];
  const list = id ? lists.find(l => String(l.list_id) === id) : lists[0];
  if (list) return h(Members, { key: `${account}/${list.list_id}`, list, lists, contact: tab, reload });
  const why = error
    ? loadingFailed(error)
    : !data
      ? loading()
      : lists.length
        ? empty('people', 'List not found', `The account has no list ${id}. Choose a list above.`)
        : empty(
            'people',
            'No lists yet',
            'Create a list and add contacts to it, or paste addresses here. ',
            h(NewList, { main: true }),
          );
  return h(Split, {
    title: 'Contacts',
    open: false,
    home: '#/contacts',
    detail: null,
    list: why,
    tools: lists.length > 0 && div({ class: 'tools' }, pickList(lists)),
  });
}

/** @param {List[]} lists @param {List} [list] the one on the page */
const pickList = (lists, list) =>
  h(Select, {
    label: 'List',
    value: list ? String(list.list_id) : '',
    onChange: v => go(`#/contacts/${v}`),
    options: [
      ...(list ? [] : [/** @type {[string, string]} */ (['', 'Choose a list'])]),
      ...optionsOf(lists, l => [String(l.list_id), `${l.name} (${l.list_id})`]),
    ],
  });

/**
 * The filters of the contacts.
 * @param {List[]} lists
 * @param {List} list
 * @param {ReturnType<typeof useMembers>} members
 * @param {string[]} statuses
 */
const tools = (lists, list, { search, status, sort, part }, statuses) =>
  div(
    { class: 'tools' },
    pickList(lists, list),
    h(Search, { search, label: 'Part of an address, tag:…, interest:…' }),
    div(
      { class: 'pair' },
      h(Select, {
        label: 'Status',
        value: status,
        onChange: v => setParams({ status: v, ...(!part && { q: '' }) }),
        options: choices(statuses),
      }),
      h(Select, { label: 'Order', value: sort, onChange: v => setParams({ sort: v }), options: sorts }),
    ),
  );

/** @param {{list: List, lists: List[], contact?: string, reload: () => void}} props */
function Members({ list, lists, contact, reload }) {
  const { info } = useSession();
  const members = useMembers(list, contact);
  const { search, status, sort, part, every, filtered, pages, data, error } = members;
  const [all, setAll] = useState(/** @type {Contact[]} */ ([])); // of the whole list, when they were selected
  const count = data?.pagination?.count;
  const shown = page(data, `${pages.page} ${search.query} ${status} ${sort}`);
  const ranOut = useRanOut(pages, data);
  const selection = useSelection(shown.key, shown.rows);
  const select = (/** @type {Contact[]} */ found) => {
    setAll(found);
    selection.set(found.map(c => String(c.id)));
  };
  const known = new Map([...all, ...(data?.data ?? [])].map(c => [c.id, c]));
  const selected = [...known.values()].filter(c => selection.has(String(c.id)));
  return h(Split, {
    title: 'Contacts',
    count,
    open: !!contact,
    home: link(`contacts/${list.list_id}`),
    side: [
      !list.policy_accepted && h(AcceptPolicy, { id: list.list_id, name: list.name, reload }),
      h(Import, { list: { id: String(list.list_id), name: list.name }, paste: pasted }),
      h(NewContact, { list: { id: String(list.list_id), name: list.name } }),
    ],
    tools: tools(lists, list, members, info?.contact_statuses ?? []),
    list: [
      h(Rows, {
        select: { selection, name: (/** @type {Contact} */ c) => c.email },
        list: { ...shown, error: error ?? '', rows: ranOut ? null : shown.rows },
        current: contact,
        row: (/** @type {Contact} */ c, /** @type {boolean} */ current) => row(c, list, current),
        none: filtered
          ? empty('people', 'No matching contacts', 'Enter part of an address, or a complete tag or interest.')
          : empty(
              'people',
              'No contacts on this list',
              'Import contacts or add one with the buttons above, or paste addresses here.',
            ),
      }),
      h(Selected, {
        selection,
        total: count ?? 0,
        onAll: () => every().then(select, e => toast(e.message)),
        noun: 'contact',
        children: h(Acts, { list, contacts: selected, after: () => selection.set([]) }),
      }),
      part
        ? (count ?? 0) > most && div({ class: 'pager dim' }, `Only the latest ${most} contacts are shown.`)
        : h(Pager, { pages, count: count ?? 0 }),
    ],
    detail: contact
      ? h(Opened, { key: contact, list, id: contact })
      : empty('people', 'No contact selected', 'Choose a contact to see its attributes and tags.'),
  });
}

/** A page of contacts as Rows takes it. @param {Page|undefined} data @param {string} key */
const page = (data, key) => ({
  key,
  rows: data ? data.data.map(c => ({ ...c, id: String(c.id) })) : null,
  total: 0,
  error: '',
  look: () => {},
});

/** @param {Contact} c @param {List} list @param {boolean} current */
const row = (c, list, current) =>
  rowLink(
    `contacts/${list.list_id}/${c.id}`,
    current,
    span({ class: 'line' }, strong(seen(c.email)), date(c.subscribed_on)),
    span(
      { class: 'line' },
      span(
        { class: 'dim cut' },
        [name(c), ...(c.tags ?? [])].filter(Boolean).flatMap((s, n) => [n > 0 && ' · ', bdi(s)]),
        !name(c) && !c.tags?.length && `contact ${c.id}`,
      ),
      c.status !== 'active' && statusChip(c),
    ),
  );

/** @param {Contact} c */
const name = c =>
  ['first_name', 'last_name', 'name']
    .map(n => c.custom_attributes?.find(x => x.name === n)?.value)
    .filter(Boolean)
    .join(' ');

/** @param {Contact} c */
const bounces = ({ bounces_count: n, last_bounce_type: last }) =>
  `${n ?? 0}${last && last !== 'none' ? `, the last one ${last}` : ''}`;

/** @param {{list: List, id: string}} props */
function Opened({ list, id }) {
  const path = `/lists/${list.list_id}/contacts/${encodeURIComponent(id)}`;
  const {
    data: c,
    error,
    reload,
  } = /** @type {Fetched<Contact>} */ (useFetch(ofAccount(path), ['records', 'message']));
  if (error) return empty('warn', 'Not found', error);
  if (!c) return loading();
  return article(
    header(
      { class: 'head' },
      h(Heading, { text: c.email }),
      p(
        { class: 'meta' },
        statusChip(c),
        name(c),
        span('list ', bdi(seen(list.name))),
        idOf(String(c.id), 'Copy contact id', `contact ${c.id}`),
      ),
      h(
        Doing,
        { label: 'Actions', class: 'actions' },
        a({ class: 'button', href: '#/inbox?q=' + encodeURIComponent(c.email) }, icon('inbox'), 'Messages'),
        c.status !== 'deleted' && h(Edit, { list, c, reload }),
        h(Acts, { list, contacts: [c], after: reload }),
      ),
    ),
    pairs([
      ['Subscribed', date(c.subscribed_on)],
      ['Bounces', bounces(c)],
      ['Tags', labels(c.tags)],
      ['Interests', labels(c.interests)],
    ]),
    c.custom_attributes?.length
      ? [
          header({ class: 'part' }, 'Attributes'),
          pairs(
            c.custom_attributes.map(x => [
              x.name,
              bdi(typeof x.value === 'string' ? x.value : JSON.stringify(x.value)),
            ]),
          ),
        ]
      : null,
  );
}

/** @param {string[]} [all] */
const labels = all =>
  all?.length
    ? span(
        { class: 'tags' },
        all.map(w => span({ class: 'chip', key: w }, w)),
      )
    : 'none';

/** The actions for one contact or for several. @param {{list: List, contacts: Contact[], after: () => void}} props */
function Acts({ list, contacts, after }) {
  const at = (/** @type {string|number} */ id) => ofAccount(`/lists/${list.list_id}/contacts/${id}`);
  const back = async (/** @type {Contact[]} */ done) => {
    // restores the same contacts as active
    for (let n = 0; n < done.length; n += batch)
      await call('POST', at('import'), {
        contacts: done.slice(n, n + batch).map(({ email }) => ({ email })),
        resubscribe: true,
      });
    after();
  };
  const act = (/** @type {string} */ action, /** @type {string} */ did) =>
    attempt(
      () => call('POST', `/lists/${list.list_id}/contacts/actions`, { action, ids: contacts.map(c => String(c.id)) }),
      (/** @type {{ids: string[], failed: number, error?: string}} */ { ids, failed, error }) => {
        const changed = new Set(ids);
        const done = contacts.filter(c => changed.has(String(c.id)));
        const text = [
          done.length && `${done.length === 1 ? done[0].email : counted(done.length, 'contact')} ${did} ${list.name}.`,
          failed && `${failed} of ${contacts.length} failed: ${error}.`,
        ]
          .filter(Boolean)
          .join(' ');
        return [text, undefined, done.length && done.every(c => c.status === 'active') ? () => back(done) : undefined];
      },
    ).then(after);
  const left = contacts.every(c => c.status === 'deleted');
  return [
    !left &&
      h(FormButton, {
        label: 'Tag',
        sign: 'tag',
        title: contacts.length === 1 ? `Tag ${contacts[0].email}` : `Tag ${counted(contacts.length, 'contact')}`,
        ok: 'Tag',
        parts: [
          {
            name: 'tags',
            label: 'Tags to add',
            hint: 'vip, customer',
            read: words,
            note: 'Separated by commas. The API cannot remove tags.',
          },
        ],
        send: body => call('POST', at('tag'), { contact_ids: contacts.map(c => c.id), tags: [], ...body }),
        done: () => {
          after();
          return [`${counted(contacts.length, 'contact')} tagged.`];
        },
      }),
    contacts.some(c => c.status !== 'deleted' && c.status !== 'unsubscribed') &&
      press('exit', 'Unsubscribe', () => act('unsubscribe', 'unsubscribed from'), key('u')),
    !left && press('trash', 'Delete', () => act('delete', 'deleted from'), key('Delete')),
  ];
}

/**
 * Changes the attributes of a contact. If a line is removed, its attribute is removed.
 * @param {{list: List, c: Contact, reload: () => void}} props
 */
function Edit({ list, c, reload }) {
  const all = (c.custom_attributes ?? []).filter(
    x => !x.name.includes('=') && !/^\s|\s$|\n/.test(`${x.name}=${x.value}`),
  ); // a line cannot represent the other attributes
  const lines = all.map(x => `${x.name}=${x.value}`).join('\n');
  const send = (/** @type {{name: string, value: unknown}[]} */ custom_attributes) =>
    call('PATCH', ofAccount(`/lists/${list.list_id}/contacts/${c.id}`), { custom_attributes });
  const without = (/** @type {{name: string, value: unknown}[]} */ now, /** @type {{name: string}[]} */ old) => [
    ...now,
    ...old.filter(o => !now.some(n => n.name === o.name)).map(({ name }) => ({ name, value: null })),
  ];
  return h(FormButton, {
    label: 'Edit',
    sign: 'page',
    title: `Edit ${c.email}`,
    ok: 'Save',
    stands: lines,
    parts: [
      {
        name: 'custom_attributes',
        label: 'Attributes',
        kind: 'area',
        hint: 'first_name=Ada',
        start: lines,
        read: attributes,
        note: 'One name=value per line. The values replace merge tags.',
      },
    ],
    send: (_, v) => send(without(attributes(v.custom_attributes), all)),
    done: now => {
      reload();
      return [`${c.email} updated.`, undefined, () => send(without(all, now.custom_attributes ?? [])).then(reload)];
    },
  });
}
