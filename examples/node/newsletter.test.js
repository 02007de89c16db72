// End-to-end tests of the application with the mock server: node --test

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHTTPServer, request as send } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { Mock, sign } from '@example/emailplatform-mock';
import { Newsletter, OutcomeUnknown, Platform, serverOf } from './newsletter.js';

const ADA = 'ada@example.org';
const WEEK = 7 * 24 * 3600;
let mock, account, newsletter, server, url;

before(async () => {
  mock = await Mock.start();
  account = await mock.account();
});
after(() => mock.stop());

beforeEach(async () => {
  await account.reset();
  await account.seed({
    lists: [{ name: 'Newsletter', policy_accepted: true, contacts: [{ email: 'bob@example.org' }] }],
  });
  newsletter = new Newsletter(new Platform(account.url, account.token));
  server = serverOf(newsletter).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${server.address().port}`;
  await newsletter.open('Newsletter', `${url}/hook`);
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

async function call(method, path, body, headers) {
  const response = await fetch(url + path, {
    method,
    headers,
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });
  return [response.status, await response.json()];
}

const subscribe = email => call('POST', '/readers', { email });
const statusOf = async email => (await call('GET', '/readers'))[1][email];

async function confirmed(email) {
  await subscribe(email);
  await account.act((await account.outbox({ to: email }))[0], 'confirm');
  await account.wait();
}

test('a new reader gets one confirmation email and is active after confirming', async () => {
  assert.deepEqual(await subscribe(ADA), [202, { status: 'pending' }]);
  assert.deepEqual(await subscribe('Ada@Example.org'), [202, { status: 'pending' }]);
  const [mail, ...more] = await account.outbox({ to: ADA });
  assert.match(mail.subject, /confirm/);
  assert.deepEqual(more, []);
  await account.act(mail, 'confirm');
  await account.wait();
  assert.equal(await statusOf(ADA), 'active');
});

test('a contact on the list gets no confirmation email', async () => {
  assert.deepEqual(await subscribe('bob@example.org'), [202, { status: 'known' }]);
  assert.deepEqual(await account.outbox({ to: 'bob@example.org' }), []);
});

test('subscribing fails if the policy of the list is not accepted', async () => {
  const platform = new Platform(account.url, account.token);
  newsletter.list = (await platform.call('POST', '/lists', { name: 'New' })).list_id; // its policy is not accepted
  const [status, { error }] = await subscribe(ADA);
  assert.equal(status, 502);
  assert.match(error, /policy_not_accepted/);
  assert.equal(await statusOf(ADA), undefined);
});

test('a restart finds the list and the webhook', async () => {
  const platform = new Platform(account.url, account.token);
  for (let i = 0; i < 120; i++) await platform.call('POST', '/lists', { name: `List ${i}` }); // more than a page
  const second = new Newsletter(platform);
  await second.open('Newsletter', `${url}/hook`);
  assert.deepEqual([second.list, second.secret], [newsletter.list, newsletter.secret]);
  assert.equal((await platform.call('GET', '/webhooks')).data.length, 1);
  await second.open('List 119', `${url}/other`);
  assert.equal((await platform.call('GET', '/webhooks')).data.length, 2);
});

test('a late event does not undo a later unsubscription', async () => {
  const event = (name, second) =>
    JSON.stringify({ event: name, timestamp: `2026-05-01T12:00:0${second}Z`, data: { email_address: ADA } });
  newsletter.handle(event('Contact.Unsubscribed', 5));
  newsletter.handle(event('Contact.Added', 1));
  assert.equal(await statusOf(ADA), 'gone');
  newsletter.handle(event('Contact.Added', 9));
  assert.equal(await statusOf(ADA), 'active');
});

test('a scheduled issue goes to all readers who have confirmed by then', async () => {
  await confirmed(ADA);
  await subscribe('eve@example.org');
  const at = Math.floor(Date.now() / 1000) + WEEK;
  assert.deepEqual(await call('POST', '/issues', { subject: 'Spring', text: 'It is here.', at }), [
    202,
    { status: 'scheduled' },
  ]);
  const spring = async to => (await account.outbox({ to })).filter(({ subject }) => subject === 'Spring').length;
  await mock.advance((WEEK - 3600) * 1000);
  assert.equal(await spring(ADA), 0);
  await mock.advance(3600 * 1000);
  assert.deepEqual(await Promise.all([ADA, 'bob@example.org', 'eve@example.org'].map(spring)), [1, 1, 0]);
});

test('an unsubscribed reader gets no more issues', async () => {
  await confirmed(ADA);
  await call('POST', '/issues', { subject: 'One', text: 'One.' });
  await account.wait();
  await account.act((await account.outbox({ to: ADA }))[0], 'unsubscribe');
  await account.wait();
  assert.equal(await statusOf(ADA), 'gone');
  await call('POST', '/issues', { subject: 'Two', text: 'Two.' });
  await account.wait();
  assert.deepEqual((await account.outbox({ to: ADA })).map(({ subject }) => subject).includes('Two'), false);
  assert.equal((await account.outbox({ to: 'bob@example.org' }))[0].subject, 'Two');
});

test('a hard bounce removes a reader; a soft bounce does not', async () => {
  for (const [email, category, want] of [
    [ADA, 'bounce_hb', 'gone'],
    ['eve@example.org', 'bounce_fm', 'active'],
  ]) {
    await confirmed(email);
    await call('POST', '/issues', { subject: category, text: 'Text.' });
    await account.wait();
    await account.act((await account.outbox({ to: email }))[0], 'bounce', { category });
    await account.wait();
    assert.equal(await statusOf(email), want, category);
  }
});

test('an outage of seven hours loses nothing', async () => {
  const { retry_schedule_ms: schedule } = await mock.control('GET /_mock/info');
  await subscribe(ADA);
  const { handle } = newsletter;
  newsletter.handle = () => {
    throw new Error('the database is down');
  };
  await account.act((await account.outbox({ to: ADA }))[0], 'confirm');
  await account.wait();
  for (let i = 1; i < schedule.length; i++) await mock.advance('next');
  assert.equal(await statusOf(ADA), 'pending');
  newsletter.handle = handle;
  await mock.advance('next');
  assert.equal(await statusOf(ADA), 'active');
  const [{ attempts }] = await account.deliveries();
  const times = attempts.map(({ time }) => Date.parse(time));
  const waits = times.slice(1).map((time, i) => time - times[i]);
  assert.equal(waits.length, schedule.length);
  waits.forEach((wait, i) => assert.ok(wait >= schedule[i] && wait < schedule[i] + 1000, `wait ${i} is ${wait} ms`));
  assert.ok(times.at(-1) - times[0] > 7 * 3600 * 1000);
});

test('a duplicate delivery is handled once', async () => {
  await account.fault({ action: 'duplicate', event: 'Contact.Added' });
  await confirmed(ADA);
  const [{ id }] = await account.deliveries();
  const { attempts, body, signature } = await mock.control('GET /_mock/deliveries/{id}', { path: { id } });
  assert.deepEqual(
    attempts.map(({ status }) => status),
    [200, 200],
  );
  newsletter.readers.set(ADA, 'gone'); // a later event
  assert.deepEqual(await call('POST', '/hook', body, { 'X-Service-Signature': signature }), [200, {}]);
  assert.equal(await statusOf(ADA), 'gone');
});

test('events without ids are different events', () => {
  for (const id of ['', '00000000-0000-0000-0000-000000000000'])
    for (const email_address of [`a${id}@example.org`, `b${id}@example.org`]) {
      newsletter.handle(JSON.stringify({ id, event: 'Contact.Added', data: { email_address } }));
      assert.equal(newsletter.readers.get(email_address), 'active');
    }
});

test('a forged event is rejected', async () => {
  const body = JSON.stringify({ event: 'Contact.Added', data: { email_address: ADA } });
  const valid = sign(body, newsletter.secret);
  for (const forged of [
    '',
    'é',
    sign(body, 'a guess'),
    Buffer.from(valid, 'base64').toString('hex'),
    sign(`${body}\n`, newsletter.secret),
  ]) {
    const headers = { 'X-Service-Signature': Buffer.from(forged).toString('latin1') };
    assert.equal((await call('POST', '/hook', body, headers))[0], 401, forged);
  }
  assert.equal(await statusOf(ADA), undefined);
  assert.equal((await call('POST', '/hook', body, { 'X-Service-Signature': valid }))[0], 200);
  assert.equal(await statusOf(ADA), 'active');
});

test('web pages cannot send issues, read addresses or subscribe readers', async () => {
  const status = (method, path, headers) =>
    new Promise((resolve, reject) => {
      const body = path === '/readers' ? { email: ADA } : { subject: 'Spam', text: 'Spam.' };
      send(url + path, { method, headers }, response => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(method === 'POST' ? JSON.stringify(body) : undefined);
    });
  const { host } = new URL(url);
  for (const [method, path, headers, want] of [
    ['POST', '/issues', { 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'text/plain' }, 403],
    ['POST', '/issues', { Origin: 'https://evil.example' }, 403],
    ['POST', '/issues', { Origin: 'null' }, 403],
    ['POST', '/issues', { Host: 'evil.example', 'Sec-Fetch-Site': 'same-origin' }, 403],
    ['POST', '/readers', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['GET', '/readers', { Host: 'evil.example' }, 403],
    ['GET', '/readers', { Host: '127.evil.example' }, 403],
    ['GET', '/readers', { 'Sec-Fetch-Site': 'none' }, 200],
    ['GET', '/readers', { Host: 'localhost' }, 200],
    ['POST', '/readers', { Origin: url, Host: host }, 202],
    ['POST', '/readers', { Host: 'news.example' }, 202],
  ])
    assert.equal(await status(method, path, headers), want, JSON.stringify([method, path, headers]));
  await account.wait();
  assert.equal((await account.outbox({ to: 'bob@example.org' })).length, 0);
});

test('an endless response is an unknown outcome', async t => {
  const endless = createHTTPServer((_, response) => {
    const chunk = Buffer.alloc(1 << 16, ' ');
    const more = () => {
      while (response.write(chunk));
    };
    response.on('drain', more);
    more();
  }).listen(0, '127.0.0.1');
  await once(endless, 'listening');
  t.after(() => {
    endless.close();
    endless.closeAllConnections();
  });
  const platform = new Platform(`http://127.0.0.1:${endless.address().port}`, 'token', 60_000);
  await assert.rejects(
    platform.call('GET', '/lists'),
    error => error instanceof OutcomeUnknown && error.cause instanceof RangeError,
  );
});

