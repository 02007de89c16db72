// Previews of templates with values for their merge tags. Scripts in a template
// do not run.
import { h, useState } from './vendor/preact.js';
import { call, href, text, useFetch, useRested } from './api.js';
import { FormButton } from './formbutton.js';
import { go, link } from './place.js';
import { Rows, rowLink } from './rows.js';
import { ofAccount, useSession } from './session.js';
import { whenUnix } from './time.js';
import { Choice, Field, same } from './controls.js';
import { idOf } from './copy.js';
import { code, empty, loading, loadingFailed, seen, tags } from './elements.js';
import { Heading, Split, Tabs } from './layout.js';
import { Pager, usePages, useRanOut } from './pager.js';
/** @import { Fetched, Template } from './types.js' */
/** @typedef {{data: Template[], pagination?: {count?: number}}} Page */
const { article, div, fieldset, header, iframe, legend, p, pre, span, strong } = tags;

const perPage = 50;

/** Unix seconds as a time. @param {number} [s] */
const date = s => (s ? whenUnix(s) : null);

/** @param {{id?: string, tab?: string}} props */
export function Templates({ id, tab }) {
  useSession();
  const pages = usePages('', perPage);
  const path = ofAccount(
    '/templates?' + new URLSearchParams({ page: String(pages.page), per_page: String(perPage), with_count: 'true' }),
  );
  const { data, error } = /** @type {Fetched<Page>} */ (useFetch(path, ['records']));
  const ranOut = useRanOut(pages, data);
  return h(Split, {
    title: 'Templates',
    count: data?.pagination?.count,
    open: !!id,
    home: link('templates'),
    side: h(NewTemplate, {}),
    tools: null,
    list: [
      h(Rows, {
        list: shown(ranOut ? undefined : data, error, pages.page),
        current: id,
        none: empty('page', 'No templates yet', 'Create a template for emails and campaigns.'),
        row,
      }),
      h(Pager, { pages, count: data?.pagination?.count ?? 0 }),
    ],
    detail: id
      ? h(Opened, { key: id, id, tab })
      : empty('page', 'No template selected', 'Choose a template to see its preview.'),
  });
}

/**
 * A page of templates as Rows takes it.
 * @param {Page|undefined} data
 * @param {string|undefined} error
 * @param {number} page
 */
const shown = (data, error, page) => ({
  key: String(page),
  rows: data ? data.data.map(t => ({ ...t, id: String(t.template_id) })) : null,
  total: 0,
  error: error ?? '',
  look: () => {},
});

/** @param {Template} t @param {boolean} current */
const row = (t, current) =>
  rowLink(
    `templates/${t.template_id}`,
    current,
    span({ class: 'line' }, strong({ dir: 'auto' }, seen(t.name)), date(t.updated_on)),
    span(
      { class: 'line' },
      span(
        { class: 'dim cut' },
        [t.content.html && 'HTML', t.content.text && 'text'].filter(Boolean).join(' and ') || 'empty',
        tagsOf(t).length ? ` · ${tagsOf(t).join(', ')}` : '',
      ),
    ),
  );

/** The names of the merge tags of a template. @param {{content: Template['content']}} t */
const tagsOf = t => [
  ...new Set(
    [...`${t.content.html ?? ''} ${t.content.text ?? ''}`.matchAll(/\{\{([^{}]+)\}\}/g)]
      .map(m => m[1].trim())
      .filter(Boolean),
  ),
];

/** @type {Record<string, string>} the first values; the value of any other tag is its name */
const samples = {
  name: 'Ada Lovelace',
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.org',
  city: 'London',
  country: 'England',
  company: 'Analytical Engines',
  unsubscribe_url: 'https://example.org/unsubscribe',
  global_unsubscribe_url: 'https://example.org/unsubscribe-from-all',
  confirm_url: 'https://example.org/confirm',
};

/** @param {{id: string, tab?: string}} props */
function Opened({ id, tab }) {
  const {
    data: t,
    error,
    reload,
  } = /** @type {Fetched<Template>} */ (useFetch(ofAccount('/templates/' + encodeURIComponent(id)), ['records']));
  if (error) return empty('warn', 'Not found', error);
  if (!t) return loading();
  return article(
    header(
      { class: 'head' },
      h(Heading, { text: t.name }),
      p(
        { class: 'meta' },
        idOf(String(t.template_id), 'Copy template id', `template ${t.template_id}`),
        t.updated_on && span('changed ', date(t.updated_on)),
      ),
      div({ class: 'actions' }, h(Edit, { t, reload })),
    ),
    h(Filled, { key: JSON.stringify(t.content), t, at: `templates/${t.template_id}`, tab }),
  );
}

/**
 * The content of a template or a campaign, with values for its merge tags.
 * @param {{t: {name: string, content: Template['content']}, at: string, source?: string, tab?: string}} props at: its
 *   address; source: of its parts, if it is another one's
 */
