import { type Account, Mock } from '@example/emailplatform-mock';
import { afterEach, beforeEach } from 'vitest';
import { openShop, type Shop } from './shop.js';

/** Gives each test of a file a new shop, on the file's own account of the shared server. */
export function eachTest(): { account: Account; shop: Shop } {
  const context = {} as { account: Account; shop: Shop };
  beforeEach(async () => {
    context.account ??= await Mock.connect().account();
    await context.account.reset();
    await context.account.seed({ lists: [{ name: 'Newsletter', policy_accepted: true }] });
    context.shop = await openShop(context.account);
  });
  afterEach(() => context.shop.close());
  return context;
}
