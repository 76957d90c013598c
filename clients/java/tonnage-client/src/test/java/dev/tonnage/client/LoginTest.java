package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tonnage.client.internal.DuplexCall;
import dev.tonnage.client.internal.Endpoint;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class LoginTest {
    private static final Path CERTIFICATES = Path.of("../../../crates/server/tests/listeners/tls");

    @TempDir
    Path directory;

    private String users() throws IOException, GeneralSecurityException {
        StringBuilder hash = new StringBuilder();
        byte[] digest = MessageDigest.getInstance("SHA-256")
                .digest("open sesame".getBytes(StandardCharsets.UTF_8));
        for (byte part : digest) {
            hash.append(String.format("%02x", part));
        }
        Path file = directory.resolve("users.toml");
        Files.writeString(file, "[[user]]\nname = \"ann\"\ntokens = [\"" + hash
                + "\"]\ngrants = [{ table = \"ships\", allow = [\"read\", \"define\"] }]\n");
        return file.toString();
    }

    @Test
    void aTokenLogsInAndRightsAreRefusedByName() throws Exception {
        try (TestServer server = TestServer.start("--users", users())) {
            try (Tonnage nobody = server.connect()) {
                assertEquals(TonnageException.Kind.NOT_LOGGED_IN,
                        assertThrows(TonnageException.class, () -> nobody.tables()).kind());
            }
            Options token = new Options().token("open sesame");
            try (Tonnage ann = Tonnage.connect(server.url(), token)) {
                ann.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
                Table ships = ann.table("ships");
                ListStream<Row> rows = new ListStream<>("rows", List.of(Row.of("id", 1)));
                BulkPutException error = assertThrows(BulkPutException.class,
                        () -> ann.bulkPut(ships, List.of(rows), new BulkPutOptions()));
                assertEquals(TonnageException.Kind.NOT_ALLOWED, error.kind());
                assertTrue(error.getMessage().contains("ann may not insert"), error.getMessage());
                assertEquals(TonnageException.Kind.NOT_ALLOWED, assertThrows(TonnageException.class,
                        () -> ann.pairs().get(Key.of("x"))).kind());
            }
        }
    }

    @Test
    void nothingThatAnswersIsToldWithItsAddress() {
        TonnageException error = assertThrows(TonnageException.class,
                () -> Tonnage.connect("http://127.0.0.1:1", new Options()));
        assertEquals(TonnageException.Kind.CONNECTION_LOST, error.kind());
        assertTrue(error.getMessage().contains("127.0.0.1:1"), error.getMessage());
        assertThrows(IllegalArgumentException.class,
                () -> Tonnage.connect("grpc://127.0.0.1:7411", new Options()));
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore known = KeyStore.getInstance(KeyStore.getDefaultType());
        known.load(null, null);
        try (InputStream from = Files.newInputStream(certificate)) {
            known.setCertificateEntry("server",
                    CertificateFactory.getInstance("X.509").generateCertificate(from));
        }
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void callsGoOverTlsAndUnknownCertificatesAreRefused() throws Exception {
        String[] tls = {"--tls-cert", CERTIFICATES.resolve("cert.pem").toString(), "--tls-key",
            CERTIFICATES.resolve("key.pem").toString()};
        try (TestServer server = TestServer.start(tls)) {
            String url = server.url().replace("127.0.0.1", "localhost");
            Options known = new Options().tls(trusting(CERTIFICATES.resolve("cert.pem")));
            try (Tonnage store = Tonnage.connect(url, known)) {
                store.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
                Table ships = store.table("ships");
                List<Row> rows = List.of(Row.of("id", 1), Row.of("id", 2));
                assertEquals(2, store.bulkPut(ships, List.of(new ListStream<>("rows", rows)),
                        new BulkPutOptions()).inserted());
                try (Rows found = ships.bulkGet(rows, new BulkGetOptions())) {
                    assertEquals(2, found.toList().size());
                }
            }
            assertEquals(TonnageException.Kind.CONNECTION_LOST, assertThrows(TonnageException.class,
                    () -> Tonnage.connect(url, new Options())).kind());
        }
    }

    /** Over TLS, to a server that reads nothing, so that whoever writes waits. */
    @Test
    void aCallIsClosedWhileItsWriterWaits() throws Exception {
        SSLContext context = serving();
        try (ServerSocket listener = context.getServerSocketFactory()
                .createServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            CompletableFuture<Socket> accepted = CompletableFuture.supplyAsync(() -> {
                try {
                    SSLSocket socket = (SSLSocket) listener.accept();
                    socket.startHandshake();
                    return socket;
                } catch (IOException error) {
                    throw new IllegalStateException(error);
                }
            });
            Endpoint endpoint = new Endpoint("https://localhost:" + listener.getLocalPort(),
                    trusting(CERTIFICATES.resolve("cert.pem")), null, 10_000);
            DuplexCall call = new DuplexCall(endpoint, "/", "text/plain", "text/plain");
            AtomicLong written = new AtomicLong();
            Thread writer = new Thread(() -> {
                try {
                    while (true) {
                        call.body().write(new byte[1 << 16]);
                        written.addAndGet(1 << 16);
                    }
                } catch (IOException closed) {
                    written.set(-1);
                }
            });
            writer.start();
            long before = -1;
            while (before != written.get()) {
                before = written.get();
                Thread.sleep(500);
            }
            Thread closer = new Thread(call::close);
            closer.start();
            closer.join(10_000);
            writer.join(10_000);
            assertFalse(closer.isAlive(), "close waits for the writer");
            assertEquals(-1, written.get());
            accepted.join().close();
        }
    }

    private static SSLContext serving() throws Exception {
        KeyStore own = KeyStore.getInstance("PKCS12");
        own.load(null, null);
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        String pem = Files.readString(CERTIFICATES.resolve("key.pem"))
                .replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
        PKCS8EncodedKeySpec key = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem));
        try (InputStream from = Files.newInputStream(CERTIFICATES.resolve("cert.pem"))) {
            Certificate[] chain = {factory.generateCertificate(from)};
            String algorithm = chain[0].getPublicKey().getAlgorithm();
            own.setKeyEntry("server", KeyFactory.getInstance(algorithm).generatePrivate(key),
                    new char[0], chain);
        }
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }
}
