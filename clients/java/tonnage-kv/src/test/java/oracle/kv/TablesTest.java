package oracle.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tonnage.client.TestServer;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import oracle.kv.table.FieldDef;
import oracle.kv.table.FieldRange;
import oracle.kv.table.MultiRowOptions;
import oracle.kv.table.PrimaryKey;
import oracle.kv.table.RecordValue;
import oracle.kv.table.ReturnRow;
import oracle.kv.table.Row;
import oracle.kv.table.Table;
import oracle.kv.table.TableAPI;
import oracle.kv.table.TableIterator;
import oracle.kv.table.TableIteratorOptions;
import oracle.kv.table.TableOpExecutionException;
import oracle.kv.table.TableOperationFactory;
import oracle.kv.table.TimeToLive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TablesTest {
    private static TestServer server;
    private static KVStore store;
    private static TableAPI tables;
    private static Table ships;
    private static Table calls;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        store = KVStoreFactory.getStore(new KVStoreConfig("kvstore", server.url()));
        tables = store.getTableAPI();
        store.executeSync("CREATE TABLE IF NOT EXISTS ships (fleet INTEGER, id LONG, name STRING, "
                + "tons NUMBER(8, 2), at TIMESTAMP(3), doc JSON, tags ARRAY(STRING), "
                + "marks MAP(INTEGER), place RECORD(lat DOUBLE, lon DOUBLE), data BINARY, "
                + "PRIMARY KEY (SHARD(fleet), id))");
        store.executeSync("CREATE TABLE ships.calls (port STRING, PRIMARY KEY (port))");
        ships = tables.getTable("ships");
        calls = ships.getChildTable("calls");
    }

    @AfterAll
    static void stop() {
        store.close();
        server.close();
    }

    private static Row ship(int fleet, long id) {
        Row row = ships.createRow();
        row.put("fleet", fleet).put("id", id).put("name", "ship " + id);
        row.putNumber("tons", new BigDecimal("12.50")).putJson("doc", "{\"n\": 1}");
        row.put("at", Timestamp.from(Instant.parse("2026-01-02T03:04:05.678Z")));
        row.putArray("tags", List.of("a", "b")).putMap("marks", Map.of("x", 7));
        row.putRecord("place", Map.of("lat", 1.5, "lon", -2.5)).put("data", new byte[] {1, 2});
        return row;
    }

    /** A stream of rows, which keeps what it hears. */
    static final class Rows implements EntryStream<Row> {
        final List<Row> existing = new ArrayList<>();
        final List<String> failed = new ArrayList<>();
        int completions;
        private final Iterator<Row> source;

        Rows(List<Row> rows) {
            source = rows.iterator();
        }

        @Override
        public String name() {
            return "rows";
        }

        @Override
        public Row getNext() {
            return source.hasNext() ? source.next() : null;
        }

        @Override
        public void completed() {
            completions++;
        }

        @Override
        public void keyExists(Row entry) {
            existing.add(entry);
        }

        @Override
        public void catchException(RuntimeException exception, Row entry) {
            failed.add(exception.getMessage());
        }
    }

    @Test
    void aTableTellsItsShape() {
        assertEquals(List.of("fleet", "id"), ships.getPrimaryKey());
        assertEquals(List.of("fleet"), ships.getShardKey());
        assertEquals(List.of("fleet", "id", "port"), calls.getPrimaryKey());
        assertEquals("calls", calls.getName());
        assertEquals(ships, calls.getParent());
        assertEquals(FieldDef.Type.NUMBER, ships.getField("TONS").getType());
        assertEquals(FieldDef.Type.JSON, ships.getField("doc").getType());
        assertTrue(tables.getTables().containsKey("ships"));
        assertNull(tables.getTable("nothing"));
        assertNull(ships.getChildTable("nothing"));
    }

    @Test
    void rowsOfAllTypesComeBackAsTheyWerePut() {
        Row row = ship(1, 1);
        assertNotNull(tables.put(row, null, null));
        Row found = tables.get(row.createPrimaryKey(), null);
        assertEquals(1, found.get("id").asLong().get());
        assertEquals("ship 1", found.get("name").asString().get());
        assertEquals(new BigDecimal("12.50"), found.get("tons").asNumber().get());
        assertEquals(Instant.parse("2026-01-02T03:04:05.678Z"),
                found.get("at").asTimestamp().get().toInstant());
        assertEquals("b", found.get("tags").asArray().get(1).asString().get());
        assertEquals(7, found.get("marks").asMap().get("x").asInteger().get());
        assertEquals(-2.5, found.get("place").asRecord().get("lon").asDouble().get());
        assertArrayEquals(new byte[] {1, 2}, found.get("data").asBinary().get());
        assertEquals(row.getVersion(), found.getVersion());
        assertThrows(ClassCastException.class, () -> found.get("id").asString());
        assertTrue(found.toJsonString(false).contains("\"doc\":{\"n\": 1}"),
                found.toJsonString(false));
    }

    @Test
    void whatDoesNotFitIsRefusedByName() {
        Row row = ships.createRow();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> row.put("speed", 1))
                .getMessage().contains("speed"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> row.put("id", "one"))
                .getMessage().contains("id"));
        row.put("id", 1L);
        assertThrows(IllegalArgumentException.class, () -> tables.put(row, null, null));
    }

    @Test
    void bulkPutStoresRowsOfParentsAndChildren() {
        List<Row> rows = new ArrayList<>();
        for (int id = 0; id < 300; id++) {
            rows.add(ship(2, id));
            Row call = calls.createRow();
            call.put("fleet", 2).put("id", id).put("port", "P" + id % 3);
            rows.add(call);
        }
        Rows stream = new Rows(rows);
        tables.put(List.<EntryStream<Row>>of(stream), new BulkWriteOptions());
        assertEquals(1, stream.completions);
        Rows again = new Rows(rows.subList(0, 10));
        tables.put(List.<EntryStream<Row>>of(again), null);
        assertEquals(10, again.existing.size());
        assertTrue(rows.containsAll(again.existing));
        Row broken = ships.createRow();
        broken.put("id", 5L);
        Rows failing = new Rows(List.of(broken, ship(2, 1_000)));
        tables.put(List.<EntryStream<Row>>of(failing), null);
        assertEquals(1, failing.failed.size());
        assertTrue(failing.failed.get(0).contains("fleet"), failing.failed.toString());
        assertNotNull(tables.get(ship(2, 1_000).createPrimaryKey(), null));

        PrimaryKey fleet = ships.createPrimaryKey();
        fleet.put("fleet", 2);
        FieldRange range = ships.createFieldRange("id").setStart(10L, true).setEnd(12L, false);
        MultiRowOptions options = new MultiRowOptions(range, null, List.of(calls));
        List<String> found = new ArrayList<>();
        tables.multiGet(fleet, options, null)
                .forEach(row -> found.add(row.getTable().getName() + row.get("id").asLong().get()));
        assertEquals(List.of("ships10", "calls10", "ships11", "calls11"), found);
    }

    @Test
    void bulkGetReadsTheRowsOfManyKeys() {
        List<Row> rows = new ArrayList<>();
        for (int fleet = 100; fleet < 120; fleet++) {
            for (int id = 0; id < 10; id++) {
                rows.add(ship(fleet, id));
            }
        }
        tables.put(List.<EntryStream<Row>>of(new Rows(rows)), null);
        List<PrimaryKey> keys = new ArrayList<>();
        for (int fleet = 100; fleet < 130; fleet++) {
            PrimaryKey key = ships.createPrimaryKey();
            key.put("fleet", fleet);
            keys.add(key);
        }
        TableIteratorOptions unordered = new TableIteratorOptions(Direction.UNORDERED,
                Consistency.NONE_REQUIRED, 0, null, 4, 100);
        TableIterator<Row> all = tables.tableIterator(
                List.of(keys.subList(0, 5).iterator(), keys.subList(5, 30).iterator()), null,
                unordered);
        int count = 0;
        while (all.hasNext()) {
            assertEquals("ships", all.next().getTable().getFullName());
            count++;
        }
        all.close();
        assertEquals(200, count);
        TableIterator<PrimaryKey> some = tables.tableKeysIterator(keys.iterator(),
                ships.createFieldRange("id").setStart(8L, true).createMultiRowOptions(), unordered);
        count = 0;
        while (some.hasNext()) {
            assertEquals(2, some.next().size());
            count++;
        }
        assertEquals(40, count);
        assertFalse(tables.tableIterator(List.<PrimaryKey>of().iterator(), null, null).hasNext());
        assertEquals(10, tables.multiDelete(keys.get(0), null, null));
        assertEquals(0, tables.multiGet(keys.get(0), null, null).size());
    }

    @Test
    void rowsAreWrittenUnderConditionsAndTogether() throws TableOpExecutionException {
        Row row = ship(3, 1);
        Version first = tables.putIfAbsent(row, null, null);
        ReturnRow before = ships.createReturnRow(ReturnRow.Choice.ALL);
        assertNull(tables.putIfAbsent(row, before, null));
        assertEquals("ship 1", before.get("name").asString().get());
        assertEquals(first, before.getVersion());
        row.put("name", "renamed");
        row.setTTL(TimeToLive.ofDays(3));
        assertNotNull(tables.putIfVersion(row, first, null, null));
        assertTrue(tables.get(row.createPrimaryKey(), null).getExpirationTime() > 0);
        TableOperationFactory factory = tables.getTableOperationFactory();
        TableOpExecutionException error = assertThrows(TableOpExecutionException.class,
                () -> tables.execute(List.of(factory.createPut(ship(3, 2), null, true),
                        factory.createPutIfAbsent(ship(3, 1), null, true)), null));
        assertEquals(1, error.getFailedOperationIndex());
        assertNull(tables.get(ship(3, 2).createPrimaryKey(), null));
        assertEquals(2, tables.execute(List.of(factory.createPut(ship(3, 2), null, true),
                factory.createDelete(row.createPrimaryKey(), null, true)), null).size());
        assertFalse(tables.delete(row.createPrimaryKey(), null, null));
    }

    @Test
    void rowsOfOneCallLiveEquallyLong() throws TableOpExecutionException {
        store.executeSync("CREATE TABLE brief (fleet INTEGER, id LONG, PRIMARY KEY (SHARD(fleet), "
                + "id)) USING TTL 1 DAYS");
        Table brief = tables.getTable("brief");
        List<Row> rows = new ArrayList<>();
        for (long id = 0; id < 3; id++) {
            rows.add(brief.createRow());
            rows.get((int) id).put("fleet", 1).put("id", id);
        }
        rows.get(0).setTTL(TimeToLive.ofDays(3));
        rows.get(1).setTTL(TimeToLive.ofDays(3));
        TableOperationFactory factory = tables.getTableOperationFactory();
        tables.execute(List.of(factory.createPut(rows.get(0), null, true),
                factory.createPut(rows.get(1), null, true)), null);
        long days = 24L * 3_600_000;
        for (Row row : rows.subList(0, 2)) {
            long left = tables.get(row.createPrimaryKey(), null).getExpirationTime()
                    - System.currentTimeMillis();
            assertTrue(left > 2 * days && left <= 3 * days, "lives " + left + " ms");
        }
        // The third would live as its table says.
        UnsupportedOperationException error = assertThrows(UnsupportedOperationException.class,
                () -> tables.execute(List.of(factory.createPut(rows.get(0), null, true),
                        factory.createPut(rows.get(2), null, true)), null));
        assertTrue(error.getMessage().contains("live equally long"), error.getMessage());
        rows.get(2).setTTL(TimeToLive.DO_NOT_EXPIRE);
        tables.put(rows.get(2), null, null);
        assertEquals(0, tables.get(rows.get(2).createPrimaryKey(), null).getExpirationTime());
    }

    /** More than the connection holds on its way, so that an ended call would lack rows. */
    @Test
    void iteratorsOfRowsOutlastTheTimeOfARequest() throws InterruptedException {
        KVStoreConfig config = new KVStoreConfig("kvstore", server.url());
        config.setRequestTimeout(1, TimeUnit.SECONDS);
        try (KVStore brief = KVStoreFactory.getStore(config)) {
            TableAPI api = brief.getTableAPI();
            List<PrimaryKey> keys = new ArrayList<>();
            for (long id = 0; id < 48; id++) {
                Row row = api.getTable("ships").createRow();
                row.put("fleet", 60).put("id", id).put("data", new byte[1 << 20]);
                api.put(row, null, null);
                keys.add(row.createPrimaryKey());
            }
            TableIterator<Row> rows = api.tableIterator(keys.iterator(), null, null);
            int count = 0;
            while (rows.hasNext()) {
                rows.next();
                Thread.sleep(count++ == 0 ? 1_500 : 0);
            }
            assertEquals(48, count);
        }
    }

    @Test
    void multiDeleteTakesTheWholeShardKey() {
        tables.put(ship(6, 1), null, null);
        Row call = calls.createRow();
        call.put("fleet", 6).put("id", 1L).put("port", "Oslo");
        tables.put(call, null, null);
        for (Table table : List.of(ships, calls)) {
            IllegalArgumentException error = assertThrows(IllegalArgumentException.class,
                    () -> tables.multiDelete(table.createPrimaryKey(), null, null));
            assertTrue(error.getMessage().contains("`fleet`"), error.getMessage());
        }
        PrimaryKey key = calls.createPrimaryKey();
        key.put("fleet", 6);
        assertEquals(1, tables.multiDelete(key, null, null));
        assertNotNull(tables.get(ship(6, 1).createPrimaryKey(), null));
    }

    @Test
    void statementsAnswerRowsCountsAndDefinitions() {
        tables.put(ship(4, 1), null, null);
        StatementResult query = store.executeSync("SELECT id, name FROM ships WHERE fleet = 4");
        assertEquals(StatementResult.Kind.QUERY, query.getKind());
        int count = 0;
        for (RecordValue record : query) {
            assertEquals("ship 1", record.get("name").asString().get());
            count++;
        }
        assertEquals(1, count);
        StatementResult change = store.executeSync("UPDATE ships SET name = 'x' WHERE fleet = 4");
        assertEquals(1, change.iterator().next().get("NumRowsChanged").asLong().get());
        StatementResult ddl =
                store.executeSync("CREATE TABLE IF NOT EXISTS t (id LONG, PRIMARY KEY (id))");
        assertEquals(StatementResult.Kind.DDL, ddl.getKind());
        assertTrue(ddl.isSuccessful() && ddl.isDone());
        assertThrows(IllegalArgumentException.class, () -> store.executeSync("CREATE nothing"));
    }

    @Test
    void rowsAreMadeOutOfJson() {
        Row row = ships.createRowFromJson("{\"fleet\": 5, \"id\": 6, \"name\": \"j\", "
                + "\"doc\": {\"a\": [1, 2]}, \"at\": \"2026-01-02T03:04:05\"}", false);
        tables.put(row, null, null);
        Row found = tables.get(row.createPrimaryKey(), null);
        assertEquals("{\"a\":[1,2]}", found.get("doc").toString());
        assertThrows(IllegalArgumentException.class,
                () -> ships.createRowFromJson("{\"speed\": 5}", true));
    }

    @Test
    void definitionsTellTimesToLiveAndTextsOfEnumerations() {
        store.executeSync("CREATE TABLE IF NOT EXISTS kinds (id INTEGER, "
                + "kind ENUM('a', 'it''s'), PRIMARY KEY (id)) USING TTL 50 HOURS");
        Table kinds = tables.getTable("kinds");
        assertEquals(TimeToLive.ofHours(50), kinds.getDefaultTTL());
        assertArrayEquals(new String[] {"a", "it's"}, kinds.getField("kind").asEnum().getValues());
        assertThrows(ClassCastException.class, () -> kinds.getField("id").asEnum());
        store.executeSync("CREATE TABLE IF NOT EXISTS for_ever (id INTEGER, PRIMARY KEY (id))");
        assertNull(tables.getTable("for_ever").getDefaultTTL());
    }

    @Test
    void timesOfExpiryAreWholeHoursOrDays() {
        long hour = 3_600_000;
        assertEquals(3 * hour, TimeToLive.ofHours(2).toExpirationTime(1));
        assertEquals(2 * hour, TimeToLive.ofHours(2).toExpirationTime(0));
        assertEquals(48 * hour, TimeToLive.ofDays(1).toExpirationTime(1));
        assertEquals(0, TimeToLive.DO_NOT_EXPIRE.toExpirationTime(1));
    }
}
