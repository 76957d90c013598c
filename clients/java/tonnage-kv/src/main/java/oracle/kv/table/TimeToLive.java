package oracle.kv.table;

import java.util.concurrent.TimeUnit;

/** How long a row lives. */
public final class TimeToLive {
    /** For ever. */
    public static final TimeToLive DO_NOT_EXPIRE = new TimeToLive(0, TimeUnit.DAYS);

    private final long value;
    private final TimeUnit unit;

    private TimeToLive(long value, TimeUnit unit) {
        if (value < 0) {
            throw new IllegalArgumentException("a time to live of " + value);
        }
        this.value = value;
        this.unit = unit;
    }

    /** So many hours; 0 is for ever. */
    public static TimeToLive ofHours(long hours) {
        return new TimeToLive(hours, TimeUnit.HOURS);
    }

    /** So many days; 0 is for ever. */
    public static TimeToLive ofDays(long days) {
        return new TimeToLive(days, TimeUnit.DAYS);
    }

    /** The days in it. */
    public long toDays() {
        return unit.toDays(value);
    }

    /** The hours in it. */
    public long toHours() {
        return unit.toHours(value);
    }

    /**
     * When a row expires that lives so long from a time on, in milliseconds since 1970: rounded up
     * to whole hours or days in UTC, as the unit is. 0 is never.
     */
    public long toExpirationTime(long referenceTime) {
        if (value == 0) {
            return 0;
        }
        long step = unit.toMillis(1);
        return Math.multiplyExact(Math.floorDiv(Math.addExact(referenceTime,
                Math.multiplyExact(value, step)) + step - 1, step), step);
    }

    /** The number. */
    public long getValue() {
        return value;
    }

    /** Its unit. */
    public TimeUnit getUnit() {
        return unit;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TimeToLive && toHours() == ((TimeToLive) other).toHours();
    }

    @Override
    public int hashCode() {
        return Long.hashCode(toHours());
    }

    @Override
    public String toString() {
        return value + " " + unit;
    }
}
