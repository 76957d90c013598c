package oracle.kv.table;

import dev.tonnage.client.arrow.ArrowField;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import oracle.kv.Mapping;
import oracle.kv.Version;

/** A row of a table. */
class RowCell extends RecordCell implements Row {
    private final TableHandle table;
    private TimeToLive ttl;
    private Version version;
    private long expiresAtMs;

    RowCell(TableHandle table, List<ArrowField> fields, Map<String, Object> values) {
        super(fields, values);
        this.table = table;
    }

    /** A row that was read. */
    static RowCell of(TableHandle table, dev.tonnage.client.Row row) {
        RowCell made = new RowCell(table, table.client().schema().fields(), row.toMap());
        made.version = row.version() == 0 ? null : Mapping.version(row.version());
        made.expiresAtMs = row.expiresAtMs();
        return made;
    }

    TableHandle table() {
        return table;
    }

    /** The row as the client takes it. */
    dev.tonnage.client.Row mapped() {
        dev.tonnage.client.Row row = new dev.tonnage.client.Row();
        values().forEach(row::set);
        return row;
    }

    void stamp(Version written) {
        version = written;
    }

    /** Takes over another row, as a return row does. */
    void fill(RowCell found, boolean withValues, boolean withVersion) {
        values().clear();
        version = null;
        if (found != null && withValues) {
            values().putAll(found.values());
        }
        if (found != null && withVersion) {
            version = found.version;
        }
    }

    @Override
    public Table getTable() {
        return table;
    }

    @Override
    public Version getVersion() {
        return version;
    }

    @Override
    public PrimaryKey createPrimaryKey() {
        return table.createPrimaryKey(this);
    }

    @Override
    public Row clone() {
        RowCell copy = new RowCell(table, columns(), new LinkedHashMap<>(values()));
        copy.ttl = ttl;
        copy.version = version;
        copy.expiresAtMs = expiresAtMs;
        return copy;
    }

    @Override
    public void setTTL(TimeToLive ttl) {
        this.ttl = ttl;
    }

    @Override
    public TimeToLive getTTL() {
        return ttl;
    }

    @Override
    public long getExpirationTime() {
        return expiresAtMs;
    }

    @Override
    public boolean isRow() {
        return true;
    }

    @Override
    public Row asRow() {
        return this;
    }

    /** Key columns alone. */
    static final class KeyCell extends RowCell implements PrimaryKey {
        KeyCell(TableHandle table, List<ArrowField> fields, Map<String, Object> values) {
            super(table, fields, values);
        }

        @Override
        public PrimaryKey clone() {
            return new KeyCell(table(), columns(), new LinkedHashMap<>(values()));
        }

        @Override
        public void setTTL(TimeToLive ttl) {
            throw new IllegalArgumentException("a key lives as long as its row");
        }

        @Override
        public boolean isPrimaryKey() {
            return true;
        }

        @Override
        public PrimaryKey asPrimaryKey() {
            return this;
        }
    }

    /** Takes what was there before a write. */
    static final class ReturnCell extends RowCell implements ReturnRow {
        private final Choice choice;

        ReturnCell(TableHandle table, List<ArrowField> fields, Choice choice) {
            super(table, fields, new LinkedHashMap<>());
            this.choice = choice;
        }

        @Override
        public Choice getReturnChoice() {
            return choice;
        }
    }
}
