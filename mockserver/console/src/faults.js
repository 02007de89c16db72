// Fault rules, which disturb requests, messages and deliveries in a repeatable
// way.
import { h, useEffect, useRef, useState } from './vendor/preact.js';
import { call, useFetch } from './api.js';
import { usePlace } from './place.js';
import { attempt, Doing } from './actions.js';
import { Choice, Field, optionsOf, Select, submits, Tick } from './controls.js';
import { chip, counted, empty, icon, iconButton, loadingFailed, num, pairs, press, tags } from './elements.js';
import { Page } from './layout.js';
import { accountFilter, look, useSession } from './session.js';
import { Confirmation, removeRules } from './state.js';
import { useWebhooks } from './webhooks.js';
/** @import { Action, Fault, Fetched, Info, Plan, Rule, Webhook } from './types.js' */
const { a, button, div, fieldset, form, h2, legend, li, p, section, span, strong, ul } = tags;

/** @type {[string, string, Fault][]} */
const presets = [
  [
    'Rate-limited once',
    'The next request of any kind gets 429 with Retry-After: 1',
    { action: 'status', status: 429, retry_after: '1', nth: 1 },
  ],
  [
    'Lost response',
    'The next submission is processed, but its response is lost',
    { operation: 'submitEmail', action: 'reset', after_processing: true, nth: 1 },
  ],
  ['Flaky 503', 'One request in five gets 503', { action: 'status', status: 503, probability: 0.2 }],
  ['Duplicate deliveries', 'Every delivery is duplicated', { event: '*', action: 'duplicate' }],
  ['Out of order', 'Every second delivery is swapped with the next', { event: '*', action: 'reorder', every: 2 }],
];

/** @param {Rule} r @param {Action[]} actions */
function about(r, actions) {
  return subject(r, actions) + (r.account_id ? ` of account ${r.account_id}` : accountFilter() && ' of all accounts');
}

/**
 * What a rule matches: request, delivery or message. Without an event and a webhook, it is the first target of the
 * action.
 * @param {Fault} r
 * @param {Action[]} actions
 */
const targetOf = (r, actions) =>
  r.event || r.webhook_id ? 'delivery' : (actions.find(a => a.action === r.action)?.targets[0] ?? 'request');

/** @param {Rule} r @param {Action[]} actions */
function subject(r, actions) {
  const target = targetOf(r, actions);
  if (target === 'message') return 'Email API messages';
  if (target === 'delivery') {
    const event = r.event && r.event !== '*' && `of ${r.event}`;
    return ['Deliveries', event, r.webhook_id && `to webhook ${r.webhook_id}`].filter(Boolean).join(' ');
  }
  return [r.operation, r.method, r.path].filter(Boolean).join(' ') || 'Every request';
}

/** @param {Rule} r */
function which(r) {
  const parts = [
    r.nth && `only match ${r.nth}`,
    r.every && `1 in ${r.every}`,
    r.probability && `${+(r.probability * 100).toFixed(2)}% at random`,
    r.times && `at most ${counted(r.times, 'time')}`,
  ];
  return parts.filter(Boolean).join(', ') || 'all';
}

/** @param {Rule} r @param {Action[]} actions */
function what(r, actions) {
  const more = [
    r.status && String(r.status),
    r.retry_after && `Retry-After: ${r.retry_after}`,
    r.delay_ms && `${r.delay_ms} ms`,
    r.location,
    r.size && `${num(r.size)} bytes`,
    r.after_processing && 'after processing',
    r.body && `“${r.body.slice(0, 60)}”`,
  ];
  return [actions.find(a => a.action === r.action)?.label ?? r.action, ...more.filter(Boolean)].join(', ');
}

/** The rule in the parameters of a link. @param {URLSearchParams} params */
const askedIn = params => ({
  action: 'status',
  status: 503,
  times: 1,
  ...Object.fromEntries(['operation', 'method', 'path'].map(name => [name, params.get(name) ?? ''])),
});

const lead = () =>
  p(
    { class: 'lead' },
    'Fault rules make requests, messages or deliveries fail. The same seed and the same order of calls cause the same faults, so failures are reproducible. To reset the server, use the ',
    a({ href: '#/overview' }, 'overview'),
    '.',
  );

/** @param {Info['test_addresses']} all */
const testAddresses = all =>
  div(
    { class: 'card' },
    h2('Test addresses'),
    p({ class: 'dim' }, 'Recipients at these addresses act on each message.'),
    pairs(all.map(x => [x.address, x.effect])),
  );

/** The buttons that add ready-made rules. @param {(f: Fault) => unknown} add */
const presetButtons = add =>
  div(
    { class: 'presets', role: 'group', 'aria-label': 'Ready-made rules' },
    presets.map(([name, title, f]) => press('plus', name, () => add({ ...ofAccount(), ...f }), { key: name, title })),
  );

