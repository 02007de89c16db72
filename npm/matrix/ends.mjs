// A program that does not stop the server. The runtime must end nevertheless.
import { Mock } from '@example/emailplatform-mock';

const mock = await Mock.start();
await (await mock.account()).outbox();
console.log('ended');