test('an issue is not sent again after a lost response', async () => {
  await account.fault({ action: 'reset', operation: 'scheduleCampaign', after_processing: true, times: 1 });
  const issue = { subject: 'Once', text: 'Once.' };
  assert.deepEqual(await call('POST', '/issues', issue), [202, { status: 'unknown' }]);
  assert.deepEqual(await call('POST', '/issues', issue), [202, { status: 'unknown' }]);
  await account.wait();
  assert.equal((await account.outbox({ to: 'bob@example.org' })).length, 1);
});

test('each issue is sent at most once under each fault', async () => {
  const faults = [401, 403, 409, 422, 429].map(status => ({ action: 'status', status }));
  const uncertain = [408, 500, 502, 503].map(status => ({ action: 'status', status }));
  uncertain.push(
    { action: 'status', status: 503, retry_after: '1' },
    { action: 'redirect' },
    { action: 'reset' },
    { action: 'not_json' },
  );
  for (const fault of uncertain) faults.push(fault, { ...fault, after_processing: true });
  faults.push({ action: 'truncate' });
  for (const operation of ['createCampaign', 'scheduleCampaign']) {
    for (const [i, fault] of faults.entries()) {
      const subject = `${operation} ${i}`;
      await account.fault({ ...fault, operation, times: 1 });
      let status;
      for (let n = 0; n < 3; n++) [, { status }] = await call('POST', '/issues', { subject, text: 'Text.' });
      await account.wait();
      const sent = (await account.outbox({ to: 'bob@example.org' })).filter(mail => mail.subject === subject).length;
      assert.ok(
        status === 'scheduled' ? sent === 1 : status === 'unknown' && sent <= 1,
        `${subject}: ${JSON.stringify(fault)}: ${status}, ${sent} emails`,
      );
    }
  }
});

