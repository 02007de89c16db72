export default { stock: { input: './openapi.yaml', output: { target: './orval.ts', client: 'fetch' } } }
