import { Account, type EmailFilter } from './account.js';

/** The matchers, for declarations of expect. */
export interface EmailMatchers {
  /**
   * Expects that the account has sent an email with these properties, and waits for it. With `not`, it waits until no
   * work of the account is due and expects that no such email was sent.
   */
  toHaveReceivedEmail(filter: EmailFilter): Promise<void>;
}

interface Result {
  pass: boolean;
  message: () => string;
}

/** Matchers for expect.extend of vitest and jest. */
export const emailMatchers = {
  async toHaveReceivedEmail(this: { isNot?: boolean }, account: unknown, filter: EmailFilter): Promise<Result> {
    if (!(account instanceof Account))
      throw new TypeError('toHaveReceivedEmail requires an account of the mock server');
    if (this.isNot) {
      await account.wait();
      const found = await account.find(filter);
      return {
        pass: found !== undefined,
        message: () => `an email matches, which was not expected: "${found?.subject}" to ${found?.to}`,
      };
    }
    try {
      await account.email(filter);
      return { pass: true, message: () => '' };
    } catch (error) {
      return { pass: false, message: () => String(error instanceof Error ? error.message : error) };
    }
  },
};