test('the application accepts every kind of event', async () => {
  for (const { event, variant, body } of (await mock.control('GET /_mock/samples')).data) {
    const hook = { url: `${url}/hook`, secret: newsletter.secret, hash_function: newsletter.hash };
    const { id } = await mock.control('POST /_mock/events', { body: { body, ...hook } });
    await mock.control('POST /_mock/wait'); // a delivery to a URL has no account
    assert.equal(
      (await mock.control('GET /_mock/deliveries/{id}', { path: { id } })).state,
      'delivered',
      `${event} ${variant}`,
    );
  }
});

test('the program runs until SIGTERM', async t => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const LISTEN = `127.0.0.1:${free.address().port}`;
  free.close();
  await once(free, 'close');
  const env = {
    ...process.env,
    LISTEN,
    HOOK_URL: `http://${LISTEN}/hook`,
    PLATFORM_URL: account.url,
    PLATFORM_TOKEN: account.token,
  };
  const program = spawn(process.execPath, ['newsletter.js'], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => program.kill('SIGKILL'));
  const ended = once(program, 'exit');
  const [line] = await once(createInterface({ input: program.stdout }), 'line');
  assert.equal(line, `listening on ${LISTEN}`);
  url = `http://${LISTEN}`;
  await confirmed(ADA);
  assert.equal(await statusOf(ADA), 'active');
  program.kill('SIGTERM');
  await ended;
});