/** The field of a rule for the selected account, if there are several. */
function ofAccount() {
  const account = accountFilter();
  return account ? { account_id: Number(account) } : {};
}

export function Faults() {
  const [removing, setRemoving] = useState(false);
  const [edited, edit] = useState(/** @type {Rule|undefined} */ (undefined));
  const {
    data: plan,
    error,
    reload,
  } = /** @type {Fetched<Plan>} */ (useFetch('/faults', ['fault', 'request', 'delivery']));
  if (error && !plan) return h(Page, { title: 'Faults', children: loadingFailed(error) });
  if (!plan) return null;
  const change = (/** @type {() => Promise<any>} */ f, /** @type {string} */ text) =>
    attempt(f, () => [text]).then(done => {
      reload();
      return done;
    });
  const add = (/** @type {Fault} */ f) => change(() => call('POST', '/faults', f), 'Rule added.');
  return h(Page, {
    title: 'Faults',
    side:
      plan.data.length > 0 &&
      h(
        Doing,
        { label: 'All rules' },
        press('trash', 'Remove all', () => setRemoving(true)),
      ),
    children: h(
      Doing,
      { label: 'Rules', class: 'whole' },
      lead(),
      removing &&
        div(
          { class: 'card form' },
          h2('Remove all rules'),
          h(Confirmation, { action: removeRules, close: () => setRemoving(false), after: reload }),
        ),
      presetButtons(add),
      ruleList(plan, change, edit),
      h(Forms, { plan, edited, edit, add, change }),
    ),
  });
}

/** @typedef {(f: () => Promise<any>, text: string) => Promise<boolean>} Change */

/**
 * The form of a new or edited rule, the settings, and the test addresses.
 * @param {{plan: Plan, edited: Rule|undefined, edit: (r?: Rule) => void, add: (f: Fault) => unknown, change: Change}}
 *   props
 */
function Forms({ plan, edited, edit, add, change }) {
  const { info } = useSession();
  const asked = { ...ofAccount(), ...askedIn(usePlace().params) };
  const save = async (/** @type {Fault} */ f) => {
    const id = edited?.id;
    if (await change(() => call('PUT', `/faults/${id}`, f), `Rule ${id} changed. Its counts restart at 0.`))
      edit(undefined);
  };
  return [
    div(
      { class: 'columns' },
      h(RuleForm, {
        key: edited?.id ?? JSON.stringify(asked),
        rule: edited ?? asked,
        title: edited ? `Edit rule ${edited.id}` : 'Custom rule',
        plan,
        events: info?.events ?? [],
        send: edited ? save : add,
        cancel: edited && (() => edit(undefined)),
      }),
      h(Settings, { seed: plan.seed, lookup: info?.lookup_limit ?? 'min_interval', change }),
    ),
    testAddresses(info?.test_addresses ?? []),
  ];
}

/** @param {{r: Rule, actions: Action[], change: Change, edit: (r: Rule) => void}} props */
const RuleRow = ({ r, actions, change, edit }) =>
  li(
    { class: r.enabled ? '' : 'off' },
    h(Tick, {
      kind: 'switch',
      label: span({ class: 'hidden' }, `Rule ${r.id} enabled`),
      checked: r.enabled,
      onChange: enabled =>
        change(
          () => call('PATCH', `/faults/${r.id}`, { enabled }),
          `Rule ${r.id} ${enabled ? 'enabled' : 'disabled'}.`,
        ),
    }),
    div(
      { class: 'rule' },
      div(strong(about(r, actions)), span({ class: 'dim' }, ' · ', which(r))),
      div(what(r, actions)),
    ),
    chip(r.applied ? 'warn' : '', r.applied ? 'bolt' : '', `applied to ${r.applied} of ${r.matched}`),
    iconButton('page', `Edit rule ${r.id}`, () => edit(r), { title: 'Edit' }),
    iconButton(
      'trash',
      `Remove rule ${r.id}`,
      () => change(() => call('DELETE', `/faults/${r.id}`), `Rule ${r.id} removed.`),
      { title: 'Remove' },
    ),
  );

/** @type {[string, string][]} */
const targets = [
  ['request', 'Requests'],
  ['delivery', 'Deliveries'],
  ['message', 'Messages'],
];

/** The rules that apply to the account. @param {Plan} plan @param {Change} change @param {(r: Rule) => void} edit */
function ruleList({ data, action_details: actions }, change, edit) {
  const account = accountFilter();
  const rules = data.filter(r => !account || !r.account_id || String(r.account_id) === account);
  const others = data.length - rules.length;
  return [
    rules.length
      ? ul(
          { class: 'rules' },
          rules.map(r => h(RuleRow, { key: r.id, r, actions, change, edit })),
        )
      : empty('bolt', 'No faults', 'Add a ready-made rule above, or your own rule below.'),
    others > 0 &&
      p({ class: 'dim' }, `${counted(others, 'rule')} of other accounts ${others === 1 ? 'is' : 'are'} not shown.`),
  ];
}

