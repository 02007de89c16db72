// Fault rules, which disturb requests, messages and deliveries in a repeatable
// way.
import { h, useState } from './vendor/preact.js';
import { call, callForAll, useFetch } from './api.js';
import { Choice, Doing, Field, Page, Select, Tick, attempt, chip, counted, empty, icon, pairs, tags } from './ui.js';
import { accountFilter, look, useSession } from './session.js';
/**
 * @typedef {{account_id?: number, operation?: string, method?: string, path?: string, event?: string, webhook_id?: string, nth?: number, every?: number, probability?: number, times?: number, action: string, after_processing?: boolean,
 *   delay_ms?: number, status?: number, retry_after?: string, body?: string, location?: string, size?: number}} Fault
 * @typedef {Fault & {id: string, enabled: boolean, calls: number, hits: number}} Rule
 * @typedef {{action: string, label: string, targets: string[], fields: string[], request_fields: string[]}} Action
 * @typedef {{seed: number|string, data: Rule[], operations: {operation: string}[], action_details: Action[]}} Plan
 */
const { button, div, fieldset, form, h2, legend, li, p, section, span, strong, ul } = tags;

/** @type {[string, string, Fault][]} */
const presets = [
  ['Rate-limited once', 'The next request of any kind gets 429 with Retry-After: 1', { action: 'status', status: 429, retry_after: '1', nth: 1 }],
  ['Lost response', 'The next submission is processed, but its response is lost', { operation: 'submitEmail', action: 'reset', after_processing: true, nth: 1 }],
  ['Flaky 503', 'One request in five gets 503', { action: 'status', status: 503, probability: 0.2 }],
  ['Duplicate deliveries', 'Every delivery is duplicated', { event: '*', action: 'duplicate' }],
  ['Out of order', 'Every second delivery is swapped with the next', { event: '*', action: 'reorder', every: 2 }],
];

/** @param {Rule} r */
function about(r) {
  return subject(r) + (r.account_id ? ` of account ${r.account_id}` : accountFilter() && ' of all accounts');
}

/** @param {Rule} r */
function subject(r) {
  if (r.action === 'internal_error') return 'Email API messages';
  if (r.event || r.webhook_id || ['drop', 'duplicate', 'reorder'].includes(r.action)) {
    return `Deliveries${r.event && r.event !== '*' ? ' of ' + r.event : ''}${r.webhook_id ? ' to webhook ' + r.webhook_id : ''}`;
  }
  return [r.operation, r.method, r.path].filter(Boolean).join(' ') || 'Every request';
}

/** @param {Rule} r */
function which(r) {
  const parts = [r.nth && `only match ${r.nth}`, r.every && `1 in ${r.every}`, r.probability && `${+(r.probability * 100).toFixed(2)}% at random`, r.times && `at most ${counted(r.times, 'time')}`];
  return parts.filter(Boolean).join(', ') || 'all';
}

/** @param {Rule} r @param {Action[]} actions */
function what(r, actions) {
  const more = [r.status && String(r.status), r.retry_after && `Retry-After: ${r.retry_after}`, r.delay_ms && `${r.delay_ms} ms`, r.location, r.size && `${r.size.toLocaleString('en')} bytes`, r.after_processing && 'after processing', r.body && `“${r.body.slice(0, 60)}”`];
  return [actions.find(a => a.action === r.action)?.label ?? r.action, ...more.filter(Boolean)].join(', ');
}

