import { Mock } from '@example/emailplatform-mock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop } from './shop/shop.js';

let mock: Mock;
beforeAll(async () => {
  mock = await Mock.start();
});
afterAll(() => mock.stop());

test('an order whose email bounces', async () => {
  const account = await mock.account();
  await account.seed({ lists: [{ name: 'Newsletter', policy_accepted: true }] });
  const shop = await openShop(account); // your application, with account.url and account.token

  await account.fault({ operation: 'submitEmail', action: 'status', status: 429, retry_after: '1', times: 1 });
  await shop.order('A-1', 'ada@example.org');
  await expect(account).toHaveReceivedEmail({ to: 'ada@example.org', subject: 'Order A-1', html: /shop\.example/ });

  await account.act(await account.email({ to: 'ada@example.org' }), 'bounce', { category: 'bounce_hb' });
  await account.wait();
  expect(shop.orders.get('A-1')?.state).toBe('bounced');
  await shop.close();
});
