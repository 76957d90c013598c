package dev.tonnage.client.internal;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * A request of HTTP/1.1 whose answer is read while its body is still written, over a connection of
 * its own. `java.net.http` tells nothing of an answer before the whole body is sent, so that a bulk
 * put would hear of no entry before its end.
 *
 * <p>One thread writes, another reads. Closing ends both.
 */
public final class DuplexCall implements Closeable {
    private static final int LINE_BYTES_MAX = 64 << 10;
    private static final int HEADERS_MAX = 256;
    private static final int BUFFER_BYTES = 64 << 10;

    /** Beneath TLS, where there is any. */
    private final Socket plain = new Socket();
    private final OutputStream out;
    private final InputStream in;
    private final Map<String, String> headers = new HashMap<>();
    private final ChunkedOutput body;
    private int status;
    private volatile boolean isClosed;

    /**
     * Connects, and sends the head of a request.
     *
     * @param target path and query, encoded
     * @throws IOException when the server cannot be reached
     */
    public DuplexCall(Endpoint endpoint, String target, String contentType, String accept)
            throws IOException {
        boolean isOpen = false;
        try {
            Socket socket = connect(endpoint, plain);
            out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
            in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
            body = new ChunkedOutput();
            StringBuilder head = new StringBuilder();
            head.append("POST ").append(target).append(" HTTP/1.1\r\nHost: ")
                    .append(endpoint.base().getRawAuthority())
                    .append("\r\nTransfer-Encoding: chunked\r\nConnection: close\r\nContent-Type: ")
                    .append(contentType).append("\r\nAccept: ").append(accept).append("\r\n");
            if (endpoint.authorization() != null) {
                head.append("Authorization: ").append(endpoint.authorization()).append("\r\n");
            }
            head.append("\r\n");
            out.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
            isOpen = true;
        } finally {
            if (!isOpen) {
                close();
            }
        }
    }

    private static Socket connect(Endpoint endpoint, Socket plain) throws IOException {
        plain.setTcpNoDelay(true);
        plain.setKeepAlive(true);
        int port = endpoint.base().getPort();
        plain.connect(new InetSocketAddress(endpoint.host(), port), endpoint.connectTimeoutMs());
        return endpoint.hasTls() ? secured(endpoint, plain) : plain;
    }

    /** The host's name is held against its certificate: sockets alone do not do that. */
    private static Socket secured(Endpoint endpoint, Socket plain) throws IOException {
        SSLSocketFactory factory = endpoint.tls() == null
                ? (SSLSocketFactory) SSLSocketFactory.getDefault()
                : endpoint.tls().getSocketFactory();
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, endpoint.host(),
                endpoint.base().getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.setSoTimeout(endpoint.connectTimeoutMs());
        socket.startHandshake();
        socket.setSoTimeout(0);
        return socket;
    }

    /** The body of the request. Closing it ends the body in good order. */
    public OutputStream body() {
        return body;
    }

