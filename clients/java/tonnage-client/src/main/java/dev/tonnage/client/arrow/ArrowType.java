package dev.tonnage.client.arrow;

import java.util.Objects;

/** The type of a column, as Arrow has it. */
public final class ArrowType {
    /** The kinds of types that are read and written. */
    public enum Kind {
        /** Nothing but NULL. */
        NULL,
        /** Whole numbers of 1, 2, 4 or 8 bytes. */
        INT,
        /** Numbers of 4 or 8 bytes with a floating point. */
        FLOAT,
        /** Bytes of any length. */
        BINARY,
        /** Text. */
        UTF8,
        /** True and false. */
        BOOL,
        /** Decimal numbers of 16 or 32 bytes. */
        DECIMAL,
        /** Days of the calendar. */
        DATE,
        /** Times of the day. */
        TIME,
        /** Points in time, with a zone or without one. */
        TIMESTAMP,
        /** Lists. */
        LIST,
        /** Records with named members. */
        STRUCT,
        /** Bytes of one length. */
        FIXED_BINARY,
        /** Lists of one length. */
        FIXED_LIST,
        /** Maps. */
        MAP,
        /** Spans of time. */
        DURATION
    }

    static final int SECOND = 0;
    static final int MILLISECOND = 1;
    static final int MICROSECOND = 2;
    static final int NANOSECOND = 3;

    private final Kind kind;
    /** Bytes of a value; elements of a list of one length. */
    private final int width;
    private final boolean signed;
    /** Whether offsets have 8 bytes. */
    private final boolean large;
    private final int unit;
    private final int precision;
    private final int scale;
    private final String zone;

    private ArrowType(Kind kind, int width, boolean signed, boolean large, int unit,
            int precision, int scale, String zone) {
        this.kind = kind;
        this.width = width;
        this.signed = signed;
        this.large = large;
        this.unit = unit;
        this.precision = precision;
        this.scale = scale;
        this.zone = zone;
    }

    private static ArrowType of(Kind kind, int width) {
        return new ArrowType(kind, width, true, false, 0, 0, 0, null);
    }

    /** Nothing but NULL. */
    public static final ArrowType NULL = of(Kind.NULL, 0);
    /** True and false. */
    public static final ArrowType BOOL = of(Kind.BOOL, 0);
    /** Whole numbers of 4 bytes. */
    public static final ArrowType INT32 = of(Kind.INT, 4);
    /** Whole numbers of 8 bytes. */
    public static final ArrowType INT64 = of(Kind.INT, 8);
    /** Whole numbers of 8 bytes without a sign. */
    public static final ArrowType UINT64 = integer(8, false);
    /** Floating point of 4 bytes. */
    public static final ArrowType FLOAT32 = of(Kind.FLOAT, 4);
    /** Floating point of 8 bytes. */
    public static final ArrowType FLOAT64 = of(Kind.FLOAT, 8);
    /** Text. */
    public static final ArrowType UTF8 = of(Kind.UTF8, 0);
    /** Bytes. */
    public static final ArrowType BINARY = of(Kind.BINARY, 0);
    /** Lists. */
    public static final ArrowType LIST = of(Kind.LIST, 0);
    /** Records. */
    public static final ArrowType STRUCT = of(Kind.STRUCT, 0);
    /** Maps. */
    public static final ArrowType MAP = of(Kind.MAP, 0);
    /** Days, as 4 bytes. */
    public static final ArrowType DATE = of(Kind.DATE, 4);

    /** Whole numbers of so many bytes. */
    public static ArrowType integer(int bytes, boolean signed) {
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
            throw new ArrowException("whole numbers have 1, 2, 4 or 8 bytes, not " + bytes);
        }
        return new ArrowType(Kind.INT, bytes, signed, false, 0, 0, 0, null);
    }

    /** Decimal numbers; more than 38 digits take 32 bytes. */
    public static ArrowType decimal(int precision, int scale) {
        return decimal(precision, scale, precision > 38 ? 32 : 16);
    }

    static ArrowType decimal(int precision, int scale, int bytes) {
        if (bytes != 16 && bytes != 32) {
            throw new ArrowException("decimal numbers of " + bytes + " bytes are not read");
        }
        return new ArrowType(Kind.DECIMAL, bytes, true, false, 0, precision, scale, null);
    }

    /** Bytes of one length. */
    public static ArrowType fixedBinary(int bytes) {
        if (bytes < 0) {
            throw new ArrowException("values of " + bytes + " bytes");
        }
        return of(Kind.FIXED_BINARY, bytes);
    }

    static ArrowType fixedList(int elements) {
        if (elements < 0) {
            throw new ArrowException("lists of " + elements + " elements");
        }
        return of(Kind.FIXED_LIST, elements);
    }

    /** Points in time; the digits are those of the fraction of a second: 0, 3, 6 or 9. */
    public static ArrowType timestamp(int digits, String zone) {
        if (digits != 0 && digits != 3 && digits != 6 && digits != 9) {
            throw new ArrowException("timestamps have 0, 3, 6 or 9 digits, not " + digits);
        }
        return timed(Kind.TIMESTAMP, 8, digits / 3, zone);
    }

    /** Times of the day in nanoseconds. */
    public static final ArrowType TIME = timed(Kind.TIME, 8, NANOSECOND, null);

    static ArrowType timed(Kind kind, int width, int unit, String zone) {
        if (unit < SECOND || unit > NANOSECOND) {
            throw new ArrowException("a unit of time " + unit + " is not known");
        }
        if (width != 4 && width != 8) {
            throw new ArrowException("times of " + width + " bytes are not read");
        }
        return new ArrowType(kind, width, true, false, unit, 0, 0, zone);
    }

    static ArrowType date(boolean inMilliseconds) {
        return inMilliseconds ? of(Kind.DATE, 8) : DATE;
    }

    static ArrowType large(Kind kind) {
        return new ArrowType(kind, 0, true, true, 0, 0, 0, null);
    }

    /** The kind. */
    public Kind kind() {
        return kind;
    }

    /** Bytes of a value of one length; the elements of lists of one length. */
    public int width() {
        return width;
    }

    /** Whether whole numbers have a sign. */
    public boolean isSigned() {
        return signed;
    }

    /** Digits of a decimal number. */
    public int precision() {
        return precision;
    }

    /** Of those, digits after the point. */
    public int scale() {
        return scale;
    }

    /** The zone of points in time; null without one. */
    public String zone() {
        return zone;
    }

    /** Digits of the fraction of a second that times and timestamps have: 0, 3, 6 or 9. */
    public int digits() {
        return 3 * unit;
    }

    boolean isLarge() {
        return large;
    }

    int unit() {
        return unit;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof ArrowType)) {
            return false;
        }
        ArrowType that = (ArrowType) other;
        return kind == that.kind && width == that.width && signed == that.signed
                && large == that.large && unit == that.unit && precision == that.precision
                && scale == that.scale && Objects.equals(zone, that.zone);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, width, signed, large, unit, precision, scale, zone);
    }

    @Override
    public String toString() {
        switch (kind) {
            case INT:
                return (signed ? "int" : "uint") + 8 * width;
            case FLOAT:
                return "float" + 8 * width;
            case DECIMAL:
                return "decimal(" + precision + ", " + scale + ")";
            case FIXED_BINARY:
                return "binary(" + width + ")";
            case FIXED_LIST:
                return "list(" + width + ")";
            case TIMESTAMP:
                return "timestamp(" + 3 * unit + (zone == null ? ")" : ", " + zone + ")");
            default:
                return kind.name().toLowerCase(java.util.Locale.ROOT);
        }
    }
}
