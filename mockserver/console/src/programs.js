// Requests as programs and commands.
import { base, errorsIn, href } from './api.js';
import { unseen } from './elements.js';
/** @import { FullRequest, Operation } from './types.js' */
/** @typedef {{method: string, url: string, token: string, body: string}} Request */

/** @type {Promise<Operation[]>|undefined} */
let loading;
/** The operations of the API. @returns {Promise<Operation[]>} */
export const loadOperations = () => (loading ??= fetch(href('/operations.json')).then(res => res.json()));

/** A word quoted for a shell. @param {string} s */
export const quote = s => `'${s.replaceAll("'", `'\\''`)}'`;

/**
 * A request as a curl command.
 * @param {string} method
 * @param {string} url
 * @param {string[]} headers quoted for a shell
 * @param {string} [body]
 */
export function curl(method, url, headers, body) {
  const words = [
    'curl -i',
    method === 'HEAD' ? '-I' : `-X ${/^[A-Z]+$/.test(method) ? method : quote(method)}`,
    /[[\]{}]/.test(url) && '-g',
    /\/\.\.?(\/|\?|$)/.test(url) && '--path-as-is',
    quote(url),
  ];
  return [
    words.filter(Boolean).join(' '),
    ...headers.map(h => `-H ${h}`),
    ...(body ? ["-H 'Content-Type: application/json'", `--data-raw ${quote(body)}`] : []),
  ].join(' \\\n  ');
}

/**
 * A request as a program or a command. Without a token, the Go program reads it from the environment.
 * @type {Record<string, (r: Request) => string>}
 */
export const programs = {
  curl: ({ method, url, token, body }) => curl(method, url, [quote(`Authorization: Bearer ${token}`)], body),
  Go: ({ method, url, token, body }) => `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
${token ? '' : '	"os"\n'}	"strings"
)

func main() {
	req, err := http.NewRequest(${goString(method)}, ${goString(url)}, strings.NewReader(${literal(body)}))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", ${token ? goString(`Bearer ${token}`) : '"Bearer "+os.Getenv("TOKEN")'})
${body && '	req.Header.Set("Content-Type", "application/json")\n'}	res, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, string(text))
}
`,
  Node: ({ method, url, token, body }) => `const response = await fetch(${JSON.stringify(url)}, {
  method: ${JSON.stringify(method)},
  headers: { Authorization: ${JSON.stringify(`Bearer ${token}`)}${body && ", 'Content-Type': 'application/json'"} },
${body && `  body: ${JSON.stringify(body)},\n`}});
console.log(response.status, await response.text());
`,
};

/** Text as a Go string. Go rejects half of a surrogate pair and a byte order mark. @param {string} text */
export const goString = text =>
  JSON.stringify(text.replaceAll(/\p{Cs}/gu, '\ufffd'))
    .split(unseen)
    .map((s, i) => (i % 2 ? '\\u' + s.charCodeAt(0).toString(16).padStart(4, '0') : s))
    .join('');

/** Text as a Go string that people can read. @param {string} text */
const literal = text =>
  /[`\r\p{Cs}]/u.test(text) || unseen.test(text.replaceAll(/[\t\n]/g, '')) ? goString(text) : '`' + text + '`';

/** The result of f, or other if the text that f reads is invalid. @template T @param {() => T} f @param {T} other */
const or = (f, other) => {
  try {
    return f();
  } catch {
    return other;
  }
};

/** An id or a page as Go writes it, or nothing if the SDK does not send it. @param {string} [text] */
const int64 = (text = '') =>
  /^[1-9]\d*$/.test(text) && String(BigInt.asIntN(64, BigInt(text))) === text ? text : undefined;

/**
 * The parameters of a query by their names, or nothing if a server rejects the query or the SDK does not send it.
 * @param {string} query
 */
function parametersIn(query) {
  const all = [...new URLSearchParams(query)];
  const values = Object.fromEntries(all);
  if (
    query.includes(';') ||
    or(() => decodeURIComponent(query), undefined) === undefined ||
    Object.keys(values).length < all.length
  )
    return undefined;
  return values;
}

/**
 * The fields of a struct with parameters, or nothing if the SDK does not send a value.
 * @param {Operation} o
 * @param {Record<string, string>} values
 */
function goFields(o, values) {
  const fields = Object.entries(values).map(([name, value]) => {
    const type = o.parameters?.find(x => x.name === name && x.in === 'query')?.type ?? '';
    const text = type.startsWith('integer')
      ? int64(value)
      : type.startsWith('boolean')
        ? value.match(/^(true|false)$/)?.[0]
        : type && value && goString(value);
    return text && `${name.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())}: ${text}`;
  });
  return fields.every(Boolean) ? fields.join(', ') : undefined;
}

/**
 * Reports whether a type of the SDK can contain the body. It has no unknown fields, and it omits empty values.
 * @param {FullRequest} r
 */
