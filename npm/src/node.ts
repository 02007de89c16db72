// Functions of Node.js as they were when the module was loaded. A test environment such as jsdom replaces global
// functions, and fake timers replace the timers and Date.

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import * as timers from 'node:timers';

export const { setTimeout, clearTimeout } = timers;
export const { now } = Date;

/** A response with its whole body. */
export interface Response {
  status: number;
  type: string;
  text: string;
}

/** Sends a request on a new connection, because the server could close an idle connection during a request. */
export function send(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: string | undefined,
  timeoutMs: number,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = request(url, { method, headers, agent: false, timeout: timeoutMs }, response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error(`no response after ${timeoutMs} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
