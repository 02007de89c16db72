import { expect, test } from 'vitest';
import { eachTest } from './open.js';

const context = eachTest();

test('an order is confirmed by email', async () => {
  const { account, shop } = context;
  expect(await shop.order('A-1', 'bob@example.org')).toEqual({ state: 'sent' });
  await expect(account).toHaveReceivedEmail({ to: 'bob@example.org', subject: 'Order A-1', html: /Order A-1<\/a>/ });
  await expect(account).not.toHaveReceivedEmail({ to: 'bob@example.org', subject: 'Order A-2' });
  const email = await account.email({ subject: /A-1/ });
  expect({ subject: email.subject, html: email.html, from: email.from_email }).toMatchInlineSnapshot(`
    {
      "from": "shop@example.com",
      "html": "<a href="https://shop.example/orders/1">Order A-1</a>",
      "subject": "Order A-1",
    }
  `);
});

test('a hard bounce is reported', async () => {
  const { account, shop } = context;
  await shop.order('A-2', 'bob@example.org');
  const [message] = await account.wait({ for: 'message', to: 'bob@example.org', timeout_ms: 3000 });
  expect(message?.subject).toBe('Order A-2');
  await account.act(message!, 'bounce', { category: 'bounce_hb' });
  await account.wait({ for: 'delivery', event: 'Email.Bounced', state: 'delivered' });
  expect(shop.orders.get('A-2')?.state).toBe('bounced');
});
