package oracle.kv.impl.api.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import oracle.kv.table.Table;
import oracle.kv.table.TimeToLive;

/** Describes a table, and makes its statement. */
public final class TableBuilder {
    private final String name;
    private final List<String> columns = new ArrayList<>();
    private List<String> primaryKey = List.of();
    private List<String> shardKey = List.of();
    private TimeToLive ttl;

    private TableBuilder(String name) {
        this.name = name;
    }

    static TableBuilder createTableBuilder(String name) {
        return new TableBuilder(name);
    }

    static TableBuilder createTableBuilder(String namespace, String name, String description,
            Table parent, Object region) {
        return new TableBuilder(parent.getFullName() + "." + name);
    }

    private static String quoted(String column) {
        return '"' + column + '"';
    }

    private TableBuilder add(String column, String type) {
        columns.add(quoted(column) + " " + type);
        return this;
    }

    TableBuilder addString(String column) {
        return add(column, "STRING");
    }

    TableBuilder addInteger(String column) {
        return add(column, "INTEGER");
    }

    TableBuilder addBinary(String column, String description) {
        return add(column, "BINARY");
    }

    TableBuilder addEnum(String column, String[] values, String description) {
        return add(column, Arrays.stream(values).map(value -> "'" + value + "'")
                .collect(Collectors.joining(", ", "ENUM(", ")")));
    }

    TableBuilder primaryKey(String... columns) {
        primaryKey = List.of(columns);
        return this;
    }

    TableBuilder shardKey(String... columns) {
        shardKey = List.of(columns);
        return this;
    }

    void setDefaultTTL(TimeToLive ttl) {
        this.ttl = ttl;
    }

    TableImpl buildTable() {
        String key = primaryKey.stream().filter(column -> !shardKey.contains(column))
                .map(TableBuilder::quoted).collect(Collectors.joining(", "));
        if (!shardKey.isEmpty()) {
            key = shardKey.stream().map(TableBuilder::quoted)
                    .collect(Collectors.joining(", ", "SHARD(", "), ")) + key;
        }
        String time = ttl == null ? "" : " USING TTL " + ttl.getValue() + " " + ttl.getUnit();
        return TableImpl.of(null, name, "CREATE TABLE " + name + " (" + String.join(", ", columns)
                + ", PRIMARY KEY (" + key + "))" + time);
    }
}
