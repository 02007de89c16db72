// A newsletter with double opt-in: a small web application that uses the platform's API.
//
//   POST /readers {"email": …}                 requests a confirmation email for an address
//   GET  /readers                              {"ada@example.org": "pending" | "active" | "gone"}
//   POST /issues  {"subject", "text", "at"}    sends an issue to all active readers, now or at a time in Unix seconds
//   POST /hook                                 receives the platform's events
//
// The addresses of the readers, and issues, are only for operators on this machine. Web pages cannot use these routes.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { isIPv4 } from 'node:net';
import { pathToFileURL } from 'node:url';

const MAX_BODY = 1 << 20; // bytes, of a request or a response
const MAX_CONNECTIONS = 200;
const EVENTS = ['Contact.Added', 'Contact.Unsubscribed', 'Email.Bounced'];
const SENDER = { name: 'The Letter', email: 'letter@shop.example' };

/** The platform rejected a request and did nothing. */
export class Rejected extends Error {
  constructor(status, body) {
    super(`the platform responded with ${status}: ${body.slice(0, 300)}`);
    this.status = status;
    try {
      this.types = JSON.parse(body).detail.map(({ type }) => type);
    } catch {
      this.types = [];
    }
  }
}

/** The platform may have processed a request: repeating it could duplicate its effect. */
export class OutcomeUnknown extends Error {}

/** A client for the platform's API. */
export class Platform {
  constructor(baseURL, token, timeout = 10_000) {
    Object.assign(this, { baseURL: baseURL.replace(/\/$/, ''), token, timeout });
  }

  async call(method, path, body) {
    let response, text;
    try {
      response = await fetch(this.baseURL + path, {
        method,
        headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(this.timeout),
      });
      text = (await bodyOf(response.body ?? [])).toString();
      if (response.ok) return JSON.parse(text);
    } catch (error) {
      throw new OutcomeUnknown(`${method} ${path}`, { cause: error });
    }
    // After a 408, a redirect or a 5xx, even with Retry-After, the platform may have processed the request.
    if (response.status >= 400 && response.status < 500 && response.status !== 408)
      throw new Rejected(response.status, text);
    throw new OutcomeUnknown(`${method} ${path}: status ${response.status}`);
  }

  /** Yields the items of all pages of a list. */
  async *all(path) {
    for (let page = 1; ; page++) {
      const { data, pagination } = await this.call('GET', `${path}?page=${page}&per_page=100`);
      yield* data;
      if (data.length < pagination.per_page) return;
    }
  }
}

/** The newsletter: its readers and its issues. */
export class Newsletter {
  readers = new Map(); // "pending", "active" or "gone" by address
  issues = new Map(); // "scheduled" or "unknown" by subject
  #seen = new Set(); // deduplication keys of handled events
  #changed = new Map(); // time of the last event by address

  constructor(platform) {
    this.platform = platform;
  }

  /** Finds the list and the webhook, or creates the webhook. Only one process may do this at a time. */
  async open(listName, hookURL) {
    for await (const list of this.platform.all('/lists')) if (list.name === listName) this.list ??= list.list_id;
    if (!this.list) throw new Error(`there is no list ${listName}`);
    let id; // of the webhook
    for await (const hook of this.platform.all('/webhooks')) {
      if (hook.url !== hookURL || hook.status === 'archived') continue;
      if (EVENTS.every(name => hook.events.includes(name))) id ??= hook.webhook_id;
    }
    id ??= (await this.platform.call('POST', '/webhooks', { url: hookURL, events: EVENTS })).webhook_id;
    ({ secret: this.secret, hash_function: this.hash } = await this.platform.call('GET', `/webhooks/${id}`));
  }

  /** Requests a confirmation email, unless the address is already on the list. */
  async subscribe(email) {
    const key = email.toLowerCase();
    try {
      await this.platform.call('POST', `/lists/${this.list}/contacts?send_double_opt_in=true`, { email });
    } catch (error) {
      // another 409 means that the list's policy is not accepted, so subscribing is impossible
      if (!(error instanceof Rejected && error.types.includes('contact_exists'))) throw error;
      return this.readers.get(key) ?? 'known';
    }
    if (this.readers.get(key) !== 'active') this.readers.set(key, 'pending'); // an event may have arrived before the response
    return this.readers.get(key);
  }

