import { Mock } from '@example/emailplatform-mock';

export default async function setup() {
  const mock = await Mock.start();
  process.env['MOCKSERVER_URL'] = mock.url; // for Mock.connect
  return () => mock.stop();
}
