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
