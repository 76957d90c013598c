package dev.tonnage.client.arrow;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Builds the values of a column. What does not fit its type is refused before anything of it is
 * kept, so that a row that fails leaves no trace.
 */
final class ColumnBuilder {
    private final ArrowField field;
    private final Bytes validity = new Bytes();
    private final Bytes offsets = new Bytes();
    private final Bytes data = new Bytes();
    private final List<ColumnBuilder> children = new ArrayList<>();
    private int rows;
    private int nulls;

    ColumnBuilder(ArrowField field) {
        this.field = field;
        if (field.type().isLarge() || field.type().kind() == ArrowType.Kind.FIXED_LIST) {
            throw new ArrowException("column " + field.name() + ": " + field.type()
                    + " is read, but not written");
        }
        for (ArrowField child : field.children()) {
            children.add(new ColumnBuilder(child));
        }
    }

    ArrowField field() {
        return field;
    }

    int rows() {
        return rows;
    }

    int nulls() {
        return nulls;
    }

    List<ColumnBuilder> children() {
        return children;
    }

    /** About the bytes of all values. */
    long bytes() {
        long bytes = (long) validity.length() + offsets.length() + data.length();
        for (ColumnBuilder child : children) {
            bytes += child.bytes();
        }
        return bytes;
    }

    void clear() {
        rows = 0;
        nulls = 0;
        validity.clear();
        offsets.clear();
        data.clear();
        children.forEach(ColumnBuilder::clear);
    }

    /** The buffers in the order in which Arrow has them, without those of children. */
    List<Bytes> buffers() {
        switch (field.type().kind()) {
            case NULL:
                return List.of();
            case BINARY:
            case UTF8:
                return List.of(validity, offsets, data);
            case LIST:
            case MAP:
                return List.of(validity, offsets);
            case STRUCT:
                return List.of(validity);
            default:
                return List.of(validity, data);
        }
    }

    private boolean hasOffsets() {
        switch (field.type().kind()) {
            case BINARY:
            case UTF8:
            case LIST:
            case MAP:
                return true;
            default:
                return false;
        }
    }

    private void beginValue(boolean isThere) {
        if (rows % 8 == 0) {
            validity.put8(0);
        }
        if (isThere) {
            validity.array()[rows >> 3] |= (byte) (1 << (rows & 7));
        } else {
            nulls++;
        }
        if (hasOffsets() && offsets.length() == 0) {
            offsets.put32(0);
        }
        if (field.type().kind() == ArrowType.Kind.BOOL && rows % 8 == 0) {
            data.put8(0);
        }
        rows++;
    }

    private void endValue() {
        if (hasOffsets()) {
            boolean isList = !children.isEmpty();
            offsets.put32(isList ? children.get(0).rows : data.length());
        }
    }

    /** Takes back values, down to so many rows. */
    void cut(int to) {
        while (rows > to) {
            int row = rows - 1;
            boolean wasThere = (validity.array()[row >> 3] >> (row & 7) & 1) != 0;
            validity.array()[row >> 3] &= (byte) ~(1 << (row & 7));
            if (row % 8 == 0) {
                validity.cut(validity.length() - 1);
            }
            nulls -= wasThere ? 0 : 1;
            rows = row;
        }
        cutData();
    }

    private void cutData() {
        ArrowType.Kind kind = field.type().kind();
        if (kind == ArrowType.Kind.STRUCT) {
            children.forEach(child -> child.cut(rows));
        } else if (hasOffsets()) {
            offsets.cut(offsets.length() == 0 ? 0 : 4 * (rows + 1));
            int end = rows == 0 ? 0 : last(offsets);
            if (children.isEmpty()) {
                data.cut(end);
            } else {
                children.get(0).cut(end);
            }
        } else if (kind == ArrowType.Kind.BOOL) {
            data.cut((rows + 7) / 8);
            if (rows % 8 != 0) {
                data.array()[rows >> 3] &= (byte) ((1 << (rows & 7)) - 1);
            }
        } else {
            data.cut(rows * field.type().width());
        }
    }

    private static int last(Bytes offsets) {
        int at = offsets.length() - 4;
        byte[] bytes = offsets.array();
        return bytes[at] & 0xFF | (bytes[at + 1] & 0xFF) << 8 | (bytes[at + 2] & 0xFF) << 16
                | bytes[at + 3] << 24;
    }