export function Faults() {
  const { info } = useSession();
  const [removing, setRemoving] = useState(false);
  const { data: plan, error, reload } = /** @type {ReturnType<typeof useFetch<Plan>>} */ (useFetch('/faults', ['fault', 'request', 'delivery']));
  if (error && !plan) return h(Page, { title: 'Faults', children: empty('warn', 'Loading failed', error) });
  if (!plan) return null;
  const change = (/** @type {() => Promise<any>} */ f, /** @type {string} */ text) => attempt(f, () => [text]).then(reload);
  const add = (/** @type {Fault} */ f) => change(() => call('POST', '/faults', f), 'Rule added.');
  const account = accountFilter();
  const rules = plan.data.filter(r => !account || !r.account_id || String(r.account_id) === account);
  const others = plan.data.length - rules.length;
  return h(Page, {
    title: 'Faults',
    side: plan.data.length > 0 && h(Doing, { label: 'All rules' }, button({ type: 'button', class: 'button', onClick: () => setRemoving(true) }, icon('trash'), 'Remove all')),
    children: h(Doing, { label: 'Rules', class: 'whole' },
      p({ class: 'lead' }, 'Fault rules make requests, messages or deliveries fail. The same seed and the same order of calls cause the same faults, so failures are reproducible.'),
      removing && div({ class: 'card form' }, h2('Remove all rules'), h(Confirmation, { action: remove, rules: plan.data, change, close: () => setRemoving(false) })),
      div({ class: 'presets', role: 'group', 'aria-label': 'Ready-made rules' }, presets.map(([name, title, f]) => button({ type: 'button', class: 'button', key: name, title, onClick: () => add(f) }, icon('plus'), name))),
      rules.length ? ul({ class: 'rules' }, rules.map(r => h(RuleRow, { key: r.id, r, actions: plan.action_details, change }))) : empty('bolt', 'No faults', 'Add a ready-made rule above, or your own rule below.'),
      others > 0 && p({ class: 'dim' }, `${counted(others, 'rule')} of other accounts ${others === 1 ? 'is' : 'are'} not shown.`),
      div({ class: 'columns' },
        h(NewRule, { actions: plan.action_details, operations: plan.operations.map(o => o.operation), events: info?.events ?? [], add }),
        h(Settings, { seed: plan.seed, lookup: info?.lookup_limit ?? 'min_interval', rules: plan.data, change })),
      div({ class: 'card' }, h2('Test addresses'), p({ class: 'dim' }, 'Recipients at these addresses act on each message.'),
        pairs((info?.test_addresses ?? []).map(x => [x.address, x.effect])))),
  });
}

/** @typedef {(f: () => Promise<any>, text: string) => Promise<void>} Change */

/** @param {{r: Rule, actions: Action[], change: Change}} props */
const RuleRow = ({ r, actions, change }) => li({ class: r.enabled ? '' : 'off' },
  h(Tick, { kind: 'switch', label: span({ class: 'hidden' }, `Rule ${r.id} enabled`), checked: r.enabled, onChange: enabled => change(() => call('PATCH', `/faults/${r.id}`, { enabled }), `Rule ${r.id} ${enabled ? 'enabled' : 'disabled'}.`) }),
  div({ class: 'rule' }, div(strong(about(r)), span({ class: 'dim' }, ' · ', which(r))), div(what(r, actions))),
  chip(r.hits ? 'warn' : '', r.hits ? 'bolt' : '', `${r.hits} of ${r.calls} affected`),
  button({ type: 'button', class: 'bare', title: 'Remove', 'aria-label': `Remove rule ${r.id}`, onClick: () => change(() => call('DELETE', `/faults/${r.id}`), `Rule ${r.id} removed.`) }, icon('trash')));

/** The inputs for the fields that some actions read. @type {[keyof Fault, string, Record<string, any>][]} */
const inputs = [
  ['status', 'Status', { type: 'number', min: 200, max: 599 }], ['retry_after', 'Retry-After', { hint: 'seconds or a date' }],
  ['delay_ms', 'Delay in milliseconds', { type: 'number', min: 0 }], ['location', 'Location', { hint: 'default: another host' }],
  ['size', 'Size in bytes', { type: 'number', min: 0, hint: 'default: 64 MiB' }], ['body', 'Body or error text', {}],
];

