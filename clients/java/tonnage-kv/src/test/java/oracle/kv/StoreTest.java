package oracle.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tonnage.client.TestServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class StoreTest {
    private static TestServer server;
    private static KVStore store;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        store = KVStoreFactory.getStore(
                new KVStoreConfig("kvstore", "127.0.0.1:1", server.url().substring(7)));
    }

    @AfterAll
    static void stop() {
        store.close();
        server.close();
    }

    private static Value value(String text) {
        return Value.createValue(text.getBytes());
    }

    /** A stream of pairs, which keeps what it hears. */
    static class Pairs implements EntryStream<KeyValue> {
        final List<KeyValue> given = new ArrayList<>();
        final List<KeyValue> existing = new ArrayList<>();
        int completions;
        private final Iterator<KeyValue> source;

        Pairs(String major, int from, int to) {
            for (int number = from; number < to; number++) {
                Key key = Key.createKey(Arrays.asList("bulk", major), "" + number);
                given.add(new KeyValue(key, value("v" + number)));
            }
            source = given.iterator();
        }

        @Override
        public String name() {
            return "pairs";
        }

        @Override
        public KeyValue getNext() {
            return source.hasNext() ? source.next() : null;
        }

        @Override
        public void completed() {
            completions++;
        }

        @Override
        public void keyExists(KeyValue entry) {
            existing.add(entry);
        }

        @Override
        public void catchException(RuntimeException exception, KeyValue entry) {
            throw exception;
        }
    }

    @Test
    void bulkPutTellsEachStreamOfItsEntries() {
        List<Pairs> streams = List.of(new Pairs("a", 0, 500), new Pairs("b", 0, 500),
                new Pairs("c", 0, 500));
        BulkWriteOptions options =
                new BulkWriteOptions(Durability.COMMIT_SYNC, 60, TimeUnit.SECONDS);
        options.setStreamParallelism(2);
        store.put(new ArrayList<EntryStream<KeyValue>>(streams), options);
        streams.forEach(stream -> assertEquals(1, stream.completions));
        Pairs again = new Pairs("b", 400, 600);
        store.put(List.<EntryStream<KeyValue>>of(again), null);
        assertEquals(100, again.existing.size());
        assertTrue(again.given.containsAll(again.existing));
        assertArrayEquals("v599".getBytes(), store.get(
                Key.createKey(Arrays.asList("bulk", "b"), "599")).getValue().getValue());
        BulkWriteOptions over = new BulkWriteOptions();
        over.setOverwrite(true);
        Pairs replaced = new Pairs("b", 0, 10);
        store.put(List.<EntryStream<KeyValue>>of(replaced), over);
        assertEquals(0, replaced.existing.size());
    }

    @Test
    void whatAStreamThrowsComesOutOfTheBulkPut() {
        IllegalStateException thrown = new IllegalStateException("the source is gone");
        Pairs stream = new Pairs("d", 0, 10) {
            @Override
            public KeyValue getNext() {
                throw thrown;
            }
        };
        assertSame(thrown, assertThrows(IllegalStateException.class,
                () -> store.put(List.<EntryStream<KeyValue>>of(stream), null)));
        assertEquals(0, stream.completions);
    }

    @Test
    void bulkGetReadsThePairsOfManyKeys() {
        store.put(List.<EntryStream<KeyValue>>of(new Pairs("x", 0, 50), new Pairs("y", 0, 50)),
                null);
        List<Iterator<Key>> parents = List.of(
                List.of(Key.createKey(Arrays.asList("bulk", "x"))).iterator(),
                List.of(Key.createKey(Arrays.asList("bulk", "y")),
                        Key.createKey(Arrays.asList("bulk", "none"))).iterator());
        ParallelScanIterator<KeyValueVersion> all = store.storeIterator(parents, 0, null, null,
                Consistency.ABSOLUTE, 10, TimeUnit.SECONDS, new StoreIteratorConfig());
        int count = 0;
        while (all.hasNext()) {
            KeyValueVersion pair = all.next();
            assertEquals("v" + pair.getKey().getMinorPath().get(0),
                    new String(pair.getValue().getValue()));
            assertTrue(pair.getVersion().getVersion() > 0);
            count++;
        }
        all.close();
        assertEquals(100, count);
        Iterator<Key> some = store.storeKeysIterator(
                List.of(Key.createKey(Arrays.asList("bulk", "x"))).iterator(), 0,
                new KeyRange("10", true, "13", false), Depth.CHILDREN_ONLY, null, 0, null, null);
        List<String> found = new ArrayList<>();
        some.forEachRemaining(key -> found.add(key.getMinorPath().get(0)));
        assertEquals(3, found.size());
    }

    /** More than the connection holds on its way, so that an ended call would lack pairs. */
    @Test
    void iteratorsOutlastTheTimeOfARequest() throws InterruptedException {
        KVStoreConfig config = new KVStoreConfig("kvstore", server.url().substring(7));
        config.setRequestTimeout(1, TimeUnit.SECONDS);
        List<Key> parents = new ArrayList<>();
        try (KVStore brief = KVStoreFactory.getStore(config)) {
            Value large = Value.createValue(new byte[1 << 20]);
            for (int number = 0; number < 48; number++) {
                parents.add(Key.createKey(Arrays.asList("slow", "" + number)));
                brief.put(parents.get(number), large);
            }
            ParallelScanIterator<KeyValueVersion> pairs = brief.storeIterator(parents.iterator(), 0,
                    null, null, null, 0, null, null);
            int count = 0;
            while (pairs.hasNext()) {
                pairs.next();
                Thread.sleep(count++ == 0 ? 1_500 : 0);
            }
            assertEquals(48, count);
            // One that is given holds for the whole iteration.
            ParallelScanIterator<KeyValueVersion> limited = brief.storeIterator(
                    parents.iterator(), 0, null, null, null, 200, TimeUnit.MILLISECONDS, null);
            StoreIteratorException error = assertThrows(StoreIteratorException.class, () -> {
                while (limited.hasNext()) {
                    limited.next();
                    Thread.sleep(20);
                }
            });
            assertInstanceOf(RequestTimeoutException.class, error.getCause());
        }
    }

    @Test
    void singlePairsAreWrittenUnderConditions() {
        Key key = Key.createKey("single", "one");
        assertNull(store.get(key));
        Version first = store.putIfAbsent(key, value("a"));
        assertNotNull(first);
        ReturnValueVersion before = new ReturnValueVersion(ReturnValueVersion.Choice.ALL);
        assertNull(store.putIfAbsent(key, value("b"), before, null, 0, null));
        assertEquals(value("a"), before.getValue());
        assertEquals(first, before.getVersion());
        Version second = store.put(key, value("c"), before, Durability.COMMIT_SYNC, 5,
                TimeUnit.SECONDS);
        assertEquals(value("a"), before.getValue());
        assertNull(store.putIfVersion(key, value("d"), first));
        assertNotNull(store.putIfVersion(key, value("d"), second));
        assertNotNull(store.putIfPresent(key, value("e")));
        assertNull(store.putIfPresent(Key.createKey("single", "two"), value("e")));
        assertFalse(store.deleteIfVersion(key, second));
        assertTrue(store.delete(key, before, null, 0, null));
        assertEquals(value("e"), before.getValue());
        assertFalse(store.delete(key));
    }

    @Test
    void theFamilyOfAKeyIsReadAndDeleted() {
        Key parent = Key.createKey(Arrays.asList("family", "1"));
        store.put(parent, value("p"));
        IntStream.range(0, 20).forEach(n -> store.put(
                Key.createKey(Arrays.asList("family", "1"), "c" + n), value("c" + n)));
        SortedMap<Key, ValueVersion> all = store.multiGet(parent, null, null);
        assertEquals(21, all.size());
        assertEquals(parent, all.firstKey());
        assertEquals(11, store.multiGetKeys(parent, new KeyRange("c1"), Depth.CHILDREN_ONLY)
                .size());
        Iterator<Key> reverse = store.multiGetKeysIterator(Direction.REVERSE, 0, parent, null,
                Depth.CHILDREN_ONLY);
        assertEquals("c9", reverse.next().getMinorPath().get(0));
        int scanned = 0;
        for (Iterator<KeyValueVersion> scan = store.storeIterator(Direction.UNORDERED, 0,
                Key.createKey("family"), null, null); scan.hasNext(); scan.next()) {
            scanned++;
        }
        assertEquals(21, scanned);
        assertEquals(20, store.multiDelete(parent, null, Depth.CHILDREN_ONLY));
        assertEquals(1, store.multiGet(parent, null, null).size());
    }

    @Test
    void oneOperationIsCarriedOutAndSeveralAreRefused() throws OperationExecutionException {
        OperationFactory factory = store.getOperationFactory();
        Key key = Key.createKey("operation", "1");
        assertTrue(store.execute(List.of(factory.createPutIfAbsent(key, value("a"))))
                .get(0).getSuccess());
        Operation again = factory.createPutIfAbsent(key, value("b"),
                ReturnValueVersion.Choice.VALUE, true);
        OperationExecutionException error = assertThrows(OperationExecutionException.class,
                () -> store.execute(List.of(again)));
        assertEquals(value("a"), error.getFailedOperationResult().getPreviousValue());
        assertThrows(UnsupportedOperationException.class,
                () -> store.execute(List.of(again, factory.createDelete(key))));
    }

    @Test
    void keysAreReadAsTheyAreWritten() {
        for (String text : new String[] {"/a", "/a/b/-/c", "/a%2Fb", "/%2D/-/-", "/ä €/-/%25",
                "/"}) {
            Key key = Key.fromString(text);
            assertEquals(key, Key.fromString(key.toString()), text);
        }
        assertEquals(List.of("a", "b"), Key.fromString("/a/-/b").getFullPath());
        assertEquals(List.of("b"), Key.fromString("/a/-/b").getMinorPath());
        assertThrows(IllegalArgumentException.class, () -> Key.fromString("a"));
        assertThrows(IllegalArgumentException.class, () -> Key.fromString("/%zz"));
        assertTrue(Key.fromString("/a").isPrefix(Key.fromString("/a/b/-/c")));
        assertFalse(Key.fromString("/a/-/b").isPrefix(Key.fromString("/a/b")));
    }

    @Test
    void aServerThatIsNotThereIsAFault() {
        FaultException error = assertThrows(FaultException.class,
                () -> KVStoreFactory.getStore(new KVStoreConfig("kvstore", "127.0.0.1:1")));
        assertTrue(error.getMessage().contains("127.0.0.1:1"), error.getMessage());
        assertThrows(UnsupportedOperationException.class, () -> store.login(null));
    }

    @Test
    void bulkPutsWithoutStreamsAreRefused() {
        for (List<EntryStream<KeyValue>> streams : Arrays.asList(null,
                new ArrayList<EntryStream<KeyValue>>(),
                Arrays.asList((EntryStream<KeyValue>) null))) {
            assertThrows(IllegalArgumentException.class,
                    () -> store.put(streams, new BulkWriteOptions()));
        }
        assertThrows(UnsupportedOperationException.class,
                () -> new BulkWriteOptions().setUsePutResolve(true));
    }

    @Test
    void keysGoThroughBytes() {
        Key key = Key.createKey(Arrays.asList("a/b", "-"), Arrays.asList("\u00fc", "%2F"));
        assertEquals(key, Key.fromByteArray(key.toByteArray()));
    }
}
