package dev.tonnage.kafka;

import dev.tonnage.client.Row;
import dev.tonnage.client.Table;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.ArrowSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;

/**
 * Makes rows of records.
 *
 * <p>1. The table is that of the topic, or the one that a field of the value names.
 *
 * <p>2. The columns are the fields of the value, and those that the key gives.
 *
 * <p>3. Fields that hold records of children become rows of their own, with the key of the parent.
 *
 * <p>4. A field that the table has no column for may be one that was added since: the table is
 * looked at again, every 10 seconds at most.
 */
final class RecordMapper {
    private static final long LOOK_AGAIN_NANOS = Duration.ofSeconds(10).toNanos();

    private final Tonnage store;
    private final SinkSettings settings;
    private final Map<String, KnownTable> tables = new HashMap<>();

    /** A table, and when it was looked at. */
    private record KnownTable(Table table, long readNanos) {
    }

    RecordMapper(Tonnage store, SinkSettings settings) {
        this.store = store;
        this.settings = settings;
    }

    /**
     * The rows of a record, the parent's first; or the key of one to delete.
     *
     * @throws DataException for a record that makes no row
     */
    List<PendingRow> map(SinkRecord record) {
        if (record.value() == null) {
            return List.of(deletion(record));
        }
        Map<String, Object> value = fieldsOf(record.value());
        if (value == null) {
            throw new DataException("the value has no fields: it is a "
                    + record.value().getClass().getSimpleName() + ". Choose a converter that gives "
                    + "records, such as JSON or Avro, or a transformation that makes one "
                    + "(HoistField)");
        }
        Map<String, Object> fields = keyColumns(record);
        if (fields.isEmpty()) {
            fields = value;
        } else {
            fields.putAll(value);
        }
        String name = settings.table(record.topic());
        String field = settings.tableField();
        if (field != null) {
            Object named = fields.remove(field);
            if (named == null) {
                throw new DataException("the field `" + field
                        + "`, which names the table, is missing");
            }
            name = named.toString();
        }
        Table table = table(name);
        if (settings.childTables().isEmpty()) {
            return List.of(new PendingRow(record, table, row(table, fields), false));
        }
        return family(record, table, fields);
    }

    /** The row of a record, and those of its children. */
    private List<PendingRow> family(SinkRecord record, Table table, Map<String, Object> fields) {
        Map<String, Object> children = new LinkedHashMap<>();
        settings.childTables().keySet().forEach(field -> children.put(field, fields.remove(field)));
        List<PendingRow> rows = new ArrayList<>();
        rows.add(new PendingRow(record, table, row(table, fields), false));
        children.forEach((field, items) -> {
            Table child = table(settings.childTables().get(field));
            if (items != null && !(items instanceof List)) {
                throw new DataException("the field `" + field + "` holds no list of records, as "
                        + SinkSettings.CHILD_TABLES + " wants it");
            }
            int number = 0;
            for (Object item : items == null ? List.of() : (List<?>) items) {
                String place = field + "[" + number++ + "]";
                rows.add(new PendingRow(record, child, childRow(child, item, fields, place),
                        false));
            }
        });
        return rows;
    }