/** @param {{actions: Action[], operations: string[], events: string[], add: (f: Fault) => void}} props */
function NewRule({ actions, operations, events, add }) {
  const [subject, setSubject] = useState('request');
  const [f, set] = useState(/** @type {Record<string, string|boolean>} */ ({ action: 'status', when: 'nth', n: '1', status: '503' }));
  const put = (/** @type {string} */ name) => (/** @type {string|boolean} */ value) => set(old => ({ ...old, [name]: value }));
  const of = (/** @type {string} */ target) => actions.filter(a => a.targets.includes(target));
  const action = actions.find(a => a.action === f.action);
  const fields = (action?.fields ?? []).filter(name => subject === 'request' || !action?.request_fields.includes(name));
  const choose = (/** @type {string} */ s) => { setSubject(s); set(old => ({ ...old, action: of(s)[0].action })); };
  const submit = (/** @type {Event} */ e) => { e.preventDefault(); add(faultOf(subject, f, fields)); };
  const text = (/** @type {string} */ name) => String(f[name] ?? '');
  const field = (/** @type {string} */ name, /** @type {string} */ label, extra = {}) => h(Field, { label, value: text(name), onInput: put(name), ...extra });
  const any = (/** @type {string[]} */ names, /** @type {string} */ word) => /** @type {[string, string][]} */ ([['', word], ...names.map(n => [n, n])]);
  return form({ class: 'card form', onSubmit: submit },
    h2('Custom rule'),
    h(Choice, { label: 'Target', value: subject, onChange: choose, options: [['request', 'Requests'], ['delivery', 'Deliveries'], ['message', 'Messages']] }),
    subject === 'request' && h(Select, { label: 'Operation', value: text('operation'), onChange: put('operation'), options: any(operations, 'Any') }),
    subject === 'delivery' && h(Select, { label: 'Event', value: text('event'), onChange: put('event'), options: any(events, 'Any') }),
    div({ class: 'pair' },
      h(Select, { label: 'Selection', value: text('when'), onChange: put('when'), options: [['all', 'All'], ['nth', 'Only the nth'], ['every', 'Every nth'], ['probability', 'Probability in %']] }),
      f.when !== 'all' && field('n', f.when === 'probability' ? 'Percent' : 'n', f.when === 'probability' ? { type: 'number', min: 0.01, max: 100, step: 'any' } : { type: 'number', min: 1 })),
    h(Select, { label: 'Action', value: text('action'), onChange: put('action'), options: of(subject).map(a => [a.action, a.label]) }),
    inputs.filter(([name]) => fields.includes(name)).map(([name, label, extra]) => field(name, label, { key: name, ...extra })),
    fields.includes('after_processing') && h(Tick, { label: 'Process the request first, then lose the response', checked: !!f.after_processing, onChange: put('after_processing') }),
    div(button({ class: 'button main' }, icon('plus'), 'Add rule')));
}

/** The values of the form as the control route takes them. @param {string} subject @param {Record<string, string|boolean>} f @param {string[]} fields @returns {Fault} */
function faultOf(subject, f, fields) {
  /** @type {Fault} */
  const out = { action: String(f.action) };
  const n = Number(f.n) || 1;
  if (subject === 'request' && f.operation) out.operation = String(f.operation);
  if (subject === 'delivery') out.event = String(f.event || '*');
  if (f.when === 'nth') out.nth = n;
  if (f.when === 'every') out.every = n;
  if (f.when === 'probability') out.probability = n / 100;
  for (const [name, , { type }] of inputs) if (fields.includes(name) && f[name]) Object.assign(out, { [name]: type === 'number' ? Number(f[name]) : f[name] });
  if (f.action === 'delay') out.delay_ms ??= 1000;
  if (f.after_processing && fields.includes('after_processing')) out.after_processing = true;
  return out;
}

