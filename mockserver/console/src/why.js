// Why an address got no email: rejected and failed emails, the suppression list, and the status of its contacts.
import { call, useFetch } from './api.js';
import { statusChip } from './contactstatus.js';
import { accountFilter, useSession } from './session.js';
import { matching } from './suppressed.js';
import { when, whenUnix } from './time.js';
import { chip, counted, linkLine, loadingFailed, seen, tags } from './elements.js';
/** @import { Fetched, Found } from './types.js' */
const { a, bdi, h3, p, section, span, ul } = tags;

/** Everything about the words of a search that explains a missing email. @param {string} q @returns {Promise<Found>} */
async function look(q) {
  const of = accountFilter() && `&account_id=${accountFilter()}`;
  const words = encodeURIComponent(q);
  const [rejected, errors, contacts] = await Promise.all(
    ['/events?event=Email.Rejected&limit=5', '/events?event=Email.Error&limit=5', '/contacts?limit=50'].map(path =>
      call('GET', `${path}&search=${words}${of}`),
    ),
  );
  const ids = [...rejected.data, ...errors.data].map(e => e.message_id).filter(Boolean);
  const address = q.split(/\s+/).find(word => word.includes('@'));
  // a message can have been deleted
  const failed = await Promise.all(ids.map(id => call('GET', `/outbox/${id}`).catch(() => null)));
  const more = [
    [rejected, 'rejected email'],
    [errors, 'failed email'],
    [contacts, 'contact'],
  ].flatMap(([list, noun]) => (list.has_more ? [counted(list.total - list.data.length, noun)] : []));
  const unread = [
    more.length ? `Not shown: ${more.join(', ')}.` : '',
    address ? '' : 'The suppression list is searched only for a complete address.',
  ].filter(Boolean);
  return {
    failed: failed.filter(Boolean),
    contacts: contacts.data,
    suppressed: address ? (await matching(address)).data : [],
    unread,
  };
}

/** @param {{q: string}} props */
export function Why({ q }) {
  const { info } = useSession();
  const { data, error } = /** @type {Fetched<Found>} */ (
    useFetch(q && `why ${q} ${accountFilter()}`, ['event', 'records'], () => look(q))
  );
  if (error) return loadingFailed(error);
  if (!data) return null;
  const { failed, contacts, suppressed, unread } = data;
  const none = !failed.length && !contacts.length && !suppressed.length;
  return section(
    { class: 'why', 'aria-label': 'Why no email' },
    h3('Why no email?'),
    none &&
      p(
        { class: 'dim' },
        `No email was rejected or failed in the latest ${info ? counted(info.events_kept, 'event') : 'events'}, no contact matches, and no suppressed address was found. Check `,
        a({ href: `#/requests?q=${encodeURIComponent(q)}` }, 'the requests'),
        '.',
      ),
    !none &&
      ul(
        { class: 'links' },
        failed.map(m =>
          linkLine(
            m.id,
            `#/inbox/${m.id}`,
            'mail',
            chip('bad', m.status === 'error' ? 'warn' : 'block', m.status),
            span({ class: 'cut' }, seen(m.reason || m.error), ' · ', bdi(seen(m.subject))),
            when(m.time),
          ),
        ),
        suppressed.map(s =>
          linkLine(
            s.email,
            '#/suppressed?q=' + encodeURIComponent(s.email),
            'block',
            chip('bad', '', 'suppressed'),
            span({ class: 'cut' }, s.email),
            s.created_on && whenUnix(s.created_on),
          ),
        ),
        contacts.map(c =>
          linkLine(
            c.id,
            `#/contacts/${c.list_id}/${c.id}`,
            'people',
            statusChip(c),
            span({ class: 'cut' }, seen(c.email), ' on list ', bdi(seen(c.list_name))),
          ),
        ),
      ),
    unread.length > 0 && p({ class: 'dim' }, unread.join(' ')),
  );
}
