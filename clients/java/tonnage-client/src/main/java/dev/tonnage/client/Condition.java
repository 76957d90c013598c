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

    private Condition(Object word) {
        this.word = word;
    }

    /** The key is stored with this version. */
    public static Condition ifVersion(long version) {
        return new Condition(Map.of("version", version));
    }

    /** As the header of a write has it; null for none. */
    Object word() {
        return word;
    }
}
