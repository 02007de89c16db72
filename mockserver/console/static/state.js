// The state of the server: its baseline, snapshots and resets. Each button needs at most one confirmation.
import { h, useState } from './vendor/preact.js';
import { call, callForAll, href, useFetch } from './api.js';
import { Choice, Doing, FileButton, attempt, counted, icon, tags } from './ui.js';
import { accountFilter, useSession } from './session.js';
const { a, button, div, h2, p } = tags;

/** @typedef {{label: string, yes: string, sign: string, method: 'POST'|'DELETE', path: string, done: string, title?: string}} Removal */

/** @type {Removal} */
export const removeRules = { label: 'Remove all', yes: 'Yes, remove', sign: 'trash', method: 'DELETE', path: '/faults', done: 'Rules removed.' };
/** @type {Removal[]} */
const resets = [
  { label: 'Reset to baseline', yes: 'Yes, reset', sign: 'retry', method: 'POST', path: '/reset', done: 'Baseline restored.', title: 'Restore the baseline, for example the state after -seed' },
  { label: 'Delete everything', yes: 'Yes, delete everything', sign: 'trash', method: 'DELETE', path: '/state', done: 'Everything deleted.', title: 'Remove all records, logs and fault rules' },
];

/** The buttons for the state of the server. */
export function State() {
  const [action, setAction] = useState(/** @type {Removal|undefined} */ (undefined));
  const save = () => attempt(() => call('PUT', '/baseline'), () => ['Baseline saved. A reset restores the current state.']);
  const load = (/** @type {File} */ file) => attempt(() => call('PUT', '/state', file), () => [`State loaded from ${file.name}.`]);
  return div({ class: 'card state', role: 'group', 'aria-label': 'State' },
    action ? [h2(action.label), h(Confirmation, { action, close: () => setAction(undefined) })]
      : h(Doing, { label: 'State', class: 'actions' },
        button({ type: 'button', class: 'button', title: 'The current state becomes the baseline', onClick: save }, icon('check'), 'Save as baseline'),
        resets.map(r => button({ type: 'button', class: 'button', key: r.label, title: r.title, onClick: () => setAction(r) }, icon(r.sign), r.label)),
        a({ class: 'button', href: href('/state'), download: 'state.json', title: 'All records, without fault rules, tokens and requests' }, icon('out'), 'Download state'),
        h(FileButton, { text: 'Load state', label: 'Load a state', accept: '.json', onFile: load })));
}

/** Names the accounts and counts the records that an action removes, and requires a confirmation. @param {{action: Removal, close: () => void, after?: () => void}} props */
export function Confirmation({ action, close, after }) {
  const { info } = useSession();
  const [all, setAll] = useState(false);
  const account = accountFilter();
  const one = all ? '' : account;
  const everyone = account ? `all ${info?.accounts.length} accounts` : 'the whole server';
  const { data: view } = /** @type {ReturnType<typeof useFetch<import('./overview.js').View>>} */ (useFetch(action === removeRules ? '' : '/overview?minutes=60' + (one && `&account_id=${one}`), ['records', 'message']));
  const rules = /** @type {ReturnType<typeof useFetch<import('./faults.js').Plan>>} */ (useFetch('/faults', ['fault'])).data?.data;
  const count = rules && counted(rules.filter(r => !one || String(r.account_id) === one).length, 'rule');
  const counts = !count ? [] : action === removeRules ? [count] : view ? [counted(view.resources.lists, 'list'), counted(view.messages.sent, 'message'), count] : [];
  const yes = () => { close(); attempt(() => (one ? call : callForAll)(action.method, action.path), () => [action.done]).then(after); };
  return div({ class: 'stack2' },
    account && h(Choice, { label: 'Accounts', value: all ? 'all' : 'one', onChange: v => setAll(v === 'all'), options: [['one', `Account ${account}`], ['all', everyone.replace('a', 'A')]] }),
    p({ class: 'scope', role: 'status' }, `This applies to ${[one ? `account ${one}` : everyone, counts.join(', ')].filter(Boolean).join(': ')}.`),
    div({ class: 'actions', role: 'group', 'aria-label': 'Really?' },
      button({ type: 'button', class: 'button bad', onClick: yes }, icon(action.sign), action.yes),
      button({ type: 'button', class: 'button', onClick: close }, 'Keep it')));
}