/** The inputs for the fields that some actions read. @type {[keyof Fault, string, Record<string, any>][]} */
const inputs = [
  ['status', 'Status', { type: 'number', min: 200, max: 599 }],
  ['retry_after', 'Retry-After', { hint: 'seconds or a date' }],
  ['delay_ms', 'Delay in milliseconds', { type: 'number', min: 0 }],
  ['location', 'Location', { hint: 'default: another host' }],
  ['size', 'Size in bytes', { type: 'number', min: 0, hint: 'default: 64 MiB' }],
  ['body', 'Body or error text', {}],
];

/** The values of the form for a rule. @param {Fault} r @returns {Record<string, string|boolean>} */
function valuesOf({ event = '', ...r }) {
  const when = /** @type {const} */ (['nth', 'every', 'probability']).find(name => r[name]) ?? 'all';
  const n = when === 'all' ? 1 : when === 'probability' ? +((r.probability ?? 0) * 100).toFixed(6) : r[when];
  return {
    ...Object.fromEntries(Object.entries(r).map(([name, v]) => [name, typeof v === 'number' ? String(v) : v])),
    event: event === '*' ? '' : event,
    when,
    n: String(n),
  };
}

/** The values of the form, and inputs that change them. @param {Fault} rule */
function useValues(rule) {
  const [f, set] = useState(valuesOf(rule));
  const put = (/** @type {string} */ name) => (/** @type {string|boolean} */ value) =>
    set(old => ({ ...old, [name]: value }));
  const common = (/** @type {string} */ name, /** @type {string} */ label) => ({ label, value: String(f[name] ?? '') });
  const field = (/** @type {string} */ name, /** @type {string} */ label, extra = {}) =>
    h(Field, { ...common(name, label), onInput: put(name), ...extra });
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {[string, string][]} */ options) =>
    h(Select, { ...common(name, label), onChange: put(name), options });
  const pick = (
    /** @type {string} */ name,
    /** @type {string} */ label,
    /** @type {string[]} */ values,
    /** @type {(v: string, n: number) => string} */ about = v => v,
  ) => select(name, label, [['', 'Any'], ...optionsOf(values, (v, n) => [v, about(v, n)])]);
  return { f, put, field, select, pick };
}

/**
 * The inputs that select requests.
 * @param {ReturnType<typeof useValues>} form
 * @param {Plan['operations']} operations
 */
const requestFields = ({ field, pick }, operations) => [
  pick(
    'operation',
    'Operation',
    operations.map(o => o.operation),
    (v, n) => `${v} · ${operations[n].method} ${operations[n].path}`,
  ),
  div(
    { class: 'pair' },
    pick('method', 'Method', [...new Set(['HEAD', ...operations.map(o => o.method)])].sort()),
    field('path', 'Path', { hint: '/lists/{id}/contacts', mono: true }),
  ),
];

/**
 * The inputs that select deliveries.
 * @param {ReturnType<typeof useValues>} form
 * @param {string[]} events
 * @param {Webhook[]} hooks
 */
const deliveryFields = ({ pick }, events, hooks) =>
  div(
    { class: 'pair' },
    pick('event', 'Event', events),
    pick(
      'webhook_id',
      'Webhook',
      hooks.map(w => w.webhook_id),
      (v, n) => `${v}: ${hooks[n].url}`,
    ),
  );

/** The inputs that limit the rule to some of the matches. @param {ReturnType<typeof useValues>} form */
function frequencyFields({ f, field, select }) {
  const percent = f.when === 'probability';
  return div(
    { class: 'pair' },
    select('when', 'Applies to', [
      ['all', 'Every match'],
      ['nth', 'Only the nth'],
      ['every', 'Every nth'],
      ['probability', 'Probability in %'],
    ]),
    f.when !== 'all' &&
      field('n', percent ? 'Percent' : 'n', {
        type: 'number',
        ...(percent ? { min: 0.01, max: 100, step: 'any' } : { min: 1 }),
      }),
    field('times', 'Times', { type: 'number', min: 0, hint: 'no limit' }),
  );
}

/**
 * A form for a rule, with the fields that its action reads.
 * @param {{rule: Fault, title: string, plan: Plan, events: string[], send: (f: Fault) => unknown, cancel?: () => void}}
 *   props
 */
