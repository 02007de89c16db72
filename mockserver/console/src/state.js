// The state of the server: its baseline, snapshots and resets. Each button needs at most one confirmation.
import { h, useState } from './vendor/preact.js';
import { call, callForAll, href, useFetch } from './api.js';
import { attempt, Doing } from './actions.js';
import { Choice, FileButton } from './controls.js';
import { counted, icon, press, tags } from './elements.js';
import { accountFilter, useSession } from './session.js';
/** @import { Fetched, Plan, Removal, View } from './types.js' */
const { a, div, h2, p } = tags;

/** @type {Removal} */
export const removeRules = {
  label: 'Remove all',
  yes: 'Yes, remove',
  sign: 'trash',
  method: 'DELETE',
  path: '/faults',
  done: 'Rules removed.',
};
/** @type {Removal[]} */
const resets = [
  {
    label: 'Reset to baseline',
    yes: 'Yes, reset',
    sign: 'retry',
    method: 'POST',
    path: '/reset',
    done: 'Baseline restored.',
    title: 'Restore the baseline, for example the state after -seed',
  },
  {
    label: 'Delete everything',
    yes: 'Yes, delete everything',
    sign: 'trash',
    method: 'DELETE',
    path: '/state',
    done: 'Everything deleted.',
    title: 'Remove all records, logs and fault rules',
  },
];

/** @type {Removal} */
const saveBaseline = {
  label: 'Save as baseline',
  yes: 'Yes, save',
  sign: 'check',
  method: 'PUT',
  path: '/baseline',
  done: 'Baseline saved. A reset restores the current state.',
  title: 'The current state becomes the baseline',
  whole: true,
};
const loadState = (/** @type {File} */ body) =>
  /** @type {Removal} */ ({
    label: 'Load state',
    yes: 'Yes, load',
    sign: 'retry',
    method: 'PUT',
    path: '/state',
    done: `State loaded from ${body.name}.`,
    whole: true,
    body,
  });
const perform = (/** @type {Removal} */ r) =>
  attempt(
    () => callForAll(r.method, r.path, r.body),
    () => [r.done],
  );

/** The buttons for the state of the server. */
export function State() {
  const [action, setAction] = useState(/** @type {Removal|undefined} */ (undefined));
  const { info } = useSession();
  const start = (/** @type {Removal} */ r) => (r.whole && info?.accounts.length === 1 ? perform(r) : setAction(r));
  return div(
    { class: 'card state', role: 'group', 'aria-label': 'State' },
    action
      ? [h2(action.label), h(Confirmation, { action, close: () => setAction(undefined) })]
      : h(
          Doing,
          { label: 'State', class: 'actions' },
          [saveBaseline, ...resets].map(r =>
            press(r.sign, r.label, () => start(r), { key: r.label, title: r.title, disabled: !info }),
          ),
          a(
            {
              class: 'button',
              href: href('/state'),
              download: 'state.json',
              title: 'All records, without fault rules, tokens and requests',
            },
            icon('out'),
            'Download state',
          ),
          h(FileButton, {
            text: 'Load state',
            label: 'Load a state',
            accept: '.json',
            onFile: file => start(loadState(file)),
          }),
        ),
  );
}

/**
 * Names the accounts and counts the records that an action removes, and requires a confirmation.
 * @param {{action: Removal, close: () => void, after?: () => void}} props
 */
export function Confirmation({ action, close, after }) {
  const { info } = useSession();
  const [all, setAll] = useState(false);
  const account = action.whole ? '' : accountFilter();
  const one = all ? '' : account;
  const everyone = account || action.whole ? `all ${info?.accounts.length} accounts` : 'the whole server';
  const { data: view } = /** @type {Fetched<View>} */ (
    useFetch(action === removeRules ? '' : '/overview?minutes=60' + (one && `&account_id=${one}`), [
      'records',
      'message',
    ])
  );
  const rules = /** @type {Fetched<Plan>} */ (useFetch('/faults', ['fault'])).data?.data;
  const count = rules && counted(rules.filter(r => !one || String(r.account_id) === one).length, 'rule');
  const counts = !count
    ? []
    : action === removeRules
      ? [count]
      : view
        ? [counted(view.resources.lists, 'list'), counted(view.messages.sent, 'message'), count]
        : [];
  const yes = () => {
    close();
    (one
      ? attempt(
          () => call(action.method, action.path),
          () => [action.done],
        )
      : perform(action)
    ).then(after);
  };
  return div(
    { class: 'stack2' },
    account &&
      h(Choice, {
        label: 'Accounts',
        value: all ? 'all' : 'one',
        onChange: v => setAll(v === 'all'),
        options: [
          ['one', `Account ${account}`],
          ['all', everyone.replace('a', 'A')],
        ],
      }),
    p(
      { class: 'scope', role: 'status' },
      `This applies to ${[one ? `account ${one}` : everyone, counts.join(', ')].filter(Boolean).join(': ')}.`,
    ),
    div(
      { class: 'actions', role: 'group', 'aria-label': 'Really?' },
      press(action.sign, action.yes, yes, { class: 'bad' }),
      press('', 'Keep it', close),
    ),
  );
}
