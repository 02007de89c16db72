export { Account } from './account.js';
export type {
  Action,
  DeliverySummary,
  EmailFilter,
  EventSummary,
  Fault,
  FaultRule,
  How,
  Message,
  MessageSummary,
  RequestSummary,
  Seed,
  WaitFilter,
} from './account.js';
export { ControlError } from './control.js';
export type { Input, Output, Route } from './control.js';
export type { components, paths } from './control.gen.js';
export { emailMatchers } from './matchers.js';
export type { EmailMatchers } from './matchers.js';
export { Mock } from './mock.js';
export type { StartOptions } from './process.js';
export { sign, verifySignature } from './signature.js';
export type { SignedDelivery } from './signature.js';
