import { type Account, Mock } from '@example/emailplatform-mock';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openShop } from './shop/shop.js';

// The clock is global, so this file starts a server of its own.
let mock: Mock, account: Account;

beforeAll(async () => {
  mock = await Mock.start({ args: ['-clock', 'frozen', '-now', '2026-01-02T15:04:05Z', '-strict'] });
  account = await mock.account();
});
afterAll(() => mock.stop());

beforeEach(async () => {
  await account.reset();
  await account.seed({ lists: [{ name: 'Newsletter', policy_accepted: true }] });
});

test('eight hours of retries take milliseconds', async () => {
  const shop = await openShop(account);
  await shop.subscribe('ada@example.org');
  await shop.close(); // from here on, no delivery can succeed
  await account.act(await account.email({ to: 'ada@example.org' }), 'confirm');
  await account.wait();
  const clock = await mock.advance(8 * 3600 * 1000);
  expect(clock.now).toBe('2026-01-02T23:04:05Z');
  const [delivery] = await account.deliveries();
  expect(delivery?.state).toBe('failed');
  expect(delivery?.attempts).toHaveLength(8);
});

test('the clock sets the times of emails, and a snapshot restores them', async () => {
  const shop = await openShop(account);
  await mock.advance(new Date('2026-02-01T00:00:00Z'));
  await shop.order('D-1', 'bob@example.org');
  await shop.close();
  const [email] = await account.outbox();
  expect(email?.time).toBe('2026-02-01T00:00:00Z');
  const snapshot = await mock.control('GET /_mock/state');
  await mock.control('DELETE /_mock/state');
  await mock.control('PUT /_mock/state', { body: snapshot });
  expect(await account.outbox()).toEqual([email]);
  await expect(mock.advance('next')).rejects.toThrow('POST /_mock/clock/advance: 409: ');
});
