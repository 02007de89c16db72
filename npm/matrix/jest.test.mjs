import { jest } from '@jest/globals';
import { Mock } from '@example/emailplatform-mock';
import common from './scenario.cjs';

afterEach(() => {
  jest.useRealTimers();
});

test('an account', () => common.scenario(common.replaceFetch));
test('an account with fake timers', () => common.scenario(() => jest.useFakeTimers()));
test('import and require return the same class', () => {
  expect(Mock).toBe(common.Mock);
});
