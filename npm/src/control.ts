import { URL } from 'node:url';
import type { components, paths } from './control.gen.js';
import { type Response, send } from './node.js';

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';
type Path = keyof paths & string;

/** A route of the control API, such as 'POST /_mock/seed'. docs/control-api.md describes all routes. */
export type Route = {
  [P in Path]: { [M in Method]: paths[P][M] extends object ? `${Uppercase<M>} ${P}` : never }[Method];
}[Path];

type Operation<R extends Route> = R extends `${infer M} ${infer P extends Path}`
  ? paths[P][Lowercase<M> & Method]
  : never;
type Part<O, K extends 'path' | 'query'> = O extends { parameters: infer P } ? Pick<P, K & keyof P> : never;
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } }
    ? { body?: B }
    : unknown;

/** The path parameters, query parameters and body of a route. */
export type Input<R extends Route> = Part<Operation<R>, 'path'> & Part<Operation<R>, 'query'> & Body<Operation<R>>;

/** The input of a route as an argument, which is optional if nothing in it is required. */
export type Inputs<R extends Route> = {} extends Input<R> ? [input?: Input<R>] : [input: Input<R>];

type Content<T> = T extends { content: infer C } ? (C extends { 'application/json': infer B } ? B : string) : undefined;

/** The response of a route. It is a string if the route does not return JSON, and undefined for status 204. */
export type Output<R extends Route> =
  Operation<R> extends { responses: infer S }
    ? { [K in keyof S & (200 | 204)]: Content<S[K]> }[keyof S & (200 | 204)]
    : never;

type Problem = components['schemas']['Problem'];
type Values = Record<string, string | number | boolean | undefined>;

/** The mock server rejected a request to a control route. */
export class ControlError extends Error {
  constructor(
    /** The route, such as 'POST /_mock/seed'. */
    readonly route: string,
    /** The HTTP status. */
    readonly status: number,
    /** The errors in the response. */
    readonly detail: Problem['detail'],
  ) {
    super(`${route}: ${status}: ${detail.map(line).join('; ')}`);
    this.name = 'ControlError';
  }
}

/** Calls control routes. Their parameters, bodies and responses have types. */
export class Control {
  constructor(
    readonly url: string,
    private readonly token?: string,
  ) {}

  async call<R extends Route>(route: R, ...input: Inputs<R>): Promise<Output<R>> {
    const [{ path = {}, query = {}, body } = {}] = input as unknown as [
      { path?: Values; query?: Values; body?: unknown }?,
    ];
    const space = route.indexOf(' ');
    const url = new URL(
      this.url + route.slice(space + 1).replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(path[name]))),
    );
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const { status, type, text } = await this.send(url, route.slice(0, space), body);
    if (status < 200 || status > 299) throw new ControlError(route, status, problems(text));
    return (status === 204 ? undefined : type.startsWith('application/json') ? JSON.parse(text) : text) as Output<R>;
  }

  private async send(url: URL, method: string, body: unknown): Promise<Response> {
    const headers: Record<string, string> = { 'Content-Type': 'application/json' };
    if (this.token) headers['Authorization'] = `Bearer ${this.token}`;
    try {
      return await send(url, method, headers, JSON.stringify(body), 90_000);
    } catch (error) {
      throw new Error(`the mock server at ${this.url} does not respond`, { cause: error });
    }
  }
}

/** Returns an error with its path, such as 'lists[0].name: is required'. */
function line({ loc, msg }: Problem['detail'][number]): string {
  const path = loc.map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return path ? `${path.replace(/^\.(body\.?)?/, '')}: ${msg}` : msg;
}

function problems(text: string): Problem['detail'] {
  try {
    const { detail } = JSON.parse(text) as Partial<Problem>;
    if (Array.isArray(detail)) return detail;
  } catch {} // the same as for JSON of another server
  return [{ loc: [], msg: text.slice(0, 300), type: 'not_json' }];
}
