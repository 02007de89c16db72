import { sign } from '@example/emailplatform-mock';
import { expect, test } from 'vitest';
import { eachTest } from './open.js';

const context = eachTest();

test('a duplicate delivery counts once', async () => {
  const { account, shop } = context;
  await account.fault({ action: 'duplicate', event: '*' });
  await shop.subscribe('ada@example.org');
  await account.act(await account.email({ to: 'ada@example.org' }), 'confirm');
  await account.wait();
  const [delivery] = await account.deliveries();
  expect(delivery?.attempts.map(({ status }) => status)).toEqual([200, 200]);
  expect(shop.readers.get('ada@example.org')).toBe('active');
});

test('a dropped delivery does not arrive, and a redelivery does', async () => {
  const { account, shop } = context;
  await account.fault({ action: 'drop', event: 'Email.Bounced', times: 1 });
  await shop.order('C-1', 'bob@example.org');
  await account.act(await account.email({ to: 'bob@example.org' }), 'bounce');
  const [dropped] = await account.wait({ for: 'delivery', state: 'dropped' });
  expect(shop.orders.get('C-1')?.state).toBe('sent');
  await account.redeliver(dropped!);
  await account.wait();
  expect(shop.orders.get('C-1')?.state).toBe('bounced');
});

test('a forged delivery is rejected', async () => {
  const { shop } = context;
  const body = JSON.stringify({ event: 'Contact.Unsubscribed', data: { email_address: 'ada@example.org' } });
  const send = (signature: string) =>
    fetch(`${shop.url}/hook`, { method: 'POST', headers: { 'X-Service-Signature': signature }, body });
  expect((await send(sign(body, 'a guess'))).status).toBe(401);
  expect(shop.rejected).toBe(1);
  expect((await send(sign(body, shop.secret))).status).toBe(200);
});
