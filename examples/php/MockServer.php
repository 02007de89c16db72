<?php

/** A mock server for tests: runs the command mockserver on a free port. Copy this file into your own tests. */
final class MockServer
{
    public string $url;
    private int $accounts = 100;
    private $process;
    private array $pipes = [];

    public function __construct(string ...$flags)
    {
        $ready = sys_get_temp_dir() . '/mock-' . bin2hex(random_bytes(8)) . '.json';
        $command = [getenv('MOCKSERVER') ?: 'mockserver', '-addr', '127.0.0.1:0', '-ready-file', $ready, '-quiet', '-exit-on-stdin-close'];
        $this->process = proc_open([...$command, ...$flags], [['pipe', 'r'], ['null'], STDERR], $this->pipes);
        while (!is_file($ready)) { // the file appears when the server is ready
            proc_get_status($this->process)['running'] or throw new RuntimeException('mockserver did not start');
            usleep(5000);
            clearstatcache();
        }
        $this->url = json_decode(file_get_contents($ready))->base_url;
    }

    /** Creates an account for one test, with records as in a seed, and returns its token. */
    public function account(array $records = []): string
    {
        $token = 'test-' . ++$this->accounts;
        $this->call('POST', '/_mock/seed', ['account_id' => $this->accounts, 'tokens' => [['token' => $token]]] + $records);
        return $token;
    }

    /** Calls the email API with a token, or a control route; see docs/control-api.md. */
    public function call(string $method, string $path, ?array $body = null, string $token = ''): ?array
    {
        $header = "Content-Type: application/json\r\nAuthorization: Bearer $token";
        $options = ['method' => $method, 'header' => $header, 'content' => $body === null ? '' : json_encode($body), 'ignore_errors' => true];
        $text = file_get_contents($this->url . $path, false, stream_context_create(['http' => $options]));
        preg_match('/ 2\d\d/', $http_response_header[0]) or throw new RuntimeException("$method $path: $http_response_header[0] $text");
        return json_decode($text, true);
    }

    /** Reports whether the header X-Service-Signature belongs to the bytes of a delivery. */
    public static function isSigned(string $body, string $signature, string $secret): bool
    {
        return hash_equals(base64_encode(hash_hmac('sha256', $body, $secret, true)), $signature);
    }
}
