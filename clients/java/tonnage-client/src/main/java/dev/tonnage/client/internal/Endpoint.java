package dev.tonnage.client.internal;

import java.net.URI;
import javax.net.ssl.SSLContext;

/** Where a server is, and how it is reached. */
public final class Endpoint {
    private final URI base;
    private final boolean hasTls;
    private final SSLContext tls;
    private final String authorization;
    private final int connectTimeoutMs;

    /**
     * Reads an address such as `http://host:7410`.
     *
     * @throws IllegalArgumentException for an address of another kind
     */
    public Endpoint(String url, SSLContext tls, String authorization, int connectTimeoutMs) {
        URI given = URI.create(url);
        String scheme = given.getScheme() == null ? "" : given.getScheme();
        boolean isKnown = scheme.equals("http") || scheme.equals("https");
        String path = given.getPath();
        if (!isKnown || given.getHost() == null || given.getQuery() != null
                || path != null && !path.isEmpty() && !path.equals("/")) {
            throw new IllegalArgumentException("`" + url
                    + "` is not an address of a server: give http://HOST:PORT or "
                    + "https://HOST:PORT");
        }
        this.hasTls = scheme.equals("https");
        int port = given.getPort() >= 0 ? given.getPort() : 7410;
        this.base = URI.create(scheme + "://" + given.getHost() + ":" + port);
        this.tls = tls;
        this.authorization = authorization;
        this.connectTimeoutMs = connectTimeoutMs;
    }

    /** The address, without a path. */
    public URI base() {
        return base;
    }

    /** Whether it is reached over TLS. */
    public boolean hasTls() {
        return hasTls;
    }

    /** What certificates are checked against; null for those of the Java machine. */
    public SSLContext tls() {
        return tls;
    }

    /** The header that says who calls; null for nobody. */
    public String authorization() {
        return authorization;
    }

    /** The longest that a connection may take, in milliseconds. */
    public int connectTimeoutMs() {
        return connectTimeoutMs;
    }

    /** The host as a socket takes it. */
    public String host() {
        String host = base.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }
}
