import { randomInt, randomUUID } from 'node:crypto';
import { type Control, ControlError, type Input, type Route } from './control.js';
import type { components } from './control.gen.js';
import { now } from './node.js';

type Schemas = components['schemas'];
/** A message without its text and HTML. */
export type MessageSummary = Schemas['MessageSummary'];
/** A message with its text, HTML, headers, links and events. */
export type Message = Schemas['Message'];
/** A delivery of an event to a webhook, with its attempts. */
export type DeliverySummary = Schemas['DeliverySummary'];
/** A request of the application to the API. */
export type RequestSummary = Schemas['RequestSummary'];
/** An event, without its body. */
export type EventSummary = Schemas['EventSummary'];
/** The records that a seed adds. */
export type Seed = Omit<Schemas['Seed'], 'account_id' | 'tokens'>;
/** A fault rule. */
export type Fault = Omit<Schemas['Fault'], 'account_id'>;
/** A fault rule with its id and its counts. */
export type FaultRule = Schemas['FaultRule'];

type Query<T> = Omit<NonNullable<T>, 'account_id'>;
type ListRoute = 'GET /_mock/outbox' | 'GET /_mock/deliveries' | 'GET /_mock/requests' | 'GET /_mock/events';
type Filter<R extends ListRoute> = Query<Input<R>['query']>;

type WaitBody = NonNullable<Input<'POST /_mock/wait'>['body']>;
interface Waited {
  message: MessageSummary;
  delivery: DeliverySummary;
  request: RequestSummary;
  event: EventSummary;
}
/** What to wait for; see POST /_mock/wait in docs/control-api.md. */
export type WaitFilter<K extends keyof Waited> = Query<Omit<WaitBody, 'for' | 'drain'>> & { for: K };

/** A recipient action: confirm, bounce, complain, open, click, unsubscribe or global-unsubscribe. */
export type Action = Route extends infer R ? (R extends `POST /_mock/outbox/{id}/${infer A}` ? A : never) : never;
type ActionInput<A extends Action> = Input<`POST /_mock/outbox/{id}/${A}`>;
/** Details of an action, such as the category of a bounce. */
export type How<A extends Action> = ActionInput<A> extends { body?: infer B } ? NonNullable<B> : {};

/** Properties of an email. A string must equal the whole value, except that text and html only need to contain the string. */
export interface EmailFilter {
  /** The recipient. Case is ignored. */
  to?: string;
  /** The sender's address. */
  from?: string;
  subject?: string | RegExp;
  text?: string | RegExp;
  html?: string | RegExp;
  /** The maximum time to wait for the email, in milliseconds. The default is 2,000. */
  timeoutMs?: number;
}

/** The time between two searches for an email, in milliseconds. */
const pauseMs = 20;

/**
 * An account of the mock server with its own token, records and faults. Accounts do not affect each other, so test files
 * can run in parallel on one server. They share only the clock and what docs/control-api.md lists under Isolation.
 */
export class Account {
  /** The id of the account. */
  readonly id = randomInt(2 ** 20, 2 ** 47);
  /** The access token of the account. */
  readonly token = randomUUID();

  private constructor(private readonly control: Control) {}

  /** Creates an account. Mock.account calls it. */
  static async create(control: Control): Promise<Account> {
    const account = new Account(control);
    await account.addToken();
    return account;
  }

  private async addToken(): Promise<void> {
    await this.control.call('POST /_mock/seed', { body: { account_id: this.id, tokens: [{ token: this.token }] } });
  }

  /** The base URL of the email API. */
  get url(): string {
    return this.control.url;
  }

  /** Adds records to the account. */
  async seed(records: Seed): Promise<void> {
    await this.control.call('POST /_mock/seed', { body: { ...records, account_id: this.id } });
  }

  /** Restores the baseline of the account, which is empty by default, and removes its faults and logs. The token stays valid. */
  async reset(): Promise<void> {
    await this.control.call('POST /_mock/reset', { query: { account_id: this.id } });
    await this.addToken(); // the baseline does not contain it
  }

  /** Adds a fault rule for requests and deliveries of this account. */
  fault(rule: Fault): Promise<FaultRule> {
    return this.control.call('POST /_mock/faults', { body: { ...rule, account_id: this.id } });
  }

  /** Removes the fault rules of this account. */
  async clearFaults(): Promise<void> {
    await this.control.call('DELETE /_mock/faults', { query: { account_id: this.id } });
  }

