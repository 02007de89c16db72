import type {} from 'expect';
import { type EmailMatchers, emailMatchers } from './index.js';

// For @jest/globals, then for @types/jest.
declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends EmailMatchers {}
}
declare global {
  namespace jest {
    interface Matchers<R> extends EmailMatchers {}
  }
}

const { expect } = globalThis as { expect?: { extend(matchers: object): void } };
if (!expect)
  throw new Error('@example/emailplatform-mock/jest belongs into setupFilesAfterEnv of jest, where expect is global');
expect.extend(emailMatchers);
