package oracle.kv.table;

import dev.tonnage.client.internal.Json;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import oracle.kv.table.ColumnDef.Nested;

/** A value of a column, over the value of Java that the client has for it. */
abstract class Cell implements FieldValue {
    private final FieldDef.Type type;
    private final Object value;

    Cell(FieldDef.Type type, Object value) {
        this.type = type;
        this.value = value;
    }

    /** A value of a column; null is NULL. */
    static FieldValue of(ColumnDef column, Object value) {
        if (value == null) {
            return new NullCell(column.getType());
        }
        switch (column.getType()) {
            case BINARY:
                return new BinaryCell(value);
            case BOOLEAN:
                return new BooleanCell(value);
            case DOUBLE:
                return new DoubleCell(value);
            case ENUM:
                return new EnumCell(value);
            case FIXED_BINARY:
                return new FixedBinaryCell(value);
            case FLOAT:
                return new FloatCell(value);
            case INTEGER:
                return new IntegerCell(value);
            case LONG:
                return new LongCell(value);
            case NUMBER:
                return new NumberCell(value);
            case STRING:
                return new StringCell(value);
            case TIMESTAMP:
                return new TimestampCell(value);
            case ARRAY:
                return new ArrayCell(column, (Collection<?>) value);
            case MAP:
                return new MapCell(column, (Map<?, ?>) value);
            case RECORD:
                return new RecordCell(column, value);
            default:
                // Documents are told as their text.
                return new StringCell(value);
        }
    }

    /** What the client takes for a value. */
    static Object plain(FieldValue value) {
        return value == null || value.isNull() ? null : ((Cell) value).value;
    }

    /** A point in time as the client takes it: in UTC, without a zone. */
    static LocalDateTime moment(Timestamp value) {
        return value == null ? null : LocalDateTime.ofInstant(value.toInstant(), ZoneOffset.UTC);
    }

    Object value() {
        return value;
    }

    final Number number() {
        return (Number) value;
    }

    final String text() {
        return value.toString();
    }

    final Timestamp moment() {
        Instant instant = value instanceof Instant ? (Instant) value
                : ((LocalDateTime) value).toInstant(ZoneOffset.UTC);
        return Timestamp.from(instant);
    }

    @Override
    public FieldValue clone() {
        return this;
    }

    @Override
    public FieldDef.Type getType() {
        return type;
    }

    @Override
    public boolean isNull() {
        return false;
    }

    @Override
    public boolean isAtomic() {
        return !isComplex();
    }

    @Override
    public boolean isNumeric() {
        return value instanceof Number;
    }

    @Override
    public boolean isComplex() {
        return isArray() || isMap() || isRecord();
    }

    @Override
    public boolean isRow() {
        return false;
    }

    @Override
    public boolean isPrimaryKey() {
        return false;
    }

    @Override
    public boolean isBinary() {
        return getType() == FieldDef.Type.BINARY;
    }

    @Override
    public boolean isBoolean() {
        return getType() == FieldDef.Type.BOOLEAN;
    }

    @Override
    public boolean isDouble() {
        return getType() == FieldDef.Type.DOUBLE;
    }

    @Override
    public boolean isEnum() {
        return getType() == FieldDef.Type.ENUM;
    }

    @Override
    public boolean isFixedBinary() {
        return getType() == FieldDef.Type.FIXED_BINARY;
    }

    @Override
    public boolean isFloat() {
        return getType() == FieldDef.Type.FLOAT;
    }

    @Override
    public boolean isInteger() {
        return getType() == FieldDef.Type.INTEGER;
    }

    @Override
    public boolean isLong() {
        return getType() == FieldDef.Type.LONG;
    }

    @Override
    public boolean isNumber() {
        return getType() == FieldDef.Type.NUMBER;
    }

    @Override
    public boolean isString() {
        return getType() == FieldDef.Type.STRING;
    }

    @Override
    public boolean isTimestamp() {
        return getType() == FieldDef.Type.TIMESTAMP;
    }

    @Override
    public boolean isArray() {
        return getType() == FieldDef.Type.ARRAY;
    }

