package oracle.kv.table;

/** A range of the first key column that a key leaves open. */
public class FieldRange {
    private final String field;
    private Object start;
    private boolean startInclusive;
    private Object end;
    private boolean endInclusive;

    FieldRange(String field) {
        this.field = field;
    }

    /** The column. */
    public String getFieldName() {
        return field;
    }

    /** Options with this range. */
    public MultiRowOptions createMultiRowOptions() {
        return new MultiRowOptions(this);
    }

    /** Whether the start belongs to it. */
    public boolean getStartInclusive() {
        return startInclusive;
    }

    /** Whether the end belongs to it. */
    public boolean getEndInclusive() {
        return endInclusive;
    }

    /** Sets the start. */
    public FieldRange setStart(int value, boolean isInclusive) {
        start = value;
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(int value, boolean isInclusive) {
        end = value;
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(long value, boolean isInclusive) {
        start = value;
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(long value, boolean isInclusive) {
        end = value;
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(double value, boolean isInclusive) {
        start = value;
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(double value, boolean isInclusive) {
        end = value;
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(float value, boolean isInclusive) {
        start = value;
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(float value, boolean isInclusive) {
        end = value;
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(String value, boolean isInclusive) {
        start = value;
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(String value, boolean isInclusive) {
        end = value;
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(java.math.BigDecimal value, boolean isInclusive) {
        start = value;
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(java.math.BigDecimal value, boolean isInclusive) {
        end = value;
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(java.sql.Timestamp value, boolean isInclusive) {
        start = Cell.moment(value);
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(java.sql.Timestamp value, boolean isInclusive) {
        end = Cell.moment(value);
        endInclusive = isInclusive;
        return this;
    }

    /** Sets the start. */
    public FieldRange setStart(FieldValue value, boolean isInclusive) {
        start = Cell.plain(value);
        startInclusive = isInclusive;
        return this;
    }

    /** Sets the end. */
    public FieldRange setEnd(FieldValue value, boolean isInclusive) {
        end = Cell.plain(value);
        endInclusive = isInclusive;
        return this;
    }

    Object start() {
        return start;
    }

    Object end() {
        return end;
    }

    dev.tonnage.client.FieldRange mapped() {
        if (start == null && end == null) {
            throw new IllegalArgumentException("the range of " + field
                    + " has no start and no end");
        }
        dev.tonnage.client.FieldRange range = dev.tonnage.client.FieldRange.of(field);
        if (start != null) {
            range.from(start, startInclusive);
        }
        if (end != null) {
            range.to(end, endInclusive);
        }
        return range;
    }
}
