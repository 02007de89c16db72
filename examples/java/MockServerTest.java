import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MockServerTest {
    static MockServer mock;

    @BeforeAll
    static void start() throws Exception {
        mock = new MockServer();
    }

    @AfterAll
    static void stop() {
        mock.close();
    }

    @Test
    void accountsAreSeparate() throws Exception {
        String ada = mock.account(), bob = mock.account();
        String id = send(ada, "ada@example.org");
        assertTrue(mock.call("GET", "/v2/emails/" + id, "", ada).contains("\"status\":\"delivered\""));
        assertThrows(IOException.class, () -> mock.call("GET", "/v2/emails/" + id, "", bob));
    }

    @Test
    void bounceArrivesSigned() throws Exception {
        var body = new CompletableFuture<byte[]>();
        var signature = new CompletableFuture<String>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        receiver.createContext("/", request -> {
            signature.complete(request.getRequestHeaders().getFirst("X-Service-Signature"));
            body.complete(request.getRequestBody().readAllBytes());
            request.sendResponseHeaders(204, -1);
        });
        receiver.start();
        String url = "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
        String id = send(mock.account("\"webhooks\":[{\"url\":\"" + url + "\",\"events\":[\"Email.Bounced\"],\"secret\":\"s3cr3t\"}]"), "bounce@mock.test");

        byte[] got = body.get(10, TimeUnit.SECONDS);
        receiver.stop(0);
        assertTrue(new String(got).contains(id));
        assertTrue(MockServer.isSigned(got, signature.get(), "s3cr3t"));
        assertFalse(MockServer.isSigned(got, signature.get(), "another"));
    }

    static String send(String token, String to) throws Exception {
        String email = mock.call("POST", "/v2/emails", "{\"email\":\"" + to + "\",\"sender\":{\"email\":\"shop@example.com\"},"
            + "\"content\":{\"subject\":\"Your order\",\"text\":\"It is on its way.\"}}", token);
        return email.replaceAll("(?s).*\"id\":\"([^\"]*)\".*", "$1");
    }
}
