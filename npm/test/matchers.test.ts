import { type EmailMatchers, emailMatchers, Mock } from '@example/emailplatform-mock';
import { expect as jestExpect } from 'expect';
import { expect, test, vi } from 'vitest';

const account = await Mock.connect().account();

async function send(email: string, subject: string, html: string): Promise<void> {
  await fetch(`${account.url}/v2/emails`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${account.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      email,
      sender: { email: 'shop@example.com' },
      content: { subject, html, type: 'transactional' },
    }),
  });
}

test('the matcher compares all properties', async () => {
  await send('ada@example.org', 'Order 1', '<p>It is on its way</p>');
  for (const filter of [
    {},
    { to: 'Ada@Example.org' },
    { from: 'shop@example.com' },
    { subject: 'Order 1' },
    { subject: /order \d/gi },
    { html: 'on its way' },
    { html: /<p>It/ },
  ]) {
    await expect(account, JSON.stringify(filter)).toHaveReceivedEmail(filter);
  }
  for (const filter of [
    { to: 'bob@example.org' },
    { from: 'x@example.com' },
    { subject: 'Order' },
    { subject: /order/ },
    { html: 'lost' },
    { html: /^It/ },
    { text: 'lost' },
  ]) {
    await expect(account, JSON.stringify(filter)).not.toHaveReceivedEmail(filter);
  }
});

test('the matcher waits for an email', async () => {
  const waiting = expect(account).toHaveReceivedEmail({ subject: 'Later', timeoutMs: 20_000 });
  await new Promise(resolve => setTimeout(resolve, 100));
  await send('ada@example.org', 'Later', '<p>Later</p>');
  await waiting;
});

interface Expect {
  (value: unknown): EmailMatchers & { not: EmailMatchers };
  extend(matchers: object): void;
}

test.each<[string, Expect]>([
  ['vitest', expect],
  ['jest', jestExpect],
])('failures with %s say what was sent', async (_, expect) => {
  expect.extend(emailMatchers);
  const matchers = expect(account);
  await send('ada@example.org', 'Order 3', '<p>Order 3</p>');
  await matchers.toHaveReceivedEmail({ subject: 'Order 3' });
  await jestExpect(matchers.toHaveReceivedEmail({ subject: /Order 4/, timeoutMs: 50 })).rejects.toThrow(
    /^no email matches \{"subject":"\/Order 4\/","timeoutMs":50\} after 50 ms: the account sent \d+ emails, the latest are "Order 3" to ada@example\.org/,
  );
  await jestExpect(matchers.not.toHaveReceivedEmail({ subject: 'Order 3' })).rejects.toThrow(
    'an email matches, which was not expected: "Order 3" to ada@example.org',
  );
});

test('the entry for jest extends the global expect', async () => {
  const extend = vi.fn();
  vi.stubGlobal('expect', { extend });
  await import('@example/emailplatform-mock/jest');
  expect(extend).toHaveBeenCalledWith(emailMatchers);
});

test('the matcher requires an account', async () => {
  await expect(expect('ada@example.org').toHaveReceivedEmail({})).rejects.toThrow(
    'toHaveReceivedEmail requires an account of the mock server',
  );
});
