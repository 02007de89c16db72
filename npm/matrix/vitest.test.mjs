import { afterEach, expect, test, vi } from 'vitest';
import { Mock } from '@example/emailplatform-mock';
import common from './scenario.cjs';

afterEach(() => {
  vi.useRealTimers();
});

test('an account', () => common.scenario(common.replaceFetch));
test('an account with fake timers', () => common.scenario(() => vi.useFakeTimers()));
test('import and require return the same class', () => {
  expect(Mock).toBe(common.Mock);
});
