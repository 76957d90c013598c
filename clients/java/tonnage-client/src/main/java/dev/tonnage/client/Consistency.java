package dev.tonnage.client;

import java.util.Map;

/** How fresh what is read must be. */
public final class Consistency {
    /** Everything that was acknowledged before is seen. */
    public static final Consistency ABSOLUTE = new Consistency("absolute");
    /** Older states will do. */
    public static final Consistency NONE = new Consistency("none");

    private final Object word;

    private Consistency(Object word) {
        this.word = word;
    }

    /** At most so many milliseconds old. */
    public static Consistency time(long milliseconds) {
        return new Consistency(Map.of("time_ms", milliseconds));
    }

    /** At least as new as this version. */
    public static Consistency version(long version) {
        return new Consistency(Map.of("version", version));
    }

    Object word() {
        return word;
    }
}
