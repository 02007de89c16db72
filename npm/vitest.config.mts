import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 30_000, // for busy machines
    hookTimeout: 30_000,
    maxWorkers: 4, // the files of test/shop run in parallel on the shared server
    setupFiles: ['@example/emailplatform-mock/vitest'],
    server: { deps: { external: [/\/dist\//] } }, // the package is its built files, as in node_modules
  },
});
