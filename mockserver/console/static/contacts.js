// Contacts: the lists of the account and who is on them.
import { h, useState } from './vendor/preact.js';
import { call, everyPage, useAnswer, useRested } from './api.js';
import { go } from './place.js';
import { when } from './time.js';
import { Copy, Doing, Heading, Pager, Search, Select, Split, attempt, chip, empty, icon, pairs, tags, usePages, useRanOut } from './ui.js';
import { ofAccount, useSession } from './session.js';
/**
 * @typedef {{list_id: number, name: string, policy_accepted?: boolean, created_on?: number}} List
 * @typedef {{id: number, email: string, status: string, subscribed_on?: number, custom_attributes?: {name: string, value: unknown}[], tags?: string[], interests?: string[], last_bounce_type?: string, bounces_count?: number}} Contact
 * @typedef {{data: Contact[], pagination?: {count?: number, next_page?: number|null}}} Page
 */
const { a, article, button, div, header, li, p, span, strong, ul } = tags;

const perPage = 50;

/** @type {Record<string, [string, string]>} */
const tones = { active: ['ok', 'check'], pending: ['warn', 'clock'], unsubscribed: ['', 'exit'], deleted: ['', 'trash'], spam: ['bad', 'warn'], bounced: ['bad', 'cross'], suppressed: ['bad', 'block'] };
const state = (/** @type {Contact} */ c) => chip(...(tones[c.status] ?? ['info', '']), c.status);

/** @type {[string, string][]} */
const sorts = [['', 'Oldest first'], ['id:desc', 'Newest first'], ['email:asc', 'Address A–Z'], ['email:desc', 'Address Z–A'], ['status:asc', 'Status'], ['subscribed_on:desc', 'Last subscribed']];
/** @type {[string, string][]} */
const statuses = [['', 'All'], ...Object.keys(tones).map(s => /** @type {[string, string]} */ ([s, s]))];

/** Unix seconds as a time. @param {number} [s] */
const date = s => s ? when(new Date(s * 1000).toISOString()) : 'unknown';

/** What to filter by: "field:value" as it is, a bare word as an address. @param {string} q @param {string} status */
function filterOf(q, status) {
  if (q) return /^(status|email|tag|interest):/.test(q) ? q : 'email:' + q;
  return status && 'status:' + status;
}

/** @param {{id?: string, tab?: string}} props the list's id and the contact's */
export function Contacts({ id, tab }) {
  const { account } = useSession();
  const { data, error, reload } = /** @type {ReturnType<typeof useAnswer<{data: List[]}>>} */ (useAnswer(ofAccount('/lists'), ['records'], everyPage));
  const lists = data?.data ?? [];
  const list = id ? lists.find(l => String(l.list_id) === id) : lists[0];
  if (list) return h(Members, { key: `${account}/${list.list_id}`, list, lists, contact: tab, reload });
  if (!data && !error) return null;
  const why = error ? empty('warn', 'No answer', error)
    : lists.length ? empty('people', 'No such list', `The account has no list ${id}. Choose one of its lists above.`)
    : empty('people', 'No list yet', 'Create one with POST /lists, accept its policy, and add contacts to it.');
  return h(Split, { title: 'Contacts', open: false, home: '#/contacts', detail: null, list: why, tools: lists.length > 0 && div({ class: 'tools' }, pickList(lists)) });
}

/** @param {List[]} lists @param {List} [list] the one that is shown */
const pickList = (lists, list) => h(Select, {
  label: 'List', value: list ? String(list.list_id) : '', onChange: v => go(`#/contacts/${v}`),
  options: [...(list ? [] : [/** @type {[string, string]} */ (['', 'Choose a list'])]), ...lists.map(l => /** @type {[string, string]} */ ([String(l.list_id), `${l.name} (${l.list_id})`]))],
});