    void addNull() {
        beginValue(false);
        switch (field.type().kind()) {
            case STRUCT:
                children.forEach(ColumnBuilder::addNull);
                break;
            case NULL:
            case BOOL:
            case BINARY:
            case UTF8:
            case LIST:
            case MAP:
                break;
            default:
                data.zeros(field.type().width());
        }
        endValue();
    }

    void addBytes(byte[] value, int from, int count) {
        beginValue(true);
        data.put(value, from, count);
        endValue();
    }

    void addLong(long value) {
        beginValue(true);
        putWhole(value);
        endValue();
    }

    /** A list of binary values. */
    void addBinaries(List<byte[]> items) {
        beginValue(true);
        ColumnBuilder item = children.get(0);
        for (byte[] value : items) {
            item.addBytes(value, 0, value.length);
        }
        endValue();
    }

    /** Adds a value of Java; null is NULL. */
    void add(Object value) {
        if (value == null) {
            addNull();
            return;
        }
        switch (field.type().kind()) {
            case BOOL:
                boolean truth = cast(value, Boolean.class);
                beginValue(true);
                if (truth) {
                    int row = rows - 1;
                    data.array()[row >> 3] |= (byte) (1 << (row & 7));
                }
                break;
            case INT:
                long whole = wholeOf(value);
                beginValue(true);
                putWhole(whole);
                break;
            case FLOAT:
                addFloat(value);
                break;
            case UTF8:
                byte[] text = textOf(value).getBytes(StandardCharsets.UTF_8);
                beginValue(true);
                data.put(text, 0, text.length);
                break;
            case BINARY:
                byte[] bytes = cast(value, byte[].class);
                beginValue(true);
                data.put(bytes, 0, bytes.length);
                break;
            case FIXED_BINARY:
                addFixed(value);
                break;
            case DECIMAL:
                addDecimal(value);
                break;
            case DATE:
            case TIME:
            case TIMESTAMP:
            case DURATION:
                long moment = momentOf(value);
                beginValue(true);
                putWhole(moment);
                break;
            case LIST:
                addItems(cast(value, Collection.class));
                break;
            case MAP:
                addEntries(cast(value, Map.class));
                break;
            case STRUCT:
                addMembers(cast(value, Map.class));
                break;
            default:
                throw unfit(value);
        }
        endValue();
    }

    private void putWhole(long value) {
        switch (field.type().width()) {
            case 1:
                data.put8((int) value);
                break;
            case 2:
                data.put8((int) value);
                data.put8((int) (value >>> 8));
                break;
            case 4:
                data.put32((int) value);
                break;
            default:
                data.put64(value);
        }
    }

    private <T> T cast(Object value, Class<T> kind) {
        if (!kind.isInstance(value)) {
            throw unfit(value);
        }
        return kind.cast(value);
    }

    private ArrowException unfit(Object value) {
        return new ArrowException("column " + field.name() + " holds " + field.type() + ", and "
                + value.getClass().getSimpleName() + " `" + value + "` does not fit it");
    }

    private long wholeOf(Object value) {
        BigInteger whole;
        if (value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte) {
            whole = BigInteger.valueOf(((Number) value).longValue());
        } else if (value instanceof BigInteger) {
            whole = (BigInteger) value;
        } else if (value instanceof BigDecimal || value instanceof Double
                || value instanceof Float) {
            try {
                whole = new BigDecimal(value.toString()).toBigIntegerExact();
            } catch (ArithmeticException | NumberFormatException error) {
                throw unfit(value);
            }
        } else {
            throw unfit(value);
        }
        int bits = 8 * field.type().width();
        boolean fits = field.type().isSigned() ? whole.bitLength() < bits
                : whole.signum() >= 0 && whole.bitLength() <= bits;
        if (!fits) {
            throw unfit(value);
        }
        return whole.longValue();
    }

    /** Adds the nearest number. Of one beyond the range of the column there is none. */
    private void addFloat(Object value) {
        double number = cast(value, Number.class).doubleValue();
        boolean isNarrow = field.type().width() == 4;
        boolean isBeyond = isNarrow ? Float.isInfinite((float) number) : Double.isInfinite(number);
        boolean isInfinity = value instanceof Double && ((Double) value).isInfinite()
                || value instanceof Float && ((Float) value).isInfinite();
        if (isBeyond && !isInfinity) {
            throw unfit(value);
        }
        beginValue(true);
        if (field.type().width() == 4) {
            data.put32(Float.floatToRawIntBits((float) number));
        } else {
            data.put64(Double.doubleToRawLongBits(number));
        }
    }

