// Send event: any event, edited, signed and sent to a webhook or a URL.
import { h, useEffect, useState } from './vendor/preact.js';
import { call, useFetch } from './api.js';
import { Track, stateChip } from './deliveries.js';
import { attempt, Doing } from './actions.js';
import { Choice, Field, same, Select, submits } from './controls.js';
import { chip, code, icon, loadingFailed, press, tags } from './elements.js';
import { Page } from './layout.js';
import { quote } from './programs.js';
import { useWebhooks } from './webhooks.js';
/** @import { Fetched, FullDelivery, Webhook } from './types.js' */
/** @typedef {{event: string, variant: string, summary: string, body: object}} Sample */
const { a, button, div, form, h2, label, p, span, textarea } = tags;

/** The error if a text is not JSON, otherwise empty. @param {string} text */
function fault(text) {
  try {
    JSON.parse(text);
    return '';
  } catch (e) {
    return e instanceof Error ? e.message : String(e);
  }
}
/** The default sample. */
const first = 'Email.Bounced/email_api';
const pretty = (/** @type {unknown} */ v) => JSON.stringify(v, null, 2);

/** The body, and whether it is JSON. @param {string} text @param {(text: string) => void} setText */
const editor = (text, setText) =>
  div(
    { class: 'editor' },
    label({ for: 'body' }, 'Body'),
    textarea({
      id: 'body',
      class: 'mono',
      spellcheck: false,
      value: text,
      'aria-describedby': 'body-fault',
      onInput: (/** @type {import('./controls.js').Typed} */ e) => setText(e.target.value),
    }),
    p(
      { id: 'body-fault', class: 'verdict', role: 'status' },
      text &&
        (fault(text)
          ? [chip('bad', 'cross', 'not JSON'), ' ', fault(text)]
          : [chip('ok', 'check', 'valid JSON'), ' sent exactly as shown']),
    ),
  );

/** @param {{id?: string}} props the event or delivery with the first body */
export function Trigger({ id }) {
  const hooks = useWebhooks().data?.data ?? [];
  const [chosen, setChosen] = useState('');
  const [text, setText] = useState('');
  const [edited, setEdited] = useState(false); // a reload must not replace the text
  const { data, error, reload } = /** @type {Fetched<{data: Sample[]}>} */ (useFetch('/samples', ['state']));
  const samples = data?.data ?? [];
  const name = (/** @type {Sample} */ s) => `${s.event}/${s.variant}`;
  const sample = samples.find(s => name(s) === (chosen || first)) ?? samples[0];
  useEffect(() => {
    if (sample && !id && !edited) setText(pretty(sample.body));
  }, [sample]);
  useEffect(() => {
    // start with the body of an earlier delivery or event
    if (id)
      call('GET', (id.startsWith('evt') ? '/events/' : '/deliveries/') + id).then(
        r => setText(fault(r.body) ? r.body : pretty(JSON.parse(r.body))),
        e => setText(e.message),
      );
  }, [id]);
  const choose = (/** @type {string} */ v) => {
    setChosen(v);
    setEdited(false);
    setText(pretty(samples.find(s => name(s) === v)?.body)); // also instead of the body of an earlier delivery or event
    if (id) location.hash = '#/trigger';
  };
  const edit = (/** @type {string} */ v) => {
    setText(v);
    setEdited(true);
  };
  const renew = () => {
    setEdited(false);
    reload();
  };
  if (error) return h(Page, { title: 'Send event', children: loadingFailed(error) });
  const variants = samples.filter(s => s.event === sample?.event);
  return h(Page, {
    title: 'Send event',
    children: div(
      { class: 'workbench' },
      div(
        { class: 'stack2' },
        div(
          { class: 'card form' },
          h2('Event'),
          h(Select, {
            label: 'Event',
            value: sample?.event ?? '',
            onChange: v => choose(name(/** @type {Sample} */ (samples.find(s => s.event === v)))),
            options: same([...new Set(samples.map(s => s.event))]),
          }),
          h(Select, {
            label: 'Variant',
            value: sample ? name(sample) : '',
            onChange: choose,
            options: variants.map(s => [name(s), `${s.summary} (${s.variant})`]),
          }),
          div({ class: 'actions' }, press('retry', 'Set new id and time', renew)),
        ),
        h(Destination, { hooks, text, sample }),
      ),
      editor(text, edit),
    ),
  });
}

