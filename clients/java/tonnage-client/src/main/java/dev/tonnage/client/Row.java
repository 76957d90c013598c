package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowBatch;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The columns of a row. Names of columns match in any case. Values are those of
 * {@link dev.tonnage.client.arrow.ArrowColumn#get}.
 */
public final class Row {
    private String[] names;
    private Object[] values;
    private int count;
    /** Whether others have the names, too. */
    private boolean sharesNames;
    private String table;
    private long version;
    private long expiresAtMs;
    private long keyNumber = -1;

    /** A row without columns. */
    public Row() {
        names = new String[8];
        values = new Object[8];
    }

    private Row(String[] names, Object[] values, String table) {
        this.names = names;
        this.values = values;
        this.count = names.length;
        this.sharesNames = true;
        this.table = table;
    }

    /** A row with one column. */
    public static Row of(String name, Object value) {
        return new Row().set(name, value);
    }

    /** Sets a column; null is NULL. */
    public Row set(String name, Object value) {
        int index = indexOf(name);
        if (index < 0) {
            if (sharesNames || count == names.length) {
                names = Arrays.copyOf(names, Math.max(8, 2 * count));
                values = Arrays.copyOf(values, names.length);
                sharesNames = false;
            }
            index = count++;
            names[index] = Objects.requireNonNull(name, "name");
        }
        values[index] = value;
        return this;
    }

    private int indexOf(String name) {
        for (int index = 0; index < count; index++) {
            if (names[index].equals(name)) {
                return index;
            }
        }
        for (int index = 0; index < count; index++) {
            if (names[index].equalsIgnoreCase(name)) {
                return index;
            }
        }
        return -1;
    }

    /** Whether there is such a column, be it NULL. */
    public boolean has(String name) {
        return indexOf(name) >= 0;
    }

    /** A value; null for NULL, and where there is no such column. */
    public Object get(String name) {
        int index = indexOf(name);
        return index < 0 ? null : values[index];
    }

    /** A value by the number of its column, from 0. */
    public Object get(int index) {
        return values[Objects.checkIndex(index, count)];
    }

    /** A whole number. */
    public long getLong(String name) {
        return number(name).longValue();
    }

    /** A whole number that an Integer holds. */
    public int getInt(String name) {
        return Math.toIntExact(getLong(name));
    }

    /** A number with a floating point. */
    public double getDouble(String name) {
        return number(name).doubleValue();
    }

    /** A number as decimal digits. */
    public BigDecimal getDecimal(String name) {
        return new BigDecimal(number(name).toString());
    }

    private Number number(String name) {
        Object value = get(name);
        if (value instanceof Number) {
            return (Number) value;
        }
        throw new IllegalStateException("column " + name + " is "
                + (value == null ? "NULL" : value.getClass().getSimpleName()) + ", and no number");
    }

    /** A value as text; null for NULL. */
    public String getString(String name) {
        Object value = get(name);
        return value == null ? null : value.toString();
    }

    /** The bytes of a value; null for NULL. */
    public byte[] getBytes(String name) {
        return (byte[]) get(name);
    }

    /** How many columns there are. */
    public int size() {
        return count;
    }

    /** The name of a column by its number, from 0. */
    public String name(int index) {
        return names[Objects.checkIndex(index, count)];
    }

    /** The columns as a map, in their order. */
    public Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int index = 0; index < count; index++) {
            map.put(names[index], values[index]);
        }
        return map;
    }

    /** The path of the table that a row of a bulk get is of; null elsewhere. */
    public String table() {
        return table;
    }

    /** The version of a row that was read; 0 where versions were not asked for. */
    public long version() {
        return version;
    }

    /** When a row that was read expires, in milliseconds since 1970; 0 is never. */
    public long expiresAtMs() {
        return expiresAtMs;
    }

    /** The number of the key that a row of a bulk get answers; -1 where that was not asked for. */
    public long keyNumber() {
        return keyNumber;
    }

    void stamp(long version, long expiresAtMs) {
        this.version = version;
        this.expiresAtMs = expiresAtMs;
    }

    void answers(long key) {
        this.keyNumber = key;
    }

    static Row of(String[] names, Object[] values, String table) {
        return new Row(names, values, table);
    }

    /** The row of a batch. */
    static Row of(ArrowBatch batch, int row) {
        int columns = batch.schema().fields().size();
        String[] names = new String[columns];
        Object[] values = new Object[columns];
        for (int index = 0; index < columns; index++) {
            names[index] = batch.schema().fields().get(index).name();
            values[index] = batch.column(index).get(row);
        }
        return new Row(names, values, null);
    }

    @Override
    public String toString() {
        return toMap().toString();
    }
}