    @Override
    public boolean isMap() {
        return getType() == FieldDef.Type.MAP;
    }

    @Override
    public boolean isRecord() {
        return getType() == FieldDef.Type.RECORD;
    }

    private FieldValue expect(FieldDef.Type wanted) {
        if (type != wanted || isNull()) {
            throw new ClassCastException((isNull() ? "NULL of type " : "a ") + type + " is no "
                    + wanted);
        }
        return this;
    }

    @Override
    public BinaryValue asBinary() {
        return (BinaryValue) expect(FieldDef.Type.BINARY);
    }

    @Override
    public BooleanValue asBoolean() {
        return (BooleanValue) expect(FieldDef.Type.BOOLEAN);
    }

    @Override
    public DoubleValue asDouble() {
        return (DoubleValue) expect(FieldDef.Type.DOUBLE);
    }

    @Override
    public EnumValue asEnum() {
        return (EnumValue) expect(FieldDef.Type.ENUM);
    }

    @Override
    public FixedBinaryValue asFixedBinary() {
        return (FixedBinaryValue) expect(FieldDef.Type.FIXED_BINARY);
    }

    @Override
    public FloatValue asFloat() {
        return (FloatValue) expect(FieldDef.Type.FLOAT);
    }

    @Override
    public IntegerValue asInteger() {
        return (IntegerValue) expect(FieldDef.Type.INTEGER);
    }

    @Override
    public LongValue asLong() {
        return (LongValue) expect(FieldDef.Type.LONG);
    }

    @Override
    public NumberValue asNumber() {
        return (NumberValue) expect(FieldDef.Type.NUMBER);
    }

    @Override
    public StringValue asString() {
        return (StringValue) expect(FieldDef.Type.STRING);
    }

    @Override
    public TimestampValue asTimestamp() {
        return (TimestampValue) expect(FieldDef.Type.TIMESTAMP);
    }

    @Override
    public ArrayValue asArray() {
        return (ArrayValue) expect(FieldDef.Type.ARRAY);
    }

    @Override
    public MapValue asMap() {
        return (MapValue) expect(FieldDef.Type.MAP);
    }

    @Override
    public RecordValue asRecord() {
        return (RecordValue) expect(FieldDef.Type.RECORD);
    }

    @Override
    public Row asRow() {
        throw new ClassCastException("a " + type + " is not a row");
    }

    @Override
    public PrimaryKey asPrimaryKey() {
        throw new ClassCastException("a " + type + " is not a key");
    }

    @Override
    public int compareTo(FieldValue other) {
        Object mine = value;
        Object others = plain(other);
        if (mine instanceof Number && others instanceof Number) {
            return new BigDecimal(mine.toString()).compareTo(new BigDecimal(others.toString()));
        }
        if (mine instanceof byte[] && others instanceof byte[]) {
            return Arrays.compareUnsigned((byte[]) mine, (byte[]) others);
        }
        if (mine instanceof Comparable && others != null && mine.getClass() == others.getClass()) {
            @SuppressWarnings("unchecked")
            Comparable<Object> comparable = (Comparable<Object>) mine;
            return comparable.compareTo(others);
        }
        throw new ClassCastException("a " + type + " and a " + other.getType()
                + " have no order");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Cell
                && toJsonString(false).equals(((Cell) other).toJsonString(false));
    }

    @Override
    public int hashCode() {
        return toJsonString(false).hashCode();
    }

    @Override
    public String toJsonString(boolean pretty) {
        String text = Json.write(jsonOf(value));
        return text;
    }

    @Override
    public String toString() {
        return value instanceof String ? text() : toJsonString(false);
    }