/** @param {{list: List, lists: List[], contact?: string, reload: () => void}} props */
function Members({ list, lists, contact, reload }) {
  const [q, setQ] = useState('');
  const [status, setStatus] = useState('');
  const [sort, setSort] = useState('');
  const filter = filterOf(useRested(q.trim()), status);
  const pages = usePages(`${filter} ${sort}`, perPage);
  const query = new URLSearchParams({ page: String(pages.page), per_page: String(perPage), with_count: 'true', ...(filter && { filter }), ...(sort && { sort }) });
  const { data, error } = /** @type {ReturnType<typeof useAnswer<Page>>} */ (useAnswer(ofAccount(`/lists/${list.list_id}/contacts?${query}`), ['records']));
  const count = data?.pagination?.count;
  const ranOut = useRanOut(pages, data);
  const accept = () => attempt(() => call('POST', ofAccount(`/lists/${list.list_id}/accept-policy`)), () => [`The policy of ${list.name} is accepted: it can be sent to.`]).then(reload);
  return h(Split, {
    title: 'Contacts', count, open: !!contact, home: `#/contacts/${list.list_id}`,
    side: list.policy_accepted ? chip('ok', 'check', 'policy accepted')
      : h(Doing, { label: 'Policy' }, button({ type: 'button', class: 'button', onClick: accept, title: 'Without it the list cannot be sent to' }, 'Accept policy')),
    tools: div({ class: 'tools' },
      pickList(lists, list),
      h(Search, { value: q, onInput: v => { setQ(v); setStatus(''); }, label: 'Address, tag:…, interest:…' }),
      div({ class: 'pair' },
        h(Select, { label: 'Status', value: status, onChange: v => { setStatus(v); setQ(''); }, options: statuses }),
        h(Select, { label: 'Order', value: sort, onChange: setSort, options: sorts }))),
    list: error ? empty('warn', 'No answer', error)
      : data && !data.data.length && !ranOut ? empty('people', filter ? 'Nobody like that' : 'Nobody on this list', filter ? 'An address is compared as a whole, a tag as well.' : `Add a contact with POST /lists/${list.list_id}/contacts.`)
      : [ul({ class: 'rows' }, (data?.data ?? []).map(c => row(c, list, String(c.id) === contact))), h(Pager, { pages, count: count ?? 0 })],
    detail: contact ? h(Opened, { key: contact, list, id: contact }) : empty('people', 'Nobody chosen', 'Choose a contact to see its attributes and tags.'),
  });
}

/** @param {Contact} c @param {List} list @param {boolean} current */
const row = (c, list, current) => li({ key: c.id },
  a({ href: `#/contacts/${list.list_id}/${c.id}`, 'aria-current': current ? 'true' : undefined },
    span({ class: 'line' }, strong(c.email), date(c.subscribed_on)),
    span({ class: 'line' }, span({ class: 'dim cut' }, [name(c), ...(c.tags ?? [])].filter(Boolean).join(' · ') || `contact ${c.id}`), state(c))));

/** @param {Contact} c */
const name = c => ['first_name', 'last_name', 'name'].map(n => c.custom_attributes?.find(x => x.name === n)?.value).filter(Boolean).join(' ');

/** @param {{list: List, id: string}} props */
function Opened({ list, id }) {
  const path = `/lists/${list.list_id}/contacts/${encodeURIComponent(id)}`;
  const { data: c, error, reload } = /** @type {ReturnType<typeof useAnswer<Contact>>} */ (useAnswer(ofAccount(path), ['records', 'message']));
  if (error) return empty('warn', 'Not here', error);
  if (!c) return div({ class: 'loading', 'aria-busy': 'true' });
  const gone = c.status === 'deleted' || c.status === 'unsubscribed';
  const act = (/** @type {'POST'|'DELETE'} */ method, /** @type {string} */ sub, /** @type {string} */ done) => attempt(() => call(method, ofAccount(path + sub)), () => [done]).then(reload);
  return article(
    header({ class: 'head' },
      h(Heading, { text: c.email }),
      p({ class: 'meta' }, state(c), name(c), span(`list ${list.name}`), span({ class: 'id' }, `contact ${c.id}`, h(Copy, { value: String(c.id), label: 'Copy the contact id' }))),
      h(Doing, { label: 'Actions', class: 'actions' },
        a({ class: 'button', href: '#/inbox?q=' + encodeURIComponent(c.email) }, icon('inbox'), 'Messages'),
        !gone && button({ type: 'button', class: 'button', onClick: () => act('POST', '/unsubscribe', `${c.email} is unsubscribed from ${list.name}.`) }, icon('exit'), 'Unsubscribe'),
        c.status !== 'deleted' && button({ type: 'button', class: 'button', onClick: () => act('DELETE', '', `${c.email} is deleted from ${list.name}.`) }, icon('trash'), 'Delete'))),
    pairs([
      ['Subscribed', date(c.subscribed_on)],
      ['Bounces', `${c.bounces_count ?? 0}${c.last_bounce_type && c.last_bounce_type !== 'none' ? `, the last one ${c.last_bounce_type}` : ''}`],
      ['Tags', labels(c.tags)], ['Interests', labels(c.interests)],
    ]),
    c.custom_attributes?.length ? [header({ class: 'part' }, 'Attributes'), pairs(c.custom_attributes.map(x => [x.name, typeof x.value === 'string' ? x.value : JSON.stringify(x.value)]))] : null);
}

/** @param {string[]} [words] */
const labels = words => words?.length ? span({ class: 'tags' }, words.map(w => span({ class: 'chip', key: w }, w))) : 'none';