    /** The row of a child: its own fields, and what its parent knows of its key. */
    private Row childRow(Table child, Object item, Map<String, Object> parent, String place) {
        if (!(item instanceof Map)) {
            throw new DataException(place + " is not a record");
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) item).forEach((name, value) -> fields.put(String.valueOf(name), value));
        child.key().stream().filter(parent::containsKey)
                .forEach(column -> fields.putIfAbsent(column, parent.get(column)));
        try {
            return row(child, fields);
        } catch (DataException error) {
            throw new DataException(place + ": " + error.getMessage(), error);
        }
    }

    private PendingRow deletion(SinkRecord record) {
        if (!settings.getBoolean(SinkSettings.DELETE)) {
            throw new DataException("the record has no value: " + SinkSettings.DELETE
                    + " = true deletes the row of its key");
        }
        Table table = table(settings.table(record.topic()));
        Map<String, Object> key = keyColumns(record);
        for (String column : table.key()) {
            if (key.get(column) == null) {
                throw new DataException("the key of a row to delete lacks `" + column + "`: "
                        + table.path() + " has the key " + table.key());
            }
        }
        key.keySet().retainAll(table.key());
        return new PendingRow(record, table, row(table, key), true);
    }

    /** The columns that the key of a record gives. */
    private Map<String, Object> keyColumns(SinkRecord record) {
        List<String> wanted = settings.keyFields();
        Map<String, Object> fields = record.key() == null ? null : fieldsOf(record.key());
        Map<String, Object> columns = new LinkedHashMap<>();
        if (fields == null) {
            if (wanted.size() > 1 || wanted.size() == 1 && record.key() == null) {
                throw new DataException("the key has no fields, and " + SinkSettings.KEY_FIELDS
                        + " wants " + wanted);
            }
            wanted.forEach(name -> columns.put(name, record.key()));
            return columns;
        }
        if (wanted.isEmpty()) {
            return fields;
        }
        for (String name : wanted) {
            if (!fields.containsKey(name)) {
                throw new DataException("the key has no field `" + name + "`: it has "
                        + fields.keySet());
            }
            columns.put(name, fields.get(name));
        }
        return columns;
    }

    /** The fields of a value; null for one without. */
    private static Map<String, Object> fieldsOf(Object value) {
        if (value instanceof Struct) {
            return ColumnValues.members((Struct) value);
        }
        if (!(value instanceof Map)) {
            return null;
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) value).forEach((name, item) -> fields.put(String.valueOf(name),
                ColumnValues.plain(item)));
        return fields;
    }

    private Row row(Table table, Map<String, Object> fields) {
        ArrowSchema columns = table.schema();
        Row row = new Row();
        for (Map.Entry<String, Object> field : fields.entrySet()) {
            int index = columns.indexOf(field.getKey());
            if (index < 0) {
                Table now = settings.ignoresUnknownFields() ? table : lookAgain(table);
                if (now != table) {
                    return row(now, fields);
                }
                if (!settings.ignoresUnknownFields()) {
                    throw new DataException(table.path() + " has no column `" + field.getKey()
                            + "`: add one, or set " + SinkSettings.UNKNOWN_FIELDS + " = ignore");
                }
                continue;
            }
            ArrowField column = columns.fields().get(index);
            row.set(column.name(), ColumnValues.of(column, field.getValue(),
                    settings.ignoresUnknownFields()));
        }
        return row;
    }

    private Table table(String name) {
        KnownTable known = tables.get(name);
        if (known == null) {
            known = read(name);
        }
        return known.table;
    }

    private KnownTable read(String name) {
        try {
            KnownTable known = new KnownTable(store.table(name), System.nanoTime());
            tables.put(name, known);
            return known;
        } catch (TonnageException error) {
            if (error.kind() == TonnageException.Kind.NOT_FOUND) {
                boolean isChild = settings.childTables().containsValue(name);
                String told = "there is no table " + name + ": create it, or set "
                        + (isChild ? SinkSettings.CHILD_TABLES : SinkSettings.TABLE_FORMAT + " or "
                        + SinkSettings.TABLE_MAP);
                // A table that a record names is that record's own fault.
                throw isChild || settings.tableField() == null
                        ? new ConnectException(told, error) : new DataException(told, error);
            }
            throw error;
        }
    }

    /** The table as it is now, where it was not looked at for a while; else the same object. */
    private Table lookAgain(Table table) {
        for (Map.Entry<String, KnownTable> known : tables.entrySet()) {
            boolean isOld = System.nanoTime() - known.getValue().readNanos > LOOK_AGAIN_NANOS;
            if (known.getValue().table == table && isOld) {
                return read(known.getKey()).table;
            }
        }
        return table;
    }
}
