package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(120)
class ReadTest {
    private static TestServer server;
    private static Tonnage store;
    private static Table fixes;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        store = server.connect();
        store.define("CREATE TABLE fixes (ship LONG, at INTEGER, knots DOUBLE, "
                + "PRIMARY KEY (SHARD(ship), at));"
                + "CREATE TABLE fixes.notes (n INTEGER, text STRING, PRIMARY KEY (n))");
        fixes = store.table("fixes");
        Table notes = store.table("fixes.notes");
        List<Row> rows = new ArrayList<>();
        for (int ship = 0; ship < 50; ship++) {
            for (int at = 0; at < 20; at++) {
                rows.add(Row.of("ship", ship).set("at", at).set("knots", ship + at / 100.0));
            }
        }
        store.bulkPut(fixes, List.of(new ListStream<>("fixes", rows)), new BulkPutOptions());
        List<Row> texts = List.of(Row.of("ship", 3).set("at", 5).set("n", 1).set("text", "fog"),
                Row.of("ship", 3).set("at", 5).set("n", 2).set("text", "rain"));
        store.bulkPut(notes, List.of(new ListStream<>("notes", texts)), new BulkPutOptions());
    }

    @AfterAll
    static void stop() {
        store.close();
        server.close();
    }

    private static List<Row> ships(int... ships) {
        return IntStream.of(ships).mapToObj(ship -> Row.of("ship", ship))
                .collect(Collectors.toList());
    }

    @Test
    void aTableTellsItsColumnsAndItsKey() {
        assertEquals(List.of("ship", "at"), fixes.key());
        assertEquals("DOUBLE", fixes.columns().get(2).type());
        assertTrue(store.tables().contains("fixes.notes"));
        assertEquals(TonnageException.Kind.NOT_FOUND,
                assertThrows(TonnageException.class, () -> store.table("nothing")).kind());
    }

    @Test
    void theLatestOfEachKeyComeInOrder() {
        BulkGetOptions latest = new BulkGetOptions().direction(Direction.REVERSE).limitPerKey(2);
        try (Rows rows = fixes.bulkGet(ships(7, 3), latest)) {
            List<Integer> found = new ArrayList<>();
            rows.forEach(row -> found.add(100 * row.getInt("ship") + row.getInt("at")));
            assertEquals(4, found.size());
            assertTrue(found.containsAll(List.of(719, 718, 319, 318)), found.toString());
        }
    }

    @Test
    void rangesColumnsOriginsAndVersionsAreChosen() {
        BulkGetOptions some = new BulkGetOptions().direction(Direction.FORWARD)
                .range(FieldRange.of("at").from(5, true).to(7, false)).columns("at").origins()
                .versions();
        try (Rows rows = fixes.bulkGet(ships(9, 4), some)) {
            List<Row> found = rows.toList();
            assertEquals(4, found.size());
            for (Row row : found) {
                assertEquals(1, row.size());
                assertTrue(row.version() > 0);
                assertTrue(row.keyNumber() == 0 || row.keyNumber() == 1);
            }
        }
    }

    @Test
    void relativesComeWithTheirTables() {
        BulkGetOptions both = new BulkGetOptions().direction(Direction.FORWARD)
                .relatives("fixes.notes");
        List<Row> keys = List.of(Row.of("ship", 3).set("at", 5));
        try (Rows rows = fixes.bulkGet(keys, both)) {
            List<Row> found = rows.toList();
            assertEquals(List.of("fixes", "fixes.notes", "fixes.notes"),
                    found.stream().map(Row::table).collect(Collectors.toList()));
            assertEquals("rain", found.get(2).getString("text"));
        }
    }

    @Test
    void manyKeysOfSeveralSourcesAreAllAnswered() {
        List<Iterator<Row>> sources = new ArrayList<>();
        for (int source = 0; source < 3; source++) {
            int first = source;
            sources.add(IntStream.range(0, 20_000)
                    .mapToObj(n -> Row.of("ship", n % 60).set("at", first + n % 10)).iterator());
        }
        try (Rows rows = fixes.bulkGet(sources, new BulkGetOptions().origins())) {
            assertEquals(50_010, rows.toList().size());
        }
    }

    @Test
    void rowsThatAreNotReadToTheirEndEndWithTheirCall() {
        Iterator<Row> endless = IntStream.iterate(0, n -> (n + 1) % 50)
                .mapToObj(ship -> Row.of("ship", ship)).iterator();
        try (Rows rows = fixes.bulkGet(List.of(endless), new BulkGetOptions().origins())) {
            for (int row = 0; row < 1_000; row++) {
                rows.next();
            }
        }
    }

    @Test
    void aSourceOfKeysThatFailsIsTold() {
        Iterator<Row> failing = IntStream.range(0, 100_000).mapToObj(n -> {
            if (n == 50_000) {
                throw new IllegalStateException("no more keys");
            }
            return Row.of("ship", n % 50);
        }).iterator();
        TonnageException error = assertThrows(TonnageException.class, () -> {
            try (Rows rows = fixes.bulkGet(List.of(failing), new BulkGetOptions().origins())) {
                rows.toList();
            }
        });
        assertTrue(error.getMessage().contains("no more keys"), error.getMessage());
        TonnageException wrong = assertThrows(TonnageException.class, () -> {
            List<Row> keys = List.of(Row.of("knots", 1.0));
            try (Rows rows = fixes.bulkGet(keys, new BulkGetOptions())) {
                rows.toList();
            }
        });
        assertTrue(wrong.getMessage().contains("knots"), wrong.getMessage());
    }

    @Test
    void whatTheServerRefusesIsToldInItsWords() {
        BulkGetOptions wrong = new BulkGetOptions().range(FieldRange.of("speed").from(1, true));
        TonnageException error = assertThrows(TonnageException.class,
                () -> fixes.bulkGet(ships(1), wrong));
        assertEquals(TonnageException.Kind.INVALID_REQUEST, error.kind());
        assertTrue(error.getMessage().contains("speed"), error.getMessage());
        assertEquals(400, error.status());
        assertTrue(error.requestId() != null);
    }

    @Test
    void anUpdateChangesTheColumnsThatAreGiven() {
        Row key = Row.of("ship", 901).set("at", 1);
        assertFalse(fixes.update(Row.of("ship", 901).set("at", 1).set("knots", 1.5)));
        long version = fixes.put(Row.of("ship", 901).set("at", 1).set("knots", 1.5));
        assertTrue(fixes.update(key));
        assertEquals(1.5, fixes.get(key).getDouble("knots"));
        assertTrue(fixes.update(Row.of("ship", 901).set("at", 1).set("knots", 2.5)));
        assertEquals(2.5, fixes.get(key).getDouble("knots"));
        assertFalse(fixes.update(key, Condition.ifVersion(version), new WriteOptions()).isStored());
        assertTrue(fixes.delete(key));
    }

    @Test
    void singleRowsAreWrittenUnderConditions() {
        Table table = fixes;
        Row row = Row.of("ship", 900).set("at", 1).set("knots", 1.5);
        long version = table.put(row, Condition.IF_ABSENT, new WriteOptions()).version();
        WriteResult second = table.put(row, Condition.IF_ABSENT, new WriteOptions());
        assertFalse(second.isStored());
        assertEquals(version, second.version());
        assertTrue(table.put(row.set("knots", 2.5), Condition.ifVersion(version),
                new WriteOptions().durability(Durability.FSYNC)).isStored());
        Row found = table.get(Row.of("ship", 900).set("at", 1));
        assertEquals(2.5, found.getDouble("knots"));
        assertTrue(found.version() > version);
        assertTrue(table.delete(Row.of("ship", 900).set("at", 1)));
        assertFalse(table.delete(Row.of("ship", 900).set("at", 1)));
        assertNull(table.get(Row.of("ship", 900).set("at", 1)));
    }

    @Test
    void writesOfOneShardKeyAreCarriedOutTogetherOrNotAtAll() {
        Row one = Row.of("ship", 901).set("at", 1).set("knots", 1.0);
        Row two = Row.of("ship", 901).set("at", 2).set("knots", 2.0);
        WriteResult failed = store.write(List.of(Write.put(fixes, one, Condition.ALWAYS),
                Write.put(fixes, two, Condition.IF_PRESENT)), new WriteOptions());
        assertFalse(failed.isStored());
        assertEquals(1, failed.failedOperation());
        assertNull(fixes.get(Row.of("ship", 901).set("at", 1)));
        assertTrue(store.write(List.of(Write.put(fixes, one, Condition.ALWAYS),
                Write.put(fixes, two, Condition.IF_ABSENT)), new WriteOptions()).isStored());
    }

    @Test
    void statementsTakeParametersAndStreamTheirRows() {
        try (Result result = store.sql("SELECT ship, at FROM fixes WHERE ship = ? AND knots > ? "
                + "ORDER BY at", 7, 7.15)) {
            assertEquals(4, result.rows().toList().size());
        }
        try (Result result = store.sql("SELECT ? AS t, ? AS d, ? AS b, ? AS n",
                LocalDateTime.parse("2026-01-02T03:04:05.678"), new BigDecimal("1.25"),
                new byte[] {1, 2}, null)) {
            Row row = result.rows().next();
            assertEquals(LocalDateTime.parse("2026-01-02T03:04:05.678"), row.get("t"));
            assertEquals(0, new BigDecimal("1.25")
                    .compareTo(new BigDecimal(row.get("d").toString())));
            assertArrayEquals(new byte[] {1, 2}, row.getBytes("b"));
            assertNull(row.get("n"));
        }
        try (Result change = store.sql("UPDATE fixes SET knots = 0 WHERE ship = 48")) {
            assertEquals(20, change.changed());
            assertFalse(change.hasRows());
        }
        TonnageException error = assertThrows(TonnageException.class,
                () -> store.sql("SELECT nothing FROM fixes"));
        assertTrue(error.getMessage().contains("nothing"), error.getMessage());
    }

    @Test
    void manyStatementsAreAnsweredInOneCall() {
        List<Statement> statements = new ArrayList<>();
        for (int ship = 0; ship < 40; ship++) {
            statements.add(Statement.of("SELECT max(at) AS m FROM fixes WHERE ship = ?", ship));
        }
        statements.add(Statement.of("SELECT wrong"));
        List<Result> results = store.fetchAll(statements);
        assertEquals(41, results.size());
        assertEquals(19, results.get(12).rows().next().getLong("m"));
        assertTrue(results.get(40).error() != null);
        assertThrows(TonnageException.class, () -> results.get(40).rows());
    }

    @Test
    void pairsAreReadAtAndBelowKeys() {
        Pairs pairs = store.pairs();
        for (int n = 0; n < 10; n++) {
            pairs.put(Key.of(List.of("crew", "a"), List.of("m" + n)), ("v" + n).getBytes());
        }
        pairs.put(Key.of("crew", "a"), "parent".getBytes());
        Key parent = Key.of("crew", "a");
        BulkGetOptions below = new BulkGetOptions().depth(Depth.PARENT_AND_DESCENDANTS)
                .direction(Direction.FORWARD).versions();
        try (Pairs.Found found = pairs.bulkGet(List.of(parent), below)) {
            List<String> keys = new ArrayList<>();
            found.forEach(pair -> keys.add(pair.key().toString()));
            assertEquals(11, keys.size());
            assertEquals("/crew/a", keys.get(0));
            assertEquals("/crew/a/-/m0", keys.get(1));
            List<String> family = new ArrayList<>();
            pairs.family(parent).forEach(pair -> family.add(pair.key().toString()));
            assertEquals(keys, family);
            assertEquals("v0", new String(pairs.family(parent).get(1).value()));
        }
        BulkGetOptions some = new BulkGetOptions().depth(Depth.CHILDREN_ONLY)
                .components(KeyRange.between("m3", true, "m5", false));
        try (Pairs.Found found = pairs.bulkGet(List.of(parent), some)) {
            int count = 0;
            for (Pair pair : found) {
                count++;
            }
            assertEquals(2, count);
        }
        assertEquals(10, pairs.deleteAll(parent, Depth.CHILDREN_ONLY, null, new WriteOptions()));
        assertTrue(pairs.delete(parent));
        assertNull(pairs.get(parent));
        Key binary = Key.ofBytes(List.of(new byte[] {(byte) 0xFF, 0}), List.of());
        WriteResult put = pairs.put(binary, new byte[0], Condition.IF_ABSENT,
                new WriteOptions().ttl(Duration.ofDays(2)));
        assertEquals(put.version(), pairs.get(binary).version());
        assertTrue(pairs.get(binary).expiresAtMs() > System.currentTimeMillis());
    }

    @Test
    void anErrorOfASourceOfKeysEndsTheBulkGet() {
        Iterator<Key> broken = new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public Key next() {
                throw new AssertionError("no keys");
            }
        };
        TonnageException error = assertThrows(TonnageException.class, () -> {
            try (Pairs.Found found = store.pairs().bulkGet(List.of(broken), new BulkGetOptions())) {
                found.forEachRemaining(pair -> { });
            }
        });
        assertTrue(error.getMessage().contains("no keys"), error.getMessage());
    }

    @Test
    void aReadThatIsNotAnsweredTimesOut() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"));
                Wire wire = new Wire("http://127.0.0.1:" + silent.getLocalPort(), new Options())) {
            Pairs pairs = new Pairs(wire);
            Duration limit = Duration.ofMillis(300);
            for (Executable read : List.<Executable>of(() -> pairs.get(Key.of("x"), limit),
                    () -> pairs.family(Key.of("x"), limit))) {
                assertEquals(TonnageException.Kind.TIMED_OUT,
                        assertThrows(TonnageException.class, read).kind());
            }
        }
    }

    @Test
    void aTimeToLiveOfALargeObjectIsRefused() {
        TonnageException error = assertThrows(TonnageException.class, () -> store.pairs().putLarge(
                Key.of("brief"), InputStream.nullInputStream(), Condition.ALWAYS,
                new WriteOptions().ttl(Duration.ofDays(1))));
        assertTrue(error.getMessage().contains("no time to live"), error.getMessage());
    }

    @Test
    void largeObjectsAreStoredWholeOrNotAtAll() throws IOException {
        byte[] film = new byte[5_000_000];
        new Random(1).nextBytes(film);
        Key key = Key.of(List.of("films"), List.of("metro/polis"));
        long version = store.pairs().putLarge(key, new ByteArrayInputStream(film),
                Condition.ALWAYS, new WriteOptions());
        try (LargeObject object = store.pairs().getLarge(key)) {
            assertEquals(film.length, object.length());
            assertEquals(version, object.version());
            assertArrayEquals(film, object.readAllBytes());
        }
        InputStream torn = new InputStream() {
            private int given;

            @Override
            public int read() throws IOException {
                if (given++ > 2_000_000) {
                    throw new IOException("the disk is gone");
                }
                return 7;
            }
        };
        TonnageException error = assertThrows(TonnageException.class, () -> store.pairs()
                .putLarge(Key.of("torn"), torn, Condition.ALWAYS, new WriteOptions()));
        assertTrue(error.getMessage().contains("the disk is gone"), error.getMessage());
        assertNull(store.pairs().getLarge(Key.of("torn")));
        assertTrue(store.pairs().deleteLarge(key));
        assertNull(store.pairs().getLarge(key));
    }

    @Test
    void allRowsAreScannedInOrder() {
        try (Rows rows = store.table("fixes.notes").scan(Direction.REVERSE)) {
            assertEquals(List.of("rain", "fog"), rows.toList().stream()
                    .map(row -> row.getString("text")).collect(Collectors.toList()));
        }
    }
}
