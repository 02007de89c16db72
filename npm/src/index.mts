// The entry point for import. It has no code of its own, so import and require return the same classes.
export * from './index.js';
