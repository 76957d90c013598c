package dev.tonnage.kafka;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;

/** The settings of a source, by the names that its properties have. */
final class SourceSettings extends ServerSettings {
    static final String TABLES = "tables";
    static final String TOPIC_FORMAT = "topic.name.format";
    static final String POLL_MS = "poll.interval.ms";
    static final String LATE_MS = "late.ms";
    static final String BATCH_ROWS = "batch.rows.max";
    static final String RETRY_MS = "retry.backoff.ms";

    private static final String TABLE = "${table}";

    static final ConfigDef DEFINITION = define()
            .define(TABLES, Type.LIST, ConfigDef.NO_DEFAULT_VALUE, SourceSettings::checkTables,
                    Importance.HIGH, "The tables to read, with commas between.")
            .define(TOPIC_FORMAT, Type.STRING, TABLE, Importance.HIGH,
                    "The topic of a table; ${table} stands for the table's path.")
            .define(POLL_MS, Type.LONG, 1_000L, ConfigDef.Range.atLeast(1), Importance.MEDIUM,
                    "The pause between two readings of a table, in milliseconds.")
            .define(LATE_MS, Type.LONG, 600_000L, ConfigDef.Range.atLeast(0), Importance.MEDIUM,
                    "The longest, in milliseconds, that a load keeps a row before others can read "
                    + "it. Rows that come later than that are not seen.")
            .define(BATCH_ROWS, Type.INT, 2_000, ConfigDef.Range.between(1, 1_000_000),
                    Importance.LOW, "The most rows that Connect is given at a time.")
            .define(RETRY_MS, Type.LONG, 3_000L, ConfigDef.Range.atLeast(1), Importance.LOW,
                    "The pause before a server is asked again that was not there.");

    SourceSettings(Map<String, String> properties) {
        super(DEFINITION, properties);
    }

    private static void checkTables(String name, Object value) {
        if (value == null || ((List<?>) value).isEmpty()) {
            throw new ConfigException(name, value, "name a table");
        }
    }

    @Override
    Map<String, String> faults() {
        Map<String, String> faults = super.faults();
        if (getList(TABLES).size() > 1 && !getString(TOPIC_FORMAT).contains(TABLE)) {
            faults.put(TOPIC_FORMAT, "several tables would share a topic: write " + TABLE
                    + " where their paths belong");
        }
        return faults;
    }

    /** The topic of a table. */
    String topic(String table) {
        return getString(TOPIC_FORMAT).replace(TABLE, table);
    }
}
