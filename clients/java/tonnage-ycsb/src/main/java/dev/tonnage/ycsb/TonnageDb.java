package dev.tonnage.ycsb;

import dev.tonnage.client.BulkPutOptions;
import dev.tonnage.client.BulkPutReport;
import dev.tonnage.client.Condition;
import dev.tonnage.client.Durability;
import dev.tonnage.client.EntryStream;
import dev.tonnage.client.OnExisting;
import dev.tonnage.client.Options;
import dev.tonnage.client.Result;
import dev.tonnage.client.Row;
import dev.tonnage.client.Table;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import dev.tonnage.client.WriteOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Runs YCSB's operations on a table of a server: a text for the key, and a column of bytes for each
 * field. YCSB makes one for each of its threads.
 *
 * <p>Properties:
 *
 * <ul>
 *   <li>`tonnage.url`: the HTTP listener, `http://localhost:7410` unless it is given
 *   <li>`tonnage.token`: a token, where the server has users
 *   <li>`tonnage.durability` of inserts and deletions: `none`, `write` (unless it is given) or
 *       `fsync`. Updates are SQL, with `write`
 *   <li>`batchsize`: inserts that go together by a bulk put, 1 unless it is given
 * </ul>
 */
public final class TonnageDb extends DB {
    private static final String KEY = "ycsb_key";
    private static final String FIELDS_DEFAULT = "10";

    private final Map<String, Table> tables = new HashMap<>();
    private final List<Row> batch = new ArrayList<>();
    private Tonnage store;
    private Durability durability;
    private int batchSize;
    private String batchTable;

    /** One that is not connected yet. */
    public TonnageDb() {
    }

    @Override
    public void init() throws DBException {
        Properties given = getProperties();
        Options options = new Options();
        String token = given.getProperty("tonnage.token");
        if (token != null) {
            options.token(token);
        }
        try {
            durability = Durability.valueOf(
                    given.getProperty("tonnage.durability", "write").toUpperCase(Locale.ROOT));
            batchSize = Integer.parseInt(given.getProperty("batchsize", "1"));
            store = Tonnage.connect(given.getProperty("tonnage.url", "http://localhost:7410"),
                    options);
        } catch (IllegalArgumentException | TonnageException error) {
            throw new DBException(error);
        }
    }

    /** The table of a name, which is made where there is none. */
    private Table table(String name) {
        return tables.computeIfAbsent(name, path -> {
            Properties given = getProperties();
            int fields = Integer.parseInt(given.getProperty("fieldcount", FIELDS_DEFAULT));
            String prefix = given.getProperty("fieldnameprefix", "field");
            StringBuilder text = new StringBuilder("CREATE TABLE IF NOT EXISTS ").append(path)
                    .append(" (").append(KEY).append(" STRING");
            for (int field = 0; field < fields; field++) {
                text.append(", ").append(prefix).append(field).append(" BINARY");
            }
            store.define(text.append(", PRIMARY KEY (").append(KEY).append("))").toString());
            return store.table(path);
        });
    }

    @Override
    public Status read(String table, String key, Set<String> fields,
            Map<String, ByteIterator> result) {
        return told(() -> {
            Row row = table(table).get(Row.of(KEY, key));
            if (row == null) {
                return Status.NOT_FOUND;
            }
            take(row, fields, result);
            return Status.OK;
        });
    }

    private static void take(Row row, Set<String> fields, Map<String, ByteIterator> result) {
        for (int index = 0; index < row.size(); index++) {
            String name = row.name(index);
            boolean isWanted = !name.equals(KEY) && (fields == null || fields.contains(name));
            byte[] value = isWanted ? (byte[]) row.get(index) : null;
            if (value != null) {
                result.put(name, new ByteArrayByteIterator(value));
            }
        }
    }

    @Override
    public Status scan(String table, String startkey, int recordcount, Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return told(() -> {
            String text = "SELECT * FROM " + table(table).path() + " WHERE " + KEY
                    + " >= ? ORDER BY " + KEY + " LIMIT " + recordcount;
            try (Result answer = store.sql(text, startkey)) {
                for (Row row : answer.rows()) {
                    HashMap<String, ByteIterator> found = new HashMap<>();
                    take(row, fields, found);
                    result.add(found);
                }
            }
            return Status.OK;
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        Row changes = Row.of(KEY, key);
        values.forEach((name, value) -> changes.set(name, value.toArray()));
        return told(() -> table(table).update(changes, Condition.IF_PRESENT,
                new WriteOptions().durability(durability)).isStored()
                ? Status.OK : Status.NOT_FOUND);
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        Row row = Row.of(KEY, key);
        values.forEach((name, value) -> row.set(name, value.toArray()));
        return told(() -> {
            if (batchSize <= 1) {
                table(table).put(row, Condition.ALWAYS, new WriteOptions().durability(durability));
                return Status.OK;
            }
            if (!table.equals(batchTable)) {
                put();
                batchTable = table;
            }
            batch.add(row);
            if (batch.size() < batchSize) {
                return Status.BATCHED_OK;
            }
            put();
            return Status.OK;
        });
    }

    /** Puts the batch in bulk. */
    private void put() {
        if (batch.isEmpty()) {
            return;
        }
        Iterator<Row> rows = List.copyOf(batch).iterator();
        batch.clear();
        EntryStream<Row> stream = new EntryStream<>() {
            @Override
            public String name() {
                return "ycsb";
            }

            @Override
            public Row getNext() {
                return rows.hasNext() ? rows.next() : null;
            }
        };
        BulkPutOptions options = new BulkPutOptions().onExisting(OnExisting.REPLACE)
                .durability(durability).tellsEntries(false).errorsMax(0);
        BulkPutReport report = store.bulkPut(table(batchTable), List.of(stream), options);
        if (report.failed() > 0) {
            throw new TonnageException(TonnageException.Kind.INVALID_REQUEST, report.toString());
        }
    }

    @Override
    public Status delete(String table, String key) {
        return told(() -> table(table).delete(Row.of(KEY, key), Condition.IF_PRESENT,
                new WriteOptions().durability(durability)).isStored()
                ? Status.OK : Status.NOT_FOUND);
    }

    @Override
    public void cleanup() throws DBException {
        try {
            put();
        } catch (TonnageException error) {
            throw new DBException(error);
        } finally {
            store.close();
        }
    }

    /** An operation that may be refused. */
    private interface Call {
        Status run();
    }

    /** YCSB counts what fails by its status; why stands on standard error. */
    private static Status told(Call call) {
        try {
            return call.run();
        } catch (TonnageException error) {
            System.err.println("tonnage: " + error.getMessage());
            return Status.ERROR;
        }
    }
}
