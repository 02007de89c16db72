import { expect, test } from 'vitest';
import { eachTest } from './open.js';

const context = eachTest();

test('a 429 is retried', async () => {
  const { account, shop } = context;
  const rule = await account.fault({
    operation: 'submitEmail',
    action: 'status',
    status: 429,
    retry_after: '1',
    nth: 1,
  });
  expect(rule.account_id).toBe(account.id);
  expect(await shop.order('B-1', 'bob@example.org')).toEqual({ state: 'sent' });
  expect(await account.outbox({ to: 'bob@example.org' })).toHaveLength(1);
  expect((await account.requests({ operation: 'submitEmail' })).map(({ status }) => status)).toEqual([201, 429]);
});

test('a 503 is an unknown outcome, even with Retry-After, and the email is not sent again', async () => {
  const { account, shop } = context;
  await account.fault({
    operation: 'submitEmail',
    action: 'status',
    status: 503,
    retry_after: '1',
    after_processing: true,
    nth: 1,
  });
  expect(await shop.order('B-6', 'bob@example.org')).toEqual({ state: 'unknown' });
  expect(await account.outbox({ to: 'bob@example.org' })).toHaveLength(1);
});

test('a lost response is an unknown outcome, and the email is not sent again', async () => {
  const { account, shop } = context;
  await account.fault({ operation: 'submitEmail', action: 'reset', after_processing: true });
  for (const id of ['B-2', 'B-3', 'B-4']) expect(await shop.order(id, 'bob@example.org')).toEqual({ state: 'unknown' });
  expect(await account.outbox({ to: 'bob@example.org' })).toHaveLength(3);
  await account.clearFaults();
  expect(await shop.order('B-5', 'bob@example.org')).toEqual({ state: 'sent' });
});
