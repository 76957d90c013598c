package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowException;
import dev.tonnage.client.arrow.ArrowReader;
import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.BatchBuilder;
import dev.tonnage.client.internal.Frames;
import dev.tonnage.client.internal.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A table: its columns as they were when it was asked for, and its rows. Threads may share it. Get
 * it again after an ALTER TABLE.
 */
public final class Table {
    private final Wire wire;
    private final String path;
    private final ArrowSchema schema;
    private final ArrowSchema keySchema;
    private final ArrowSchema putSchema;
    private final List<Column> columns;
    private final List<String> key;
    private final String definition;

    /** A column of a table. */
    public static final class Column {
        private final String name;
        private final String type;
        private final boolean isNullable;

        Column(String name, String type, boolean isNullable) {
            this.name = name;
            this.type = type;
            this.isNullable = isNullable;
        }

        /** The name. */
        public String name() {
            return name;
        }

        /** The type as definitions have it, such as `TIMESTAMP(3)`. */
        public String type() {
            return type;
        }

        /** Whether values may be NULL. */
        public boolean isNullable() {
            return isNullable;
        }
    }

    Table(Wire wire, String name) {
        this.wire = wire;
        String told = wire.sendText(
                wire.request("GET", "/v1/tables/" + Wire.encoded(name), null, null, null).build());
        Map<String, Object> table = Json.parseObject(told);
        path = String.valueOf(table.get("path"));
        definition = Json.text(table.get("definition"));
        columns = new ArrayList<>();
        Map<Long, String> keys = new TreeMap<>();
        for (Object item : Json.list(table.get("columns"))) {
            Map<String, Object> column = Json.object(item);
            String columnName = String.valueOf(column.get("name"));
            columns.add(new Column(columnName, String.valueOf(column.get("type")),
                    Boolean.TRUE.equals(column.get("nullable"))));
            if (column.get("key") != null) {
                keys.put(Json.whole(column.get("key")), columnName);
            }
        }
        key = List.copyOf(keys.values());
        // The server itself says how each column goes over the wire.
        try (Rows none = scan(Map.of("limit", 0), null)) {
            schema = none.schema();
        }
        keySchema = schema.select(key);
        putSchema = schema.asNullable();
    }

    /** The columns of rows that are put: a NULL in a key fails its row, and not all of them. */
    ArrowSchema putSchema() {
        return putSchema;
    }

    /** The path, such as `ships.calls`. */
    public String path() {
        return path;
    }

    /** The columns in their order. */
    public List<Column> columns() {
        return Collections.unmodifiableList(columns);
    }

    /** The names of the key columns, in the order of the key. */
    public List<String> key() {
        return key;
    }

    /** The definition: CREATE TABLE. */
    public String definition() {
        return definition;
    }

    /** The columns as Arrow has them. */
    public ArrowSchema schema() {
        return schema;
    }

    /** Adds a row to a batch of this table. Columns that the row lacks are NULL. */
    void append(BatchBuilder batch, Row row) {
        batch.add(values(batch.schema(), row, true));
    }

    /** The values of a row, in the order of columns. A column that the table lacks is an error. */
    private Object[] values(ArrowSchema columns, Row row, boolean mayLack) {
        Object[] values = new Object[columns.fields().size()];
        for (int index = 0; index < row.size(); index++) {
            int place = columns.indexOf(row.name(index));
            if (place < 0) {
                throw new ArrowException("column `" + row.name(index) + "` is not one of " + path
                        + (mayLack ? "" : "'s key") + ": " + columns.fields());
            }
            values[place] = row.get(index);
        }
        return values;
    }

    /**
     * Reads the row of a whole primary key, with its version.
     *
     * @param key the key columns
     * @return null where there is no such row
     * @throws TonnageException what the server refuses
     */
    public Row get(Row key) {
        return get(key, null);
    }

    /** Reads the row of a whole primary key; how fresh it must be may be null. */
    public Row get(Row key, Consistency consistency) {
        return get(key, consistency, null);
    }

