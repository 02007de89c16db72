import { expect, jest, test } from 'bun:test';
import { Mock } from '@example/emailplatform-mock';
import common from './scenario.cjs';

test('an account', () => common.scenario(common.replaceFetch));
test('an account with fake timers', () =>
  common.scenario(() => jest.useFakeTimers()).finally(() => jest.useRealTimers()));
test('import and require return the same class', () => {
  expect(Mock).toBe(common.Mock);
});
