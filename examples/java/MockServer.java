import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A mock server for tests: runs the command mockserver on a free port. Copy this file into your own tests. */
final class MockServer implements AutoCloseable {
    final String url;
    private final Process process;
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger accounts = new AtomicInteger(100);

    MockServer() throws IOException, InterruptedException {
        Path ready = Files.createTempDirectory("mock").resolve("ready.json");
        process = new ProcessBuilder(System.getenv().getOrDefault("MOCKSERVER", "mockserver"), "-addr", "127.0.0.1:0",
            "-ready-file", ready.toString(), "-quiet", "-exit-on-stdin-close")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        while (!Files.exists(ready)) { // the file appears when the server is ready
            if (!process.isAlive()) throw new IOException("mockserver did not start");
            Thread.sleep(5);
        }
        url = Files.readString(ready).replaceAll("(?s).*\"base_url\":\"([^\"]*)\".*", "$1");
    }

    /** Creates an account for one test, with more fields of a seed such as "webhooks": […], and returns its token. */
    String account(String... records) throws IOException, InterruptedException {
        int id = accounts.incrementAndGet();
        String more = records.length == 0 ? "" : "," + String.join(",", records);
        call("POST", "/_mock/seed", "{\"account_id\":" + id + ",\"tokens\":[{\"token\":\"test-" + id + "\"}]" + more + "}", "");
        return "test-" + id;
    }

    /** Calls the email API with a token, or a control route; see docs/control-api.md. Returns the JSON of the response. */
    String call(String method, String path, String body, String token) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json").method(method, HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2) throw new IOException(method + " " + path + ": " + response.statusCode() + " " + response.body());
        return response.body();
    }

    /** Reports whether the header X-Service-Signature belongs to the bytes of a delivery. */
    static boolean isSigned(byte[] body, String signature, String secret) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(), "HmacSHA256"));
        return MessageDigest.isEqual(Base64.getEncoder().encode(mac.doFinal(body)), signature.getBytes());
    }

    @Override
    public void close() {
        process.destroy();
    }
}
