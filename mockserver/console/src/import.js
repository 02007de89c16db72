// Import of contacts through the API, from pasted text or a file, as addresses or CSV.
import { h } from './vendor/preact.js';
import { call } from './api.js';
import { FormButton, words } from './formbutton.js';
import { ofAccount } from './session.js';
import { counted, tags } from './elements.js';
/** @import { Part } from './types.js' */
/**
 * @typedef {{email: string, tags?: string[], interests?: string[], custom_attributes?: {name: string, value:
 *   string}[]}} Entry
 * @typedef {{imported: number, updated: number, errors: {index: number, email?: string, msg: string, line?: number}[]}}
 *   Result
 */
const { li, p, ul } = tags;

/** The maximum number of contacts in a request. */
export const batch = 1000;

const newlines = (/** @type {string} */ text) => text.match(/\r?\n|\r/g)?.length ?? 0;

/**
 * The cells of CSV, with the line of each row. The first separator outside quotes is the separator of the file.
 * @param {string} text
 * @returns {{line: number, row: string[]}[]}
 */
function cells(text) {
  const separator = /^(?:"(?:[^"]|"")*"|[^",;\t\n])*([,;\t])/.exec(text)?.[1] ?? ',';
  const cell = new RegExp(
    `("(?:[^"]|"")*"|[^"${separator}\\r\\n][^${separator}\\r\\n]*|)(${separator}|\\r?\\n|\\r|$)`,
    'gy',
  );
  const rows = [{ line: 1, row: /** @type {string[]} */ ([]) }];
  let line = 1;
  for (const [all, value, end] of text.matchAll(cell)) {
    /** @type {typeof rows[0]} */ (rows.at(-1)).row.push(
      (value[0] === '"' ? value.slice(1, -1).replaceAll('""', '"') : value).trim(),
    );
    if (!all) break;
    line += newlines(all);
    if (end !== separator) rows.push({ line, row: [] });
  }
  return rows.filter(({ row }) => row.some(Boolean));
}

/**
 * The contact in a row of CSV. Columns that the API does not define are attributes.
 * @param {string[]} names
 * @param {string[]} row
 * @returns {Entry}
 */
function entry(names, row) {
  const of = (/** @type {string} */ name) => row[names.findIndex(n => n.toLowerCase() === name)] ?? '';
  const own = names.flatMap((name, n) =>
    /^(email|tags|interests|)$/i.test(name) || !row[n] ? [] : [{ name, value: row[n] }],
  );
  const list = (/** @type {string} */ name) => words(of(name).replaceAll(/[;|]/g, ','));
  return {
    email: of('email'),
    ...(list('tags').length && { tags: list('tags') }),
    ...(list('interests').length && { interests: list('interests') }),
    ...(own.length && { custom_attributes: own }),
  };
}

/**
 * The contacts in a text and their lines. The text is CSV with a column email, or any text with addresses.
 * @param {string} text
 * @returns {{line: number, contact: Entry}[]}
 */
function contactsIn(text) {
  const [names, ...rows] = cells(text.replace(/^\ufeff/, ''));
  if (names?.row.some(n => n.toLowerCase() === 'email'))
    return rows.map(({ line, row }) => ({ line, contact: entry(names.row, row) }));
  return text
    .split(/\r?\n|\r/)
    .flatMap((part, n) =>
      (part.match(/[^\s,;<>()"]+@[^\s,;<>()"]+/g) ?? []).map(email => ({ line: n + 1, contact: { email } })),
    );
}

/** @param {string} text */
const note = text =>
  text.trim()
    ? `${counted(contactsIn(text).length, 'contact')} found.`
    : 'One address per line, or CSV with an email column. The tags and interests columns contain lists. Other columns are attributes.';

/** @type {Part} */
export const contactsPart = {
  name: 'contacts',
  label: 'Contacts',
  kind: 'area',
  file: '.csv,.txt,text/csv,text/plain',
  hint: 'email,first_name\nada@example.org,Ada',
  note,
  aside: true,
};

/** The contacts field with pasted text, if the text has addresses. @param {string} contacts */
export const pasted = contacts => (contactsIn(contacts).length ? { contacts } : undefined);

/** @param {string|number} list @param {string} text @returns {Promise<Result>} */
export async function importInto(list, text) {
  const all = contactsIn(text);
  const result = { imported: 0, updated: 0, errors: /** @type {Result['errors']} */ ([]) };
  if (!all.length) throw new Error('No address found. Paste addresses, or CSV with an email column.');
  for (let at = 0; at < all.length; at += batch) {
    const { imported, updated, errors } = /** @type {Result} */ (
      await call('POST', ofAccount(`/lists/${list}/contacts/import`), {
        contacts: all.slice(at, at + batch).map(x => x.contact),
      })
    );
    ((result.imported += imported),
      (result.updated += updated),
      result.errors.push(...errors.map(e => ({ ...e, line: all[at + e.index].line }))));
  }
  return result;
}

/** @param {string} name of the list @param {Result} r @returns {string} */
export const imported = (name, r) =>
  `${counted(r.imported, 'contact')} imported to ${name}` +
  (r.updated ? `, ${r.updated} updated` : '') +
  (r.errors.length ? `, ${r.errors.length} rejected.` : '.');

/** The entries that were rejected, if any. @param {Result} [r] */
export const rejected = r =>
  r?.errors.length
    ? [
        p('All contacts were imported except these entries:'),
        ul(
          r.errors
            .slice(0, 100)
            .map((e, n) => li({ key: n }, `Line ${e.line}: ${e.email || '(no address)'}: ${e.msg}`)),
        ),
      ]
    : null;

/** @param {{list: {id: string, name: string}, paste?: typeof pasted}} props */
export const Import = ({ list, paste }) =>
  h(FormButton, {
    label: 'Import',
    sign: 'people',
    title: `Import contacts to ${list.name}`,
    ok: 'Import',
    parts: [contactsPart],
    send: (_, { contacts }) => importInto(list.id, contacts),
    done: r => [imported(list.name, r), ['Contacts', `#/contacts/${list.id}`]],
    after: rejected,
    paste,
  });
