import { expect, test } from 'vitest';
import { eachTest } from './open.js';

const context = eachTest();

test('a reader confirms by email', async () => {
  const { account, shop } = context;
  expect(await shop.subscribe('ada@example.org')).toEqual({ status: 'pending' });
  const email = await account.email({ to: 'ada@example.org' });
  expect(email.confirmation).toBe(true);
  const page = await fetch(email.links[0]!);
  expect(page.status).toBe(200);
  await account.wait();
  expect(shop.readers.get('ada@example.org')).toBe('active');
});

test('a reader unsubscribes with the link of a campaign', async () => {
  const { account, shop } = context;
  await shop.subscribe('eve@example.org');
  await account.act(await account.email({ to: 'eve@example.org' }), 'confirm');
  const campaign = await shop.api.POST('/campaigns', {
    body: {
      name: 'News',
      list_id: shop.listId,
      sender: { email: 'shop@example.com' },
      content: { subject: 'News', html: '<a href="{{unsubscribe_url}}">Unsubscribe</a>' },
    },
  });
  await shop.api.POST('/campaigns/{campaign_id}/schedule', {
    params: { path: { campaign_id: campaign.data!.campaign_id } },
    body: {},
  });
  const news = await account.email({ to: 'eve@example.org', subject: 'News' });
  expect((await fetch(news.links[0]!)).status).toBe(200);
  await account.wait({ for: 'delivery', event: 'Contact.Unsubscribed', state: 'delivered' });
  expect(shop.readers.get('eve@example.org')).toBe('gone');
});
