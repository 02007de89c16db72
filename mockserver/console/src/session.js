// Data for the whole page: information about the server, and the selected
// account.
import { useEffect, useState } from './vendor/preact.js';
import { call, limitTo } from './api.js';
/** @import { Info } from './types.js' */

const session = { info: /** @type {Info|null} */ (null), account: '' };
/** @type {Set<() => void>} */
const listeners = new Set();
const notify = () => {
  limitTo(accountFilter());
  for (const f of listeners) f();
};

/** Loads the information about the server. If the server does not respond, this is called again when it is back. */
export async function look() {
  const info = /** @type {Info|null} */ (await call('GET', '/info').catch(() => null));
  if (!info) return;
  const all = info.accounts.map(a => String(a.account_id));
  const before = sessionStorage.getItem('account') ?? '';
  session.info = info;
  session.account = all.includes(before) ? before : (all[0] ?? '');
  notify();
}

/** Selects another account, if it exists. @param {string} account */
export function choose(account) {
  if (!session.info?.accounts.some(a => String(a.account_id) === account)) return;
  session.account = account;
  sessionStorage.setItem('account', account);
  notify();
}

/** @returns {{info: Info|null, account: string}} */
export function useSession() {
  const [, set] = useState(0);
  const seen = session.info;
  useEffect(() => {
    const f = () => set(n => n + 1);
    listeners.add(f);
    if (session.info !== seen) f(); // the session has changed since the component was rendered
    return () => {
      listeners.delete(f);
    };
  }, []);
  return session;
}

/** The filter of lists: the selected account if there are several, otherwise empty. */
export const accountFilter = () => ((session.info?.accounts.length ?? 0) > 1 ? session.account : '');

/** The path of an API route for the selected account. @param {string} path */
export const ofAccount = path => session.account && `/accounts/${session.account}/api${path}`;
