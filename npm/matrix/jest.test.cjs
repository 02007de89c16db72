const { scenario, replaceFetch } = require('./scenario.cjs');

afterEach(() => {
  jest.useRealTimers();
});

test('an account', () => scenario(replaceFetch));
test('an account with fake timers', () => scenario(() => jest.useFakeTimers()));
