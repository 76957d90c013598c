package dev.tonnage.client;

import java.util.LinkedHashMap;
import java.util.Map;

/** A range of the component right below a key of a pair. */
public final class KeyRange {
    private final Map<String, Object> words = new LinkedHashMap<>();

    private KeyRange() {
    }

    /** Components between two ends; null leaves an end open. */
    public static KeyRange between(String from, boolean fromInclusive, String to,
            boolean toInclusive) {
        KeyRange range = new KeyRange();
        if (from != null) {
            range.words.put("from", from);
            range.words.put("from_exclusive", !fromInclusive);
        }
        if (to != null) {
            range.words.put("to", to);
            range.words.put("to_exclusive", !toInclusive);
        }
        return range;
    }

    /** Components that begin so. */
    public static KeyRange prefix(String prefix) {
        KeyRange range = new KeyRange();
        range.words.put("prefix", prefix);
        return range;
    }

    Map<String, Object> words() {
        return words;
    }
}
