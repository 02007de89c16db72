// A shop with double opt-in and order emails, as an application of the email platform. Tests of the package use it.

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifySignature } from '@example/emailplatform-mock';
import createClient from 'openapi-fetch';
import type { components, paths } from './platform.gen.js';

type Event = components['schemas']['Event'];

export type Shop = Awaited<ReturnType<typeof openShop>>;

export async function openShop(platform: { url: string; token: string }) {
  const api = createClient<paths>({
    baseUrl: platform.url,
    redirect: 'error',
    headers: { Authorization: `Bearer ${platform.token}` },
  });
  const readers = new Map<string, 'pending' | 'active' | 'gone'>();
  const orders = new Map<string, { emailId?: string; state: string }>();
  const seen = new Set<string>();
  let rejected = 0;

  async function subscribe(email: string) {
    const { error, response } = await api.POST('/lists/{list_id}/contacts', {
      params: { path: { list_id: listId }, query: { send_double_opt_in: true } },
      body: { email },
    });
    if (error && response.status !== 409) return { status: 'failed' };
    if (!error && !readers.has(email)) readers.set(email, 'pending'); // an event can be faster
    return { status: readers.get(email) };
  }

  async function order(id: string, email: string): Promise<{ state: string }> {
    for (let attempt = 1; ; attempt++) {
      const { data, response } = await api
        .POST('/v2/emails', {
          body: {
            email,
            sender: { email: 'shop@example.com' },
            custom_attributes: { order: id },
            content: {
              subject: 'Order {{order}}',
              html: '<a href="https://shop.example/orders/1">Order {{order}}</a>',
              type: 'transactional',
            },
          },
        })
        .catch(() => ({ data: undefined, response: undefined })); // the connection was lost
      if (response?.status === 429 && attempt < 3) continue;
      const failed = response && response.status < 500 && response.status !== 408 ? 'rejected' : 'unknown';
      orders.set(id, data ? { emailId: data.id, state: 'sent' } : { state: failed });
      return { state: data ? 'sent' : failed };
    }
  }

  function handle(event: Event, key: string) {
    if (seen.has(key)) return;
    seen.add(key);
    if (event.event === 'Contact.Added' && event.data.email_address) readers.set(event.data.email_address, 'active');
    if (event.event === 'Contact.Unsubscribed' && event.data.email_address)
      readers.set(event.data.email_address, 'gone');
    if (event.event === 'Email.Bounced' && 'email' in event.data && typeof event.data.email === 'object') {
      const { id } = event.data.email;
      for (const order of orders.values()) if (order.emailId === id) order.state = 'bounced';
    }
  }

  async function hook(request: IncomingMessage) {
    const body = Buffer.concat(await request.toArray());
    if (!verifySignature({ body, signature: request.headers['x-service-signature'], secret, hashFunction })) {
      rejected++;
      return 401;
    }
    const event: Event = JSON.parse(body.toString());
    handle(event, 'id' in event ? event.id : body.toString());
    return 200;
  }

  const server = createServer(async (request, response) => {
    response.writeHead(await hook(request)).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lists = await api.GET('/lists');
  const listId = lists.data!.data.find(({ name }) => name === 'Newsletter')!.list_id;
  const created = await api.POST('/webhooks', {
    body: { url: `${url}/hook`, events: ['Contact.Added', 'Contact.Unsubscribed', 'Email.Bounced'] },
  });
  const webhook = await api.GET('/webhooks/{webhook_id}', {
    params: { path: { webhook_id: created.data!.webhook_id } },
  });
  const { secret = '', hash_function: hashFunction } = webhook.data!;
  return {
    api,
    url,
    listId,
    secret,
    readers,
    orders,
    subscribe,
    order,
    get rejected() {
      return rejected;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
