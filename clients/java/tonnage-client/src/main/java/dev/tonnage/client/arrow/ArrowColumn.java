package dev.tonnage.client.arrow;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The values of a column of a batch that was read. They lie in the bytes of the batch, and are made
 * objects when they are asked for.
 *
 * <p>Offsets are held against the bytes when a value is read. So a batch whose buffers contradict
 * each other gives an {@link ArrowException}, and never bytes that are not its own.
 */
public final class ArrowColumn {
    private final ArrowField field;
    private final int length;
    /** Null where no value is NULL. */
    private final ByteBuffer validity;
    private final ByteBuffer offsets;
    private final ByteBuffer data;
    private final List<ArrowColumn> children;

    ArrowColumn(ArrowField field, int length, ByteBuffer validity, ByteBuffer offsets,
            ByteBuffer data, List<ArrowColumn> children) {
        this.field = field;
        this.length = length;
        this.validity = validity;
        this.offsets = little(offsets);
        this.data = little(data);
        this.children = children;
        check();
    }

    private static ByteBuffer little(ByteBuffer bytes) {
        return bytes == null ? null : bytes.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Refuses buffers that are too short for the values. */
    private void check() {
        if (validity != null && validity.limit() < (length + 7) / 8) {
            throw damaged("it has too few bits for NULL");
        }
        ArrowType type = field.type();
        long offsetBytes = (length + 1L) * (type.isLarge() ? 8 : 4);
        // Writers may leave out the offsets of no values.
        if (offsets != null && length > 0 && offsets.limit() < offsetBytes) {
            throw damaged("it has too few offsets");
        }
        long dataBytes = 0;
        switch (type.kind()) {
            case BOOL:
                dataBytes = (length + 7) / 8;
                break;
            case INT:
            case FLOAT:
            case DECIMAL:
            case DATE:
            case TIME:
            case TIMESTAMP:
            case DURATION:
            case FIXED_BINARY:
                dataBytes = (long) length * type.width();
                break;
            default:
                break;
        }
        if (data != null && data.limit() < dataBytes) {
            throw damaged("it has " + data.limit() + " bytes of data, " + dataBytes
                    + " are needed");
        }
        long wanted = type.kind() == ArrowType.Kind.FIXED_LIST ? (long) length * type.width()
                : length;
        boolean counts = type.kind() == ArrowType.Kind.STRUCT
                || type.kind() == ArrowType.Kind.FIXED_LIST;
        for (ArrowColumn child : children) {
            if (counts && child.length < wanted) {
                throw damaged("its part " + child.field.name() + " is too short");
            }
        }
    }

    private ArrowException damaged(String what) {
        return new ArrowException("column " + field.name() + " is damaged: " + what);
    }

    /** The column. */
    public ArrowField field() {
        return field;
    }

    /** How many values there are. */
    public int length() {
        return length;
    }

    /** The columns that it is made of. */
    public List<ArrowColumn> children() {
        return children;
    }

    /** Whether a value is NULL. */
    public boolean isNull(int row) {
        checkRow(row);
        return field.type().kind() == ArrowType.Kind.NULL
                || validity != null && (validity.get(row >> 3) >> (row & 7) & 1) == 0;
    }

    private void checkRow(int row) {
        if (row < 0 || row >= length) {
            throw new IndexOutOfBoundsException("row " + row + " of " + length);
        }
    }

    /** A whole number, a truth value as 0 or 1, or the number behind a date or time. */
    public long getLong(int row) {
        checkRow(row);
        switch (field.type().kind()) {
            case BOOL:
                return data.get(row >> 3) >> (row & 7) & 1;
            case INT:
            case DATE:
            case TIME:
            case TIMESTAMP:
            case DURATION:
                return whole(row);
            default:
                throw new ArrowException(field + " holds no whole numbers");
        }
    }

    private long whole(int row) {
        ArrowType type = field.type();
        switch (type.width()) {
            case 1:
                return type.isSigned() ? data.get(row) : data.get(row) & 0xFF;
            case 2:
                return type.isSigned() ? data.getShort(2 * row) : data.getShort(2 * row) & 0xFFFF;
            case 4:
                return type.isSigned() ? data.getInt(4 * row) : data.getInt(4 * row) & 0xFFFF_FFFFL;
            default:
                return data.getLong(8 * row);
        }
    }

    /** A number with a floating point. */
    public double getDouble(int row) {
        checkRow(row);
        if (field.type().kind() == ArrowType.Kind.FLOAT) {
            return field.type().width() == 4 ? data.getFloat(4 * row) : data.getDouble(8 * row);
        }
        return whole(row);
    }

    /** The bytes of a text or of a binary value. */
    public byte[] getBytes(int row) {
        checkRow(row);
        long start;
        long end;
        switch (field.type().kind()) {
            case BINARY:
            case UTF8:
                start = offset(row);
                end = offset(row + 1);
                break;
            case FIXED_BINARY:
            case DECIMAL:
                start = (long) row * field.type().width();
                end = start + field.type().width();
                break;
            default:
                throw new ArrowException(field + " holds no bytes");
        }
        if (start < 0 || end < start || end > data.limit()) {
            throw damaged("value " + row + " is outside its bytes");
        }
        byte[] value = new byte[(int) (end - start)];
        ByteBuffer from = data.duplicate();
        from.position((int) start);
        from.get(value);
        return value;
    }

    private long offset(int row) {
        if (offsets.limit() == 0) {
            return 0;
        }
        return field.type().isLarge() ? offsets.getLong(8 * row) : offsets.getInt(4 * row);
    }

    /**
     * A value as an object of Java.
     *
     * <p>Whole numbers are Integer, or Long where they have 8 bytes or may exceed an Integer; those
     * without a sign that exceed a Long are BigInteger. The others are Float, Double, BigDecimal,
     * Boolean, String, byte[], UUID, LocalDate, LocalTime, LocalDateTime, Instant where there is a
     * zone, Duration, List, and Map for maps and records.
     *
     * @return null for NULL
     */
    public Object get(int row) {
        if (isNull(row)) {
            return null;
        }
        ArrowType type = field.type();
        try {
            switch (type.kind()) {
                case BOOL:
                    return getLong(row) != 0;
                case INT:
                    return integer(whole(row));
                case FLOAT:
                    if (type.width() == 4) {
                        return data.getFloat(4 * row);
                    }
                    return data.getDouble(8 * row);
                case UTF8:
                    return new String(getBytes(row), StandardCharsets.UTF_8);
                case BINARY:
                    return getBytes(row);
                case FIXED_BINARY:
                    return field.holdsUuids() ? uuid(getBytes(row)) : getBytes(row);
                case DECIMAL:
                    return new BigDecimal(new BigInteger(reversed(getBytes(row))), type.scale());
                case DATE:
                    return LocalDate.ofEpochDay(type.width() == 4 ? whole(row)
                            : Math.floorDiv(whole(row), 86_400_000L));
                case TIME:
                    return LocalTime.ofNanoOfDay(Math.multiplyExact(whole(row),
                            nanos(type.unit())));
                case TIMESTAMP:
                    return timestamp(whole(row));
                case DURATION:
                    return duration(whole(row));
                case LIST:
                    return list(children.get(0), offset(row), offset(row + 1));
                case FIXED_LIST:
                    return list(children.get(0), (long) row * type.width(),
                            (row + 1L) * type.width());
                case MAP:
                    return map(children.get(0), offset(row), offset(row + 1));
                case STRUCT:
                    return record(row);
                default:
                    return null;
            }
        } catch (java.time.DateTimeException | ArithmeticException error) {
            throw new ArrowException("column " + field.name() + ", value " + row + ": "
                    + error.getMessage(), error);
        }
    }

    private Object integer(long value) {
        ArrowType type = field.type();
        if (type.width() == 8) {
            if (!type.isSigned() && value < 0) {
                return new BigInteger(Long.toUnsignedString(value));
            }
            return value;
        }
        if (type.width() == 4 && !type.isSigned()) {
            return value;
        }
        return (int) value;
    }

    static UUID uuid(byte[] bytes) {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        return new UUID(from.getLong(), from.getLong());
    }

    static byte[] reversed(byte[] bytes) {
        byte[] reversed = new byte[bytes.length];
        for (int index = 0; index < bytes.length; index++) {
            reversed[index] = bytes[bytes.length - 1 - index];
        }
        return reversed;
    }

    /** Nanoseconds of a unit. */
    static long nanos(int unit) {
        switch (unit) {
            case ArrowType.SECOND:
                return 1_000_000_000L;
            case ArrowType.MILLISECOND:
                return 1_000_000L;
            case ArrowType.MICROSECOND:
                return 1_000L;
            default:
                return 1L;
        }
    }

    private Object timestamp(long value) {
        long perSecond = 1_000_000_000L / nanos(field.type().unit());
        long seconds = Math.floorDiv(value, perSecond);
        long fraction = Math.floorMod(value, perSecond) * nanos(field.type().unit());
        if (field.type().zone() != null) {
            return Instant.ofEpochSecond(seconds, fraction);
        }
        return LocalDateTime.ofEpochSecond(seconds, (int) fraction, ZoneOffset.UTC);
    }

    private Duration duration(long value) {
        long perSecond = 1_000_000_000L / nanos(field.type().unit());
        return Duration.ofSeconds(Math.floorDiv(value, perSecond),
                Math.floorMod(value, perSecond) * nanos(field.type().unit()));
    }

    private void checkSpan(ArrowColumn items, long start, long end) {
        if (start < 0 || end < start || end > items.length) {
            throw damaged("a list is outside its items");
        }
    }

    private List<Object> list(ArrowColumn items, long start, long end) {
        checkSpan(items, start, end);
        List<Object> list = new ArrayList<>((int) (end - start));
        for (int item = (int) start; item < end; item++) {
            list.add(items.get(item));
        }
        return list;
    }

    private Map<Object, Object> map(ArrowColumn entries, long start, long end) {
        checkSpan(entries, start, end);
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int entry = (int) start; entry < end; entry++) {
            map.put(entries.children.get(0).get(entry), entries.children.get(1).get(entry));
        }
        return map;
    }

    private Map<String, Object> record(int row) {
        Map<String, Object> record = new LinkedHashMap<>();
        for (ArrowColumn child : children) {
            record.put(child.field.name(), child.get(row));
        }
        return record;
    }

    /** Where the items of a list begin, among those of its child. */
    public int listStart(int row) {
        checkRow(row);
        long start = offset(row);
        long end = offset(row + 1);
        checkSpan(children.get(0), start, end);
        return (int) start;
    }

    /** Where the items of a list end. */
    public int listEnd(int row) {
        listStart(row);
        return (int) offset(row + 1);
    }
}
