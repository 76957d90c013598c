package oracle.kv;

/** A range of the component right below a parent key. */
public class KeyRange {
    private final String start;
    private final boolean startInclusive;
    private final String end;
    private final boolean endInclusive;
    private final boolean isPrefix;

    /** Components between two ends; null leaves an end open. */
    public KeyRange(String start, boolean startInclusive, String end, boolean endInclusive) {
        if (start == null && end == null) {
            throw new IllegalArgumentException("a range has a start or an end");
        }
        if (start != null && end != null && start.compareTo(end) > 0) {
            throw new IllegalArgumentException("the range starts after its end");
        }
        this.start = start;
        this.startInclusive = startInclusive;
        this.end = end;
        this.endInclusive = endInclusive;
        this.isPrefix = false;
    }

    /** Components that begin so. */
    public KeyRange(String prefix) {
        start = java.util.Objects.requireNonNull(prefix, "prefix");
        startInclusive = true;
        end = prefix;
        endInclusive = true;
        isPrefix = true;
    }

    /** The start, or the prefix; null where it is open. */
    public String getStart() {
        return start;
    }

    /** Whether the start belongs to it. */
    public boolean getStartInclusive() {
        return startInclusive;
    }

    /** The end; null where it is open. */
    public String getEnd() {
        return end;
    }

    /** Whether the end belongs to it. */
    public boolean getEndInclusive() {
        return endInclusive;
    }

    /** Whether it is one of components that begin alike. */
    public boolean isPrefix() {
        return isPrefix;
    }

    /** Whether the component of a key that lies right below a parent is in the range. */
    public boolean inRange(Key parentKey, Key checkKey) {
        int depth = parentKey == null ? 0 : parentKey.getFullPath().size();
        java.util.List<String> path = checkKey.getFullPath();
        return path.size() > depth && contains(path.get(depth));
    }

    private boolean contains(String component) {
        if (isPrefix) {
            return component.startsWith(start);
        }
        int low = start == null ? 1 : component.compareTo(start);
        int high = end == null ? -1 : component.compareTo(end);
        return (low > 0 || low == 0 && startInclusive) && (high < 0 || high == 0 && endInclusive);
    }
}