const fits = r =>
  !r.unknown_fields?.length &&
  r.status !== 400 &&
  (r.status !== 422 ||
    (!/[:[,]\s*(""|0\b|false|null|\[\s*\]|\{\s*\})/.test(r.body ?? '') &&
      or(
        () =>
          errorsIn(r.response ?? '').every(
            e => e.type !== 'missing' && !/^(must be an? |must be true|unknown field)/.test(e.msg),
          ),
        false,
      )));

/**
 * The JSON of a body as the types of the SDK read it: an object of attributes is a list. Nothing if it has numbers that
 * JavaScript changes.
 * @param {string} raw
 * @param {Record<string, any>} body
 */
function readable(raw, { custom_attributes: all, ...rest }) {
  if (all?.constructor !== Object) return raw;
  return /\d{16}/.test(raw)
    ? undefined
    : JSON.stringify({ ...rest, custom_attributes: Object.entries(all).map(([name, value]) => ({ name, value })) });
}

/**
 * A call of the SDK that sends a logged request, or nothing if the SDK cannot send it.
 * @param {Operation} o
 * @param {FullRequest} r
 */
function callOf(o, r) {
  const segments = r.path.split('/');
  const ids = o.path
    .split('/')
    .flatMap((part, n) => (part[0] === '{' ? [or(() => decodeURIComponent(segments[n]), undefined)] : []));
  const values = parametersIn(r.query ?? '');
  const params = values && goFields(o, values);
  const given = or(() => JSON.parse(r.body ?? ''), undefined);
  const time = given?.scheduled_for;
  if (
    params === undefined ||
    r.method !== o.method ||
    !fits(r) ||
    (r.body ? !o.body || given?.constructor !== Object : o.body && o.id !== 'scheduleCampaign')
  )
    return undefined;
  let { method } = o.go;
  let typed = '';
  let body = ''; // the type of the body, and its JSON
  const args = o.go.arguments.flatMap(type => {
    if (type === 'int64') return [int64(ids.shift())];
    if (type === 'string')
      return [ids.length ? ids.shift() : given.email].map(text =>
        typeof text === 'string' ? goString(text) : undefined,
      );
    if (type.endsWith('Params')) return [`client.${type}{${params}}`];
    if (type !== 'time.Time') {
      [typed, body] = [type, readable(r.body ?? '', given) ?? ''];
      return [body && 'body'];
    }
    if (time === undefined) {
      method = 'Campaigns.Send';
      return [];
    }
    return [Number.isSafeInteger(time) && time > 0 && `time.Unix(${time}, 0)`];
  });
  const set =
    o.id === 'createContact'
      ? [values?.resubscribe !== 'false' && 'Resubscribe', values?.send_double_opt_in === 'true' && 'DoubleOptIn']
      : [];
  return args.every(arg => typeof arg === 'string') && args.every(Boolean)
    ? { method, typed, body, set: set.filter(Boolean), args }
    : undefined;
}

/**
 * A logged request as a Go program, with the SDK if the SDK can send this request. The request is untrusted: each part
 * is a Go string or a number.
 * @param {FullRequest} r
 */
export async function goOf(r) {
  const o = (await loadOperations()).find(x => x.id === r.operation);
  const made = o && callOf(o, r);
  if (!made)
    return programs.Go({
      method: r.method,
      url: base + r.path + (r.query ? '?' + r.query : ''),
      token: '',
      body: r.body ?? '',
    });
  const { method, typed, body, set, args } = made;
  return withSDK({
    token: 'os.Getenv("TOKEN")',
    imports: [typed && 'encoding/json', 'os', args.some(v => v.startsWith('time.')) && 'time'],
    before: [
      typed && `	var body client.${typed}\n	if err := json.Unmarshal([]byte(${literal(body)}), &body);${fails}`,
      ...set.map(name => `\tbody.${name} = true\n`),
    ].join(''),
    call: `${method}(${['context.Background()', ...args].join(', ')})`,
    result: o.go.result,
  });
}

/** What a Go program does with an error. */
const fails = ' err != nil {\n\t\tlog.Fatal(err)\n\t}\n';

/**
 * A Go program that calls the SDK.
 * @param {{token: string, imports?: (string|false)[], before?: string, call: string, result: boolean}} parts in Go: before
 *   are lines before the call, and result reports whether the call returns one
 */
export const withSDK = ({ token, imports = [], before = '', call, result }) => `package main

import (
${['context', result && 'fmt', 'log', ...imports]
  .filter(Boolean)
  .sort()
  .map(name => `\t"${name}"\n`)
  .join('')}
	"example.com/emailplatform/client"
)

func main() {
	c, err := client.New(client.Config{BaseURL: ${goString(base)}, Token: ${token}})
	if${fails}${before}	${result ? 'result, err :=' : 'err ='} c.${call}
	if${fails}${result ? '	fmt.Printf("%+v\\n", result)\n' : ''}}
`;
