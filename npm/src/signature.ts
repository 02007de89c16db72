import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns the header X-Service-Signature of a body: its HMAC, encoded in base64. The hash function is the field
 * hash_function of the webhook, sha256 or sha512.
 */
export function sign(body: string | Uint8Array, secret: string, hashFunction = 'sha256'): string {
  if (!secret) throw new Error('the secret must not be empty');
  if (hashFunction !== 'sha256' && hashFunction !== 'sha512') {
    throw new Error(`hash function must be sha256 or sha512, got ${JSON.stringify(hashFunction)}`);
  }
  return createHmac(hashFunction, secret).update(body).digest('base64');
}

/** A delivery as a receiver gets it, and the webhook that it was sent to. */
export interface SignedDelivery {
  /** The exact bytes of the request body. Parsed and serialized JSON usually has other bytes. */
  body: string | Uint8Array;
  /** The header X-Service-Signature. */
  signature: string | string[] | undefined;
  /** The field secret of the webhook. */
  secret: string;
  /** The field hash_function of the webhook, sha256 or sha512. The default is sha256. Never take it from the request. */
  hashFunction?: string | undefined;
}

/** Reports whether the signature of a delivery is valid. It compares signatures in constant time. */
export function verifySignature({ body, signature, secret, hashFunction }: SignedDelivery): boolean {
  const want = Buffer.from(sign(body, secret, hashFunction));
  const got = Buffer.from(typeof signature === 'string' ? signature : '');
  return want.length === got.length && timingSafeEqual(want, got);
}
