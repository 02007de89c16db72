// The first steps: programs in four languages that send an email to this server.
import { h, useState } from './vendor/preact.js';
import { base, call } from './api.js';
import { ofAccount, useSession } from './session.js';
import { attempt, Doing } from './actions.js';
import { Choice, same } from './controls.js';
import { Copy } from './copy.js';
import { code, icon, press, tags } from './elements.js';
import { goString, quote, withSDK } from './programs.js';
const { div, h2, p } = tags;

const mail = {
  email: 'ada@example.org',
  sender: { email: 'shop@example.com' },
  content: { subject: 'Hello', text: 'It works.' },
};

/** @type {Record<string, (token: string) => string>} */
const snippets = {
  curl: token =>
    `curl ${base}/v2/emails \\\n  -H ${quote('Authorization: Bearer ' + token)} \\\n  --json ${quote(JSON.stringify(mail))}`,
  Python: token => `import json, urllib.request

request = urllib.request.Request(
    "${base}/v2/emails",
    json.dumps(${JSON.stringify(mail)}).encode(),
    {"Authorization": ${JSON.stringify('Bearer ' + token)}, "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`,
  Node: token => `const response = await fetch("${base}/v2/emails", {
  method: "POST",
  headers: { "Authorization": ${JSON.stringify('Bearer ' + token)}, "Content-Type": "application/json" },
  body: JSON.stringify(${JSON.stringify(mail)}),
});
console.log(await response.json());`,
  Go: token =>
    withSDK({
      token: goString(token),
      call: `Emails.Send(context.Background(), client.EmailSubmission{
		To:      ${goString(mail.email)},
		Sender:  client.Sender{Email: ${goString(mail.sender.email)}},
		Content: client.EmailContent{Subject: ${goString(mail.content.subject)}, Text: ${goString(mail.content.text)}},
	})`,
      result: true,
    }),
};

/** The first steps, which an empty inbox shows. */
export function First() {
  const { info, account } = useSession();
  const [language, speak] = useState('curl');
  const text = snippets[language](info?.default_token ?? 'TOKEN');
  const send = () =>
    attempt(
      () => call('POST', ofAccount('/v2/emails'), mail),
      () => ['Test email sent.'],
    );
  return div(
    { class: 'first' },
    icon('inbox'),
    h2('Nothing sent yet'),
    p({ class: 'dim' }, 'Send an email. It appears here immediately.'),
    h(Doing, { label: 'Try it' }, press('send', 'Send a test email', send, { class: 'main', disabled: !account })),
    h(Choice, { label: 'Language', value: language, onChange: speak, options: same(Object.keys(snippets)) }),
    code(text),
    h(Copy, { value: text, label: `Copy ${language}`, text: 'Copy' }),
    !info?.default_token && p({ class: 'dim' }, 'TOKEN is an access token of the server.'),
  );
}