export function Filled({ t, at, source = at, tab }) {
  const names = tagsOf(t);
  const [values, set] = useState(() =>
    Object.fromEntries(names.map(n => [n, Object.hasOwn(samples, n) ? samples[n] : n])),
  );
  const rested = useRested(JSON.stringify(values));
  const part = (/** @type {string} */ name) => `/${source}/${name}?attributes=${encodeURIComponent(rested)}`;
  return [
    names.length > 0 &&
      fieldset(
        { class: 'samples' },
        legend('Sample attributes'),
        names.map(n =>
          h(Field, { key: n, label: n, value: values[n] ?? '', onInput: v => set(old => ({ ...old, [n]: v })) }),
        ),
      ),
    h(Tabs, {
      label: 'Content views',
      value: tab,
      onChange: v => go(link(`${at}/${v}`)),
      tabs: [
        {
          id: 'html',
          label: 'HTML',
          panel: () =>
            t.content.html
              ? h(Preview, { title: `Preview of ${t.name}`, src: href(part('html')), width: '600' })
              : empty('page', 'No HTML', 'This template has no HTML part, only text.'),
        },
        {
          id: 'text',
          label: 'Text',
          panel: () =>
            t.content.text
              ? h(Text, { path: part('text') })
              : empty(
                  'page',
                  'No text',
                  'This template has no text part, only HTML. Some recipients and many spam filters require both parts.',
                ),
        },
        {
          id: 'source',
          label: 'Source',
          panel: () => [
            t.content.html && [div({ class: 'bar dim' }, 'HTML'), code(t.content.html)],
            t.content.text && [div({ class: 'bar dim' }, 'Text'), code(t.content.text)],
          ],
        },
      ],
    }),
  ];
}

/**
 * The HTML in a frame with its own origin, without scripts and without network access.
 * @param {{title: string, src: string, width: string, children?: import('./elements.js').Child}} props width is the first
 *   width; children are further controls
 */
export function Preview({ title, src, width: first, children }) {
  const [width, setWidth] = useState(first);
  const [scheme, setScheme] = useState('light');
  return div(
    { class: 'preview' },
    div(
      { class: 'bar' },
      h(Choice, {
        label: 'Width',
        value: width,
        onChange: setWidth,
        options: [['full', 'Full'], ...same(['600', '360'])],
      }),
      h(Choice, {
        label: 'Color scheme of the email',
        value: scheme,
        onChange: setScheme,
        options: [
          ['light', 'Light'],
          ['dark', 'Dark'],
        ],
      }),
      children,
    ),
    div(
      { class: 'stage', 'data-scheme': scheme },
      iframe({
        title,
        src,
        sandbox: 'allow-popups allow-popups-to-escape-sandbox',
        referrerpolicy: 'no-referrer',
        // sets prefers-color-scheme in the email
        style: { colorScheme: scheme, maxWidth: width === 'full' ? '100%' : width + 'px' },
      }),
    ),
  );
}

/** @param {{path: string}} props */
function Text({ path }) {
  const { data, error } = /** @type {Fetched<string>} */ (useFetch(path, [], text));
  return error ? loadingFailed(error) : pre({ class: 'plain', tabindex: 0 }, data);
}

const name = { name: 'name', label: 'Name', hint: 'Welcome' };
/** The note about merge tags. */
export const mergeTags =
  'A merge tag such as {{first_name}} is replaced with an attribute of the contact or the email. {{unsubscribe_url}} and {{global_unsubscribe_url}} are links to unsubscribe from the list and from all email.';
const html = {
  name: 'content.html',
  label: 'HTML',
  kind: /** @type {const} */ ('area'),
  hint: '<p>Hello {{first_name}}</p>',
  note: mergeTags,
};
const plain = {
  name: 'content.text',
  label: 'Text',
  kind: /** @type {const} */ ('area'),
  hint: 'Hello {{first_name}}',
};

const NewTemplate = () =>
  h(FormButton, {
    label: 'New',
    title: 'New template',
    main: true,
    ok: 'Create template',
    parts: [name, html, plain],
    send: body => call('POST', ofAccount('/templates'), { content: {}, ...body }),
    done: t => [`Template ${t.name} created.`, ['Open', `#/templates/${t.template_id}`]],
  });

/** @param {{t: Template, reload: () => void}} props */
const Edit = ({ t, reload }) =>
  h(FormButton, {
    label: 'Edit',
    sign: 'page',
    title: `Edit ${t.name}`,
    ok: 'Save',
    stands: JSON.stringify([t.name, t.content]),
    parts: [
      { ...name, start: t.name, read: v => v },
      { ...html, start: t.content.html ?? '' },
      { ...plain, start: t.content.text ?? '' },
    ],
    send: (_, v) =>
      call('PATCH', ofAccount('/templates/' + t.template_id), {
        name: v.name,
        content: { html: v['content.html'], text: v['content.text'] || null },
      }),
    done: changed => {
      reload();
      return [`Template ${changed.name} updated.`];
    },
  });