  /**
   * Waits until no work of the account is due. It does not wait for retries and scheduled campaigns, because they are due
   * later.
   */
  wait(): Promise<void>;
  /** Waits for records, and returns the latest ones, the newest first. */
  wait<K extends keyof Waited>(filter: WaitFilter<K>): Promise<Waited[K][]>;
  async wait<K extends keyof Waited>(filter?: WaitFilter<K>): Promise<Waited[K][] | void> {
    const result = await this.control.call('POST /_mock/wait', { body: { ...filter, account_id: this.id } });
    return result?.data as Waited[K][] | undefined;
  }

  /** Returns sent messages, the newest first, up to 200. */
  async outbox(filter: Filter<'GET /_mock/outbox'> = {}): Promise<MessageSummary[]> {
    return (await this.control.call('GET /_mock/outbox', { query: { ...filter, account_id: this.id } })).data;
  }

  /** Returns deliveries to webhooks, the newest first, up to 200. */
  async deliveries(filter: Filter<'GET /_mock/deliveries'> = {}): Promise<DeliverySummary[]> {
    return (await this.control.call('GET /_mock/deliveries', { query: { ...filter, account_id: this.id } })).data;
  }

  /** Returns requests to the API, the newest first, up to 200. Requests with an unknown token are included. */
  async requests(filter: Filter<'GET /_mock/requests'> = {}): Promise<RequestSummary[]> {
    return (await this.control.call('GET /_mock/requests', { query: { ...filter, account_id: this.id } })).data;
  }

  /** Returns events, the newest first, up to 200. */
  async events(filter: Filter<'GET /_mock/events'> = {}): Promise<EventSummary[]> {
    return (await this.control.call('GET /_mock/events', { query: { ...filter, account_id: this.id } })).data;
  }

  /** Returns a message with its text, HTML, headers, links and events. */
  message(id: string): Promise<Message> {
    return this.control.call('GET /_mock/outbox/{id}', { path: { id } });
  }

  /** Waits until an email matches, and returns the latest email that matches. */
  async email(filter: EmailFilter): Promise<Message> {
    const { timeoutMs = 2000 } = filter;
    const start = now();
    for (let paused = 0; ; paused += pauseMs) {
      const found = await this.find(filter);
      if (found) return found;
      if (Math.max(paused, now() - start) >= timeoutMs)
        throw new Error(`no email matches ${show(filter)} after ${timeoutMs} ms: ${await this.sent()}`);
      await this.pause();
    }
  }

  /** Waits for pauseMs. The server measures the time, because fake timers can stop all clocks of this process. */
  private async pause(): Promise<void> {
    const never = { for: 'message', search: randomUUID(), timeout_ms: pauseMs } as const;
    await this.control.call('POST /_mock/wait', { body: never }).catch((error: unknown) => {
      if (!(error instanceof ControlError && error.status === 504)) throw error;
    });
  }

  /** Returns the latest of the last 1,000 emails that match, or undefined. */
  async find(filter: EmailFilter): Promise<Message | undefined> {
    const { to, from, subject, text, html } = filter;
    for (const { id, ...summary } of await this.outbox({ ...(to ? { to } : {}), limit: 1000 })) {
      if (from && summary.from_email !== from) continue;
      if (typeof subject === 'string' ? summary.subject !== subject : subject && !contains(summary.subject, subject))
        continue;
      const message = await this.message(id);
      if ((!text || contains(message.text, text)) && (!html || contains(message.html, html))) return message;
    }
    return undefined;
  }

  private async sent(): Promise<string> {
    const all = await this.outbox();
    const first = all.slice(0, 5).map(({ subject, to }) => `"${subject}" to ${to}`);
    return `the account sent ${all.length || 'no'} emails${all.length ? `, the latest are ${first.join(', ')}` : ''}`;
  }

  /** Queues a delivery again, in any state. */
  async redeliver(delivery: { id: string }): Promise<void> {
    await this.control.call('POST /_mock/deliveries/{id}/redeliver', { path: { id: delivery.id } });
  }

  /** Simulates a recipient action and returns the message after it. */
  act<A extends Action>(
    message: { id: string },
    action: A,
    ...how: {} extends How<A> ? [How<A>?] : [How<A>]
  ): Promise<Message> {
    const input = { path: { id: message.id }, body: how[0] } as Input<`POST /_mock/outbox/{id}/bounce`>;
    return this.control.call(`POST /_mock/outbox/{id}/${action as 'bounce'}`, input);
  }
}

function contains(value: string | undefined, want: string | RegExp): boolean {
  return typeof want === 'string' ? (value ?? '').includes(want) : (value ?? '').search(want) >= 0; // search ignores lastIndex
}

function show(filter: object): string {
  return JSON.stringify(filter, (_, value) => (value instanceof RegExp ? String(value) : value));
}
