// The scenarios that each runner, environment and runtime runs.

const { request } = require('node:http');
const { setTimeout } = require('node:timers');
const { Mock } = require('@example/emailplatform-mock');

const send = account =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${account.token}`, 'Content-Type': 'application/json' };
    const sent = request(`${account.url}/v2/emails`, { method: 'POST', headers, agent: false }, response =>
      response.resume().on('end', resolve),
    );
    sent.on('error', reject);
    sent.end(
      JSON.stringify({
        email: 'ada@example.org',
        sender: { email: 's@example.com' },
        content: { subject: 'Grüße', text: 't' },
      }),
    );
  });

/** Waits for an email that arrives later, and for an email that does not arrive. If fake is set, it first replaces functions such as timers or fetch. */
async function scenario(fake = () => {}) {
  const mock = await Mock.start();
  const account = await mock.account();
  setTimeout(() => send(account), 100);
  fake();
  const { subject } = await account.email({ subject: /Grüße/, timeoutMs: 20_000 });
  if (subject !== 'Grüße') throw new Error(`got the subject ${subject}`);
  const error = await account.email({ to: 'nobody@example.org', timeoutMs: 100 }).catch(error => error);
  if (!/no email matches/.test(error.message)) throw new Error(`got ${error}`, { cause: error });
  if ((await account.outbox()).length !== 1) throw new Error('the outbox must have one email');
  await mock.stop();
  const another = await Mock.start(); // while the timers and fetch are still replaced
  await another.stop();
}

/** Replaces fetch as tests of browser code do. */
function replaceFetch() {
  globalThis.fetch = () => Promise.reject(new Error('the test environment has no network'));
}

module.exports = { Mock, scenario, replaceFetch };
