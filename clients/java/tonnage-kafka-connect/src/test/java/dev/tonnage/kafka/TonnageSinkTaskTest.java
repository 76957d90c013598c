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
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.PluginMetrics;
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
    private final Map<String, Object> metrics = new HashMap<>();
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
        store.define("DROP TABLE IF EXISTS ships.calls; DROP TABLE IF EXISTS ships.crew; "
                + "DROP TABLE IF EXISTS ships; CREATE TABLE ships (id LONG, name STRING, "
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
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "errantRecordReporter":
                            return hasQueue ? queue : null;
                        case "pluginMetrics":
                            return worker();
                        default:
                            return null;
                    }
                }));
        task.start(given);
        return task;
    }

    /** A worker that keeps what it is told by name. */
    private PluginMetrics worker() {
        return (PluginMetrics) Proxy.newProxyInstance(PluginMetrics.class.getClassLoader(),
                new Class<?>[] {PluginMetrics.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("metricName")) {
                        return new MetricName((String) arguments[0], "test",
                                (String) arguments[1], Map.of());
                    }
                    return metrics.put(((MetricName) arguments[0]).name(), arguments[1]);
                });
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
    void listsOfRecordsBecomeRowsOfChildTables() {
        store.define("CREATE TABLE IF NOT EXISTS ships.calls (port STRING, tons LONG, "
                + "PRIMARY KEY (port))");
        TonnageSinkTask task = task(true, "child.tables", "calls:ships.calls");
        task.put(List.of(
                record(null, value("id", 1L, "name", "Emma", "calls",
                        List.of(value("port", "Brest", "tons", 5L), value("port", "Kiel")))),
                record(null, value("id", 2L)),
                record(null, value("id", 3L, "calls", "none")),
                record(null, value("id", 4L, "calls", List.of(value("tug", 1L))))));
        task.flush(Map.of());
        assertEquals(2, count());
        try (Result answer = store.sql("SELECT id, port, tons FROM ships.calls ORDER BY port")) {
            assertEquals(List.of("{id=1, port=Brest, tons=5}", "{id=1, port=Kiel, tons=null}"),
                    answer.rows().toList().stream().map(Row::toString).toList());
        }
        assertEquals(2, refused.size(), refused.toString());
        assertTrue(refused.get(0).contains("`calls` holds no list of records"), refused.get(0));
        assertTrue(refused.get(1).contains("calls[0]: ships.calls has no column `tug`"),
                refused.get(1));
        task.stop();
    }

    /** Several rows of a record may be refused. */
    @Test
    void aRecordGoesToTheQueueOnce() {
        store.define("CREATE TABLE IF NOT EXISTS ships.crew (name STRING, PRIMARY KEY (name))");
        TonnageSinkTask task = task(true, "child.tables", "crew:ships.crew");
        task.put(List.of(record(null, value("id", 1L, "crew",
                List.of(value(), value(), value("name", "Ada"))))));
        task.flush(Map.of());
        assertEquals(1, refused.size(), refused.toString());
        task.stop();
    }

    @Test
    void recordsWaitForOthersNoLongerThanTheyMay() {
        TonnageSinkTask patient = task(false, "linger.ms", "600000");
        patient.put(List.of(record(null, value("id", 1L))));
        patient.put(List.of());
        assertEquals(0, count());
        patient.stop();
        TonnageSinkTask prompt = task(false, "linger.ms", "0");
        prompt.put(List.of(record(null, value("id", 2L))));
        for (int tried = 0; count() == 0 && tried < 2_000; tried++) {
            Thread.onSpinWait();
        }
        assertEquals(1, count());
        prompt.stop();
    }

    @Test
    void theWorkerIsToldWhatWasDone() {
        TonnageSinkTask task = task(true);
        task.put(List.of(record(null, value("id", 1L)), record(null, value("id", 1L)),
                record(null, "text")));
        task.flush(Map.of());
        assertEquals(1, metric("rows-inserted-total"));
        assertEquals(1, metric("rows-existed-total"));
        assertEquals(1, metric("records-refused-total"));
        assertEquals(1, metric("bulk-puts-total"));
        assertEquals(0, metric("waiting-bytes"));
        task.stop();
    }

    private double metric(String name) {
        return ((Measurable) metrics.get(name)).measure(null, 0);
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
            for (int round = 0; round < 3; round++) {
                // A full batch begins to be put, and what became of it is told later.
                task.put(two);
                assertThrows(RetriableException.class, () -> task.flush(Map.of()));
                assertEquals(2, task.waiting());
            }
            task.stop();
        }
    }

    /** One is put while the next one gathers. */
    @Test
    void batchesArePutInTheirOrder() {
        TonnageSinkTask task = task(false, "batch.rows.max", "2");
        for (int number = 0; number < 9; number++) {
            task.put(List.of(record(null, value("id", 1L, "name", "n" + number)),
                    record(null, value("id", 2L + number))));
        }
        task.flush(Map.of());
        assertEquals("n8", ship(1).getString("name"));
        assertEquals(10, count());
        task.stop();
    }

    @Test
    void settingsAreCheckedWithClearWords() {
        assertThrows(ConfigException.class, () -> task(false, "insert.mode", "upsert"));
        assertThrows(ConfigException.class, () -> task(false, "connection.url", "localhost:7410"));
        assertThrows(ConfigException.class, () -> task(false, "table.name.map", "ships"));
        assertThrows(ConfigException.class, () -> task(false, "connection.user", "ann"));
        assertThrows(ConfigException.class, () -> task(false, "child.tables", "calls"));
        Map<String, String> clash = Map.of("delete.enabled", "true", "table.name.field", "kind",
                "connection.user", "ann");
        Map<String, String> told = new HashMap<>();
        new TonnageSinkConnector().validate(clash).configValues().forEach(value ->
                value.errorMessages().forEach(error -> told.put(value.name(), error)));
        assertEquals(Map.of("connection.password", "connection.password: connection.user is given: "
                + "give connection.password, too", "delete.enabled", "delete.enabled: a record "
                + "without a value names no table, and table.name.field wants one: leave one of "
                + "them out"), told);
    }
}
