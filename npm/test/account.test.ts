import { ControlError, Mock } from '@example/emailplatform-mock';
import { expect, test } from 'vitest';

const mock = Mock.connect();

async function send(account: { url: string; token: string }, email: string, subject = 'Hello'): Promise<Response> {
  return fetch(`${account.url}/v2/emails`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${account.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      email,
      sender: { email: 'shop@example.com' },
      content: { subject, text: `Text of ${subject}` },
    }),
  });
}

test('accounts do not affect each other', async () => {
  const [a, b] = await Promise.all([mock.account(), mock.account()]);
  await a.fault({ action: 'status', status: 500 });
  expect((await send(a, 'ada@example.org')).status).toBe(500);
  expect((await send(b, 'ada@example.org')).status).toBe(201);
  await a.wait();
  expect(await a.outbox()).toEqual([]);
  expect((await b.outbox()).map(({ account_id }) => account_id)).toEqual([b.id]);
  expect((await a.requests()).map(({ status }) => status)).toEqual([500]);
  await b.reset();
  expect(await b.outbox()).toEqual([]);
  expect((await send(a, 'ada@example.org')).status).toBe(500); // a reset of b keeps the fault of a
});

test('a reset keeps the token valid and removes records and faults', async () => {
  const account = await mock.account();
  await account.seed({ lists: [{ name: 'News', contacts: [{ email: 'ada@example.org' }] }] });
  await account.fault({ action: 'status', status: 500 });
  await account.reset();
  const response = await fetch(`${account.url}/lists`, { headers: { Authorization: `Bearer ${account.token}` } });
  expect([response.status, ((await response.json()) as { data: unknown[] }).data]).toEqual([200, []]);
});

test('wait returns the records that it waits for', async () => {
  const account = await mock.account();
  const waiting = account.wait({ for: 'request', operation: 'submitEmail', count: 2 });
  await send(account, 'ada@example.org', 'One');
  await send(account, 'ada@example.org', 'Two');
  expect((await waiting).map(({ operation }) => operation)).toEqual(['submitEmail', 'submitEmail']);
  const events = await account.events();
  expect(events).toEqual([]);
});

test('a rejected request throws a ControlError with the path of the field', async () => {
  const account = await mock.account();
  // @ts-expect-error a seed has no such field
  const error = await account.seed({ lists: [{ nam: 'News' }] }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ControlError);
  expect(error).toMatchObject({ route: 'POST /_mock/seed', status: 422, name: 'ControlError' });
  expect(String(error)).toMatch(/^ControlError: POST \/_mock\/seed: 422: lists\[0\]\.nam: [^\n]+$/);
});

test('routes have types', async () => {
  const account = await mock.account();
  await send(account, 'ada@example.org');
  const [{ id } = { id: '' }] = await account.outbox();
  const source: string = await mock.control('GET /_mock/outbox/{id}/source', { path: { id } });
  expect(source).toContain('Subject: Hello');
  const nothing: undefined = await mock.control('DELETE /_mock/outbox/{id}', { path: { id } });
  expect(nothing).toBeUndefined();
  // @ts-expect-error a path parameter is missing
  await expect(mock.control('GET /_mock/outbox/{id}')).rejects.toThrow('404');
  // @ts-expect-error there is no such route
  await expect(mock.control('GET /_mock/nothing')).rejects.toThrow('404');
  // @ts-expect-error there is no such action
  await expect(account.fault({ action: 'explode' })).rejects.toThrow('422: action: ');
});
