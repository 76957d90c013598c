package dev.tonnage.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a bulk get reads. Each setter returns the object itself. */
public final class BulkGetOptions {
    private final Map<String, Object> words = new LinkedHashMap<>();
    private boolean hasRelatives;
    private Cancel cancel;
    private Duration timeout;

    /** All columns of all rows, in any order. */
    public BulkGetOptions() {
    }

    private BulkGetOptions with(String name, Object value) {
        words.put(name, value);
        return this;
    }

    /** The order: unordered unless it is given. */
    public BulkGetOptions direction(Direction direction) {
        return with("direction", direction.word());
    }

    /** Rows for each key, or pairs below it, at most. */
    public BulkGetOptions limitPerKey(long rows) {
        return with("limit_per_key", rows);
    }

    /** Rows in all, at most; for tables, without relatives. */
    public BulkGetOptions limit(long rows) {
        return with("limit", rows);
    }

    /** The columns to return; for tables. */
    public BulkGetOptions columns(String... columns) {
        return with("columns", List.of(columns));
    }

    /** A range of the first key column that the keys leave open; for tables. */
    public BulkGetOptions range(FieldRange range) {
        return with("range", range.words());
    }

    /** Ancestor and child tables whose rows come along; for tables. */
    public BulkGetOptions relatives(String... paths) {
        hasRelatives = paths.length > 0;
        return with("relatives", List.of(paths));
    }

    /** Returns keys alone. */
    public BulkGetOptions keysOnly() {
        return with("keys_only", true);
    }

    /** Returns versions and times of expiry, too. */
    public BulkGetOptions versions() {
        return with("versions", true);
    }

    /** Tells for each row the number of its key; for tables. */
    public BulkGetOptions origins() {
        return with("origins", true);
    }

    /** Which pairs are meant by a key; for pairs. */
    public BulkGetOptions depth(Depth depth) {
        return with("depth", depth.word());
    }

    /** A range of the component right below each key; for pairs. */
    public BulkGetOptions components(KeyRange range) {
        return with("components", range.words());
    }

    /** How fresh what is read must be: absolute unless it is given. */
    public BulkGetOptions consistency(Consistency consistency) {
        return with("consistency", consistency.word());
    }

    /** The longest that the read may take. */
    public BulkGetOptions timeout(Duration time) {
        timeout = Options.positive("timeout", time);
        return this;
    }

    /** Who may call it off. */
    public BulkGetOptions cancel(Cancel cancel) {
        this.cancel = cancel;
        return this;
    }

    Map<String, Object> words() {
        return words;
    }

    boolean hasRelatives() {
        return hasRelatives;
    }

    Cancel cancel() {
        return cancel;
    }

    Duration timeout() {
        return timeout;
    }
}
