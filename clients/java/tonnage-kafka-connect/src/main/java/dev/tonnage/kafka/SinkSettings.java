package dev.tonnage.kafka;

import dev.tonnage.client.Durability;
import dev.tonnage.client.OnExisting;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;

/** The settings of a sink, by the names that its properties have. */
final class SinkSettings extends ServerSettings {
    static final String TABLE_FORMAT = "table.name.format";
    static final String TABLE_FIELD = "table.name.field";
    static final String TABLE_MAP = "table.name.map";
    static final String CHILD_TABLES = "child.tables";
    static final String KEY_FIELDS = "key.fields";
    static final String INSERT_MODE = "insert.mode";
    static final String DELETE = "delete.enabled";
    static final String UNKNOWN_FIELDS = "unknown.fields";
    static final String TTL_MS = "ttl.ms";
    static final String DURABILITY = "durability";
    static final String BATCH_ROWS = "batch.rows.max";
    static final String BATCH_BYTES = "batch.bytes.max";
    static final String LINGER_MS = "linger.ms";
    static final String TIMEOUT_MS = "timeout.ms";
    static final String RETRY_MS = "retry.backoff.ms";

    private static final String TOPIC = "${topic}";

    static final ConfigDef DEFINITION = define()
            .define(TABLE_FORMAT, Type.STRING, TOPIC, Importance.HIGH,
                    "The table of a topic; ${topic} stands for the topic's name.")
            .define(TABLE_FIELD, Type.STRING, null, Importance.MEDIUM,
                    "A field of the value that names the table of its record, and is no column.")
            .define(TABLE_MAP, Type.LIST, List.of(),
                    (name, value) -> SettingPairs.check(name, value, "TOPIC:TABLE"),
                    Importance.MEDIUM,
                    "Tables of single topics, TOPIC:TABLE, with commas between. They come first.")
            .define(CHILD_TABLES, Type.LIST, List.of(),
                    (name, value) -> SettingPairs.check(name, value, "FIELD:TABLE"),
                    Importance.MEDIUM,
                    "Fields that hold lists of records which become rows of child tables, "
                    + "FIELD:TABLE, with commas between. Each row takes the key of its parent.")
            .define(KEY_FIELDS, Type.LIST, List.of(), Importance.HIGH,
                    "Columns that a record's key gives: one for a key without fields, fields of "
                    + "the key otherwise. Without it a key with fields gives all of them.")
            .define(INSERT_MODE, Type.STRING, "replace", oneOf("keep", "replace", "fail"),
                    Importance.HIGH,
                    "What becomes of a record whose row is stored: keep the row, replace it, "
                    + "or fail.")
            .define(DELETE, Type.BOOLEAN, false, Importance.MEDIUM,
                    "Whether a record without a value deletes the row of its key. "
                    + "Otherwise it fails.")
            .define(UNKNOWN_FIELDS, Type.STRING, "fail", oneOf("fail", "ignore"), Importance.MEDIUM,
                    "What becomes of a record with a field that its table has no column for.")
            .define(TTL_MS, Type.LONG, 0L, ConfigDef.Range.atLeast(0), Importance.LOW,
                    "How long rows live, in milliseconds; 0 is as long as their table says.")
            .define(DURABILITY, Type.STRING, "fsync", oneOf("write", "fsync"), Importance.MEDIUM,
                    "What rows survive before their offsets are committed: the end of the server's "
                    + "process (write), or of the machine's power (fsync).")
            .define(BATCH_ROWS, Type.INT, 100_000, ConfigDef.Range.between(1, 10_000_000),
                    Importance.MEDIUM, "The most records that are put together.")
            .define(BATCH_BYTES, Type.LONG, 64L << 20, ConfigDef.Range.atLeast(1 << 20),
                    Importance.MEDIUM, "About the most bytes that are put together.")
            .define(LINGER_MS, Type.LONG, 500L, ConfigDef.Range.atLeast(0), Importance.MEDIUM,
                    "About the longest that a record waits for others, in milliseconds, before "
                    + "they are put.")
            .define(TIMEOUT_MS, Type.LONG, 300_000L, ConfigDef.Range.atLeast(1), Importance.LOW,
                    "The longest that a bulk put may take, in milliseconds.")
            .define(RETRY_MS, Type.LONG, 3_000L, ConfigDef.Range.atLeast(1), Importance.LOW,
                    "The pause before records are put again that a server was not there for.");

    // What is asked for each record is looked up once: Connect's own look-ups are slow.
    private final Map<String, String> tables;
    private final Map<String, String> childTables;
    private final List<String> keyFields;
    private final String tableField;
    private final int batchRowsMax;
    private final long batchBytesMax;
    private final boolean ignoresUnknownFields;

    SinkSettings(Map<String, String> properties) {
        super(DEFINITION, properties);
        tables = SettingPairs.of(getList(TABLE_MAP));
        childTables = SettingPairs.of(getList(CHILD_TABLES));
        keyFields = List.copyOf(getList(KEY_FIELDS));
        tableField = getString(TABLE_FIELD);
        batchRowsMax = getInt(BATCH_ROWS);
        batchBytesMax = getLong(BATCH_BYTES);
        ignoresUnknownFields = getString(UNKNOWN_FIELDS).equals("ignore");
    }

    @Override
    Map<String, String> faults() {
        Map<String, String> faults = super.faults();
        if (getBoolean(DELETE) && getString(TABLE_FIELD) != null) {
            faults.put(DELETE, "a record without a value names no table, and " + TABLE_FIELD
                    + " wants one: leave one of them out");
        }
        if (getString(TABLE_FORMAT).isBlank()) {
            faults.put(TABLE_FORMAT, "give a table, or a pattern such as t_" + TOPIC);
        }
        if (childTables.containsKey(getString(TABLE_FIELD))) {
            faults.put(CHILD_TABLES, "`" + getString(TABLE_FIELD) + "` names the table: it holds "
                    + "no rows of children");
        }
        return faults;
    }

    private static ConfigDef.ValidString oneOf(String... words) {
        return ConfigDef.ValidString.in(words);
    }

    /** The table of a topic. */
    String table(String topic) {
        return tables.computeIfAbsent(topic,
                name -> getString(TABLE_FORMAT).replace(TOPIC, name));
    }

    /** The field of the value that names the table; null without one. */
    String tableField() {
        return tableField;
    }

    List<String> keyFields() {
        return keyFields;
    }

    /** Whether so many rows of so many bytes are a batch. */
    boolean isBatch(int rows, long bytes) {
        return rows >= batchRowsMax || bytes >= batchBytesMax;
    }

    /** The child table for the records of each field that holds some. */
    Map<String, String> childTables() {
        return childTables;
    }

    OnExisting onExisting() {
        return OnExisting.valueOf(getString(INSERT_MODE).toUpperCase(Locale.ROOT));
    }

    Durability durability() {
        return Durability.valueOf(getString(DURABILITY).toUpperCase(Locale.ROOT));
    }

    /** How long rows live; null for as long as their table says. */
    Duration ttl() {
        return getLong(TTL_MS) == 0 ? null : Duration.ofMillis(getLong(TTL_MS));
    }

    boolean ignoresUnknownFields() {
        return ignoresUnknownFields;
    }
}
