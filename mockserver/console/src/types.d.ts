// The types of the records that the console shows. Browsers do not load this file.
import type { components, operations } from '../../../npm/src/control.gen.ts';
import type { toast } from './actions.js';
import type { Child } from './vendor/preact.js';

type Schemas = components['schemas'];

/** The response of a control route. */
type Result<Route extends keyof operations> = operations[Route] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

/** A record of the control API. fresh means that it appeared while the page was open. */
type Listed<Name extends keyof Schemas> = Schemas[Name] & { fresh?: boolean };

/** An event in the log of events. */
export type Fired = Listed<'EventSummary'>;
export type FullFired = Listed<'Event'>;

/** An email in the inbox. */
export type Message = Listed<'MessageSummary'>;
export type FullMessage = Listed<'Message'>;
export type Header = FullMessage['headers'][number];

export type Attempt = Schemas['Attempt'];
export type Delivery = Listed<'DeliverySummary'>;
export type FullDelivery = Listed<'Delivery'>;

export type Request = Listed<'RequestSummary'>;
export type FullRequest = Listed<'Request'>;

/** new means that the record is the newest of its list. */
export type Change = { kind: string; new?: boolean; record?: any };

/** where is the path of the field, such as body.email. */
export type FieldError = { where: string; msg: string; type?: string };

/** The response of a route, and a function that loads it again. */
export type Fetched<T> = { data?: T; error?: string; reload: () => void };

/** A campaign or a workflow, as the control API lists it. */
export type Sending = Result<'getCampaigns' | 'getWorkflows'>['data'][number];

export type Kind = 'campaign' | 'workflow';

/** A campaign as the API returns it. */
export type Campaign = {
  campaign_id: number;
  name: string;
  list_id?: number;
  sender?: { name?: string; email?: string };
  content?: { subject?: string; html?: string; text?: string; template_id?: number };
  status: string;
};

export type Contact = {
  id: number;
  email: string;
  status: string;
  subscribed_on?: number;
  custom_attributes?: { name: string; value: unknown }[];
  tags?: string[];
  interests?: string[];
  last_bounce_type?: string;
  bounces_count?: number;
};

/** A field of a form and of its body. */
export type Part = {
  /** The path in the body, such as sender.email. */
  name: string;
  label: string;
  kind?: 'line' | 'area' | 'select' | 'tick' | 'ticks' | 'number' | 'time';
  options?: [string, string][];
  note?: string | ((value: any) => string);
  hint?: string;
  start?: any;
  /** The types of files that can be read into the field. */
  file?: string;
  /** Converts the value for the body. */
  read?: (value: any) => unknown;
  /** The body does not contain the field. */
  aside?: boolean;
  when?: (values: Record<string, any>) => boolean;
};

/** A button that opens a form in a dialog. */
export type FormButtonProps = {
  label: string;
  title?: string;
  sign?: string;
  main?: boolean;
  ok?: string;
  intro?: Child;
  parts: Part[];
  send: (body: any, values: Record<string, any>) => Promise<any>;
  done: (result: any) => Parameters<typeof toast>;
  /** Returns what the dialog shows before it closes, if anything. */
  after?: (result: any, close: () => void) => Child;
  /** The current record that is edited. */
  stands?: string;
  /** Returns the first values for text that is pasted on the page. */
  paste?: (text: string) => Record<string, any> | undefined;
};

export type Rule = Schemas['FaultRule'];

/** A fault rule before the server adds it. A form can contain any action. */
export type Fault = Omit<Rule, 'id' | 'enabled' | 'matched' | 'applied' | 'action'> & { action: string };

export type Action = Plan['action_details'][number];

export type Plan = Result<'getFaults'>;

export type Outcome = Sending['outcome'];

/** The numbers of contacts, by status. */
export type Counts = Record<string, number>;

export type Minute = View['minutes'][number];

export type Waiting = View['waiting'][number];

/** The data of the overview. */
export type View = Result<'getOverview'>;

export type Parameter = { name: string; in?: string; type: string; description: string; optional?: boolean };

/** An endpoint of the API, as operations.json describes it. */
export type Operation = {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  repeatable?: boolean;
  go: { method: string; arguments: string[]; result: boolean };
  parameters?: Parameter[];
  body?: string;
  fields?: Parameter[];
  examples?: { name: string; value: string }[];
};

export type Acted = Result<'postOutboxActions'>;

/**
 * The selected records of a list. toggle with through selects all rows from the last toggled one. all means every
 *   record of the list,
  and ids are the loaded ones.
 */
export type Selection = {
  ids: string[];
  all: boolean;
  has: (id: string) => boolean;
  toggle: (id: string, through?: boolean) => void;
  set: (ids: string[], all?: boolean) => void;
};

export type Account = Info['accounts'][number];

/** Information about the server. */
export type Info = Result<'getInfo'>;

/** An action that changes or removes the state of the server. */
export type Removal = {
  label: string;
  yes: string;
  sign: string;
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  done: string;
  title?: string;
  whole?: boolean;
  body?: File;
};

export type Template = {
  template_id: number;
  name: string;
  content: { html?: string; text?: string };
  created_on?: number;
  updated_on?: number;
};

export type Webhook = {
  webhook_id: string;
  url: string;
  events: string[];
  status: string;
  hash_function?: string;
  rate_limit?: number;
  rate_limit_period?: string;
};

export type Found = {
  failed: FullMessage[];
  contacts: { id: string; email: string; status: string; list_id: string; list_name: string }[];
  suppressed: { email: string; created_on?: number }[];
  unread: string[];
};
