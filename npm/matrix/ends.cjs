// A program that does not stop the server. The runtime must end nevertheless.
const { Mock } = require('@example/emailplatform-mock');

Mock.start().then(async mock => {
  await (await mock.account()).outbox();
  console.log('ended');
});