    /** As above; the longest that the call may take may be null, too. */
    public Row get(Row key, Consistency consistency, Duration timeout) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("table", path);
        if (consistency != null) {
            header.put("consistency", consistency.word());
        }
        byte[] frame = new Frames().add(header, oneRow(keySchema, key, false)).toBytes();
        List<Frames.Frame> found = Frames.read(wire.act("tonnage.Get", frame, timeout));
        if (found.isEmpty()) {
            return null;
        }
        Map<String, Object> stamps = Json.parseObject(found.get(0).header());
        Row row = Row.of(found.get(0).batches().get(0), 0);
        row.stamp(Json.whole(stamps.get("version")), Json.whole(stamps.get("expires_at_ms")));
        return row;
    }

    private BatchBuilder oneRow(ArrowSchema columns, Row row, boolean mayLack) {
        try {
            BatchBuilder batch = new BatchBuilder(columns);
            batch.add(values(columns, row, mayLack));
            return batch;
        } catch (ArrowException error) {
            throw new TonnageException(TonnageException.Kind.INVALID_REQUEST, error.getMessage(),
                    error);
        }
    }

    /** Stores a row, and returns its version. */
    public long put(Row row) {
        return put(row, Condition.ALWAYS, new WriteOptions()).version();
    }

    /** Stores a row where a condition holds. */
    public WriteResult put(Row row, Condition condition, WriteOptions options) {
        return Write.send(wire, List.of(Write.put(this, row, condition)), options);
    }

    /**
     * Changes the columns that a row has, of the stored row with its key; the others stay, and so
     * does its expiry. Nothing that others write to other columns is lost.
     *
     * @param changes the key columns, and those to change
     * @return whether there was such a row
     * @throws TonnageException what the server refuses
     */
    public boolean update(Row changes) {
        return update(changes, Condition.IF_PRESENT, new WriteOptions()).isStored();
    }

    /** Changes columns of a row where a condition holds; options may give a new time to live. */
    public WriteResult update(Row changes, Condition condition, WriteOptions options) {
        return Write.send(wire, List.of(Write.update(this, changes, condition)), options);
    }

    /** Deletes the row of a key. Returns whether there was one. */
    public boolean delete(Row key) {
        return delete(key, Condition.IF_PRESENT, new WriteOptions()).isStored();
    }

    /** Deletes the row of a key where a condition holds. */
    public WriteResult delete(Row key, Condition condition, WriteOptions options) {
        return Write.send(wire, List.of(Write.delete(this, key, condition)), options);
    }

    /** The row of a write: of a key, the key columns alone. */
    BatchBuilder rowOfWrite(Row row, boolean isKey) {
        return isKey ? oneRow(keySchema, row, false) : oneRow(presentColumns(row), row, true);
    }

    /** Columns that are left out take their defaults, where a table has any. */
    private ArrowSchema presentColumns(Row row) {
        List<String> present = new ArrayList<>();
        schema.fields().forEach(field -> {
            if (row.has(field.name())) {
                present.add(field.name());
            }
        });
        for (int index = 0; index < row.size(); index++) {
            if (schema.indexOf(row.name(index)) < 0) {
                return putSchema;
            }
        }
        return putSchema.select(present);
    }

    /**
     * Reads the rows of many keys.
     *
     * @param keys leading key columns; rows of less than the whole key stand for all rows that
     *     begin so. All keys have the columns of the first one
     * @return the rows as they come: close them
     */
    public Rows bulkGet(Iterable<Row> keys, BulkGetOptions options) {
        return bulkGet(List.of(keys.iterator()), options);
    }

    /** Reads the rows of the keys of several sources, which one thread reads in turn. */
    public Rows bulkGet(List<? extends Iterator<Row>> keys, BulkGetOptions options) {
        List<Iterator<? extends Row>> sources = new ArrayList<>();
        Row first = null;
        for (Iterator<Row> source : keys) {
            if (first == null && source.hasNext()) {
                first = source.next();
                sources.add(new Preceded<>(first, source));
            } else {
                sources.add(source);
            }
        }
        ArrowSchema columns = leading(first == null ? Integer.MAX_VALUE : first.size());
        Map<String, Object> command = new LinkedHashMap<>(options.words());
        command.put("table", path);
        return KeySender.start(wire, command, options, columns, sources,
                (batch, key) -> batch.add(values(columns, key, false)));
    }

    private ArrowSchema leading(int count) {
        return keySchema.select(key.subList(0, Math.min(count, key.size())));
    }

    /** A source whose first item was taken. */
    private static final class Preceded<T> implements Iterator<T> {
        private T first;
        private final Iterator<T> rest;

        Preceded(T first, Iterator<T> rest) {
            this.first = first;
            this.rest = rest;
        }

        @Override
        public boolean hasNext() {
            return first != null || rest.hasNext();
        }

        @Override
        public T next() {
            T next = first == null ? rest.next() : first;
            first = null;
            return next;
        }
    }

    /** All rows, in an order: close them. */
    public Rows scan(Direction direction) {
        return scan(direction, null);
    }

    /** The rows of a range of the first key column, which may be null for all: close them. */
    public Rows scan(Direction direction, FieldRange range) {
        Map<String, Object> words = new LinkedHashMap<>();
        words.put("direction", direction.word());
        if (range != null) {
            words.put("range", range.words());
        }
        return scan(words, null);
    }

    /**
     * All rows but those whose versions are known, in any order, with their versions: close them.
     * Rows of a load take their versions before others can read them, so that a new row may have a
     * lower version than one that was read.
     *
     * @param known ranges of versions, each with its first and its last one; one at least
     * @param cancel who may call it off; may be null
     * @throws TonnageException UNSUPPORTED for a store with several data directories
     */
    public Rows scanUnknown(List<long[]> known, Cancel cancel) {
        List<Object> ranges = new ArrayList<>();
        known.forEach(range -> ranges.add(List.of(range[0], range[1])));
        Map<String, Object> words = new LinkedHashMap<>();
        words.put("versions", true);
        words.put("known_versions", ranges);
        return scan(words, cancel);
    }

    private Rows scan(Map<String, Object> words, Cancel cancel) {
        Map<String, Object> command = new LinkedHashMap<>(words);
        command.put("table", path);
        return scan(wire, command, cancel);
    }

    static Rows scan(Wire wire, Map<String, Object> command, Cancel cancel) {
        Exchange exchange = new Exchange(wire, Map.of("scan", command), cancel, null);
        try {
            exchange.body().close();
            return new Rows(new ArrowReader(exchange.answer()), exchange, false, exchange::lost);
        } catch (IOException error) {
            exchange.close();
            throw exchange.lost(error);
        } catch (RuntimeException error) {
            exchange.close();
            throw error;
        }
    }

    Wire wire() {
        return wire;
    }

    @Override
    public String toString() {
        return path + " " + key;
    }
}