/** @typedef {{url: string, secret: string, hash: string}} Receiver */

/** The inputs for a receiver that is not a webhook. @param {Receiver} to @param {(to: Receiver) => void} set */
const receiverFields = (to, set) => [
  h(Field, {
    label: 'URL',
    value: to.url,
    onInput: url => set({ ...to, url }),
    hint: 'http://localhost:9000/hook',
    mono: true,
  }),
  h(Field, { label: 'Secret', value: to.secret, onInput: secret => set({ ...to, secret }), mono: true }),
  h(Choice, {
    label: 'Hash function',
    value: to.hash,
    onChange: hash => set({ ...to, hash }),
    options: [
      ['sha256', 'SHA-256'],
      ['sha512', 'SHA-512'],
    ],
  }),
];

/** The choice of a webhook. @param {Webhook[]} hooks @param {Webhook} chosen @param {(id: string) => void} choose */
const webhookField = (hooks, chosen, choose) =>
  h(Select, {
    label: 'Webhook',
    value: chosen.webhook_id,
    onChange: choose,
    options: hooks.map(w => [w.webhook_id, `${w.webhook_id}: ${w.url}`]),
  });

/** The label of the command. @param {Sample} sample @param {string} text */
const labelOf = (sample, text) =>
  text === pretty(sample.body) ? 'Shell command' : 'Shell command for the unedited sample';

/** @type {[string, string][]} */
const kinds = [
  ['webhook', 'A webhook'],
  ['url', 'A URL'],
];

/** @param {{hooks: Webhook[], text: string, sample?: Sample}} props */
function Destination({ hooks, text, sample }) {
  const [kind, setKind] = useState('webhook');
  const [hook, setHook] = useState('');
  const [to, setTo] = useState({ url: '', secret: '', hash: 'sha256' });
  const [sent, setSent] = useState('');
  const target = kind === 'webhook' && (hooks.find(w => w.webhook_id === hook) ?? hooks[0]);
  const send = () => {
    const where = target
      ? { webhook_id: target.webhook_id }
      : { url: to.url, secret: to.secret, hash_function: to.hash };
    attempt(
      () => call('POST', '/events', `{"body":${text},${JSON.stringify(where).slice(1)}`),
      (/** @type {FullDelivery} */ d) => {
        setSent(d.id);
        return ['Event sent.', ['Delivery', `#/deliveries/${d.id}`]];
      },
    );
  };
  const [url, hash] = target ? [target.url, target.hash_function ?? 'sha256'] : [to.url || 'URL', to.hash];
  return form(
    { class: 'card form', onSubmit: submits(send) },
    h2('Target'),
    h(Choice, { label: 'Destination', value: target ? 'webhook' : 'url', onChange: setKind, options: kinds }),
    target
      ? webhookField(hooks, target, setHook)
      : [
          kind === 'webhook' && p({ class: 'dim' }, 'This account has no webhooks. Create one first.'),
          receiverFields(to, setTo),
        ],
    h(
      Doing,
      { label: 'Send' },
      button(
        { class: 'button main', disabled: !!fault(text) || (!target && !(to.url && to.secret)) },
        icon('send'),
        'Send signed',
      ),
    ),
    sent && h(Sent, { key: sent, id: sent }),
    sample && div(div({ class: 'label' }, labelOf(sample, text)), code(shell(sample, url, hash))),
  );
}

/** The command that sends a sample. @param {Sample} sample @param {string} url @param {string} hash */
const shell = (sample, url, hash) =>
  [
    `mockserver trigger ${sample.event}`,
    sample.variant !== 'default' && `-variant ${sample.variant}`,
    `-url ${quote(url)}`,
    '-secret SECRET',
    hash !== 'sha256' && `-hash-function ${hash}`,
  ]
    .filter(Boolean)
    .join(' \\\n  ');

/** The result of the delivery. @param {{id: string}} props */
function Sent({ id }) {
  const { data: d } = /** @type {Fetched<FullDelivery>} */ (useFetch('/deliveries/' + id, ['delivery']));
  if (!d) return null;
  const last = d.attempts.at(-1);
  return div(
    { class: 'sent', role: 'status' },
    h(Track, { d }),
    stateChip(d),
    span({ class: 'dim cut' }, last?.error || last?.response || ''),
    a({ href: `#/deliveries/${id}` }, 'Delivery'),
  );
}
