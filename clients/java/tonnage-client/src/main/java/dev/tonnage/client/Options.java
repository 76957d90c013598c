package dev.tonnage.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Objects;
import javax.net.ssl.SSLContext;

/** How a client connects. Each setter returns the object itself. */
public final class Options {
    private String authorization;
    private SSLContext tls;
    private Duration connectTimeout = Duration.ofSeconds(10);
    private Duration timeout;

    /** No login, the certificates of the Java machine, 10 s to connect, no other time limit. */
    public Options() {
    }

    /** Logs in by name and password. Over `http` they travel as they are: use `https`. */
    public Options user(String name, String password) {
        String both = Objects.requireNonNull(name, "name") + ":"
                + Objects.requireNonNull(password, "password");
        byte[] bytes = both.getBytes(StandardCharsets.UTF_8);
        authorization = "Basic " + Base64.getEncoder().encodeToString(bytes);
        return this;
    }

    /** Logs in by a token. */
    public Options token(String token) {
        authorization = "Bearer " + Objects.requireNonNull(token, "token");
        return this;
    }

    /** Checks servers against the certificates of this context, and shows its own one. */
    public Options tls(SSLContext context) {
        tls = Objects.requireNonNull(context, "context");
        return this;
    }

    /** The longest that a connection may take: 10 s unless it is given. */
    public Options connectTimeout(Duration time) {
        connectTimeout = positive("connectTimeout", time);
        return this;
    }

    /** The longest that a call may take that names no other time: none unless it is given. */
    public Options timeout(Duration time) {
        timeout = positive("timeout", time);
        return this;
    }

    static Duration positive(String name, Duration time) {
        if (time.isZero() || time.isNegative()) {
            throw new IllegalArgumentException(name + " is " + time + ": give more than 0");
        }
        return time;
    }

    String authorization() {
        return authorization;
    }

    SSLContext tls() {
        return tls;
    }

    Duration connectTimeout() {
        return connectTimeout;
    }

    Duration timeout() {
        return timeout;
    }
}
