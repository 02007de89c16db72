<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/MockServer.php';

final class MockServerTest extends TestCase
{
    private static MockServer $mock;

    public static function setUpBeforeClass(): void
    {
        self::$mock = new MockServer();
    }

    public function testAccountsAreSeparate(): void
    {
        [$ada, $bob] = [self::$mock->account(), self::$mock->account()];
        $id = $this->send($ada, 'ada@example.org')['id'];
        $this->assertSame('delivered', self::$mock->call('GET', "/v2/emails/$id", null, $ada)['status']);
        $this->expectExceptionMessage('404');
        self::$mock->call('GET', "/v2/emails/$id", null, $bob);
    }

    public function testBounceArrivesSigned(): void
    {
        $receiver = stream_socket_server('tcp://127.0.0.1:0');
        $webhook = ['url' => 'http://' . stream_socket_get_name($receiver, false), 'events' => ['Email.Bounced'], 'secret' => 's3cr3t'];
        $id = $this->send(self::$mock->account(['webhooks' => [$webhook]]), 'bounce@mock.test')['id'];

        $delivery = stream_socket_accept($receiver, 10);
        for ($headers = []; ($line = trim(fgets($delivery))) !== '';) {
            [$name, $value] = explode(': ', $line, 2) + [1 => ''];
            $headers[strtolower($name)] = $value;
        }
        $body = stream_get_contents($delivery, (int) $headers['content-length']);
        fwrite($delivery, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        $this->assertSame($id, json_decode($body)->data->email->id);
        $this->assertTrue(MockServer::isSigned($body, $headers['x-service-signature'], 's3cr3t'));
        $this->assertFalse(MockServer::isSigned("$body ", $headers['x-service-signature'], 's3cr3t'));
    }

    private function send(string $token, string $to): array
    {
        $content = ['subject' => 'Your order', 'text' => 'It is on its way.'];
        return self::$mock->call('POST', '/v2/emails', ['email' => $to, 'sender' => ['email' => 'shop@example.com'], 'content' => $content], $token);
    }
}