    /** A value as JSON has it: bytes are base64. */
    static Object jsonOf(Object value) {
        if (value instanceof byte[]) {
            return Base64.getEncoder().encodeToString((byte[]) value);
        }
        if (value instanceof Map) {
            Map<String, Object> members = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, item) -> members.put(key.toString(), jsonOf(item)));
            return members;
        }
        if (value instanceof Collection) {
            List<Object> items = new ArrayList<>();
            ((Collection<?>) value).forEach(item -> items.add(jsonOf(item)));
            return items;
        }
        return value;
    }

    private static final class BinaryCell extends Cell implements BinaryValue {
        BinaryCell(Object value) {
            super(FieldDef.Type.BINARY, value);
        }

        @Override
        public byte[] get() {
            return (byte[]) value();
        }
    }

    private static final class BooleanCell extends Cell implements BooleanValue {
        BooleanCell(Object value) {
            super(FieldDef.Type.BOOLEAN, value);
        }

        @Override
        public boolean get() {
            return (Boolean) value();
        }
    }

    private static final class DoubleCell extends Cell implements DoubleValue {
        DoubleCell(Object value) {
            super(FieldDef.Type.DOUBLE, value);
        }

        @Override
        public double get() {
            return number().doubleValue();
        }
    }

    private static final class EnumCell extends Cell implements EnumValue {
        EnumCell(Object value) {
            super(FieldDef.Type.ENUM, value);
        }

        @Override
        public String get() {
            return text();
        }
    }

    private static final class FixedBinaryCell extends Cell implements FixedBinaryValue {
        FixedBinaryCell(Object value) {
            super(FieldDef.Type.FIXED_BINARY, value);
        }

        @Override
        public byte[] get() {
            return (byte[]) value();
        }
    }

    private static final class FloatCell extends Cell implements FloatValue {
        FloatCell(Object value) {
            super(FieldDef.Type.FLOAT, value);
        }

        @Override
        public float get() {
            return number().floatValue();
        }
    }

    private static final class IntegerCell extends Cell implements IntegerValue {
        IntegerCell(Object value) {
            super(FieldDef.Type.INTEGER, value);
        }

        @Override
        public int get() {
            return number().intValue();
        }
    }

    private static final class LongCell extends Cell implements LongValue {
        LongCell(Object value) {
            super(FieldDef.Type.LONG, value);
        }

        @Override
        public long get() {
            return number().longValue();
        }
    }

    private static final class NumberCell extends Cell implements NumberValue {
        NumberCell(Object value) {
            super(FieldDef.Type.NUMBER, value);
        }

        @Override
        public BigDecimal get() {
            return new BigDecimal(number().toString());
        }
    }

    private static final class StringCell extends Cell implements StringValue {
        StringCell(Object value) {
            super(FieldDef.Type.STRING, value);
        }

        @Override
        public String get() {
            return text();
        }
    }

    private static final class TimestampCell extends Cell implements TimestampValue {
        TimestampCell(Object value) {
            super(FieldDef.Type.TIMESTAMP, value);
        }

        @Override
        public Timestamp get() {
            return moment();
        }
    }

    private static final class NullCell extends Cell {
        NullCell(FieldDef.Type type) {
            super(type, null);
        }

        @Override
        public boolean isNull() {
            return true;
        }
    }

    private static final class ArrayCell extends Cell implements ArrayValue {
        private final List<FieldValue> items = new ArrayList<>();

        ArrayCell(ColumnDef column, Collection<?> value) {
            super(FieldDef.Type.ARRAY, value);
            ColumnDef item = column.nested(Nested.ITEM);
            value.forEach(one -> items.add(of(item, one)));
        }

        @Override
        public FieldValue get(int index) {
            return items.get(index);
        }

        @Override
        public int size() {
            return items.size();
        }

        @Override
        public List<FieldValue> toList() {
            return new ArrayList<>(items);
        }
    }

    private static final class MapCell extends Cell implements MapValue {
        private final Map<String, FieldValue> fields = new LinkedHashMap<>();

        MapCell(ColumnDef column, Map<?, ?> value) {
            super(FieldDef.Type.MAP, value);
            ColumnDef item = column.nested(Nested.VALUE);
            value.forEach((key, one) -> fields.put(key.toString(), of(item, one)));
        }

        @Override
        public int size() {
            return fields.size();
        }

        @Override
        public Map<String, FieldValue> getFields() {
            return new LinkedHashMap<>(fields);
        }

        @Override
        public FieldValue get(String fieldName) {
            return fields.get(fieldName);
        }
    }
}