    private String textOf(Object value) {
        if (value instanceof CharSequence || value instanceof Enum || value instanceof Character) {
            return value.toString();
        }
        throw unfit(value);
    }

    private void addFixed(Object value) {
        byte[] bytes;
        if (value instanceof UUID) {
            UUID uuid = (UUID) value;
            bytes = java.nio.ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits())
                    .putLong(uuid.getLeastSignificantBits()).array();
        } else {
            bytes = cast(value, byte[].class);
        }
        if (bytes.length != field.type().width()) {
            throw new ArrowException("column " + field.name() + " holds " + field.type().width()
                    + " bytes, the value has " + bytes.length);
        }
        beginValue(true);
        data.put(bytes, 0, bytes.length);
    }

    private void addDecimal(Object value) {
        BigDecimal number;
        try {
            number = value instanceof BigDecimal ? (BigDecimal) value
                    : new BigDecimal(cast(value, Number.class).toString());
            number = number.setScale(field.type().scale(), RoundingMode.UNNECESSARY);
        } catch (ArithmeticException | NumberFormatException error) {
            throw unfit(value);
        }
        if (number.precision() > field.type().precision()) {
            throw unfit(value);
        }
        byte[] big = number.unscaledValue().toByteArray();
        beginValue(true);
        int sign = big[0] < 0 ? 0xFF : 0;
        for (int index = 0; index < field.type().width(); index++) {
            data.put8(index < big.length ? big[big.length - 1 - index] : sign);
        }
    }

    /** The number that stands for a date or time. Digits that the column lacks are refused. */
    private long momentOf(Object value) {
        ArrowType type = field.type();
        try {
            switch (type.kind()) {
                case DATE:
                    long day = cast(value, LocalDate.class).toEpochDay();
                    return type.width() == 4 ? Math.toIntExact(day)
                            : Math.multiplyExact(day, 86_400_000L);
                case TIME:
                    return exact(0, cast(value, LocalTime.class).toNanoOfDay(), value);
                case DURATION:
                    Duration span = cast(value, Duration.class);
                    return exact(span.getSeconds(), span.getNano(), value);
                default:
                    Instant instant = instantOf(value);
                    return exact(instant.getEpochSecond(), instant.getNano(), value);
            }
        } catch (ArithmeticException error) {
            throw unfit(value);
        }
    }

    private long exact(long seconds, long nanos, Object value) {
        long unit = ArrowColumn.nanos(field.type().unit());
        if (nanos % unit != 0) {
            throw unfit(value);
        }
        long whole = Math.multiplyExact(seconds, 1_000_000_000L / unit);
        return Math.addExact(whole, nanos / unit);
    }

    private Instant instantOf(Object value) {
        if (value instanceof Instant) {
            return (Instant) value;
        }
        if (value instanceof LocalDateTime) {
            return ((LocalDateTime) value).toInstant(ZoneOffset.UTC);
        }
        if (value instanceof OffsetDateTime) {
            return ((OffsetDateTime) value).toInstant();
        }
        if (value instanceof ZonedDateTime) {
            return ((ZonedDateTime) value).toInstant();
        }
        throw unfit(value);
    }

    private void addItems(Collection<?> items) {
        ColumnBuilder item = children.get(0);
        int before = item.rows;
        try {
            items.forEach(item::add);
        } catch (ArrowException error) {
            item.cut(before);
            throw error;
        }
        beginValue(true);
    }

    private void addEntries(Map<?, ?> map) {
        ColumnBuilder entries = children.get(0);
        int before = entries.rows;
        try {
            map.forEach((key, value) -> {
                if (key == null) {
                    throw new ArrowException("column " + field.name() + ": a key of a map is null");
                }
                entries.children.get(0).add(key);
                entries.children.get(1).add(value);
                entries.beginValue(true);
            });
        } catch (ArrowException error) {
            entries.children.get(0).cut(before);
            entries.cut(before);
            throw error;
        }
        beginValue(true);
    }

    private void addMembers(Map<?, ?> members) {
        try {
            for (ColumnBuilder child : children) {
                child.add(members.get(child.field.name()));
            }
        } catch (ArrowException error) {
            children.forEach(child -> child.cut(Math.min(child.rows, rows)));
            throw error;
        }
        beginValue(true);
    }
}
