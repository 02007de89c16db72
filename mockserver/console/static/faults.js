// Fault rules, which disturb requests, messages and deliveries in a repeatable
// way.
import { h, useState } from './vendor/preact.js';
import { call, useFetch } from './api.js';
import { Choice, Doing, Field, Page, Select, Tick, attempt, chip, counted, empty, icon, tags } from './ui.js';
import { accountFilter, look, useSession } from './session.js';
/**
 * @typedef {{account_id?: number, operation?: string, method?: string, path?: string, event?: string, webhook_id?: string, nth?: number, every?: number, probability?: number, times?: number, action: string, after_processing?: boolean,
 *   delay_ms?: number, status?: number, retry_after?: string, body?: string, location?: string, size?: number}} Fault
 * @typedef {Fault & {id: string, enabled: boolean, calls: number, hits: number}} Rule
 * @typedef {{action: string, label: string, targets: string[], fields: string[]}} Action
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
  return subject(r) + (r.account_id ? ` of account ${r.account_id}` : '');
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
  const { data: plan, error, reload } = /** @type {ReturnType<typeof useFetch<Plan>>} */ (useFetch('/faults', ['fault', 'request', 'delivery']));
  if (error && !plan) return h(Page, { title: 'Faults', children: empty('warn', 'Loading failed', error) });
  if (!plan) return null;
  const change = (/** @type {() => Promise<any>} */ f, /** @type {string} */ text) => attempt(f, () => [text]).then(reload);
  const add = (/** @type {Fault} */ f) => change(() => call('POST', '/faults', f), 'Rule added.');
  return h(Page, {
    title: 'Faults',
    side: plan.data.length > 0 && h(Doing, { label: 'All rules' }, button({ type: 'button', class: 'button', onClick: () => change(() => call('DELETE', '/faults'), accountFilter() ? `All rules of account ${accountFilter()} removed.` : 'All rules removed.') }, icon('trash'), 'Remove all')),
    children: h(Doing, { label: 'Rules', class: 'whole' },
      p({ class: 'lead' }, 'Fault rules make requests, messages or deliveries fail. The same seed and the same order of calls cause the same faults, so failures are reproducible.'),
      div({ class: 'presets', role: 'group', 'aria-label': 'Ready-made rules' }, presets.map(([name, title, f]) => button({ type: 'button', class: 'button', key: name, title, onClick: () => add(f) }, icon('plus'), name))),
      plan.data.length ? ul({ class: 'rules' }, plan.data.map(r => h(RuleRow, { key: r.id, r, actions: plan.action_details, change }))) : empty('bolt', 'No faults', 'Add a ready-made rule above, or your own rule below.'),
      div({ class: 'columns' },
        h(NewRule, { actions: plan.action_details, operations: plan.operations.map(o => o.operation), events: info?.events ?? [], add }),
        h(Settings, { seed: plan.seed, lookup: info?.lookup_limit ?? 'min_interval', change }))),
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
  const fields = actions.find(a => a.action === f.action)?.fields ?? [];
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
  /** @type {Record<string, any> & Fault} */
  const out = { action: String(f.action) };
  const n = Number(f.n) || 1;
  if (subject === 'request' && f.operation) out.operation = String(f.operation);
  if (subject === 'delivery') out.event = String(f.event || '*');
  if (f.when === 'nth') out.nth = n;
  if (f.when === 'every') out.every = n;
  if (f.when === 'probability') out.probability = n / 100;
  for (const [name, , { type }] of inputs) if (fields.includes(name) && f[name]) out[name] = type === 'number' ? Number(f[name]) : f[name];
  if (f.action === 'delay') out.delay_ms ??= 1000;
  if (f.after_processing && fields.includes('after_processing')) out.after_processing = true;
  return out;
}

/** @param {{seed: number|string, lookup: string, change: Change}} props */
function Settings({ seed, lookup, change }) {
  const [typed, setTyped] = useState('');
  const reseed = (/** @type {string} */ body) => change(() => call('PUT', '/faults/seed', `{"seed":${body}}`), 'The seed was set, and all counts were reset.');
  const submit = (/** @type {Event} */ e) => { e.preventDefault(); reseed(typed || String(seed)); };
  return section({ class: 'stack2', 'aria-label': 'Settings' },
    form({ class: 'card form', onSubmit: submit },
      h2('Seed'), p({ class: 'dim' }, 'The seed is ', span({ class: 'mono' }, String(seed)), '. Setting it resets all counts.'),
      h(Field, { label: 'New seed', value: typed, onInput: v => setTyped(v.replace(/\D/g, '')), hint: String(seed), mono: true }),
      div({ class: 'actions' }, button({ class: 'button' }, icon('retry'), 'Set seed'), button({ type: 'button', class: 'button', onClick: () => reseed('0') }, icon('dice'), 'Set a random seed'))),
    fieldset({ class: 'card form' }, legend({ class: 'hidden' }, 'Lookup limit'), h2('Email API lookups'), p({ class: 'dim' }, 'The algorithm that enforces one lookup per second.'),
      h(Choice, { label: 'Lookup limit', value: lookup, onChange: mode => change(() => call('PUT', '/lookup-limit', { mode }), 'Lookup limit changed.').then(look), options: [['min_interval', 'Minimum interval'], ['token_bucket', 'Token bucket'], ['fixed_window', 'Fixed window']] })),
    h(Reset, { change }));
}

/** The buttons that reset the server, after a confirmation. @param {{change: Change}} props */
function Reset({ change }) {
  const [confirming, setConfirming] = useState('');
  const { info } = useSession();
  const account = accountFilter();
  const { data: view } = /** @type {ReturnType<typeof useFetch<import('./overview.js').View>>} */ (useFetch(confirming && '/overview?minutes=60' + (account && `&account_id=${account}`), ['records', 'message']));
  const scope = account ? `account ${account}` : info && info.accounts.length > 1 ? `all ${info.accounts.length} accounts` : 'the whole server';
  const yes = (/** @type {() => Promise<any>} */ f, /** @type {string} */ text) => { setConfirming(''); change(f, text); };
  const first = (/** @type {string} */ what) => button({ type: 'button', class: 'button', onClick: () => setConfirming(what) }, icon(what === 'start' ? 'retry' : 'trash'), what === 'start' ? 'Reset' : 'Delete everything');
  const sure = confirming === 'start'
    ? button({ type: 'button', class: 'button bad', onClick: () => yes(() => call('POST', '/reset'), 'Baseline restored.') }, icon('retry'), 'Yes, reset')
    : button({ type: 'button', class: 'button bad', onClick: () => yes(() => call('DELETE', '/state'), 'Everything deleted.') }, icon('trash'), 'Yes, delete everything');
  return div({ class: 'card form' }, h2('Reset'),
    p({ class: 'dim' }, 'A reset restores the baseline, for example the state after -seed. Deleting everything removes all records, logs and fault rules.'),
    confirming && p({ class: 'scope', role: 'status' }, `This applies to ${scope}`, view && `: ${counted(view.resources.lists, 'list')}, ${counted(view.messages.sent, 'message')}`, '.'),
    confirming ? div({ class: 'actions', role: 'group', 'aria-label': 'Really?' }, sure, button({ type: 'button', class: 'button', onClick: () => setConfirming('') }, 'Keep it'))
      : div({ class: 'actions' }, first('start'), first('all')));
}
