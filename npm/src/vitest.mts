import { expect } from 'vitest';
import { type EmailMatchers, emailMatchers } from './index.js';

expect.extend(emailMatchers);

declare module 'vitest' {
  interface Matchers<T = any> extends EmailMatchers {}
}
