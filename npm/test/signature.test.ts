import { Mock, sign, verifySignature } from '@example/emailplatform-mock';
import { expect, test } from 'vitest';

const body = '{"event":"Contact.Added","data":{"email_address":"zoë@example.org"}}';
const secret = 's3cr3t';

test.each(['sha256', 'sha512'] as const)('signatures with %s agree with the mock server', async hashFunction => {
  const signature = sign(body, secret, hashFunction);
  expect(verifySignature({ body, signature, secret, hashFunction })).toBe(true);
  expect(verifySignature({ body: Buffer.from(body), signature, secret, hashFunction })).toBe(true);
  const verdict = await Mock.connect().control('POST /_mock/verify', {
    body: { body, secret, signature, hash_function: hashFunction },
  });
  expect(verdict).toEqual({ valid: true, reason: '' });
});

test('other signatures are invalid', () => {
  const valid = sign(body, secret);
  for (const signature of [
    undefined,
    '',
    'é',
    valid.slice(1),
    `${valid} `,
    valid.replace(/=$/, ''),
    valid.toLowerCase(),
    [valid],
    sign(body, 'guess'),
    sign(`${body}\n`, secret),
    sign(body, secret, 'sha512'),
  ]) {
    expect(verifySignature({ body, signature, secret }), String(signature)).toBe(false);
  }
});

test('a secret and a known hash function are required', () => {
  expect(() => verifySignature({ body, signature: '', secret: '' })).toThrow('the secret must not be empty');
  expect(() => sign(body, secret, 'md5')).toThrow('hash function must be sha256 or sha512, got "md5"');
});