function RuleForm({ rule, title, plan: { action_details: actions, operations }, events, send, cancel }) {
  const { info } = useSession();
  const [target, setTarget] = useState(targetOf(rule, actions));
  const values = useValues(rule);
  const { f, put, field, select, pick } = values;
  const hooks = useWebhooks().data?.data ?? [];
  const el = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => {
    if (cancel) el.current?.focus();
  }, []);
  const of = (/** @type {string} */ target) => actions.filter(a => a.targets.includes(target));
  const action = actions.find(a => a.action === f.action);
  const fields = (action?.fields ?? []).filter(name => target === 'request' || !action?.request_fields.includes(name));
  const choose = (/** @type {string} */ s) => {
    setTarget(s);
    put('action')(of(s)[0].action);
  };
  return form(
    { class: 'card form', onSubmit: submits(() => send(faultOf(target, f, fields))) },
    h2({ tabindex: -1, ref: el }, title),
    h(Choice, { label: 'Target', value: target, onChange: choose, options: targets }),
    pick(
      'account_id',
      'Account',
      (info?.accounts ?? []).map(a => String(a.account_id)),
    ),
    target === 'request' && requestFields(values, operations),
    target === 'delivery' && deliveryFields(values, events, hooks),
    frequencyFields(values),
    select(
      'action',
      'Action',
      of(target).map(a => [a.action, a.label]),
    ),
    inputs
      .filter(([name]) => fields.includes(name))
      .map(([name, label, extra]) => field(name, label, { key: name, ...extra })),
    fields.includes('after_processing') &&
      h(Tick, {
        label: 'Process the request first, then lose the response',
        checked: !!f.after_processing,
        onChange: put('after_processing'),
      }),
    div(
      { class: 'actions' },
      button({ class: 'button main' }, icon(cancel ? 'check' : 'plus'), cancel ? 'Save rule' : 'Add rule'),
      cancel && press('', 'Cancel', cancel),
    ),
  );
}

/**
 * The values of the form as the control route takes them.
 * @param {string} target
 * @param {Record<string, string|boolean>} f
 * @param {string[]} fields
 * @returns {Fault}
 */
function faultOf(target, f, fields) {
  /** @type {Fault} */
  const out = { action: String(f.action) };
  const n = Number(f.n) || 1;
  const own =
    target === 'request' ? ['operation', 'method', 'path'] : target === 'delivery' ? ['event', 'webhook_id'] : [];
  for (const name of own) if (f[name]) Object.assign(out, { [name]: f[name] });
  for (const name of ['account_id', 'times']) if (Number(f[name])) Object.assign(out, { [name]: Number(f[name]) });
  if (target === 'delivery' && !out.webhook_id) out.event ??= '*';
  if (f.when === 'nth') out.nth = n;
  if (f.when === 'every') out.every = n;
  if (f.when === 'probability') out.probability = n / 100;
  for (const [name, , { type }] of inputs)
    if (fields.includes(name) && f[name]) Object.assign(out, { [name]: type === 'number' ? Number(f[name]) : f[name] });
  if (f.after_processing && fields.includes('after_processing')) out.after_processing = true;
  return out;
}

/** @param {{seed: number|string, lookup: string, change: Change}} props */
function Settings({ seed, lookup, change }) {
  const [typed, setTyped] = useState('');
  const reseed = (/** @type {string} */ body) =>
    change(() => call('PUT', '/faults/seed', `{"seed":${body}}`), 'The seed was set, and all counts were reset.');
  const submit = submits(() => reseed(typed || String(seed)));
  return section(
    { class: 'stack2', 'aria-label': 'Settings' },
    form(
      { class: 'card form', onSubmit: submit },
      h2('Seed'),
      p({ class: 'dim' }, 'The seed is ', span({ class: 'mono' }, String(seed)), '. Setting it resets all counts.'),
      h(Field, {
        label: 'New seed',
        value: typed,
        onInput: v => setTyped(v.replace(/\D/g, '')),
        hint: String(seed),
        mono: true,
      }),
      div(
        { class: 'actions' },
        button({ class: 'button' }, icon('retry'), 'Set seed'),
        press('dice', 'Set a random seed', () => reseed('0')),
      ),
    ),
    fieldset(
      { class: 'card form' },
      legend({ class: 'hidden' }, 'Lookup limit'),
      h2('Email API lookups'),
      p({ class: 'dim' }, 'The algorithm that enforces one lookup per second.'),
      h(Choice, {
        label: 'Lookup limit',
        value: lookup,
        onChange: mode => change(() => call('PUT', '/lookup-limit', { mode }), 'Lookup limit changed.').then(look),
        options: [
          ['min_interval', 'Minimum interval'],
          ['token_bucket', 'Token bucket'],
          ['fixed_window', 'Fixed window'],
          ['unlimited', 'Unlimited'],
        ],
      }),
    ),
  );
}
