export default {
  stock: { input: './openapi.yaml', output: { target: './orval.ts', client: 'fetch' } },
  control: { input: './control.json', output: { target: './control-orval.ts', client: 'fetch' } },
};
