package dev.tonnage.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tonnage.client.Result;
import dev.tonnage.client.Row;
import dev.tonnage.client.TestServer;
import dev.tonnage.client.Tonnage;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTaskContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TonnageSinkTaskTest {
    private static TestServer server;
    private static Tonnage store;
    private final List<String> refused = new ArrayList<>();
    private long offset;

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
        store.define("DROP TABLE IF EXISTS ships; CREATE TABLE ships (id LONG, name STRING, "
                + "tons NUMBER(6, 1), at TIMESTAMP(3), doc JSON, tags ARRAY(STRING), data BINARY, "
                + "PRIMARY KEY (id))");
    }

    private TonnageSinkTask task(boolean hasQueue, String... properties) {
        Map<String, String> given = new HashMap<>(Map.of("connection.url", server.url()));
        for (int index = 0; index < properties.length; index += 2) {
            given.put(properties[index], properties[index + 1]);
        }
        ErrantRecordReporter queue = (record, error) -> {
            refused.add(record.kafkaOffset() + ": " + error.getMessage());
            return CompletableFuture.completedFuture(null);
        };
        TonnageSinkTask task = new TonnageSinkTask();
        task.initialize((SinkTaskContext) Proxy.newProxyInstance(
                SinkTaskContext.class.getClassLoader(), new Class<?>[] {SinkTaskContext.class},
                (proxy, method, arguments) -> method.getName().equals("errantRecordReporter")
                        && hasQueue ? queue : null));
        task.start(given);
        return task;
    }

    private SinkRecord record(Object key, Object value) {
        Schema schema = value instanceof Struct ? ((Struct) value).schema() : null;
        return new SinkRecord("ships", 0, null, key, schema, value, offset++);
    }

    private static Map<String, Object> value(Object... entries) {
        Map<String, Object> value = new HashMap<>();
        for (int index = 0; index < entries.length; index += 2) {
            value.put((String) entries[index], entries[index + 1]);
        }
        return value;
    }

    private static Row ship(long id) {
        return store.table("ships").get(Row.of("id", id));
    }

    private static long count() {
        try (Result answer = store.sql("SELECT count(*) AS n FROM ships")) {
            return answer.rows().next().getLong("n");
        }
    }

    @Test
    void recordsWithoutASchemaBecomeRows() {
        TonnageSinkTask task = task(false);
        task.put(List.of(record(null, value("id", 1L, "name", "Emma", "tons", 12.5,
                "at", "2026-01-02 03:04:05", "doc", value("a", List.of(1L, "x")),
                "tags", List.of("old", "slow"), "data", "AAEC")), record(null, value("id", 2L))));
        assertEquals(0, count());
        task.flush(Map.of());
        Row ship = ship(1);
        assertEquals("Emma", ship.getString("name"));
        assertEquals(new BigDecimal("12.5"), ship.getDecimal("tons"));
        assertEquals("2026-01-02T03:04:05", ship.get("at").toString());
        assertEquals("{\"a\":[1,\"x\"]}", ship.getString("doc"));
        assertEquals(List.of("old", "slow"), ship.get("tags"));
        assertArrayEquals(new byte[] {0, 1, 2}, ship.getBytes("data"));
        assertNull(ship(2).get("name"));
        task.stop();
    }

    @Test
    void recordsWithASchemaBecomeRows() {
        Schema doc = SchemaBuilder.struct().field("speed", Schema.FLOAT64_SCHEMA).build();
        Schema schema = SchemaBuilder.struct().field("tons", Decimal.schema(1))
                .field("at", Timestamp.SCHEMA).field("doc", doc).field("data", Schema.BYTES_SCHEMA);
        Struct value = new Struct(schema).put("tons", new BigDecimal("7.5"))
                .put("at", new Date(1_500))
                .put("doc", new Struct(doc).put("speed", 1.5)).put("data", new byte[] {9});
        TonnageSinkTask task = task(false, "key.fields", "id");
        task.put(List.of(record(5L, value)));
        task.flush(Map.of());
        Row ship = ship(5);
        assertEquals(new BigDecimal("7.5"), ship.getDecimal("tons"));
        assertEquals("1970-01-01T00:00:01.500", ship.get("at").toString());
        assertEquals("{\"speed\":1.5}", ship.getString("doc"));
        assertArrayEquals(new byte[] {9}, ship.getBytes("data"));
        task.stop();
    }

    @Test
    void whatMakesNoRowGoesToTheQueueWithItsReason() {
        TonnageSinkTask task = task(true);
        task.put(List.of(record(null, "text"), record(null, value("id", 1L, "speed", 2L)),
                record(null, value("id", 2L, "tons", "heavy")),
                record(null, value("name", "no key")), record(null, null),
                record(null, value("id", 6L, "tons", 123456789L)),
                record(null, value("id", 7L))));
        task.flush(Map.of());
        assertEquals(1, count());
        refused.sort(null);
        assertEquals(6, refused.size(), refused.toString());
        String[] reasons = {"0: the value has no fields", "1: ships has no column `speed`",
            "2: column tons", "3: ", "4: the record has no value", "5: column tons"};
        for (int index = 0; index < reasons.length; index++) {
            assertTrue(refused.get(index).startsWith(reasons[index]), refused.toString());
        }
        task.stop();
    }

    @Test
    void withoutAQueueSuchARecordStopsTheTask() {
        TonnageSinkTask task = task(false);
        ConnectException error = assertThrows(ConnectException.class,
                () -> task.put(List.of(record(null, value("id", 1L, "speed", 2L)))));
        assertTrue(error.getMessage().contains("ships-0, offset 0"), error.getMessage());
        task.put(List.of(record(null, value("name", "no key"))));
        assertTrue(assertThrows(ConnectException.class, () -> task.flush(Map.of())).getMessage()
                .contains("ships-0, offset 1"));
        task.stop();
    }

    @Test
    void modesDecideAboutRowsThatAreStoredAndTombstonesDelete() {
        TonnageSinkTask first = task(false, "key.fields", "id", "delete.enabled", "true");
        first.put(List.of(record(1L, value("name", "a")), record(1L, value("name", "b")),
                record(2L, value("name", "c")), record(2L, null)));
        first.flush(Map.of());
        assertEquals("b", ship(1).getString("name"));
        assertNull(ship(2));
        first.stop();
        TonnageSinkTask keeping = task(false, "insert.mode", "keep");
        keeping.put(List.of(record(null, value("id", 1L, "name", "z"))));
        keeping.flush(Map.of());
        assertEquals("b", ship(1).getString("name"));
        keeping.stop();
    }

    @Test
    void keysThatFitNoColumnDoNotStopDeletions() {
        TonnageSinkTask task = task(true, "key.fields", "id", "delete.enabled", "true");
        task.put(List.of(record(1L, value("name", "a")), record("one", null),
                record(1L, null)));
        task.flush(Map.of());
        assertEquals(0, count());
        assertEquals(1, refused.size(), refused.toString());
        assertTrue(refused.get(0).startsWith("1: column id"), refused.toString());
        task.stop();
    }

    @Test
    void membersThatARecordDoesNotHaveAreUnknownFields() {
        store.define("CREATE TABLE IF NOT EXISTS places (id LONG, place RECORD(lat DOUBLE), "
                + "PRIMARY KEY (id))");
        Map<String, Object> place = value("lat", 1.5, "height", 2.5);
        TonnageSinkTask task = task(true, "table.name.format", "places");
        task.put(List.of(record(null, value("id", 1L, "place", place))));
        task.flush(Map.of());
        assertEquals(List.of("0: column place has no member `height`: add one, or set "
                + "unknown.fields = ignore"), refused);
        task.stop();
        TonnageSinkTask lenient = task(false, "table.name.format", "places", "unknown.fields",
                "ignore");
        lenient.put(List.of(record(null, value("id", 2L, "place", place))));
        lenient.flush(Map.of());
        Row row = store.table("places").get(Row.of("id", 2L));
        assertEquals(Map.of("lat", 1.5), row.get("place"));
        lenient.stop();
    }

    /** Connect goes back to no offset of partitions that stay when a flush of others fails. */
    @Test
    void recordsOfPartitionsThatStayOutliveAFlushThatFails() {
        try (TestServer mortal = TestServer.start(); Tonnage client = mortal.connect()) {
            client.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
            TonnageSinkTask task = task(false, "connection.url", mortal.url());
            task.put(List.of(new SinkRecord("ships", 0, null, null, null, value("id", 1L), 0),
                    new SinkRecord("ships", 1, null, null, null, value("id", 2L), 0)));
            mortal.kill();
            assertThrows(RetriableException.class, () -> task.flush(Map.of()));
            assertEquals(2, task.waiting());
            // What comes again does so once.
            task.put(List.of(new SinkRecord("ships", 1, null, null, null, value("id", 2L), 0)));
            assertEquals(2, task.waiting());
            task.close(List.of(new TopicPartition("ships", 0)));
            assertEquals(1, task.waiting());
            task.close(List.of(new TopicPartition("ships", 1)));
            assertEquals(0, task.waiting());
            task.stop();
        }
    }

    @Test
    void tablesAreNamedByPatternMapAndField() {
        store.define("CREATE TABLE IF NOT EXISTS t_ships (id LONG, PRIMARY KEY (id))");
        TonnageSinkTask pattern = task(false, "table.name.format", "t_${topic}");
        pattern.put(List.of(record(null, value("id", 1L))));
        pattern.flush(Map.of());
        TonnageSinkTask map = task(false, "table.name.map", "other:x,ships:t_ships");
        map.put(List.of(record(null, value("id", 2L))));
        map.flush(Map.of());
        TonnageSinkTask field = task(false, "table.name.field", "kind");
        field.put(List.of(record(null, value("id", 3L, "kind", "t_ships")),
                record(null, value("id", 3L, "kind", "ships"))));
        field.flush(Map.of());
        try (Result answer = store.sql("SELECT count(*) AS n FROM t_ships")) {
            assertEquals(3, answer.rows().next().getLong("n"));
        }
        assertEquals(1, count());
        TonnageSinkTask lost = task(true, "table.name.field", "kind");
        lost.put(List.of(record(null, value("id", 4L, "kind", "none")),
                record(null, value("id", 4L, "kind", "ships"))));
        lost.flush(Map.of());
        assertEquals(2, count());
        assertTrue(refused.get(0).contains("there is no table none"), refused.toString());
        assertThrows(ConnectException.class, () -> task(false, "table.name.format", "none")
                .put(List.of(record(null, value("id", 1L)))));
        List.of(pattern, map, field, lost).forEach(TonnageSinkTask::stop);
    }

    @Test
    void aServerThatIsGoneIsAskedAgainWithTheSameRecords() {
        try (TestServer mortal = TestServer.start(); Tonnage client = mortal.connect()) {
            client.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
            TonnageSinkTask task =
                    task(false, "connection.url", mortal.url(), "batch.rows.max", "2");
            List<SinkRecord> one = List.of(record(null, value("id", 1L)));
            task.put(one);
            mortal.kill();
            List<SinkRecord> two = List.of(record(null, value("id", 2L)));
            assertThrows(RetriableException.class, () -> task.put(two));
            assertThrows(RetriableException.class, () -> task.put(two));
            assertThrows(RetriableException.class, () -> task.flush(Map.of()));
            task.stop();
        }
    }

    @Test
    void settingsAreCheckedWithClearWords() {
        assertThrows(ConfigException.class, () -> task(false, "insert.mode", "upsert"));
        assertThrows(ConfigException.class, () -> task(false, "connection.url", "localhost:7410"));
        assertThrows(ConfigException.class, () -> task(false, "table.name.map", "ships"));
        assertThrows(ConfigException.class, () -> task(false, "connection.user", "ann"));
    }
}
