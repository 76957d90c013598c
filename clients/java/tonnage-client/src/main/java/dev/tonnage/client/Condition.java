package dev.tonnage.client;

import java.util.Map;

/** What must hold for a write to be carried out. */
public final class Condition {
    /** Nothing. */
    public static final Condition ALWAYS = new Condition(null);
    /** The key is not stored. */
    public static final Condition IF_ABSENT = new Condition("absent");
    /** The key is stored. */
    public static final Condition IF_PRESENT = new Condition("present");

    private final Object word;
    private final Long version;

    private Condition(Object word) {
        this(word, null);
    }

    private Condition(Object word, Long version) {
        this.word = word;
        this.version = version;
    }

    /** The key is stored with this version. */
    public static Condition ifVersion(long version) {
        return new Condition(Map.of("version", version), version);
    }

    /** Whether a key that is stored with this version, or not stored at all with 0, fulfils it. */
    public boolean isMetBy(long stored) {
        if (version != null) {
            return stored == version;
        }
        return this == ALWAYS || (this == IF_PRESENT) == (stored != 0);
    }

    /** As the header of a write has it; null for none. */
    Object word() {
        return word;
    }
}
