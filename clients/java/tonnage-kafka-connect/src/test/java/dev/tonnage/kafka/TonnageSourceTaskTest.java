package dev.tonnage.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tonnage.client.Row;
import dev.tonnage.client.TestServer;
import dev.tonnage.client.Tonnage;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TonnageSourceTaskTest {
    private static TestServer server;
    private static Tonnage store;
    /** What Connect has stored of each table. */
    private final Map<Map<String, ?>, Map<String, ?>> offsets = new HashMap<>();

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
    void tables() {
        store.define("DROP TABLE IF EXISTS ships; DROP TABLE IF EXISTS ports; "
                + "CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id)); "
                + "CREATE TABLE ports (code STRING, PRIMARY KEY (code))");
    }

    private TonnageSourceTask task(String... properties) {
        Map<String, String> given = new HashMap<>(Map.of("connection.url", server.url(), "tables",
                "ships", "poll.interval.ms", "1", "retry.backoff.ms", "10"));
        for (int index = 0; index < properties.length; index += 2) {
            given.put(properties[index], properties[index + 1]);
        }
        OffsetStorageReader reader = (OffsetStorageReader) Proxy.newProxyInstance(
                OffsetStorageReader.class.getClassLoader(),
                new Class<?>[] {OffsetStorageReader.class},
                (proxy, method, arguments) -> offsets.get(arguments[0]));
        TonnageSourceTask task = new TonnageSourceTask();
        task.initialize((SourceTaskContext) Proxy.newProxyInstance(
                SourceTaskContext.class.getClassLoader(), new Class<?>[] {SourceTaskContext.class},
                (proxy, method, arguments) -> method.getName().equals("offsetStorageReader")
                        ? reader : null));
        task.start(given);
        return task;
    }

    /** The records of the next readings, until several of them have nothing new. */
    private List<SourceRecord> poll(TonnageSourceTask task) throws InterruptedException {
        List<SourceRecord> all = new ArrayList<>();
        for (int idle = 0; idle < 5; ) {
            List<SourceRecord> records = task.poll();
            idle = records == null ? idle + 1 : 0;
            all.addAll(records == null ? List.of() : records);
        }
        return all;
    }

    /** As Connect does once records are in their topics. */
    private void commit(List<SourceRecord> records) {
        records.forEach(record -> offsets.put(record.sourcePartition(), record.sourceOffset()));
    }

    private static void put(long from, long to, String name) {
        for (long id = from; id < to; id++) {
            store.table("ships").put(Row.of("id", id).set("name", name));
        }
    }

    private static Map<Long, String> names(List<SourceRecord> records) {
        Map<Long, String> names = new TreeMap<>();
        for (SourceRecord record : records) {
            Struct value = (Struct) record.value();
            assertEquals(value.getInt64("id"), ((Struct) record.key()).getInt64("id"));
            names.put(value.getInt64("id"), value.getString("name"));
        }
        return names;
    }

    @Test
    void eachRowIsToldOnceAndAgainWhenItIsWritten() throws InterruptedException {
        put(0, 20, "a");
        TonnageSourceTask task = task();
        List<SourceRecord> records = poll(task);
        assertEquals(20, records.size());
        assertEquals("ships", records.get(0).topic());
        assertEquals(0, poll(task).size());
        put(5, 7, "b");
        put(50, 51, "c");
        assertEquals(Map.of(5L, "b", 6L, "b", 50L, "c"), names(poll(task)));
        store.table("ships").delete(Row.of("id", 5L));
        assertEquals(0, poll(task).size());
        task.stop();
    }

    @Test
    void aTaskThatIsStartedAgainGoesOnBehindItsOffsets() throws InterruptedException {
        put(0, 20, "a");
        TonnageSourceTask first = task();
        commit(poll(first));
        first.stop();
        put(10, 12, "b");
        TonnageSourceTask second = task();
        assertEquals(Map.of(10L, "b", 11L, "b"), names(poll(second)));
        second.stop();
    }

    /** A reading that is cut off is begun anew: rows come twice, and none is left out. */
    @Test
    void aTaskThatEndsWithinAReadingLeavesNothingOut() throws InterruptedException {
        put(0, 50, "a");
        TonnageSourceTask first = task("batch.rows.max", "7");
        List<SourceRecord> part = new ArrayList<>(first.poll());
        part.addAll(first.poll());
        assertEquals(14, part.size());
        commit(part);
        first.stop();
        TonnageSourceTask second = task("batch.rows.max", "7");
        List<SourceRecord> rest = poll(second);
        assertEquals(50, rest.size());
        commit(rest);
        second.stop();
        TonnageSourceTask third = task();
        assertEquals(0, poll(third).size());
        third.stop();
    }

    /** Versions up to the greatest are one range once none below it can come any more. */
    @Test
    void whatIsKnownBecomesOneRange() throws InterruptedException {
        for (long id = 0; id < 40; id++) {
            put(id, id + 1, "a");
            store.table("ports").put(Row.of("code", "p" + id));
        }
        TonnageSourceTask task = task("late.ms", "0");
        poll(task);
        put(100, 101, "z");
        List<SourceRecord> records = poll(task);
        assertEquals(1, records.size());
        String known = (String) records.get(0).sourceOffset().get("known");
        assertTrue(known.split(",").length <= 2, known);
        task.stop();
    }

    @Test
    void severalTablesHaveTopicsByTheirNames() throws InterruptedException {
        put(0, 2, "a");
        store.table("ports").put(Row.of("code", "NLRTM"));
        TonnageSourceTask task = task("tables", "ships,ports", "topic.name.format", "t.${table}");
        List<String> topics = poll(task).stream().map(SourceRecord::topic).sorted().toList();
        assertEquals(List.of("t.ports", "t.ships", "t.ships"), topics);
        task.stop();
    }

    @Test
    void allTypesOfColumnsHaveTypesInRecords() throws InterruptedException {
        store.define("CREATE TABLE IF NOT EXISTS kinds (id INTEGER, big LONG, f FLOAT, d DOUBLE, "
                + "n NUMBER(6, 2), s STRING, b BOOLEAN, data BINARY, u UUID, day DATE, t TIME, "
                + "ms TIMESTAMP(3), us TIMESTAMP(6), doc JSON, tags ARRAY(STRING), "
                + "place RECORD(lat DOUBLE, port STRING), sizes MAP(LONG), PRIMARY KEY (id))");
        store.sql("UPSERT INTO kinds VALUES (1, 2, 1.5, 2.5, 12.50, 'x', true, "
                + "X'00ff', '00112233-4455-6677-8899-aabbccddeeff', DATE '2026-01-02', "
                + "TIME '03:04:05.000006', TIMESTAMP '2026-01-02 03:04:05.678', "
                + "TIMESTAMP '2026-01-02 03:04:05.678901', '{\"a\": 1}', ['p', 'q'], "
                + "'{\"lat\": 1.5, \"port\": null}', '{\"k\": 7}'), "
                + "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
                + "NULL, NULL, NULL, NULL)").close();
        TonnageSourceTask task = task("tables", "kinds");
        List<SourceRecord> records = poll(task);
        records.sort((one, other) -> ((Struct) one.key()).getInt32("id")
                - ((Struct) other.key()).getInt32("id"));
        Struct full = (Struct) records.get(0).value();
        full.validate();
        assertEquals(2L, full.get("big"));
        assertEquals(1.5f, full.get("f"));
        assertEquals(new BigDecimal("12.50"), full.get("n"));
        assertArrayEquals(new byte[] {0, -1}, (byte[]) full.get("data"));
        assertEquals("00112233-4455-6677-8899-aabbccddeeff", full.get("u"));
        assertEquals(new Date(20_455L * 86_400_000), full.get("day"));
        assertEquals("03:04:05.000006", full.get("t"));
        assertEquals(Date.from(java.time.Instant.parse("2026-01-02T03:04:05.678Z")),
                full.get("ms"));
        assertEquals("2026-01-02T03:04:05.678901", full.get("us"));
        assertEquals(List.of("p", "q"), full.get("tags"));
        assertEquals(1.5, full.getStruct("place").get("lat"));
        assertEquals(Map.of("k", 7L), full.get("sizes"));
        Struct empty = (Struct) records.get(1).value();
        empty.validate();
        empty.schema().fields().stream().filter(field -> !field.name().equals("id"))
                .forEach(field -> assertEquals(null, empty.get(field)));
        task.stop();
    }

    @Test
    void aServerThatIsGoneIsAskedAgain() throws InterruptedException {
        TestServer mortal = TestServer.start();
        try (Tonnage client = mortal.connect()) {
            client.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
        }
        TonnageSourceTask task = task("connection.url", mortal.url());
        assertEquals(0, poll(task).size());
        mortal.kill();
        assertThrows(RetriableException.class, () -> {
            while (true) {
                task.poll();
            }
        });
        task.stop();
        mortal.close();
    }

    @Test
    void tablesAndOffsetsThatAreNoneAreErrorsWithARemedy() {
        TonnageSourceTask none = task("tables", "none");
        assertTrue(assertThrows(ConnectException.class, none::poll).getMessage().contains("none"));
        none.stop();
        offsets.put(Map.of("table", "ships"), Map.of("id", 17L));
        TonnageSourceTask foreign = task();
        String told = assertThrows(ConnectException.class, foreign::poll).getMessage();
        assertTrue(told.contains("of another connector"), told);
        foreign.stop();
        assertThrows(ConfigException.class, () -> task("tables", ""));
        assertThrows(ConfigException.class, () -> task("tables", "a,b", "topic.name.format", "t"));
    }

    /** Their versions are counted apart: a new row may have one that is known of another. */
    @Test
    void aStoreWithSeveralDirectoriesIsRefused(@TempDir Path one, @TempDir Path other) {
        try (TestServer spread = TestServer.start("--data-dir", one.resolve("d").toString(),
                "--data-dir", other.resolve("d").toString()); Tonnage client = spread.connect()) {
            client.define("CREATE TABLE ships (id LONG, PRIMARY KEY (id))");
            TonnageSourceTask task = task("connection.url", spread.url());
            String told = assertThrows(ConnectException.class, task::poll).getMessage();
            assertTrue(told.contains("one data directory"), told);
            task.stop();
        }
    }

    @Test
    void tasksShareTheTables() {
        TonnageSourceConnector connector = new TonnageSourceConnector();
        connector.start(Map.of("tables", "a,b,c"));
        assertEquals(List.of("a,b", "c"), connector.taskConfigs(2).stream()
                .map(task -> task.get("tables")).toList());
        assertEquals(3, connector.taskConfigs(9).size());
        Map<Map<String, ?>, Map<String, ?>> wrong = Map.of(Map.of("tabel", "a"), Map.of());
        assertThrows(ConnectException.class, () -> connector.alterOffsets(Map.of(), wrong));
    }
}
