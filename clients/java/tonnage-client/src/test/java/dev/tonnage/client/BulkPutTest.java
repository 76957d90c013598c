package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class BulkPutTest {
    private static TestServer server;
    private static Tonnage store;
    private Table ships;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        store = server.connect();
    }

    @AfterAll
    static void stop() {
        store.close();
        server.close();
    }

    @BeforeEach
    void table() {
        store.define("DROP TABLE IF EXISTS ships;"
                + "CREATE TABLE ships (id LONG, name STRING, tons NUMBER(6, 1), PRIMARY KEY (id))");
        ships = store.table("ships");
    }

    private static List<Row> rows(int from, int to) {
        List<Row> rows = new ArrayList<>();
        for (int id = from; id < to; id++) {
            rows.add(Row.of("id", id).set("name", "ship " + id).set("tons", id % 7));
        }
        return rows;
    }

    private long count() {
        try (Result result = store.sql("SELECT count(*) AS n FROM ships")) {
            return result.rows().next().getLong("n");
        }
    }

    @Test
    void rowsOfManyStreamsAreStoredAndEachStreamIsCompletedOnce() {
        List<ListStream<Row>> streams = new ArrayList<>();
        for (int part = 0; part < 5; part++) {
            streams.add(new ListStream<>("part " + part, rows(1_000 * part, 1_000 * part + 1_000)));
        }
        BulkPutReport report = store.bulkPut(ships, streams,
                new BulkPutOptions().streamParallelism(3).durability(Durability.FSYNC));
        assertEquals(5_000, report.inserted());
        assertEquals(5_000, report.acknowledged());
        assertEquals(5_000, count());
        for (ListStream<Row> stream : streams) {
            assertEquals(1, stream.completions, stream.name());
            assertEquals(Collections.emptyList(), stream.existing);
        }
        assertTrue(report.streams().stream().allMatch(StreamReport::isCompleted),
                report.toString());
    }

    @Test
    void streamsHearOfTheirOwnEntriesThatExist() {
        store.bulkPut(ships, List.of(new ListStream<>("first", rows(0, 100))),
                new BulkPutOptions());
        List<Row> again = rows(50, 150);
        again.get(0).set("name", "changed");
        ListStream<Row> second = new ListStream<>("second", again);
        BulkPutReport report = store.bulkPut(ships, List.of(second), new BulkPutOptions());
        assertEquals(50, report.inserted());
        assertEquals(50, report.existed());
        assertEquals(50, second.existing.size());
        for (Row row : second.existing) {
            assertSame(again.get((int) row.getLong("id") - 50), row);
        }
        assertEquals("ship 50", ships.get(Row.of("id", 50)).getString("name"));
        ListStream<Row> third = new ListStream<>("third", again.subList(0, 1));
        BulkPutReport replaced = store.bulkPut(ships, List.of(third),
                new BulkPutOptions().onExisting(OnExisting.REPLACE));
        // It is counted, and the stream hears of entries alone that were not stored.
        assertEquals(1, replaced.existed());
        assertEquals(List.of(), third.existing);
        assertEquals("changed", ships.get(Row.of("id", 50)).getString("name"));
    }

    @Test
    void anEntryThatFailsIsNamedWithItsColumnAndTheOthersAreStored() {
        List<Row> rows = rows(0, 10);
        // The server refuses the one, the client the others.
        rows.get(3).set("id", null);
        rows.get(5).set("tons", "heavy");
        rows.get(7).set("speed", 5);
        ListStream<Row> stream = new ListStream<>("rows", rows);
        BulkPutReport report = store.bulkPut(ships, List.of(stream), new BulkPutOptions());
        assertEquals(7, report.inserted());
        assertEquals(3, report.failed());
        assertEquals(3, stream.failed.size());
        assertTrue(stream.failed.containsAll(List.of(rows.get(3), rows.get(5), rows.get(7))));
        assertTrue(stream.reasons.toString().contains("tons"), stream.reasons.toString());
        assertTrue(stream.reasons.toString().contains("speed"), stream.reasons.toString());
        assertEquals(1, stream.completions);
    }

    @Test
    void aLimitOfErrorsStopsTheLoadAndTellsWhatIsStored() {
        List<Row> rows = rows(0, 1_000);
        rows.subList(400, 500).forEach(row -> row.set("id", null));
        BulkPutException error = assertThrows(BulkPutException.class, () -> store.bulkPut(ships,
                List.of(new ListStream<>("rows", rows)), new BulkPutOptions().errorsMax(10)));
        assertEquals(TonnageException.Kind.TOO_MANY_ERRORS, error.kind());
        assertFalse(error.report().streams().get(0).isCompleted());
    }

    @Test
    void littleMemoryIsEnough() {
        List<Row> rows = rows(0, 40_000);
        ListStream<Row> stream = new ListStream<>("rows", rows);
        BulkPutReport report = store.bulkPut(ships, List.of(stream),
                new BulkPutOptions().requestBytesMax(64 << 10).memoryBytesMax(1 << 20));
        assertEquals(40_000, report.inserted());
        ListStream<Row> again = new ListStream<>("again", rows);
        store.bulkPut(ships, List.of(again),
                new BulkPutOptions().requestBytesMax(64 << 10).memoryBytesMax(1 << 20));
        assertEquals(40_000, again.existing.size());
    }

    @Test
    void aStreamThatFailsStopsThePutAndIsNotCompleted() {
        ListStream<Row> stream = new ListStream<>("rows", rows(0, 100)) {
            private int given;

            @Override
            public Row getNext() {
                if (given++ == 70) {
                    throw new IllegalStateException("the source is gone");
                }
                return super.getNext();
            }
        };
        BulkPutException error = assertThrows(BulkPutException.class,
                () -> store.bulkPut(ships, List.of(stream), new BulkPutOptions()));
        assertTrue(error.getMessage().contains("the source is gone"), error.getMessage());
        assertEquals(0, stream.completions);
        assertFalse(error.report().streams().get(0).isCompleted());
    }

    @Test
    void whatACallbackThrowsStopsThePut() {
        store.bulkPut(ships, List.of(new ListStream<>("first", rows(0, 10))), new BulkPutOptions());
        ListStream<Row> stream = new ListStream<>("second", rows(0, 10)) {
            @Override
            public void keyExists(Row entry) {
                throw new IllegalStateException("no doubles, please");
            }
        };
        BulkPutException error = assertThrows(BulkPutException.class,
                () -> store.bulkPut(ships, List.of(stream), new BulkPutOptions()));
        assertTrue(error.getMessage().contains("no doubles, please"), error.getMessage());
    }

    @Test
    void anErrorOfAStreamOrACallbackStopsThePut() {
        store.bulkPut(ships, List.of(new ListStream<>("first", rows(0, 10))), new BulkPutOptions());
        ListStream<Row> source = new ListStream<>("source", rows(0, 10)) {
            @Override
            public Row getNext() {
                throw new AssertionError("no source");
            }
        };
        ListStream<Row> callback = new ListStream<>("callback", rows(0, 10)) {
            @Override
            public void keyExists(Row entry) {
                throw new AssertionError("no callback");
            }
        };
        for (ListStream<Row> stream : List.of(source, callback)) {
            BulkPutException error = assertThrows(BulkPutException.class,
                    () -> store.bulkPut(ships, List.of(stream), new BulkPutOptions()));
            assertTrue(error.getMessage().contains("no " + stream.name()), error.getMessage());
        }
    }

    /**
     * What waits for its source is interrupted when another stream fails, and also left to itself.
     */
    @Test
    void aStreamThatWaitsForItsSourceDoesNotHoldAFailedPut() {
        for (boolean isDeaf : new boolean[] {false, true}) {
            CountDownLatch never = new CountDownLatch(1);
            AtomicBoolean isInterrupted = new AtomicBoolean();
            ListStream<Row> waiting = new ListStream<>("waiting", rows(0, 10)) {
                @Override
                public Row getNext() {
                    while (true) {
                        try {
                            never.await();
                            return null;
                        } catch (InterruptedException error) {
                            isInterrupted.set(true);
                            if (!isDeaf) {
                                throw new IllegalStateException(error);
                            }
                        }
                    }
                }
            };
            ListStream<Row> failing = new ListStream<>("failing", rows(0, 10)) {
                @Override
                public Row getNext() {
                    throw new IllegalStateException("the other one failed");
                }
            };
            BulkPutException error = assertThrows(BulkPutException.class, () -> store.bulkPut(ships,
                    List.of(waiting, failing), new BulkPutOptions().streamParallelism(2)));
            assertTrue(error.getMessage().contains("the other one failed"), error.getMessage());
            assertTrue(isInterrupted.get());
            never.countDown();
        }
    }

    @Test
    void entriesThatFitNoColumnCountTowardsTheLimitOfErrors() {
        List<Row> rows = rows(0, 100);
        rows.subList(0, 20).forEach(row -> row.set("tons", "heavy"));
        for (BulkPutOptions options : List.of(new BulkPutOptions().errorsMax(19),
                new BulkPutOptions().errorsMaxPercent(19),
                new BulkPutOptions().errorsMaxPercent(19).tellsEntries(false))) {
            BulkPutException error = assertThrows(BulkPutException.class, () -> store.bulkPut(ships,
                    List.of(new ListStream<>("rows", rows)), options));
            assertEquals(TonnageException.Kind.TOO_MANY_ERRORS, error.kind());
            assertTrue(error.getMessage().contains("20 entries failed"), error.getMessage());
        }
        BulkPutReport report = store.bulkPut(ships, List.of(new ListStream<>("rows", rows)),
                new BulkPutOptions().errorsMaxPercent(20));
        assertEquals(20, report.failed());
        assertEquals(80, report.inserted() + report.existed());
    }

    /** So many that 64 of them would take all memory go out one or two at a time. */
    @Test
    void largeEntriesAreSentBeforeTheyFillTheMemory() {
        String large = "x".repeat(1 << 20);
        AtomicLong seen = new AtomicLong();
        ListStream<Row> stream = new ListStream<>("large", rows(0, 20)) {
            private int given;

            @Override
            public Row getNext() {
                if (given++ == 19) {
                    long until = System.nanoTime() + Duration.ofSeconds(30).toNanos();
                    while (seen.get() == 0 && System.nanoTime() < until) {
                        seen.set(count());
                    }
                }
                Row row = super.getNext();
                return row == null ? null : row.set("name", large);
            }
        };
        BulkPutReport report = store.bulkPut(ships, List.of(stream),
                new BulkPutOptions().memoryBytesMax(4 << 20));
        assertEquals(20, report.inserted());
        assertTrue(seen.get() > 0, "nothing was stored before the last entry was read");
    }

    @Test
    void aNumberBeyondTheRangeOfItsColumnFails() {
        store.define("DROP TABLE IF EXISTS floats;"
                + "CREATE TABLE floats (id LONG, f FLOAT, d DOUBLE, PRIMARY KEY (id))");
        double infinity = Double.POSITIVE_INFINITY;
        List<Row> rows = List.of(Row.of("id", 1).set("f", 0.1).set("d", new BigDecimal("0.1")),
                Row.of("id", 2).set("f", infinity).set("d", infinity),
                Row.of("id", 3).set("f", 1e39), Row.of("id", 4).set("d", new BigDecimal("1e309")));
        ListStream<Row> stream = new ListStream<>("floats", rows);
        BulkPutReport report = store.bulkPut(store.table("floats"), List.of(stream),
                new BulkPutOptions());
        assertEquals(2, report.inserted());
        assertEquals(List.of(rows.get(2), rows.get(3)), stream.failed);
        assertTrue(stream.reasons.get(0).contains("column f"), stream.reasons.toString());
    }

    /** Servers stop streams that are silent; a source may be slow. */
    @Test
    void aStreamThatPausesLivesOn() {
        try (TestServer hasty = TestServer.start("--idle-timeout", "13s");
                Tonnage client = hasty.connect()) {
            client.define("CREATE TABLE ships (id LONG, name STRING, tons NUMBER(6, 1), "
                    + "PRIMARY KEY (id))");
            ListStream<Row> stream = new ListStream<>("rows", rows(0, 10)) {
                private int given;

                @Override
                public Row getNext() {
                    if (given++ == 5) {
                        try {
                            Thread.sleep(25_000);
                        } catch (InterruptedException error) {
                            throw new IllegalStateException(error);
                        }
                    }
                    return super.getNext();
                }
            };
            CompletableFuture<Long> large = CompletableFuture.supplyAsync(() -> client.pairs()
                    .putLarge(Key.of("film"), slow(), Condition.ALWAYS, new WriteOptions()));
            BulkPutReport report = client.bulkPut(client.table("ships"), List.of(stream),
                    new BulkPutOptions());
            assertEquals(10, report.inserted());
            assertTrue(large.join() > 0);
        }
    }

    /** Two bytes, with a pause before the second. */
    private static InputStream slow() {
        return new InputStream() {
            private int given;

            @Override
            public int read() throws IOException {
                if (given == 1) {
                    try {
                        Thread.sleep(25_000);
                    } catch (InterruptedException error) {
                        throw new IOException(error);
                    }
                }
                return given++ < 2 ? 'x' : -1;
            }
        };
    }

    /** An endless stream. */
    private static EntryStream<Row> endless(AtomicLong given) {
        return new EntryStream<>() {
            @Override
            public String name() {
                return "endless";
            }

            @Override
            public Row getNext() {
                return Row.of("id", given.getAndIncrement()).set("name", "x").set("tons", 1);
            }
        };
    }

    @Test
    void aPutThatIsCancelledEnds() throws InterruptedException {
        Cancel cancel = new Cancel();
        AtomicLong given = new AtomicLong();
        Thread canceller = new Thread(() -> {
            while (given.get() < 50_000) {
                Thread.onSpinWait();
            }
            cancel.cancel();
        });
        canceller.start();
        BulkPutException error = assertThrows(BulkPutException.class, () -> store.bulkPut(ships,
                List.of(endless(given)), new BulkPutOptions().cancel(cancel)));
        canceller.join();
        assertEquals(TonnageException.Kind.CANCELLED, error.kind());
    }

    @Test
    void aPutThatTakesTooLongEnds() {
        BulkPutException error = assertThrows(BulkPutException.class, () -> store.bulkPut(ships,
                List.of(endless(new AtomicLong())),
                new BulkPutOptions().timeout(Duration.ofMillis(700))));
        assertEquals(TonnageException.Kind.TIMED_OUT, error.kind());
    }

    @Test
    void aServerThatDiesLeavesAReportOfWhatIsAcknowledged() {
        try (TestServer mortal = TestServer.start(); Tonnage client = mortal.connect()) {
            client.define("CREATE TABLE ships (id LONG, name STRING, tons NUMBER(6, 1), "
                    + "PRIMARY KEY (id))");
            AtomicLong given = new AtomicLong();
            Thread killer = new Thread(() -> {
                while (given.get() < 100_000) {
                    Thread.onSpinWait();
                }
                mortal.kill();
            });
            killer.start();
            BulkPutException error = assertThrows(BulkPutException.class,
                    () -> client.bulkPut(client.table("ships"), List.of(endless(given)),
                            new BulkPutOptions().memoryBytesMax(4 << 20)));
            assertEquals(TonnageException.Kind.CONNECTION_LOST, error.kind());
            BulkPutReport report = error.report();
            assertTrue(report.acknowledged() <= report.sent(), report.toString());
            assertTrue(report.acknowledged() > 0, report + " " + report.acknowledged());
        }
    }

    @Test
    void pairsAreStoredWithKeysOfSeveralComponents() {
        List<Pair> pairs = new ArrayList<>();
        for (int number = 0; number < 3_000; number++) {
            Key key = Key.of(List.of("fleet", "f" + number % 10), List.of("ship", "" + number));
            pairs.add(new Pair(key, ("value " + number).getBytes()));
        }
        ListStream<Pair> stream = new ListStream<>("pairs", pairs);
        BulkPutReport report = store.bulkPutPairs(List.of(stream), new BulkPutOptions());
        assertEquals(3_000, report.inserted());
        assertEquals("value 7", new String(store.pairs().get(pairs.get(7).key()).value()));
        ListStream<Pair> again = new ListStream<>("again", pairs);
        assertEquals(3_000, store.bulkPutPairs(List.of(again), new BulkPutOptions()).existed());
        assertEquals(3_000, again.existing.size());
        assertEquals(1, again.completions);
    }

    @Test
    void rowsOfParentsAndChildrenShareAStream() {
        store.define("CREATE TABLE ships.calls (port INTEGER, PRIMARY KEY (port))");
        Table calls = store.table("ships.calls");
        List<Row> rows = rows(0, 100);
        for (int id = 0; id < 100; id++) {
            rows.add(Row.of("id", id).set("port", id));
        }
        BulkPutReport report = store.bulkPutEntries(new Tonnage.RowOf<Row>() {
            @Override
            public Table tableOf(Row row) {
                return row.has("port") ? calls : ships;
            }

            @Override
            public Row rowOf(Row row) {
                return row;
            }
        }, List.of(new ListStream<>("both", rows)), new BulkPutOptions());
        assertEquals(200, report.inserted());
        assertEquals(100, count());
        store.define("DROP TABLE ships.calls");
    }
}
