import { mock, test } from 'node:test';
import common from './scenario.cjs';

test('an account', () => common.scenario(common.replaceFetch));
test('an account with fake timers', () => common.scenario(() => mock.timers.enable()));
