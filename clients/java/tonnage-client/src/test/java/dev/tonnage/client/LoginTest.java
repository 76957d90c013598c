package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.util.List;
import javax.net.ssl.SSLContext;
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
                assertEquals(TonnageException.Kind.NOT_LOGGED_IN, assertThrows(TonnageException.class,
                        () -> nobody.tables()).kind());
            }
            Options token = new Options().token("open sesame");
            try (Tonnage ann = Tonnage.connect(server.url(), token)) {
                ann.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
                Table ships = ann.table("ships");
                BulkPutException error = assertThrows(BulkPutException.class, () -> ann.bulkPut(ships,
                        List.of(new ListStream<>("rows", List.of(Row.of("id", 1)))),
                        new BulkPutOptions()));
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
}