    /**
     * Waits for the answer, and returns its body.
     *
     * @throws IOException when the connection is lost, or what comes is not HTTP
     */
    public InputStream answer() throws IOException {
        do {
            headers.clear();
            String line = line();
            String[] parts = line.split(" ", 3);
            if (parts.length < 2 || !parts[0].startsWith("HTTP/1.")) {
                throw new IOException("the answer does not begin as one of HTTP/1.1");
            }
            try {
                status = Integer.parseInt(parts[1]);
            } catch (NumberFormatException error) {
                throw new IOException("the answer has no status", error);
            }
            readHeaders();
        } while (status / 100 == 1);
        if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
            return new ChunkedInput();
        }
        String length = headers.get("content-length");
        if (length == null) {
            return in;
        }
        try {
            return new SizedInput(Long.parseLong(length.trim()));
        } catch (NumberFormatException error) {
            throw new IOException("the answer says that it has `" + length + "` bytes", error);
        }
    }

    private void readHeaders() throws IOException {
        for (int count = 0; count <= HEADERS_MAX; count++) {
            String line = line();
            if (line.isEmpty()) {
                return;
            }
            int colon = line.indexOf(':');
            if (colon > 0) {
                String name = line.substring(0, colon).trim().toLowerCase(Locale.ROOT);
                headers.put(name, line.substring(colon + 1).trim());
            }
        }
        throw new IOException("the answer has more than " + HEADERS_MAX + " headers");
    }

    /** The status of the answer. */
    public int status() {
        return status;
    }

    /** A header of the answer; null without it. */
    public String header(String name) {
        return headers.get(name);
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(80);
        while (true) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("the connection was closed before an answer");
            }
            if (next == '\n') {
                String text = line.toString(StandardCharsets.ISO_8859_1);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            if (line.size() >= LINE_BYTES_MAX) {
                throw new IOException("a line of the answer's head has more than "
                        + LINE_BYTES_MAX + " bytes");
            }
            line.write(next);
        }
    }

    /** Whether this side closed it. */
    public boolean isClosed() {
        return isClosed;
    }

    /**
     * Ends both directions at once. A socket of TLS would first wait for whoever writes, and a
     * writer may wait for a server that reads no more: so the connection beneath it is closed.
     */
    @Override
    public void close() {
        isClosed = true;
        try {
            plain.close();
        } catch (IOException ignored) {
            // It is of no more use either way.
        }
    }

    /** The body of the request, in chunks of what is flushed or fills the buffer. */
    private final class ChunkedOutput extends OutputStream {
        private final byte[] held = new byte[BUFFER_BYTES];
        private int count;
        private boolean isEnded;

        @Override
        public void write(int value) throws IOException {
            if (count == held.length) {
                send(held, 0, count);
            }
            held[count++] = (byte) value;
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (length > held.length - count) {
                send(held, 0, count);
                if (length >= held.length) {
                    send(bytes, from, length);
                    return;
                }
            }
            System.arraycopy(bytes, from, held, count, length);
            count += length;
        }

        private void send(byte[] bytes, int from, int length) throws IOException {
            if (length > 0) {
                String size = Integer.toHexString(length) + "\r\n";
                out.write(size.getBytes(StandardCharsets.ISO_8859_1));
                out.write(bytes, from, length);
                out.write('\r');
                out.write('\n');
            }
            if (bytes == held) {
                count = 0;
            }
        }

        @Override
        public void flush() throws IOException {
            send(held, 0, count);
            out.flush();
        }

        @Override
        public void close() throws IOException {
            if (!isEnded) {
                isEnded = true;
                send(held, 0, count);
                out.write("0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
                out.flush();
            }
        }
    }

    /** A body in chunks. An end before the last chunk is an error. */
    private final class ChunkedInput extends InputStream {
        private long left;
        private boolean isFirst = true;
        private boolean isOver;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!begins()) {
                return -1;
            }
            int read = in.read(bytes, from, (int) Math.min(left, length));
            if (read < 0) {
                throw new EOFException("the connection was lost within the answer");
            }
            left -= read;
            return read;
        }

        private boolean begins() throws IOException {
            if (left > 0 || isOver) {
                return !isOver;
            }
            if (!isFirst) {
                line();
            }
            isFirst = false;
            String size = line();
            int end = size.indexOf(';');
            try {
                left = Long.parseLong((end < 0 ? size : size.substring(0, end)).trim(), 16);
            } catch (NumberFormatException error) {
                throw new IOException("a chunk of the answer has no size", error);
            }
            if (left < 0) {
                throw new IOException("a chunk of the answer has " + left + " bytes");
            }
            isOver = left == 0;
            return !isOver;
        }

        @Override
        public void close() {
            DuplexCall.this.close();
        }
    }

    /** A body of so many bytes. */
    private final class SizedInput extends InputStream {
        private long left;

        SizedInput(long bytes) {
            left = bytes;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            if (left <= 0) {
                return -1;
            }
            int read = in.read(bytes, from, (int) Math.min(left, length));
            if (read < 0) {
                throw new EOFException("the connection was lost within the answer");
            }
            left -= read;
            return read;
        }

        @Override
        public void close() {
            DuplexCall.this.close();
        }
    }
}
