import { Account } from './account.js';
import { Control, type Inputs, type Output, type Route } from './control.js';
import { launch, type StartOptions } from './process.js';

type Clock = Output<'GET /_mock/clock'>;

/** The mock server. */
export class Mock {
  private constructor(
    private readonly client: Control,
    private readonly end: () => Promise<void>,
  ) {}

  /**
   * Starts the mock server on a free port of 127.0.0.1 and waits until it is ready. The binary is the file in the
   * environment variable MOCKSERVER, the file of the platform package, or mockserver in PATH. The server exits with this
   * process, even if stop is not called or the process is killed.
   */
  static async start(options: StartOptions = {}): Promise<Mock> {
    const { url, token, stop } = await launch(options);
    return new Mock(new Control(url, token), stop);
  }

  /**
   * Uses a server that already runs, such as a container or the server of a global setup. The default URL is in
   * MOCKSERVER_URL. The default token is in MOCKSERVER_TOKEN. A server on a loopback address requires no token.
   */
  static connect({ url = process.env['MOCKSERVER_URL'], token = process.env['MOCKSERVER_TOKEN'] } = {}): Mock {
    if (!url) throw new Error('the URL of the mock server is missing: pass it to Mock.connect, or set MOCKSERVER_URL');
    if (!/^https?:\/\//i.test(url))
      throw new Error(`the URL of the mock server must begin with http:// or https://, got ${url}`);
    return new Mock(new Control(url.replace(/\/+$/, ''), token), () => Promise.resolve());
  }

  /** The base URL of the email API. */
  get url(): string {
    return this.client.url;
  }

  /** Creates an account with its own token. If each test file has its own account, files can run in parallel on one server. */
  account(): Promise<Account> {
    return Account.create(this.client);
  }

  /** Calls a control route. A rejected request throws a ControlError. */
  control<R extends Route>(route: R, ...input: Inputs<R>): Promise<Output<R>> {
    return this.client.call(route, ...input);
  }

  /**
   * Advances the clock by milliseconds, to a time, or to the next scheduled work. The clock is global: all accounts
   * share it. A test file that advances the clock therefore needs a server that no other file uses.
   */
  advance(by: number | Date | 'next'): Promise<Clock> {
    const body = typeof by === 'number' ? { duration_ms: by } : { to: by === 'next' ? by : by.toISOString() };
    return this.client.call('POST /_mock/clock/advance', { body });
  }

  /** Stops a server that Mock.start has started, after its requests and deliveries in progress. */
  stop(): Promise<void> {
    return this.end();
  }
}
