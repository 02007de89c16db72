// The first steps: code in four languages that sends an email to this server.
import { h, useState } from './vendor/preact.js';
import { base, call } from './api.js';
import { ofAccount, useSession } from './session.js';
import { attempt, Doing } from './actions.js';
import { Choice, same } from './controls.js';
import { Copy } from './copy.js';
import { code, icon, press, tags } from './elements.js';
import { quote } from './programs.js';
const { div, h2, p } = tags;

const mail = {
  email: 'ada@example.org',
  sender: { email: 'shop@example.com' },
  content: { subject: 'Hello', text: 'It works.' },
};

/** @type {Record<string, (url: string, token: string) => string>} */
const snippets = {
  curl: (url, token) =>
    `curl ${url}/v2/emails \\\n  -H ${quote('Authorization: Bearer ' + token)} \\\n  --json ${quote(JSON.stringify(mail))}`,
  Python: (url, token) => `import json, urllib.request

request = urllib.request.Request(
    "${url}/v2/emails",
    json.dumps(${JSON.stringify(mail)}).encode(),
    {"Authorization": ${JSON.stringify('Bearer ' + token)}, "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`,
  Node: (url, token) => `const response = await fetch("${url}/v2/emails", {
  method: "POST",
  headers: { "Authorization": ${JSON.stringify('Bearer ' + token)}, "Content-Type": "application/json" },
  body: JSON.stringify(${JSON.stringify(mail)}),
});
console.log(await response.json());`,
  Go: (url, token) => `c, err := client.New(client.Config{BaseURL: "${url}", Token: ${JSON.stringify(token)}})
if err != nil {
	log.Fatal(err)
}
email, err := c.Emails.Send(ctx, client.EmailSubmission{
	Email:   "${mail.email}",
	Sender:  client.Sender{Email: "${mail.sender.email}"},
	Content: client.EmailContent{Subject: "${mail.content.subject}", Text: "${mail.content.text}"},
})`,
};

/** The first steps, which an empty inbox shows. */
export function First() {
  const { info, account } = useSession();
  const [language, speak] = useState('curl');
  const text = snippets[language](base, info?.default_token ?? 'TOKEN');
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
