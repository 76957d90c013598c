package oracle.kv.table;

/** A value of type LONG. */
public interface LongValue extends FieldValue {
    /** The value. */
    long get();
}
