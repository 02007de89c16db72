// The signature of a delivery: how to compute it, and why another signature is
// invalid. The server verifies it, because a page without TLS cannot, unless it
// is on loopback.
import { h, useEffect, useState } from './vendor/preact.js';
import { call, href, useRested } from './api.js';
import { usePaste } from './controls.js';
import { Copy, idOf } from './copy.js';
import { chip, code, pairs, press, tags } from './elements.js';
import { quote } from './programs.js';
import { useSession } from './session.js';
/** @import { FullDelivery } from './types.js' */
/** @typedef {{valid: boolean, reason: string}} Verdict */
const { div, input, label, p } = tags;

/** The header with the signature of a delivery. */
export const signatureHeader = 'X-Service-Signature';

/**
 * Verifies the typed value when typing pauses.
 * @param {FullDelivery} d
 * @param {string} typed
 * @param {{secret?: string, signature?: string}} with_ values that replace the delivery's values
 */
function useVerdict(d, typed, with_) {
  const [verdict, setVerdict] = useState(/** @type {Verdict|null} */ (null));
  const rested = useRested(typed);
  useEffect(() => {
    let gone = false;
    if (!rested) return setVerdict(null);
    const body = { body: d.body, secret: d.secret, hash_function: d.hash_function, signature: d.signature, ...with_ };
    call('POST', '/verify', body).then(
      v => {
        if (!gone) setVerdict(v);
      },
      e => {
        if (!gone) setVerdict({ valid: false, reason: e.message });
      },
    );
    return () => {
      gone = true;
    };
  }, [rested, d.id]);
  return verdict;
}

/**
 * @param {{id: string, title: string, hint: string, value: string, onInput: (v: string) => void, verdict: Verdict|null,
 *   right: string, wrong: string}} props
 */
const VerifiedInput = ({ id, title, hint, value, onInput, verdict, right, wrong }) =>
  div(
    { class: 'field' },
    label({ for: id }, title),
    input({
      id,
      class: 'mono',
      value,
      onInput: (/** @type {import('./controls.js').Typed} */ e) => onInput(e.target.value),
      placeholder: hint,
      'aria-describedby': id + '-verdict',
      autocomplete: 'off',
      spellcheck: false,
    }),
    p(
      { id: id + '-verdict', class: 'verdict', role: 'status' },
      verdict && [verdict.valid ? chip('ok', 'check', right) : chip('bad', 'cross', wrong), ' ', verdict.reason],
    ),
  );

/** @param {{d: FullDelivery}} props */
export function Signature({ d }) {
  const [shown, setShown] = useState(false);
  const [theirs, setTheirs] = useState('');
  const [secret, setSecret] = useState('');
  usePaste(text => setTheirs(text.trim()));
  const verdict = useVerdict(d, theirs.trim(), { signature: theirs.trim() });
  const fits = useVerdict(d, secret, { secret });
  const hash = d.hash_function ?? 'sha256';
  const token = useSession().info?.token_required ? " -H 'Authorization: Bearer TOKEN'" : '';
  const shell = (/** @type {string} */ key) =>
    `curl -fsS${token} ${location.origin}${href(`/deliveries/${d.id}/body`)} |\n  openssl dgst -${hash} -hmac ${quote(key)} -binary | openssl base64 -A`;
  const masked = shown ? (d.secret ?? '') : '•'.repeat(18);
  return div(
    { class: 'stack' },
    pairs([
      [signatureHeader, idOf(d.signature, 'Copy signature')],
      ['Computed as', `base64(HMAC-${hash.toUpperCase()}(secret, body as sent))`],
      [
        'Secret',
        [
          idOf(d.secret ?? '', 'Copy secret', masked),
          press('', 'Show', () => setShown(!shown), { class: 'quiet', 'aria-pressed': String(shown) }),
        ],
      ],
    ]),
    h(VerifiedInput, {
      id: 'theirs',
      title: 'Signature computed by your receiver',
      hint: 'Paste its signature',
      value: theirs,
      onInput: setTheirs,
      verdict,
      right: 'matches',
      wrong: 'does not match',
    }),
    h(VerifiedInput, {
      id: 'secret',
      title: 'Secret of your receiver',
      hint: 'Paste its secret',
      value: secret,
      onInput: setSecret,
      verdict: fits,
      right: 'matches',
      wrong: 'does not match',
    }),
    div(
      { class: 'field' },
      div({ class: 'label' }, 'Shell command ', h(Copy, { value: shell(d.secret ?? ''), label: 'Copy command' })),
      code(shell(masked)),
    ),
  );
}