/** @param {{seed: number|string, lookup: string, rules: Rule[], change: Change}} props */
function Settings({ seed, lookup, rules, change }) {
  const [typed, setTyped] = useState('');
  const reseed = (/** @type {string} */ body) => change(() => call('PUT', '/faults/seed', `{"seed":${body}}`), 'The seed was set, and all counts were reset.');
  const submit = (/** @type {Event} */ e) => { e.preventDefault(); reseed(typed || String(seed)); };
  return section({ class: 'stack2', 'aria-label': 'Settings' },
    form({ class: 'card form', onSubmit: submit },
      h2('Seed'), p({ class: 'dim' }, 'The seed is ', span({ class: 'mono' }, String(seed)), '. Setting it resets all counts.'),
      h(Field, { label: 'New seed', value: typed, onInput: v => setTyped(v.replace(/\D/g, '')), hint: String(seed), mono: true }),
      div({ class: 'actions' }, button({ class: 'button' }, icon('retry'), 'Set seed'), button({ type: 'button', class: 'button', onClick: () => reseed('0') }, icon('dice'), 'Set a random seed'))),
    fieldset({ class: 'card form' }, legend({ class: 'hidden' }, 'Lookup limit'), h2('Email API lookups'), p({ class: 'dim' }, 'The algorithm that enforces one lookup per second.'),
      h(Choice, { label: 'Lookup limit', value: lookup, onChange: mode => change(() => call('PUT', '/lookup-limit', { mode }), 'Lookup limit changed.').then(look), options: [['min_interval', 'Minimum interval'], ['token_bucket', 'Token bucket'], ['fixed_window', 'Fixed window'], ['unlimited', 'Unlimited']] })),
    h(Reset, { rules, change }));
}

/** @typedef {{label: string, yes: string, sign: string, method: 'POST'|'DELETE', path: string, done: string}} Removal */

/** @type {Removal} */
const remove = { label: 'Remove all', yes: 'Yes, remove', sign: 'trash', method: 'DELETE', path: '/faults', done: 'Rules removed.' };
/** @type {Removal[]} */
const resets = [
  { label: 'Reset', yes: 'Yes, reset', sign: 'retry', method: 'POST', path: '/reset', done: 'Baseline restored.' },
  { label: 'Delete everything', yes: 'Yes, delete everything', sign: 'trash', method: 'DELETE', path: '/state', done: 'Everything deleted.' },
];

/** The buttons that reset the server, after a confirmation. @param {{rules: Rule[], change: Change}} props */
function Reset({ rules, change }) {
  const [action, setAction] = useState(/** @type {Removal|undefined} */ (undefined));
  return div({ class: 'card form' }, h2('Reset'),
    p({ class: 'dim' }, 'A reset restores the baseline, for example the state after -seed. Deleting everything removes all records, logs and fault rules.'),
    action ? h(Confirmation, { action, rules, change, close: () => setAction(undefined) })
      : div({ class: 'actions' }, resets.map(r => button({ type: 'button', class: 'button', key: r.label, onClick: () => setAction(r) }, icon(r.sign), r.label))));
}

/** Names the accounts and counts the records that an action removes, and requires a confirmation. @param {{action: Removal, rules: Rule[], change: Change, close: () => void}} props */
function Confirmation({ action, rules, change, close }) {
  const { info } = useSession();
  const [all, setAll] = useState(false);
  const account = accountFilter();
  const one = all ? '' : account;
  const everyone = account ? `all ${info?.accounts.length} accounts` : 'the whole server';
  const { data: view } = /** @type {ReturnType<typeof useFetch<import('./overview.js').View>>} */ (useFetch(action === remove ? '' : '/overview?minutes=60' + (one && `&account_id=${one}`), ['records', 'message']));
  const count = counted(rules.filter(r => !one || String(r.account_id) === one).length, 'rule');
  const counts = action === remove ? [count] : view ? [counted(view.resources.lists, 'list'), counted(view.messages.sent, 'message'), count] : [];
  const yes = () => { close(); change(() => (one ? call : callForAll)(action.method, action.path), action.done); };
  return div({ class: 'stack2' },
    account && h(Choice, { label: 'Accounts', value: all ? 'all' : 'one', onChange: v => setAll(v === 'all'), options: [['one', `Account ${account}`], ['all', everyone.replace('a', 'A')]] }),
    p({ class: 'scope', role: 'status' }, `This applies to ${[one ? `account ${one}` : everyone, counts.join(', ')].filter(Boolean).join(': ')}.`),
    div({ class: 'actions', role: 'group', 'aria-label': 'Really?' },
      button({ type: 'button', class: 'button bad', onClick: yes }, icon(action.sign), action.yes),
      button({ type: 'button', class: 'button', onClick: close }, 'Keep it')));
}
