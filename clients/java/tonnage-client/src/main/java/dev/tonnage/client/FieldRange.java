package dev.tonnage.client;

import java.util.LinkedHashMap;
import java.util.Map;

/** A range of the first key column that the keys of a bulk get leave open. */
public final class FieldRange {
    private final Map<String, Object> words = new LinkedHashMap<>();

    private FieldRange(String column) {
        words.put("column", column);
    }

    /** All values of a column; the methods below narrow it. */
    public static FieldRange of(String column) {
        return new FieldRange(column);
    }

    /** From this value on, as text or number. */
    public FieldRange from(Object value, boolean inclusive) {
        words.put("from", scalar(value));
        words.put("from_inclusive", inclusive);
        return this;
    }

    /** Up to this value. */
    public FieldRange to(Object value, boolean inclusive) {
        words.put("to", scalar(value));
        words.put("to_inclusive", inclusive);
        return this;
    }

    /** Numbers of more digits than JSON's readers keep go as text. */
    private static Object scalar(Object value) {
        boolean isPlain = value instanceof Integer || value instanceof Long
                || value instanceof Boolean;
        return isPlain ? value : String.valueOf(value);
    }

    Map<String, Object> words() {
        return words;
    }
}
