package dev.tonnage.kafka;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;

/** A setting that is a list of pairs, such as `TOPIC:TABLE`. */
final class SettingPairs {
    private SettingPairs() {
    }

    /** Refuses entries that are not pairs; `form` tells how to write one. */
    static void check(String setting, Object entries, String form) {
        for (Object entry : (List<?>) entries) {
            String text = String.valueOf(entry);
            if (left(text).isEmpty() || right(text).isEmpty()) {
                throw new ConfigException(setting, entries,
                        "write " + form + ", with commas between");
            }
        }
    }

    /** The right side of each entry, by its left side. */
    static Map<String, String> of(List<String> entries) {
        Map<String, String> pairs = new LinkedHashMap<>();
        entries.forEach(entry -> pairs.put(left(entry), right(entry)));
        return pairs;
    }

    private static String left(String entry) {
        return entry.substring(0, Math.max(0, entry.indexOf(':'))).trim();
    }

    private static String right(String entry) {
        return entry.substring(entry.indexOf(':') + 1).trim();
    }
}
