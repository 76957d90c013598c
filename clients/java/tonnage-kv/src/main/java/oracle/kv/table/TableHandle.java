package oracle.kv.table;

import dev.tonnage.client.internal.Json;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A table over the one of the client. */
final class TableHandle implements Table {
    private static final Pattern TTL = Pattern.compile("USING TTL (\\d+) (HOURS|DAYS)\\s*;?\\s*$");

    private final Tables tables;
    private final dev.tonnage.client.Table table;

    TableHandle(Tables tables, dev.tonnage.client.Table table) {
        this.tables = tables;
        this.table = table;
    }

    dev.tonnage.client.Table client() {
        return table;
    }

    @Override
    public Table getChildTable(String tableName) {
        return tables.getTable(getFullName() + "." + tableName);
    }

    @Override
    public boolean childTableExists(String tableName) {
        return getChildTable(tableName) != null;
    }

    @Override
    public Map<String, Table> getChildTables() {
        return tables.below(getFullName() + ".");
    }

    @Override
    public Table getParent() {
        int point = getFullName().lastIndexOf('.');
        return point < 0 ? null : tables.getTable(getFullName().substring(0, point));
    }

    @Override
    public String getName() {
        return getFullName().substring(getFullName().lastIndexOf('.') + 1);
    }

    @Override
    public String getFullName() {
        return table.path();
    }

    @Override
    public String getDescription() {
        return null;
    }

    @Override
    public List<String> getFields() {
        List<String> names = new ArrayList<>();
        table.columns().forEach(column -> names.add(column.name()));
        return names;
    }

    @Override
    public FieldDef getField(String fieldName) {
        int index = table.schema().indexOf(fieldName);
        if (index < 0) {
            return null;
        }
        ColumnDef column = new ColumnDef(table.schema().fields().get(index));
        return column.isEnum() ? new EnumColumnDef(table.schema().fields().get(index),
                table.columns().get(index).type()) : column;
    }

    @Override
    public boolean isNullable(String fieldName) {
        return table.columns().stream().filter(column -> column.name().equalsIgnoreCase(fieldName))
                .findFirst().orElseThrow(() -> new IllegalArgumentException(
                        "there is no column " + fieldName)).isNullable();
    }

    @Override
    public List<String> getPrimaryKey() {
        return table.key();
    }

    @Override
    public List<String> getShardKey() {
        // The table at the top has it for all tables below.
        int point = getFullName().indexOf('.');
        if (point >= 0) {
            return tables.getTable(getFullName().substring(0, point)).getShardKey();
        }
        String definition = table.definition();
        int start = definition.toUpperCase(java.util.Locale.ROOT).indexOf("SHARD(");
        if (start < 0) {
            return table.key();
        }
        List<String> names = new ArrayList<>();
        String inside = definition.substring(start + 6, definition.indexOf(')', start));
        for (String name : inside.split(",")) {
            names.add(name.trim().replace("\"", ""));
        }
        return names;
    }

    @Override
    public TimeToLive getDefaultTTL() {
        Matcher ttl = TTL.matcher(table.definition());
        if (!ttl.find()) {
            return null;
        }
        long number = Long.parseLong(ttl.group(1));
        return ttl.group(2).equals("DAYS") ? TimeToLive.ofDays(number)
                : TimeToLive.ofHours(number);
    }

    @Override
    public Row createRow() {
        return new RowCell(this, table.schema().fields(), new LinkedHashMap<>());
    }

    @Override
    public Row createRow(RecordValue value) {
        Row row = createRow();
        row.copyFrom(value);
        return row;
    }

    @Override
    public Row createRowWithDefaults() {
        return createRow();
    }

    @Override
    public PrimaryKey createPrimaryKey() {
        return new RowCell.KeyCell(this, table.schema().select(table.key()).fields(),
                new LinkedHashMap<>());
    }

    @Override
    public PrimaryKey createPrimaryKey(RecordValue value) {
        PrimaryKey key = createPrimaryKey();
        key.copyFrom(value);
        return key;
    }

    @Override
    public ReturnRow createReturnRow(ReturnRow.Choice returnChoice) {
        return new RowCell.ReturnCell(this, table.schema().fields(), returnChoice);
    }

    @Override
    public Row createRowFromJson(String jsonInput, boolean exact) {
        return filled((RowCell) createRow(), jsonInput, exact);
    }

    @Override
    public PrimaryKey createPrimaryKeyFromJson(String jsonInput, boolean exact) {
        return (PrimaryKey) filled((RowCell) createPrimaryKey(), jsonInput, exact);
    }

    private static RowCell filled(RowCell row, String text, boolean exact) {
        Map<String, Object> members = Json.parseObject(text);
        members.forEach((name, value) -> {
            if (row.contains(name)) {
                row.set(name, ofJson(new ColumnDef(row.columns().stream()
                        .filter(field -> field.name().equalsIgnoreCase(name)).findFirst().get()),
                        value));
            } else if (exact) {
                throw new IllegalArgumentException("there is no column `" + name + "`");
            }
        });
        if (exact && row.size() < row.getFieldNames().size()) {
            throw new IllegalArgumentException("the JSON lacks columns of " + row.getFieldNames());
        }
        return row;
    }

    private static Object ofJson(ColumnDef column, Object value) {
        if (value == null) {
            return null;
        }
        switch (column.getType()) {
            case JSON:
                return Json.write(value);
            case BINARY:
            case FIXED_BINARY:
                return value instanceof String ? Base64.getDecoder().decode((String) value) : value;
            case TIMESTAMP:
                String text = value.toString();
                return LocalDateTime.parse(text.endsWith("Z")
                        ? text.substring(0, text.length() - 1) : text);
            case NUMBER:
                return value instanceof Number ? new BigDecimal(value.toString()) : value;
            default:
                return value;
        }
    }

    @Override
    public FieldRange createFieldRange(String fieldName) {
        if (getField(fieldName) == null) {
            throw new IllegalArgumentException("there is no column `" + fieldName + "`");
        }
        return new FieldRange(fieldName);
    }

    @Override
    public MultiRowOptions createMultiRowOptions(List<String> tableNames, FieldRange fieldRange) {
        List<Table> parents = new ArrayList<>();
        List<Table> children = new ArrayList<>();
        for (String name : tableNames == null ? List.<String>of() : tableNames) {
            Table found = tables.getTable(name);
            if (found == null) {
                throw new IllegalArgumentException("there is no table " + name);
            }
            boolean isBelow = found.getFullName().startsWith(getFullName() + ".");
            (isBelow ? children : parents).add(found);
        }
        return new MultiRowOptions(fieldRange, parents, children);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Table && getFullName().equals(((Table) other).getFullName());
    }

    @Override
    public int hashCode() {
        return getFullName().hashCode();
    }

    @Override
    public String toString() {
        return table.definition();
    }
}