  /** Schedules an issue at most once, even if the outcome of a request is unknown. */
  async publish({ subject, text, at }) {
    if (this.issues.has(subject)) return this.issues.get(subject);
    this.issues.set(subject, 'unknown');
    try {
      const campaign = { name: subject, list_id: this.list, sender: SENDER, content: { subject, text } };
      const { campaign_id: id } = await this.platform.call('POST', '/campaigns', campaign);
      await this.platform.call('POST', `/campaigns/${id}/schedule`, at ? { scheduled_for: at } : {});
      this.issues.set(subject, 'scheduled');
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) {
        this.issues.delete(subject);
        throw error;
      }
    }
    return this.issues.get(subject);
  }

  /** Reports whether the platform signed exactly these bytes. */
  isSigned(body, signature) {
    const want = createHmac(this.hash, this.secret).update(body).digest('base64');
    const [a, b] = [want, signature].map(text => Buffer.from(text));
    return a.length === b.length && timingSafeEqual(a, b);
  }

  /** Handles an event and ignores duplicates. Events can arrive in any order. */
  handle(body) {
    const { id, event, timestamp, data } = JSON.parse(body);
    const isSet = /[^0-]/.test(id ?? ''); // a platform that sets no id sends none, "" or zeros
    const key = isSet ? id : createHash('sha256').update(body).digest('hex');
    if (this.#seen.has(key)) return;
    if (event === 'Contact.Added') this.#change(data.email_address, 'active', timestamp);
    if (event === 'Contact.Unsubscribed') this.#change(data.email_address, 'gone', timestamp);
    if (data.bounce?.category === 'bounce_hb' && data.contact) this.#change(data.contact.email, 'gone');
    this.#seen.add(key);
  }

  #change(email, status, timestamp) {
    const [key, time] = [email.toLowerCase(), Date.parse(timestamp) || Infinity]; // only a hard bounce has no timestamp
    if (time < this.#changed.get(key)) return; // a later change arrived first
    this.#changed.set(key, time);
    this.readers.set(key, status);
  }
}

/** Returns the HTTP server of the application. Above MAX_CONNECTIONS it closes the oldest one, so slow clients do not exclude others. */
export function serverOf(newsletter) {
  const open = new Set();
  const server = createServer(
    { requestTimeout: 10_000, connectionsCheckingInterval: 1000 },
    async (request, response) => {
      const [status, body] = await respond(newsletter, request).catch(errorResponse);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    },
  );
  server.maxRequestsPerSocket = 1; // a client could send many requests without waiting for the responses
  return server.setTimeout(30_000).on('connection', socket => {
    open.add(socket.once('close', () => open.delete(socket)));
    const [oldest] = open;
    if (open.size > MAX_CONNECTIONS && open.delete(oldest)) oldest.destroy();
  });
}

/** Reports whether a page of another site sent the request, as Go's http.CrossOriginProtection does. */
function isCrossSite({ headers: { 'sec-fetch-site': site, origin, host } }) {
  if (site) return !['same-origin', 'none'].includes(site);
  return Boolean(origin) && ![`http://${host}`, `https://${host}`].includes(origin);
}

/**
 * Reports whether the request is from this machine. The name of a malicious page can point to this address (DNS rebinding), so the
 * Host header must contain a loopback address or localhost.
 */
function isLocal({ headers: { host = '' } }) {
  const name = host.replace(/:\d+$/, '');
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

async function respond(newsletter, request) {
  const forOperators = ['GET /readers', 'POST /issues'].includes(`${request.method} ${request.url}`);
  if (forOperators && !isLocal(request))
    return [403, { error: 'the host in the Host header must be a loopback address or localhost' }];
  if (request.url !== '/hook' && isCrossSite(request))
    return [403, { error: 'a page of another site sent the request' }];
  switch (`${request.method} ${request.url}`) {
    case 'GET /readers':
      return [200, Object.fromEntries(newsletter.readers)];
    case 'POST /readers':
      return [202, { status: await newsletter.subscribe(JSON.parse(await bodyOf(request)).email) }];
    case 'POST /issues':
      return [202, { status: await newsletter.publish(JSON.parse(await bodyOf(request))) }];
    case 'POST /hook': {
      const body = await bodyOf(request); // the platform signs the bytes as sent
      if (!newsletter.isSigned(body, request.headers['x-service-signature'] ?? '')) return [401, {}];
      newsletter.handle(body);
      return [200, {}];
    }
  }
  return [404, {}];
}

function errorResponse(error) {
  if (error instanceof Rejected) return [502, { error: error.message }];
  if (error instanceof OutcomeUnknown) return [202, { status: 'unknown' }];
  return [400, { error: String(error) }];
}

async function bodyOf(request) {
  let [chunks, size] = [[], 0];
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) throw new RangeError('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Runs the application until SIGTERM. */
async function main({ LISTEN = '127.0.0.1:8080', LIST = 'Newsletter', HOOK_URL, PLATFORM_URL, PLATFORM_TOKEN }) {
  const newsletter = new Newsletter(new Platform(PLATFORM_URL, PLATFORM_TOKEN));
  const [, host, port] = LISTEN.match(/^(.*):(\d+)$/);
  const server = serverOf(newsletter).listen(Number(port), host);
  process.once('SIGTERM', () => {
    server.close();
    server.closeIdleConnections();
  });
  await newsletter.open(LIST, HOOK_URL);
  console.log(`listening on ${LISTEN}`);
}

if (process.argv[1] && pathToFileURL(process.argv[1]).href === import.meta.url) await main(process.env);
