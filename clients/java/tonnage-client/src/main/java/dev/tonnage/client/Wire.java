package dev.tonnage.client;

import dev.tonnage.client.internal.Endpoint;
import dev.tonnage.client.internal.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** Sends requests, and makes exceptions of the server's problems. */
final class Wire implements AutoCloseable {
    static final String ARROW = "application/vnd.apache.arrow.stream";
    static final String JSON = "application/json";
    /** What is kept of an error's body. */
    private static final int PROBLEM_BYTES_MAX = 1 << 20;
    /**
     * The largest answer that is held whole: a row or pair with its frame, or the family of a key.
     */
    private static final int ANSWER_BYTES_MAX = 256 << 20;

    private final Endpoint endpoint;
    private final HttpClient client;
    private final Duration timeout;
    private final ScheduledThreadPoolExecutor timer;
    private final ExecutorService heartbeats;

    Wire(String url, Options options) {
        int connectMs = (int) Math.min(options.connectTimeout().toMillis(), Integer.MAX_VALUE);
        endpoint = new Endpoint(url, options.tls(), options.authorization(), connectMs);
        timeout = options.timeout();
        // Without TLS the JDK offers HTTP/2 by an upgrade alone, which servers need not take.
        HttpClient.Builder builder = HttpClient.newBuilder()
                .connectTimeout(options.connectTimeout())
                .version(endpoint.hasTls() ? HttpClient.Version.HTTP_2
                        : HttpClient.Version.HTTP_1_1);
        if (options.tls() != null) {
            builder.sslContext(options.tls());
        }
        client = builder.build();
        timer = new ScheduledThreadPoolExecutor(1, work -> daemon(work, "tonnage-timer"));
        timer.setRemoveOnCancelPolicy(true);
        // A heartbeat may wait for its server. Deadlines pass meanwhile, and other ones go out.
        heartbeats = Executors.newCachedThreadPool(work -> daemon(work, "tonnage-heartbeat"));
    }

    private static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    ScheduledThreadPoolExecutor timer() {
        return timer;
    }

    /** Carries out what may wait for a server. */
    ExecutorService heartbeats() {
        return heartbeats;
    }

    /** The time that a call has: its own, or that of the options; null for any. */
    Duration timeoutOf(Duration own) {
        return own == null ? timeout : own;
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** A request that is sent by {@link #send}. */
    HttpRequest.Builder request(String method, String target, String contentType, byte[] body,
            Duration own) {
        HttpRequest.BodyPublisher publisher = body == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofByteArray(body);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(endpoint.base() + target))
                .method(method, publisher);
        if (endpoint.authorization() != null) {
            request.header("Authorization", endpoint.authorization());
        }
        if (contentType != null) {
            request.header("Content-Type", contentType);
        }
        Duration limit = timeoutOf(own);
        if (limit != null) {
            request.timeout(limit);
        }
        return request;
    }

    /**
     * Sends a request; the body of the answer streams.
     *
     * @throws TonnageException what the server refuses, and what keeps the request from it
     */
    HttpResponse<InputStream> send(HttpRequest request) {
        HttpResponse<InputStream> response;
        try {
            response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (HttpTimeoutException error) {
            throw new TonnageException(TonnageException.Kind.TIMED_OUT, "no answer within "
                    + request.timeout().map(Duration::toString).orElse("the time to connect")
                    + ": whether the call was carried out is not known", error);
        } catch (IOException error) {
            throw new TonnageException(TonnageException.Kind.CONNECTION_LOST, "the server at "
                    + endpoint.base() + " cannot be reached, or the connection was lost: "
                    + reason(error), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new TonnageException(TonnageException.Kind.CANCELLED, "interrupted", error);
        }
        if (response.statusCode() / 100 != 2 && response.statusCode() != 304) {
            throw problem(response.statusCode(), response.body(),
                    response.headers().firstValue("x-request-id").orElse(null));
        }
        return response;
    }

    static String reason(Throwable error) {
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }

    /**
     * Sends a request, and takes the whole answer.
     *
     * @throws TonnageException also for an answer of more than 256 MiB
     */
    byte[] sendWhole(HttpRequest request) {
        try (InputStream body = send(request).body()) {
            byte[] whole = body.readNBytes(ANSWER_BYTES_MAX);
            if (whole.length == ANSWER_BYTES_MAX && body.read() >= 0) {
                throw new TonnageException(TonnageException.Kind.INVALID_REQUEST,
                        "the answer has more than " + ANSWER_BYTES_MAX
                        + " bytes: read it by a bulk get or a scan, which stream", null);
            }
            return whole;
        } catch (IOException error) {
            throw new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                    "the connection was lost within the answer: " + reason(error), error);
        }
    }

    String sendText(HttpRequest request) {
        return new String(sendWhole(request), StandardCharsets.UTF_8);
    }

    /** An action of the server. */
    byte[] act(String action, byte[] body, Duration own) {
        return sendWhole(request("POST", "/v1/actions/" + action, "application/octet-stream", body,
                own).build());
    }

    /** What the server says of a request that it refuses. */
    static TonnageException problem(int status, InputStream body, String requestId) {
        String text;
        try (InputStream from = body) {
            text = new String(from.readNBytes(PROBLEM_BYTES_MAX), StandardCharsets.UTF_8);
        } catch (IOException error) {
            text = "";
        }
        try {
            Map<String, Object> problem = Json.parseObject(text);
            String title = Json.text(problem.get("title"));
            String detail = Json.text(problem.get("detail"));
            String id = Json.text(problem.get("request_id"));
            TonnageException.Kind kind = TonnageException.Kind.of(String.valueOf(title));
            String code = kind == TonnageException.Kind.TOO_MANY_ERRORS ? "too-many-errors" : null;
            return new TonnageException(kind, status, code, id == null ? requestId : id,
                    String.valueOf(detail), null);
        } catch (IllegalArgumentException error) {
            return new TonnageException(TonnageException.Kind.INTERNAL_ERROR, status, null,
                    requestId, "the server answered " + status
                    + ", and no problem as Tonnage tells it: is something else at "
                    + "this address?", error);
        }
    }

    /** An error that comes behind the first answer, as JSON of the server. */
    static TonnageException error(Map<String, Object> error) {
        String kind = String.valueOf(error.get("kind"));
        String code = Json.text(error.get("code"));
        TonnageException.Kind known = "too-many-errors".equals(code)
                ? TonnageException.Kind.TOO_MANY_ERRORS : TonnageException.Kind.of(kind);
        return new TonnageException(known, 0, code, null, String.valueOf(error.get("message")),
                null);
    }

    @Override
    public void close() {
        timer.shutdownNow();
        heartbeats.shutdownNow();
    }
}
