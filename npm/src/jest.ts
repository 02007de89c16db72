import {type EmailMatchers, emailMatchers} from './index.js';

declare global {
  const expect: {extend(matchers: object): void};
  namespace jest {
    interface Matchers<R> extends EmailMatchers {}
  }
}

expect.extend(emailMatchers);
