import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The program as programs in Java use it: java Clients.java, with MOCK_SERVER=path of the program. */
class Clients {
    static String url;

    static void check(boolean condition, Object message) {
        if (!condition) throw new AssertionError(String.valueOf(message));
    }

    static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(30));
    }

    static HttpResponse<String> send(HttpClient client, HttpRequest request) throws Exception {
        return client.send(request, BodyHandlers.ofString());
    }

    static void stub(String json) throws Exception {
        var request = request("/__mock/stubs").header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)).build();
        var response = send(HttpClient.newHttpClient(), request);
        check(response.statusCode() == 201, response.body());
    }

    public static void main(String[] arguments) throws Exception {
        var process = new ProcessBuilder(System.getenv("MOCK_SERVER"), "--port", "0", "--origin", "https://api.example.com")
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            var line = process.inputReader().readLine();
            url = line.substring(line.lastIndexOf(' ') + 1);
            run();
        } finally {
            process.destroy();
            check(process.waitFor() == 0, "The program does not end with 0.");
        }
        // Threads of the clients would keep the process for a while.
        System.exit(0);
    }

    static void run() throws Exception {
        // Its first request asks for HTTP/2, which the server has not.
        var newest = HttpClient.newHttpClient();
        var plain = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).cookieHandler(new CookieManager())
            .followRedirects(HttpClient.Redirect.NORMAL).build();
        stub("{\"path\":\"/n\",\"response\":{\"json\":{\"price\":1.0}}}");
        for (var client : List.of(newest, plain, newest)) {
            check(send(client, request("/n").build()).body().equals("{\"price\":1.0}"), "The JSON is another.");
        }

        // A client that waits with its body, of each size.
        stub("{\"path\":\"/post\",\"method\":\"POST\",\"response\":{\"text\":\"done\"}}");
        for (var client : List.of(newest, plain)) {
            for (int size : new int[] {0, 3, 100_000, 5_000_000}) {
                for (boolean waits : new boolean[] {true, false}) {
                    var body = BodyPublishers.ofByteArray(new byte[size]);
                    var response = send(client, request("/post").expectContinue(waits).POST(body).build());
                    check(response.body().equals("done"), size + " bytes: " + response.statusCode() + " " + response.body());
                }
            }
        }
        // Java 17 waits for ever for the 100 where the answer is a refusal, with any server (JDK-8286171).
        var refused = request("/post").header("Origin", "https://evil.example").POST(BodyPublishers.ofString("abc")).build();
        check(send(plain, refused).statusCode() == 403, "A refused body is no 403.");

        // A form, as libraries write it.
        stub("{\"path\":\"/form\",\"method\":\"POST\",\"form\":{\"q\":\"a b\"},\"query\":{\"q\":\"a b\"},\"response\":{}}");
        var form = request("/form?q=a+b").header("Content-Type", "application/x-www-form-urlencoded").POST(BodyPublishers.ofString("q=a+b"));
        check(send(plain, form.build()).statusCode() == 200, "The form does not match.");

        // A session: its cookie is kept, and comes back after a redirect.
        stub("{\"path\":\"/login\",\"response\":{\"status\":302,\"headers\":{\"Location\":\"https://api.example.com/home\","
            + "\"Set-Cookie\":\"sid=1; Path=/; Domain=api.example.com; Secure\"}}}");
        stub("{\"path\":\"/home\",\"headers\":{\"Cookie\":\"sid=1\"},\"response\":{\"text\":\"home\"}}");
        var home = send(plain, request("/login").build());
        check(home.body().equals("home"), home.body());

        // Events, line by line.
        stub("{\"path\":\"/events\",\"response\":{\"events\":[\"a\",\"b\"],\"delay\":0.05}}");
        var lines = plain.send(request("/events").build(), BodyHandlers.ofLines()).body().filter(text -> !text.isEmpty()).toList();
        check(lines.equals(List.of("data: a", "data: b")), lines);

        // Many at once.
        var all = new ArrayList<CompletableFuture<HttpResponse<String>>>();
        for (int index = 0; index < 50; index++) all.add(newest.sendAsync(request("/n").build(), BodyHandlers.ofString()));
        for (var one : all) check(one.get().statusCode() == 200, "One of many is not answered.");

        var nothing = send(plain, request("/nothing").build());
        check(nothing.statusCode() == 501 && nothing.body().contains("POST /__mock/stubs"), nothing.body());
    }
}
